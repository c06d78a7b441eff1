//! The exclusive lease on the terms of sales: held while changing terms or putting them into the sales store.
//!
//! Reasons and figures: `src/decisions/0009-many-instances.md`.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{HeldLock, LockOwner, Locker, Locks, StoreError};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::Instant;

/// Lock name shared by all instances of a mall.
const NAME: &str = "sale-terms";
/// Lease time: how long a lease outlives an instance that died while holding it.
const LEASE: Duration = Duration::from_secs(3);
/// Longest wait for a lease held by another instance. A request must get its response within 1.5 s.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest time for which a holder visiting many sales keeps others waiting.
const HOLD_MAX: Duration = Duration::from_millis(100);
/// Delay before local waiters may re-acquire, if other instances exist. Remote instances learn of a release
/// later and have to poll for the lease.
const LOCAL_REACQUIRE_DELAY: Duration = Duration::from_millis(3);

/// Grants the lease: among the tasks of this process, and among all instances of the mall.
pub(in crate::mall) struct TermsLease {
    here: Arc<Mutex<()>>,
    everywhere: Locker,
    head_start: Duration,
    /// Lock owner id of this instance. A lease left behind by a failed release does not block its owner's
    /// next acquisition.
    owner: LockOwner,
}

/// The held lease. Dropping releases the shared lock first and the local lock afterwards, so that an instance
/// with many waiting tasks lets other instances in between.
pub(in crate::mall) struct HeldTermsLease {
    since: Instant,
    held: Option<(HeldLock, OwnedMutexGuard<()>)>,
    head_start: Duration,
}

impl TermsLease {
    pub(in crate::mall) fn new(locks: Arc<dyn Locks>) -> Self {
        let head_start = if locks.are_shared() { LOCAL_REACQUIRE_DELAY } else { Duration::ZERO };
        Self { here: Arc::default(), everywhere: Locker::new(locks), head_start, owner: LockOwner::random() }
    }

    /// Acquires the lease, waiting up to [`ACQUIRE_TIMEOUT`] for another instance.
    pub(in crate::mall) async fn next(&self) -> Result<HeldTermsLease, StoreError> {
        let here = Arc::clone(&self.here).lock_owned().await;
        match self.everywhere.hold(NAME, self.owner, LEASE, ACQUIRE_TIMEOUT).await? {
            Some(everywhere) => {
                let (since, held) = (Instant::now(), Some((everywhere, here)));
                Ok(HeldTermsLease { since, held, head_start: self.head_start })
            }
            None => Err(lost("another instance is changing sales")),
        }
    }

    /// Returns the same lease, or a newly acquired lease if `lease` has been held for [`HOLD_MAX`].
    pub(in crate::mall) async fn renew_if_long(
        &self,
        lease: HeldTermsLease,
    ) -> Result<HeldTermsLease, StoreError> {
        if !lease.is_long() {
            return Ok(lease);
        }
        drop(lease);
        self.next().await
    }
}

impl HeldTermsLease {
    /// Returns whether the lease has been held for so long that others should get their turn.
    pub(in crate::mall) fn is_long(&self) -> bool {
        self.since.elapsed() >= HOLD_MAX
    }

    /// Fails if the lease was lost. A process stopped for longer than [`LEASE`] may lose the lease to another
    /// instance.
    pub(in crate::mall) fn check(&self) -> Result<(), StoreError> {
        let is_held = self.held.as_ref().is_some_and(|(everywhere, _)| everywhere.is_held());
        if is_held { Ok(()) } else { Err(lost("lost the sale-terms lease")) }
    }
}

impl Drop for HeldTermsLease {
    fn drop(&mut self) {
        // Without a runtime no local task waits, and the lease expires by itself.
        if let (Some((everywhere, here)), Ok(runtime)) = (self.held.take(), Handle::try_current()) {
            let head_start = self.head_start;
            runtime.spawn(async move {
                if let Err(error) = everywhere.leave().await {
                    tracing::warn!(%error, "could not release the sale-terms lease; it expires by itself");
                }
                // Skips a zero delay: timers last at least a millisecond.
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

    use mallbox_storage_embedded::EmbeddedOptions;

    use super::*;

    #[tokio::test]
    async fn a_busy_instance_lets_others_in_between() {
        let dir = tempfile::tempdir().unwrap();
        let storage = mallbox_storage_embedded::open(EmbeddedOptions::new(dir.path())).await.unwrap();
        let instance = || {
            let terms_lease = TermsLease::new(Arc::clone(&storage.base.locks));
            Arc::new(TermsLease { head_start: LOCAL_REACQUIRE_DELAY, ..terms_lease })
        };
        let (busy, other) = (instance(), instance());
        for _ in 0..4 {
            let busy = Arc::clone(&busy);
            tokio::spawn(async move {
                loop {
                    let _lease = busy.next().await.unwrap();
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
