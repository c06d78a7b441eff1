//! What every way offers to the experiments.

use std::path::PathBuf;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::{QueueError, broken};
use crate::order::Order;

/// Where a queue is, and under which name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Place {
    /// Name of the queue, unique in a run.
    pub(crate) name: String,
    /// Directory for files of the queue.
    pub(crate) dir: PathBuf,
    pub(crate) redis: Option<String>,
    /// URL of MySQL with the database for the queue.
    pub(crate) mysql: Option<String>,
    /// Prefix of the keys of a mall in Redis.
    pub(crate) prefix: Option<String>,
    /// Number of messages after which the queue is full, where a way has such a bound.
    pub(crate) bound: Option<usize>,
    /// Whether the queue is new; otherwise it exists.
    pub(crate) is_new: bool,
}

impl Place {
    pub(crate) fn redis(&self) -> Result<&str, QueueError> {
        self.redis.as_deref().ok_or_else(|| broken("no Redis is at hand"))
    }

    pub(crate) fn mysql(&self) -> Result<&str, QueueError> {
        self.mysql.as_deref().ok_or_else(|| broken("no MySQL is at hand"))
    }
}

/// Outcome of a send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SendOutcome {
    /// The component took the message.
    Accepted,
    /// The component is full and said so: the request can tell its user.
    Refused,
}

/// A way to hand orders over, opened in a process.
#[async_trait]
pub(crate) trait Queue: Send + Sync {
    /// Opens a producer with a connection of its own.
    async fn producer(&self) -> Result<Box<dyn Producer>, QueueError>;

    /// Opens a consumer with a connection of its own. Messages from now on reach the consumer, if the way
    /// needs a listener at all. `name` is unique among the consumers of an experiment.
    async fn consumer(&self, name: &str) -> Result<Box<dyn Consumer>, QueueError>;

    /// Returns the bytes that hold the messages.
    async fn bytes(&self) -> Result<Option<u64>, QueueError>;

    /// Returns the number of consumers that wait for a message; `None` if a message waits for its consumer,
    /// so that nobody has to listen.
    async fn listeners(&self) -> Result<Option<usize>, QueueError> {
        Ok(None)
    }

    /// Reads the messages with number `from` and above once more, after their consumers are done with them.
    async fn replay(&self, _from: u64) -> Result<Vec<u64>, QueueError> {
        Ok(Vec::new())
    }

    /// Sets or lifts the bound on memory, if the component has one. `room`: bytes beyond those in use.
    async fn limit_memory(&self, _room: Option<u64>) -> Result<(), QueueError> {
        Ok(())
    }

    /// Removes the queue from servers that belong to somebody else.
    async fn remove(&self) -> Result<(), QueueError> {
        Ok(())
    }
}

/// The request's side.
#[async_trait]
pub(crate) trait Producer: Send {
    /// Sends an order; returns once the component has taken or refused it.
    async fn send(&mut self, order: &Order) -> Result<SendOutcome, QueueError>;

    /// Sends many orders as fast as the component allows. Returns the number accepted.
    async fn fill(&mut self, orders: Vec<Order>) -> Result<u64, QueueError> {
        let mut accepted = 0;
        for order in &orders {
            accepted += u64::from(self.send(order).await? == SendOutcome::Accepted);
        }
        Ok(accepted)
    }
}

/// The worker's side.
#[async_trait]
pub(crate) trait Consumer: Send {
    /// Waits for the next order, or the next few where the way hands out batches.
    async fn receive(&mut self) -> Result<Vec<Order>, QueueError>;

    /// Does the work on the orders last received, where the way has work of its own.
    async fn work(&mut self) -> Result<(), QueueError> {
        Ok(())
    }

    /// Tells the component that the orders last received are done. Nothing where nobody keeps track.
    async fn settle(&mut self) -> Result<(), QueueError> {
        Ok(())
    }

    /// Takes over what consumers that died had in hand.
    async fn recover(&mut self, _dead: &[String]) -> Result<(), QueueError> {
        Ok(())
    }

    /// Returns the number of messages that are neither done nor lost to the component: waiting, or in
    /// somebody's hand. 0 where nobody keeps track.
    async fn outstanding(&mut self) -> Result<u64, QueueError> {
        Ok(0)
    }
}
