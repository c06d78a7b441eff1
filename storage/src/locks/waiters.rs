//! Waiters of a process, by lock name.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedMutexGuard};

/// Registry of waiters by lock name. Cheap to clone; clones share the registry.
#[derive(Clone, Debug, Default)]
pub struct Waiters {
    by_name: Arc<Mutex<HashMap<String, Arc<Queue>>>>,
}

/// Local callers of a lock.
#[derive(Debug, Default)]
struct Queue {
    released: Notify,
    /// Held by the caller whose turn has come. Waiters get the mutex in the order of asking.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// Registration of a waiter; ends on drop.
#[derive(Debug)]
pub struct Waiter {
    waiters: Waiters,
    name: String,
    queue: Arc<Queue>,
}

/// The turn of a local caller; passes to the next caller on drop.
pub(super) struct Turn {
    // Dropped before the registration, so that the next caller finds the same queue.
    _guard: OwnedMutexGuard<()>,
    waiter: Waiter,
}

impl Waiters {
    /// Registers a waiter for a lock. Every release after the registration wakes a waiter, so a caller who
    /// registers first and then finds the lock busy misses no release.
    #[must_use]
    pub fn register(&self, name: &str) -> Waiter {
        let queue = Arc::clone(self.by_name.lock().entry(name.to_owned()).or_default());
        Waiter { waiters: self.clone(), name: name.to_owned(), queue }
    }

    /// Wakes a single waiter of the lock.
    pub fn wake_one(&self, name: &str) {
        if let Some(queue) = self.by_name.lock().get(name) {
            queue.released.notify_one();
        }
    }

    /// Wakes one waiter of every lock, after messages may have been missed.
    pub fn wake_all(&self) {
        self.by_name.lock().values().for_each(|queue| queue.released.notify_one());
    }
}

impl Waiter {
    /// Waits for a wake-up, at most for `at_most`.
    pub async fn wait(&self, at_most: Duration) {
        // In both cases the caller tries to acquire the lock next.
        let _ = tokio::time::timeout(at_most, self.queue.released.notified()).await;
    }

    /// Waits for the turn. The first poll joins the queue.
    pub(super) async fn turn(self) -> Turn {
        let guard = Arc::clone(&self.queue.turn).lock_owned().await;
        Turn { _guard: guard, waiter: self }
    }
}

impl Turn {
    /// Returns the registration of the caller whose turn it is.
    pub(super) fn waiter(&self) -> &Waiter {
        &self.waiter
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut by_name = self.waiters.by_name.lock();
        // The last two references: the registry's and the waiter's own.
        if Arc::strong_count(&self.queue) == 2 {
            by_name.remove(&self.name);
        }
    }
}
