//! Rung 11: the script that decides also appends to a stream, and workers acknowledge what they have written.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use redis::cmd;

use super::script_and_queue;
use super::seller::Seller;
use crate::error::LadderError;
use crate::instance::{Parts, Redis, Request, script};
use crate::point::Point;
use crate::reply::Reply;

/// Decides, and appends the order in the same step. Returns 0 for a unit, 1 for sold out, 2 for bought
/// before.
const TAKE: &str = "-- take a unit, and append the order
if redis.call('SISMEMBER', 'buyers', ARGV[1]) == 1 then
    return 2
end
if tonumber(redis.call('GET', 'stock')) <= 0 then
    return 1
end
redis.call('DECR', 'stock')
redis.call('SADD', 'buyers', ARGV[1])
redis.call('XADD', 'stream.orders', '*', 'id', redis.call('INCR', 'order-id'), 'user', ARGV[1])
return 0";

const STREAM: &str = "stream.orders";
const GROUP: &str = "workers";
/// Messages that a worker reads at once.
const BATCH: usize = 64;
/// Time for which a read waits for messages.
const BLOCK_MS: u64 = 200;

/// A message of the stream: its id and its fields.
type Message = (String, HashMap<String, u64>);

pub(crate) struct ScriptAndStream {
    pub(crate) parts: Parts,
}

#[async_trait]
impl Seller for ScriptAndStream {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        let taken: i64 = self.parts.redis.call(request, script(TAKE, &[]).arg(request.user())).await?;
        Ok(match taken {
            0 => Reply::Accepted,
            1 => Reply::SoldOut,
            _ => Reply::AlreadyBought,
        })
    }

    async fn give_back(&self, request: &Request) -> Result<(), LadderError> {
        script_and_queue::give_back(&self.parts, request).await
    }

    async fn stock(&self, request: &Request) -> Result<i64, LadderError> {
        self.parts.redis.call(request, cmd("GET").arg("stock")).await
    }

    async fn pending(&self, request: &Request) -> Result<i64, LadderError> {
        // Workers delete what they have written.
        self.parts.redis.call(request, cmd("XLEN").arg(STREAM)).await
    }

    async fn start(self: Arc<Self>, worker: &Request) -> Result<(), LadderError> {
        let (worker, redis) = (worker.clone(), self.parts.redis.apart());
        tokio::spawn(async move {
            loop {
                // A lost connection, or a failover that lost the group: begins anew.
                let _ = self.work(&worker, &redis).await;
                tokio::time::sleep(Duration::from_millis(BLOCK_MS)).await;
            }
        });
        Ok(())
    }
}

impl ScriptAndStream {
    /// Writes orders: first those that this worker had in hand when it died, then new ones.
    async fn work(&self, worker: &Request, redis: &Redis) -> Result<(), LadderError> {
        let create = cmd("XGROUP").arg("CREATE").arg(STREAM).arg(GROUP).arg("0").arg("MKSTREAM").clone();
        // The group may exist.
        let _ = redis.call::<String>(worker, &create).await;
        let name = format!("worker-{}", self.parts.instance);
        let mut position = "0";
        loop {
            let mut reading = cmd("XREADGROUP");
            reading.arg("GROUP").arg(GROUP).arg(&name).arg("COUNT").arg(BATCH);
            reading.arg("BLOCK").arg(BLOCK_MS).arg("STREAMS").arg(STREAM).arg(position);
            let streams: Option<Vec<(String, Vec<Message>)>> = redis.call(worker, &reading).await?;
            let messages: Vec<Message> =
                streams.into_iter().flatten().flat_map(|(_, messages)| messages).collect();
            if messages.is_empty() {
                position = ">";
            }
            for (id, fields) in messages {
                self.write_order(worker, &fields).await?;
                let _: i64 = redis.call(worker, cmd("XACK").arg(STREAM).arg(GROUP).arg(&id)).await?;
                let _: i64 = redis.call(worker, cmd("XDEL").arg(STREAM).arg(&id)).await?;
            }
        }
    }

    /// Writes an order once, however often its message arrives. The ids are counted by Redis: one that
    /// forgets its count in a failover gives ids again, and their orders are taken for repetitions.
    async fn write_order(&self, worker: &Request, fields: &HashMap<String, u64>) -> Result<(), LadderError> {
        let field = |name: &str| fields.get(name).copied().unwrap_or(0);
        let order = worker.of_user(field("user"));
        order.at(Point::Dequeued).await;
        let mut transaction = self.parts.database.begin(&order).await?;
        let values = [i64::try_from(field("id")).unwrap_or(0), order.user()];
        if transaction.run("INSERT IGNORE INTO orders (id, user) VALUES (?, ?)", &values).await? > 0 {
            transaction.run("UPDATE vouchers SET stock = stock - 1", &[]).await?;
        }
        transaction.commit().await?;
        order.at(Point::Stored).await;
        Ok(())
    }
}
