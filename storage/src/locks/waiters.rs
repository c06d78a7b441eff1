//! Who waits in this process for which lock.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Waiters by the name of their lock. Cheap to clone; clones are one list.
#[derive(Clone, Debug, Default)]
pub struct Waiters {
    by_name: Arc<Mutex<HashMap<String, Arc<Notify>>>>,
}

/// One who waits, from now until it is dropped.
#[derive(Debug)]
pub struct Waiter {
    waiters: Waiters,
    name: String,
    told: Arc<Notify>,
}

impl Waiters {
    /// Whoever looks at the lock after this, and finds it busy, is told when it is freed.
    #[must_use]
    pub fn register(&self, name: &str) -> Waiter {
        let told = Arc::clone(self.by_name.lock().entry(name.to_owned()).or_default());
        Waiter { waiters: self.clone(), name: name.to_owned(), told }
    }

    /// Tells one who waits for this lock.
    pub(crate) fn tell_one(&self, name: &str) {
        if let Some(told) = self.by_name.lock().get(name) {
            told.notify_one();
        }
    }

    /// Tells one of each lock, since it is not known what was missed.
    pub(crate) fn tell_all(&self) {
        self.by_name.lock().values().for_each(|told| told.notify_one());
    }
}

impl Waiter {
    /// Returns when told, or when `at_most` is over.
    pub async fn told(&self, at_most: Duration) {
        // Either way the lock is tried next.
        let _ = tokio::time::timeout(at_most, self.told.notified()).await;
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut by_name = self.waiters.by_name.lock();
        // The list's own, and this one.
        if Arc::strong_count(&self.told) == 2 {
            by_name.remove(&self.name);
        }
    }
}
