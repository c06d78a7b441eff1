//! A list with a copy in hand: `LPUSH` by the request, `BLMOVE` to a list of the worker, `LREM` when done.
//!
//! The message never leaves Redis before its work is done. Somebody has to look for the lists of dead
//! workers.

use async_trait::async_trait;
use redis::aio::MultiplexedConnection;

use crate::error::QueueError;
use crate::order::Order;
use crate::queue::{Consumer, Place, Producer, Queue};
use crate::redis_queue::{RedisQueue, connect};

pub(crate) struct MoveList {
    redis: RedisQueue,
}

pub(crate) async fn open(place: &Place) -> Result<MoveList, QueueError> {
    Ok(MoveList { redis: RedisQueue::open(place).await? })
}

#[async_trait]
impl Queue for MoveList {
    async fn producer(&self) -> Result<Box<dyn Producer>, QueueError> {
        let key = self.redis.key.clone();
        self.redis.producer(move |order| redis::cmd("LPUSH").arg(&key).arg(order.text()).take()).await
    }

    async fn consumer(&self, name: &str) -> Result<Box<dyn Consumer>, QueueError> {
        let key = self.redis.key.clone();
        let mut connection = connect(&self.redis.url).await?;
        let hand = hand_of(&key, name);
        redis::cmd("SADD").arg(format!("{key}:hands")).arg(&hand).exec_async(&mut connection).await?;
        Ok(Box::new(Move { connection, key, hand, text: None }))
    }

    async fn bytes(&self) -> Result<Option<u64>, QueueError> {
        self.redis.bytes().await
    }

    async fn limit_memory(&self, room: Option<u64>) -> Result<(), QueueError> {
        self.redis.limit_memory(room).await
    }

    async fn remove(&self) -> Result<(), QueueError> {
        self.redis.remove().await
    }
}

/// Returns the key of the messages that a worker has in hand.
fn hand_of(key: &str, name: &str) -> String {
    format!("{key}:hand:{name}")
}

struct Move {
    connection: MultiplexedConnection,
    key: String,
    hand: String,
    /// The message in hand.
    text: Option<String>,
}

#[async_trait]
impl Consumer for Move {
    async fn receive(&mut self) -> Result<Vec<Order>, QueueError> {
        let mut command = redis::cmd("BLMOVE");
        command.arg(&self.key).arg(&self.hand).arg("RIGHT").arg("LEFT").arg(0);
        let text: String = command.query_async(&mut self.connection).await?;
        let order = Order::read(&text)?;
        self.text = Some(text);
        Ok(vec![order])
    }

    async fn settle(&mut self) -> Result<(), QueueError> {
        let Some(text) = self.text.take() else { return Ok(()) };
        let mut command = redis::cmd("LREM");
        Ok(command.arg(&self.hand).arg(1).arg(text).exec_async(&mut self.connection).await?)
    }

    async fn recover(&mut self, dead: &[String]) -> Result<(), QueueError> {
        for name in dead {
            // Back to the end from which workers take: the message is older than all that wait.
            let mut command = redis::cmd("LMOVE");
            command.arg(hand_of(&self.key, name)).arg(&self.key).arg("LEFT").arg("RIGHT");
            while command.query_async::<Option<String>>(&mut self.connection).await?.is_some() {}
        }
        Ok(())
    }

    async fn outstanding(&mut self) -> Result<u64, QueueError> {
        let mut members = redis::cmd("SMEMBERS");
        members.arg(format!("{}:hands", self.key));
        let mut lists: Vec<String> = members.query_async(&mut self.connection).await?;
        lists.push(self.key.clone());
        let mut count = 0;
        for list in lists {
            count += redis::cmd("LLEN").arg(list).query_async::<u64>(&mut self.connection).await?;
        }
        Ok(count)
    }
}
