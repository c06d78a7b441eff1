//! Locks of one process, by user.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

/// Locks of one process, by user: `synchronized (userId.toString().intern())` of the tutorials.
#[derive(Debug, Default)]
pub(super) struct UserLocks {
    locks: Mutex<HashMap<i64, Arc<tokio::sync::Mutex<()>>>>,
}

impl UserLocks {
    /// Waits for the lock of a user.
    pub(super) async fn lock(&self, user: i64) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(locks.entry(user).or_default())
        };
        lock.lock_owned().await
    }
}
