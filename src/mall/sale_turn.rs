//! One at a time: who changes the terms of sales, or tells the store of them.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{HeldLock, LockOwner, Locker, Locks, StoreError};
use tokio::sync::{Mutex, MutexGuard};

/// The lock that all instances of a mall share.
const NAME: &str = "sale-terms";
/// How long a turn outlives an instance that died in it.
const LEASE: Duration = Duration::from_secs(3);
/// How long a turn is waited for that another instance has: a call answers within 1.5 s.
const PATIENCE: Duration = Duration::from_secs(1);

/// Gives turns: among the tasks of this mall, and among all instances of it.
pub(super) struct SaleTurns {
    here: Mutex<()>,
    everywhere: Locker,
    /// This instance. It may be given the next turn before it has told the store that it left the last one.
    owner: LockOwner,
}

/// A turn. It ends when this is dropped.
pub(super) struct Turn<'a> {
    // Dropped first: who comes next here finds the lock left, or about to be.
    everywhere: HeldLock,
    _here: MutexGuard<'a, ()>,
}

impl SaleTurns {
    pub(super) fn new(locks: Arc<dyn Locks>) -> Self {
        Self { here: Mutex::default(), everywhere: Locker::new(locks), owner: LockOwner::random() }
    }

    /// Waits for one's turn.
    pub(super) async fn next(&self) -> Result<Turn<'_>, StoreError> {
        let here = self.here.lock().await;
        match self.everywhere.hold(NAME, self.owner, LEASE, PATIENCE).await? {
            Some(everywhere) => Ok(Turn { everywhere, _here: here }),
            None => Err(lost("another instance is changing sales")),
        }
    }
}

impl Turn<'_> {
    /// Whether it still is one's turn: not if this process was stopped for so long that another instance took the next.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if self.everywhere.is_held() { Ok(()) } else { Err(lost("the turn to change sales was lost")) }
    }
}

fn lost(why: &str) -> StoreError {
    StoreError::Unavailable { op: "sale turn", source: why.into() }
}
