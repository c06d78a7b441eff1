//! A list: `LPUSH` by the request, `BRPOP` by the worker.
//!
//! The message leaves Redis with the reply of `BRPOP`. From then on, only the worker has it.

use async_trait::async_trait;
use redis::aio::MultiplexedConnection;

use crate::error::QueueError;
use crate::order::Order;
use crate::queue::{Consumer, Place, Producer, Queue};
use crate::redis_queue::{RedisQueue, connect};

pub(crate) struct List {
    redis: RedisQueue,
}

pub(crate) async fn open(place: &Place) -> Result<List, QueueError> {
    Ok(List { redis: RedisQueue::open(place).await? })
}

#[async_trait]
impl Queue for List {
    async fn producer(&self) -> Result<Box<dyn Producer>, QueueError> {
        let key = self.redis.key.clone();
        self.redis.producer(move |order| redis::cmd("LPUSH").arg(&key).arg(order.text()).take()).await
    }

    async fn consumer(&self, _name: &str) -> Result<Box<dyn Consumer>, QueueError> {
        Ok(Box::new(Pop { connection: connect(&self.redis.url).await?, key: self.redis.key.clone() }))
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

struct Pop {
    connection: MultiplexedConnection,
    key: String,
}

#[async_trait]
impl Consumer for Pop {
    async fn receive(&mut self) -> Result<Vec<Order>, QueueError> {
        let (_, text): (String, String) =
            redis::cmd("BRPOP").arg(&self.key).arg(0).query_async(&mut self.connection).await?;
        Ok(vec![Order::read(&text)?])
    }
}
