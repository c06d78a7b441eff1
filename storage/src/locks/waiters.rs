//! Waiters of a process, by lock name.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Registry of waiters by lock name. Cheap to clone; clones share the registry.
#[derive(Clone, Debug, Default)]
pub struct Waiters {
    by_name: Arc<Mutex<HashMap<String, Arc<Notify>>>>,
}

/// Registration of a waiter; ends on drop.
#[derive(Debug)]
pub struct Waiter {
    waiters: Waiters,
    name: String,
    notify: Arc<Notify>,
}

impl Waiters {
    /// Registers a waiter for a lock. Every release after the registration wakes a waiter, so a caller who
    /// registers first and then finds the lock busy misses no release.
    #[must_use]
    pub fn register(&self, name: &str) -> Waiter {
        let notify = Arc::clone(self.by_name.lock().entry(name.to_owned()).or_default());
        Waiter { waiters: self.clone(), name: name.to_owned(), notify }
    }

    /// Wakes a single waiter of the lock.
    pub fn wake_one(&self, name: &str) {
        if let Some(notify) = self.by_name.lock().get(name) {
            notify.notify_one();
        }
    }

    /// Wakes one waiter of every lock, after messages may have been missed.
    pub fn wake_all(&self) {
        self.by_name.lock().values().for_each(|notify| notify.notify_one());
    }
}

impl Waiter {
    /// Waits for a wake-up, at most for `at_most`.
    pub async fn wait(&self, at_most: Duration) {
        // In both cases the caller tries to acquire the lock next.
        let _ = tokio::time::timeout(at_most, self.notify.notified()).await;
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut by_name = self.waiters.by_name.lock();
        // The last two references: the registry's and the waiter's own.
        if Arc::strong_count(&self.notify) == 2 {
            by_name.remove(&self.name);
        }
    }
}
