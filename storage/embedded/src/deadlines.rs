//! The [`Deadlines`] port: an ordered set in memory, refilled from the unpaid orders at start.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use async_trait::async_trait;
use foldhash::fast::RandomState;
use mallbox_storage::deadlines::LEASE_MS;
use mallbox_storage::{Deadlines, OrderId, StoreError, Timestamp};
use parking_lot::Mutex;

#[derive(Debug, Default)]
pub(crate) struct EmbeddedDeadlines {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    by_time: BTreeSet<(Timestamp, OrderId)>,
    by_order: HashMap<OrderId, Timestamp, RandomState>,
}

impl Inner {
    fn set(&mut self, order: OrderId, at: Timestamp) {
        if let Some(before) = self.by_order.insert(order, at) {
            self.by_time.remove(&(before, order));
        }
        self.by_time.insert((at, order));
    }
}

#[async_trait]
impl Deadlines for EmbeddedDeadlines {
    async fn set(&self, deadlines: &[(OrderId, Timestamp)]) -> Result<(), StoreError> {
        let mut inner = self.inner.lock();
        deadlines.iter().for_each(|(order, at)| inner.set(*order, *at));
        Ok(())
    }

    async fn clear(&self, orders: &[OrderId]) -> Result<(), StoreError> {
        let mut inner = self.inner.lock();
        for order in orders {
            if let Some(at) = inner.by_order.remove(order) {
                inner.by_time.remove(&(at, *order));
            }
        }
        Ok(())
    }

    async fn due(&self, now: Timestamp, max: usize) -> Result<Vec<OrderId>, StoreError> {
        let mut inner = self.inner.lock();
        let due: Vec<OrderId> = inner
            .by_time
            .iter()
            .take_while(|(at, _)| *at <= now)
            .take(max)
            .map(|(_, order)| *order)
            .collect();
        let lease = Duration::from_millis(LEASE_MS.unsigned_abs());
        for order in &due {
            inner.set(*order, now + lease);
        }
        Ok(due)
    }

    async fn next(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.inner.lock().by_time.first().map(|(at, _)| *at))
    }

    async fn count(&self) -> Result<u64, StoreError> {
        Ok(self.inner.lock().by_time.len() as u64)
    }
}
