//! A stream with a consumer group: `XADD` by the request, `XREADGROUP` by the workers.
//!
//! With acknowledgement, Redis lists what a worker has in hand until `XACK`, and another worker takes that
//! over with `XAUTOCLAIM`. With `NOACK`, a message counts as done once it is handed out.

use std::collections::{HashMap, VecDeque};

use async_trait::async_trait;
use redis::aio::MultiplexedConnection;

use super::stream::{add, order, replay};
use crate::error::QueueError;
use crate::order::Order;
use crate::queue::{Consumer, Place, Producer, Queue};
use crate::redis_queue::{RedisQueue, connect};

const GROUP: &str = "workers";

/// Entries of a stream, as Redis returns them.
type Entries = Vec<(String, HashMap<String, String>)>;

pub(crate) struct Group {
    redis: RedisQueue,
    bound: Option<usize>,
    acknowledges: bool,
}

/// Opens a stream whose workers acknowledge.
pub(crate) async fn open(place: &Place) -> Result<Group, QueueError> {
    open_with(place, true).await
}

/// Opens a stream whose workers do not acknowledge.
pub(crate) async fn open_without_ack(place: &Place) -> Result<Group, QueueError> {
    open_with(place, false).await
}

async fn open_with(place: &Place, acknowledges: bool) -> Result<Group, QueueError> {
    let redis = RedisQueue::open(place).await?;
    let mut create = redis::cmd("XGROUP");
    create.arg("CREATE").arg(&redis.key).arg(GROUP).arg(0).arg("MKSTREAM");
    match redis.query::<()>(&create).await {
        // The group is there already. A Redis that lost its data needs a new one.
        Err(QueueError::Redis(error)) if error.code() == Some("BUSYGROUP") => {}
        done => done?,
    }
    Ok(Group { redis, bound: place.bound, acknowledges })
}

#[async_trait]
impl Queue for Group {
    async fn producer(&self) -> Result<Box<dyn Producer>, QueueError> {
        let (key, bound) = (self.redis.key.clone(), self.bound);
        self.redis.producer(move |order| add(&key, bound, order)).await
    }

    async fn consumer(&self, name: &str) -> Result<Box<dyn Consumer>, QueueError> {
        Ok(Box::new(Member {
            connection: connect(&self.redis.url).await?,
            key: self.redis.key.clone(),
            name: name.to_owned(),
            acknowledges: self.acknowledges,
            taken_over: VecDeque::new(),
            in_hand: Vec::new(),
        }))
    }

    async fn bytes(&self) -> Result<Option<u64>, QueueError> {
        self.redis.bytes().await
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

struct Member {
    connection: MultiplexedConnection,
    key: String,
    name: String,
    acknowledges: bool,
    /// Messages of dead workers, which come before new ones.
    taken_over: VecDeque<(String, Order)>,
    /// Ids of the messages in hand.
    in_hand: Vec<String>,
}

#[async_trait]
impl Consumer for Member {
    async fn receive(&mut self) -> Result<Vec<Order>, QueueError> {
        if let Some((id, order)) = self.taken_over.pop_front() {
            self.in_hand = vec![id];
            return Ok(vec![order]);
        }
        let mut command = redis::cmd("XREADGROUP");
        command.arg("GROUP").arg(GROUP).arg(&self.name).arg("COUNT").arg(1).arg("BLOCK").arg(0);
        if !self.acknowledges {
            command.arg("NOACK");
        }
        command.arg("STREAMS").arg(&self.key).arg(">");
        let streams: Vec<(String, Entries)> = command.query_async(&mut self.connection).await?;
        let entries = streams.into_iter().flat_map(|(_, entries)| entries);
        let (ids, orders): (Vec<String>, Vec<_>) = entries.map(|(id, fields)| (id, order(&fields))).unzip();
        self.in_hand = ids;
        orders.into_iter().collect()
    }

    async fn settle(&mut self) -> Result<(), QueueError> {
        let ids = std::mem::take(&mut self.in_hand);
        if self.acknowledges && !ids.is_empty() {
            let mut command = redis::cmd("XACK");
            command.arg(&self.key).arg(GROUP).arg(ids).exec_async(&mut self.connection).await?;
        }
        Ok(())
    }

    async fn recover(&mut self, _dead: &[String]) -> Result<(), QueueError> {
        if !self.acknowledges {
            return Ok(());
        }
        // All that nobody has acknowledged: without living colleagues, the time in hand does not matter.
        let mut command = redis::cmd("XAUTOCLAIM");
        command.arg(&self.key).arg(GROUP).arg(&self.name).arg(0).arg("0-0").arg("COUNT").arg(1_000);
        let (_, entries, _): (String, Entries, Vec<String>) =
            command.query_async(&mut self.connection).await?;
        for (id, fields) in entries {
            self.taken_over.push_back((id, order(&fields)?));
        }
        Ok(())
    }

    async fn outstanding(&mut self) -> Result<u64, QueueError> {
        let mut command = redis::cmd("XPENDING");
        let summary: redis::Value =
            command.arg(&self.key).arg(GROUP).query_async(&mut self.connection).await?;
        match summary {
            redis::Value::Array(fields) => match fields.first() {
                Some(redis::Value::Int(count)) => Ok(u64::try_from(*count).unwrap_or(0)),
                _ => Ok(0),
            },
            _ => Ok(0),
        }
    }
}
