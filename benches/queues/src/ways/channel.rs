//! A bounded channel in memory, as the `BlockingQueue` of the tutorials: nothing leaves the process.
//!
//! A full channel makes the request wait, as `put` does. `offer` and `add` are the other choices: `try_send`.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::{Mutex, mpsc};

use crate::error::{QueueError, broken};
use crate::order::Order;
use crate::process_memory::resident_bytes;
use crate::queue::{Consumer, Place, Producer, Queue, SendOutcome};

/// Capacity of the tutorials: `new ArrayBlockingQueue<>(1024 * 1024)`.
const CAPACITY: usize = 1024 * 1024;

pub(crate) struct MemoryChannel {
    sender: mpsc::Sender<Order>,
    receiver: Arc<Mutex<mpsc::Receiver<Order>>>,
}

pub(crate) async fn open(place: &Place) -> Result<MemoryChannel, QueueError> {
    let (sender, receiver) = mpsc::channel(place.bound.unwrap_or(CAPACITY));
    Ok(MemoryChannel { sender, receiver: Arc::new(Mutex::new(receiver)) })
}

#[async_trait]
impl Queue for MemoryChannel {
    async fn producer(&self) -> Result<Box<dyn Producer>, QueueError> {
        Ok(Box::new(Sender(self.sender.clone())))
    }

    async fn consumer(&self, _name: &str) -> Result<Box<dyn Consumer>, QueueError> {
        Ok(Box::new(Receiver(Arc::clone(&self.receiver))))
    }

    async fn bytes(&self) -> Result<Option<u64>, QueueError> {
        Ok(resident_bytes())
    }
}

struct Sender(mpsc::Sender<Order>);

#[async_trait]
impl Producer for Sender {
    async fn send(&mut self, order: &Order) -> Result<SendOutcome, QueueError> {
        self.0.send(order.clone()).await.map_err(|_| broken("the channel is closed"))?;
        Ok(SendOutcome::Accepted)
    }
}

struct Receiver(Arc<Mutex<mpsc::Receiver<Order>>>);

#[async_trait]
impl Consumer for Receiver {
    async fn receive(&mut self) -> Result<Vec<Order>, QueueError> {
        let order = self.0.lock().await.recv().await;
        Ok(vec![order.ok_or_else(|| broken("the channel is closed"))?])
    }
}
