//! A stream without a group: `XADD` by the request, `XREAD … $` by the worker.
//!
//! `$` means "what is added from now on", at each call anew: what arrives between two calls is never read.

use std::collections::HashMap;

use async_trait::async_trait;
use redis::Cmd;
use redis::aio::MultiplexedConnection;

use crate::error::{QueueError, broken};
use crate::order::Order;
use crate::queue::{Consumer, Place, Producer, Queue};
use crate::redis_queue::{RedisQueue, connect};

/// Entries of a stream, as Redis returns them.
type Entries = Vec<(String, HashMap<String, String>)>;

pub(crate) struct Stream {
    redis: RedisQueue,
    bound: Option<usize>,
}

pub(crate) async fn open(place: &Place) -> Result<Stream, QueueError> {
    Ok(Stream { redis: RedisQueue::open(place).await?, bound: place.bound })
}

/// Returns the command that appends an order. `bound`: entries that the stream keeps.
pub(super) fn add(key: &str, bound: Option<usize>, order: &Order) -> Cmd {
    let mut command = redis::cmd("XADD");
    command.arg(key);
    if let Some(bound) = bound {
        command.arg("MAXLEN").arg(bound);
    }
    command.arg("*").arg("id").arg(order.number).arg("userId").arg(order.user_id);
    command.arg("voucherId").arg(order.voucher_id);
    if !order.pad.is_empty() {
        command.arg("pad").arg(&order.pad);
    }
    command
}

/// Reads an order from the fields of an entry.
pub(super) fn order(fields: &HashMap<String, String>) -> Result<Order, QueueError> {
    let number = fields.get("id").and_then(|number| number.parse().ok());
    Ok(Order::new(number.ok_or_else(|| broken("an entry of the stream has no number"))?))
}

/// Reads the entries that follow those with numbers below `from`, as a worker does that kept a position.
pub(super) async fn replay(redis: &RedisQueue, from: u64) -> Result<Vec<u64>, QueueError> {
    let mut before = redis::cmd("XRANGE");
    before.arg(&redis.key).arg("-").arg("+").arg("COUNT").arg(from.saturating_sub(1));
    let before: Entries = redis.query(&before).await?;
    let position = before.last().map_or("0-0", |(id, _)| id);
    let mut rest = redis::cmd("XREAD");
    let rest: Option<Vec<(String, Entries)>> =
        redis.query(rest.arg("STREAMS").arg(&redis.key).arg(position)).await?;
    let entries = rest.unwrap_or_default().into_iter().flat_map(|(_, entries)| entries);
    entries.map(|(_, fields)| Ok(order(&fields)?.number)).collect()
}

#[async_trait]
impl Queue for Stream {
    async fn producer(&self) -> Result<Box<dyn Producer>, QueueError> {
        let (key, bound) = (self.redis.key.clone(), self.bound);
        self.redis.producer(move |order| add(&key, bound, order)).await
    }

    async fn consumer(&self, _name: &str) -> Result<Box<dyn Consumer>, QueueError> {
        Ok(Box::new(Reader { connection: connect(&self.redis.url).await?, key: self.redis.key.clone() }))
    }

    async fn bytes(&self) -> Result<Option<u64>, QueueError> {
        self.redis.bytes().await
    }

    async fn listeners(&self) -> Result<Option<usize>, QueueError> {
        self.redis.blocked().await
    }

    async fn replay(&self, from: u64) -> Result<Vec<u64>, QueueError> {
        replay(&self.redis, from).await
    }

    async fn limit_memory(&self, room: Option<u64>) -> Result<(), QueueError> {
        self.redis.limit_memory(room).await
    }

    async fn remove(&self) -> Result<(), QueueError> {
        self.redis.remove().await
    }
}

struct Reader {
    connection: MultiplexedConnection,
    key: String,
}

#[async_trait]
impl Consumer for Reader {
    async fn receive(&mut self) -> Result<Vec<Order>, QueueError> {
        let mut command = redis::cmd("XREAD");
        command.arg("COUNT").arg(1).arg("BLOCK").arg(0).arg("STREAMS").arg(&self.key).arg("$");
        let streams: Vec<(String, Entries)> = command.query_async(&mut self.connection).await?;
        streams.into_iter().flat_map(|(_, entries)| entries).map(|(_, fields)| order(&fields)).collect()
    }
}
