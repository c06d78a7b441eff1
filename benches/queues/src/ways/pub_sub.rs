//! Publish and subscribe: `PUBLISH` by the request, `SUBSCRIBE` by the worker.
//!
//! Redis stores nothing: who subscribes gets what is published from then on, and who is away gets nothing.

use async_trait::async_trait;
use futures_util::StreamExt as _;
use redis::aio::PubSub;

use crate::error::QueueError;
use crate::order::Order;
use crate::queue::{Consumer, Place, Producer, Queue};
use crate::redis_queue::RedisQueue;

pub(crate) struct Channel {
    redis: RedisQueue,
}

pub(crate) async fn open(place: &Place) -> Result<Channel, QueueError> {
    Ok(Channel { redis: RedisQueue::open(place).await? })
}

#[async_trait]
impl Queue for Channel {
    async fn producer(&self) -> Result<Box<dyn Producer>, QueueError> {
        let key = self.redis.key.clone();
        self.redis.producer(move |order| redis::cmd("PUBLISH").arg(&key).arg(order.text()).take()).await
    }

    async fn consumer(&self, _name: &str) -> Result<Box<dyn Consumer>, QueueError> {
        let mut subscriber =
            Subscriber { url: self.redis.url.clone(), key: self.redis.key.clone(), connection: None };
        subscriber.subscribe().await?;
        Ok(Box::new(subscriber))
    }

    async fn bytes(&self) -> Result<Option<u64>, QueueError> {
        self.redis.bytes().await
    }

    async fn listeners(&self) -> Result<Option<usize>, QueueError> {
        let mut command = redis::cmd("PUBSUB");
        let (_, count): (String, usize) =
            self.redis.query(command.arg("NUMSUB").arg(&self.redis.key)).await?;
        Ok(Some(count))
    }
}

struct Subscriber {
    url: String,
    key: String,
    connection: Option<PubSub>,
}

impl Subscriber {
    async fn subscribe(&mut self) -> Result<&mut PubSub, QueueError> {
        let mut connection = redis::Client::open(&*self.url)?.get_async_pubsub().await?;
        connection.subscribe(&self.key).await?;
        Ok(self.connection.insert(connection))
    }
}

#[async_trait]
impl Consumer for Subscriber {
    async fn receive(&mut self) -> Result<Vec<Order>, QueueError> {
        loop {
            let connection = match &mut self.connection {
                Some(connection) => connection,
                None => self.subscribe().await?,
            };
            let message = connection.on_message().next().await;
            if let Some(message) = message {
                return Ok(vec![Order::read(&message.get_payload::<String>()?)?]);
            }
            // Redis has cut the connection off. Clients subscribe anew, and hear nothing of the gap.
            self.connection = None;
        }
    }
}
