//! One at a time: who changes the terms of sales, or tells the store of them.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{HeldLock, LockOwner, Locker, Locks, StoreError};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::Instant;

/// The lock that all instances of a mall share.
const NAME: &str = "sale-terms";
/// How long a turn outlives an instance that died in it.
const LEASE: Duration = Duration::from_secs(3);
/// How long a turn is waited for that another instance has: a call answers within 1.5 s.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long who goes through many sales keeps others waiting.
const LONGEST: Duration = Duration::from_millis(100);
/// By how much later a turn is free here than everywhere, if there is anybody elsewhere: they hear of it later, and have to
/// ask for it.
const HEAD_START: Duration = Duration::from_millis(3);

/// Gives turns: among the tasks of this mall, and among all instances of it.
pub(super) struct SaleTurns {
    here: Arc<Mutex<()>>,
    everywhere: Locker,
    head_start: Duration,
    /// This instance: a turn that it could not leave need not end by itself before its next one.
    owner: LockOwner,
}

/// A turn. It ends when this is dropped: everywhere first, and then here, so that an instance whose own tasks queue for it
/// lets others in between.
pub(super) struct Turn {
    since: Instant,
    held: Option<(HeldLock, OwnedMutexGuard<()>)>,
    head_start: Duration,
}

impl SaleTurns {
    pub(super) fn new(locks: Arc<dyn Locks>) -> Self {
        let head_start = if locks.are_shared() { HEAD_START } else { Duration::ZERO };
        Self { here: Arc::default(), everywhere: Locker::new(locks), head_start, owner: LockOwner::random() }
    }

    /// Waits for one's turn.
    pub(super) async fn next(&self) -> Result<Turn, StoreError> {
        let here = Arc::clone(&self.here).lock_owned().await;
        match self.everywhere.hold(NAME, self.owner, LEASE, PATIENCE).await? {
            Some(everywhere) => {
                let (since, held) = (Instant::now(), Some((everywhere, here)));
                Ok(Turn { since, held, head_start: self.head_start })
            }
            None => Err(lost("another instance is changing sales")),
        }
    }

    /// The same turn, or the next one if it has lasted long.
    pub(super) async fn go_on(&self, turn: Turn) -> Result<Turn, StoreError> {
        if turn.since.elapsed() < LONGEST {
            return Ok(turn);
        }
        drop(turn);
        self.next().await
    }
}

impl Turn {
    /// Whether it still is one's turn: not if this process was stopped for so long that another instance took the next.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let is_held = self.held.as_ref().is_some_and(|(everywhere, _)| everywhere.is_held());
        if is_held { Ok(()) } else { Err(lost("the turn to change sales was lost")) }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Without a runtime nobody here waits, and the lease has to end by itself.
        if let (Some((everywhere, here)), Ok(runtime)) = (self.held.take(), Handle::try_current()) {
            let head_start = self.head_start;
            runtime.spawn(async move {
                if let Err(error) = everywhere.leave().await {
                    tracing::warn!(%error, "a turn to change sales is left to the end of its lease");
                }
                // A timer is never shorter than a millisecond.
                if !head_start.is_zero() {
                    tokio::time::sleep(head_start).await;
                }
                drop(here);
            });
        }
    }
}

fn lost(why: &str) -> StoreError {
    StoreError::Unavailable { op: "sale turn", source: why.into() }
}

#[cfg(test)]
mod tests {
    use mallbox_storage::{EmbeddedOptions, Place, Storage};

    use super::*;

    #[tokio::test]
    async fn a_busy_instance_lets_others_in_between() {
        let dir = tempfile::tempdir().unwrap();
        let storage = Storage::open(&Place::Embedded(EmbeddedOptions::new(dir.path()))).await.unwrap();
        let instance = || {
            let turns = SaleTurns::new(Arc::clone(&storage.locks));
            Arc::new(SaleTurns { head_start: HEAD_START, ..turns })
        };
        let (busy, other) = (instance(), instance());
        for _ in 0..4 {
            let busy = Arc::clone(&busy);
            tokio::spawn(async move {
                loop {
                    let _turn = busy.next().await.unwrap();
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            });
        }
        for _ in 0..5 {
            tokio::time::sleep(Duration::from_millis(20)).await;
            other.next().await.unwrap().check().unwrap();
        }
    }
}
