//! Rung 10: a script decides, and a queue in memory carries the order to a worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use redis::cmd;
use tokio::sync::{Mutex, mpsc};

use super::seller::Seller;
use super::shop;
use crate::error::LadderError;
use crate::instance::{Database, Parts, Request, script};
use crate::point::Point;
use crate::reply::Reply;

/// Decides about stock and buyer in one step. Returns 0 for a unit, 1 for sold out, 2 for bought before.
pub(super) const TAKE: &str = "-- take a unit for a new buyer
if redis.call('SISMEMBER', 'buyers', ARGV[1]) == 1 then
    return 2
end
if tonumber(redis.call('GET', 'stock')) <= 0 then
    return 1
end
redis.call('DECR', 'stock')
redis.call('SADD', 'buyers', ARGV[1])
return 0";

/// Gives the unit of a buyer back, once.
const GIVE_BACK: &str = "-- give the unit of a buyer back
if redis.call('SREM', 'buyers', ARGV[1]) == 1 then
    redis.call('INCR', 'stock')
end
return 0";

/// Orders that the queue holds at most, as `ArrayBlockingQueue` in the tutorials.
const QUEUE_MAX: usize = 1_024 * 1_024;

pub(crate) struct ScriptAndQueue {
    pub(crate) parts: Parts,
    sender: mpsc::Sender<i64>,
    receiver: Mutex<mpsc::Receiver<i64>>,
    waiting: AtomicI64,
}

impl ScriptAndQueue {
    pub(crate) fn new(parts: Parts) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE_MAX);
        Self { parts, sender, receiver: Mutex::new(receiver), waiting: AtomicI64::new(0) }
    }

    async fn work(&self, worker: &Request) {
        let mut queue = self.receiver.lock().await;
        while let Some(user) = queue.recv().await {
            let order = worker.of_user(u64::try_from(user).unwrap_or(0));
            order.at(Point::Dequeued).await;
            // A failed order stays counted as waiting: nobody will try again.
            if write_order(&self.parts.database, &order).await.is_ok() {
                self.waiting.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }
}

/// Writes an order and its unit.
async fn write_order(database: &Database, order: &Request) -> Result<(), LadderError> {
    let mut transaction = database.begin(order).await?;
    transaction.run("UPDATE vouchers SET stock = stock - 1", &[]).await?;
    transaction.run("INSERT INTO orders (user) VALUES (?)", &[order.user()]).await?;
    transaction.commit().await
}

#[async_trait]
impl Seller for ScriptAndQueue {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        let taken: i64 = self.parts.redis.call(request, script(TAKE, &[]).arg(request.user())).await?;
        match taken {
            0 => {}
            1 => return Ok(Reply::SoldOut),
            _ => return Ok(Reply::AlreadyBought),
        }
        self.waiting.fetch_add(1, Ordering::SeqCst);
        // MISTAKE: from here on the accepted claim is only in the memory of this process.
        let is_queued = self.sender.send(request.user()).await;
        is_queued.map_err(|_| LadderError::NotReached("the worker has ended".to_owned()))?;
        Ok(Reply::Accepted)
    }

    async fn give_back(&self, request: &Request) -> Result<(), LadderError> {
        give_back(&self.parts, request).await
    }

    async fn stock(&self, request: &Request) -> Result<i64, LadderError> {
        self.parts.redis.call(request, cmd("GET").arg("stock")).await
    }

    async fn pending(&self, _request: &Request) -> Result<i64, LadderError> {
        Ok(self.waiting.load(Ordering::SeqCst))
    }

    async fn start(self: Arc<Self>, worker: &Request) -> Result<(), LadderError> {
        let worker = worker.clone();
        tokio::spawn(async move { self.work(&worker).await });
        Ok(())
    }
}

/// Deletes the order in the database, then gives the unit back in Redis.
pub(super) async fn give_back(parts: &Parts, request: &Request) -> Result<(), LadderError> {
    shop::give_back(&parts.database, request).await?;
    let _: i64 = parts.redis.call(request, script(GIVE_BACK, &[]).arg(request.user())).await?;
    Ok(())
}
