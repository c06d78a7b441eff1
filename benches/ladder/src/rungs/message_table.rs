//! Rungs 11b and 11c: a table of messages, a job that sends them again, and a table of those that are done.

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

const LIST: &str = "list.orders";
/// Attempts after which a message waits for people.
const ATTEMPTS_MAX: i64 = 5;
/// Pause of the job.
const PAUSE: Duration = Duration::from_millis(50);
/// Age from which the job sends a message again.
const AGAIN_AFTER: Duration = Duration::from_secs(2);
/// Messages that are to be sent: new ones, and those that nobody marked as done for a while.
const DUE: &str =
    "state = 0 AND attempts < ? AND (attempts = 0 OR sent_at < NOW(3) - INTERVAL ? MICROSECOND)";
/// Messages that the job sends at once.
const BATCH: usize = 256;
/// Time for which a worker waits for a message, in seconds.
const BLOCK_S: f64 = 0.2;

pub(crate) struct MessageTable {
    pub(crate) parts: Parts,
    /// Whether the order's transaction notes the message as done.
    pub(crate) dedupes: bool,
}

#[async_trait]
impl Seller for MessageTable {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        let Parts { redis, database, .. } = &self.parts;
        let taken: i64 = redis.call(request, script(script_and_queue::TAKE, &[]).arg(request.user())).await?;
        match taken {
            0 => {}
            1 => return Ok(Reply::SoldOut),
            _ => return Ok(Reply::AlreadyBought),
        }
        // Accepted is what the table has: the job sends it until a worker has written the order.
        database.run(request, "INSERT INTO messages (user) VALUES (?)", &[request.user()]).await?;
        Ok(Reply::Accepted)
    }

    async fn give_back(&self, request: &Request) -> Result<(), LadderError> {
        script_and_queue::give_back(&self.parts, request).await
    }

    async fn stock(&self, request: &Request) -> Result<i64, LadderError> {
        self.parts.redis.call(request, cmd("GET").arg("stock")).await
    }

    async fn pending(&self, request: &Request) -> Result<i64, LadderError> {
        let waiting = "SELECT COUNT(*) FROM messages WHERE state = 0";
        Ok(self.parts.database.number(request, waiting, &[]).await?.unwrap_or(0))
    }

    async fn start(self: Arc<Self>, worker: &Request) -> Result<(), LadderError> {
        let (job, sending) = (Arc::clone(&self), worker.clone());
        tokio::spawn(async move {
            loop {
                // What fails now is sent by a later turn.
                let _ = job.send(&sending).await;
                tokio::time::sleep(PAUSE).await;
            }
        });
        let (worker, redis) = (worker.clone(), self.parts.redis.apart());
        tokio::spawn(async move {
            loop {
                if self.work(&worker, &redis).await.is_err() {
                    tokio::time::sleep(PAUSE).await;
                }
            }
        });
        Ok(())
    }
}

impl MessageTable {
    /// Sends new messages, and again those that nobody marked as done.
    async fn send(&self, job: &Request) -> Result<(), LadderError> {
        let Parts { redis, database, .. } = &self.parts;
        let age_us = i64::try_from(AGAIN_AFTER.as_micros()).unwrap_or(i64::MAX);
        loop {
            let due = format!("SELECT id FROM messages WHERE {DUE} ORDER BY id LIMIT {BATCH}");
            let ids = database.numbers(job, &due, &[ATTEMPTS_MAX, age_us]).await?;
            let Some(last) = ids.last() else { return Ok(()) };
            let _: i64 = redis.call(job, cmd("LPUSH").arg(LIST).arg(&ids)).await?;
            let sent = format!(
                "UPDATE messages SET attempts = attempts + 1, sent_at = NOW(3) WHERE {DUE} AND id <= ?"
            );
            database.run(job, &sent, &[ATTEMPTS_MAX, age_us, *last]).await?;
        }
    }

    /// Writes the order of one message.
    async fn work(&self, worker: &Request, redis: &Redis) -> Result<(), LadderError> {
        let popping = cmd("BRPOP").arg(LIST).arg(BLOCK_S).clone();
        let Some((_, id)) = redis.call::<Option<(String, i64)>>(worker, &popping).await? else {
            return Ok(());
        };
        let database = &self.parts.database;
        let user = database.number(worker, "SELECT user FROM messages WHERE id = ?", &[id]).await?;
        let order = worker.of_user(user.and_then(|user| u64::try_from(user).ok()).unwrap_or(0));
        order.at(Point::Dequeued).await;
        let mut transaction = database.begin(&order).await?;
        let is_new = !self.dedupes
            || transaction.run("INSERT IGNORE INTO done_messages (id) VALUES (?)", &[id]).await? > 0;
        if is_new {
            // MISTAKE without the table of done messages: who dies before the mark below writes it twice.
            transaction.run("INSERT INTO orders (user) VALUES (?)", &[order.user()]).await?;
            transaction.run("UPDATE vouchers SET stock = stock - 1", &[]).await?;
        }
        transaction.commit().await?;
        order.at(Point::Stored).await;
        database.run(&order, "UPDATE messages SET state = 1 WHERE id = ?", &[id]).await?;
        Ok(())
    }
}
