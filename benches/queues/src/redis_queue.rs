//! What the ways in Redis share: connections, sending, memory and listeners.

use async_trait::async_trait;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, FromRedisValue};

use crate::error::QueueError;
use crate::order::Order;
use crate::queue::{Place, Producer, SendOutcome};

/// Commands sent together by [`Producer::fill`].
const PIPELINE: usize = 500;

/// Opens a connection whose commands may block without a limit.
pub(crate) async fn connect(url: &str) -> Result<MultiplexedConnection, QueueError> {
    let config = AsyncConnectionConfig::new().set_response_timeout(None);
    Ok(redis::Client::open(url)?.get_multiplexed_async_connection_with_config(&config).await?)
}

/// A Redis with the key of a queue.
#[derive(Clone)]
pub(crate) struct RedisQueue {
    pub(crate) url: String,
    pub(crate) key: String,
    admin: MultiplexedConnection,
}

impl RedisQueue {
    pub(crate) async fn open(place: &Place) -> Result<Self, QueueError> {
        let url = place.redis()?.to_owned();
        Ok(Self { admin: connect(&url).await?, url, key: place.name.clone() })
    }

    /// Sends a command on the connection of the experiment.
    pub(crate) async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, QueueError> {
        Ok(command.query_async(&mut self.admin.clone()).await?)
    }

    /// Opens a producer that sends the command which `command` makes of an order.
    pub(crate) async fn producer(
        &self,
        command: impl Fn(&Order) -> Cmd + Send + Sync + 'static,
    ) -> Result<Box<dyn Producer>, QueueError> {
        let connection = connect(&self.url).await?;
        Ok(Box::new(RedisProducer { connection, command: Box::new(command) }))
    }

    /// Returns the memory in use: data, and what waits for slow clients.
    pub(crate) async fn bytes(&self) -> Result<Option<u64>, QueueError> {
        self.info("memory", "used_memory").await
    }

    /// Returns the number of clients in a blocking command.
    pub(crate) async fn blocked(&self) -> Result<Option<usize>, QueueError> {
        let blocked = self.info("clients", "blocked_clients").await?;
        Ok(blocked.and_then(|blocked| usize::try_from(blocked).ok()))
    }

    /// Sets `maxmemory` to `room` above the memory in use, or lifts it. The default policy is `noeviction`.
    pub(crate) async fn limit_memory(&self, room: Option<u64>) -> Result<(), QueueError> {
        let limit = match room {
            Some(room) => self.bytes().await?.unwrap_or(0) + room,
            None => 0,
        };
        self.query(redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg(limit)).await
    }

    /// Removes the keys of the queue.
    pub(crate) async fn remove(&self) -> Result<(), QueueError> {
        let keys: Vec<String> = self.query(redis::cmd("KEYS").arg(format!("{}*", self.key))).await?;
        for key in keys {
            self.query::<()>(redis::cmd("UNLINK").arg(key)).await?;
        }
        Ok(())
    }

    async fn info(&self, section: &str, name: &str) -> Result<Option<u64>, QueueError> {
        let info: String = self.query(redis::cmd("INFO").arg(section)).await?;
        let value = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        Ok(value.and_then(|value| value.trim().parse().ok()))
    }
}

struct RedisProducer {
    connection: MultiplexedConnection,
    command: Box<dyn Fn(&Order) -> Cmd + Send + Sync>,
}

#[async_trait]
impl Producer for RedisProducer {
    async fn send(&mut self, order: &Order) -> Result<SendOutcome, QueueError> {
        match (self.command)(order).query_async::<redis::Value>(&mut self.connection).await {
            Ok(_) => Ok(SendOutcome::Accepted),
            Err(error) if error.code() == Some("OOM") => Ok(SendOutcome::Refused),
            Err(error) => Err(error.into()),
        }
    }

    async fn fill(&mut self, orders: Vec<Order>) -> Result<u64, QueueError> {
        let mut accepted = 0;
        for part in orders.chunks(PIPELINE) {
            let mut pipeline = redis::pipe();
            pipeline.ignore_errors();
            for order in part {
                pipeline.add_command((self.command)(order));
            }
            let replies: Vec<redis::RedisResult<redis::Value>> =
                pipeline.query_async(&mut self.connection).await?;
            for reply in replies {
                match reply {
                    Ok(redis::Value::ServerError(error)) if error.code() == "OOM" => {}
                    Ok(redis::Value::ServerError(error)) => return Err(redis::RedisError::from(error).into()),
                    Ok(_) => accepted += 1,
                    Err(error) if error.code() == Some("OOM") => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(accepted)
    }
}
