//! The exclusive lease on the terms of sales: held while changing terms or putting them into the sales store.
//!
//! Reasons and figures: `src/decisions/0009-many-instances.md`, `storage/decisions/0034-fenced-terms.md`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use mallbox_storage::{Fenced, FencingToken, HeldLock, LockOwner, Locker, Locks, StoreError};
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

/// Grants the lease: among the tasks of this process, and among all instances of the mall.
pub(in crate::mall) struct TermsLease {
    /// Tasks of this process wait here for as long as necessary; [`ACQUIRE_TIMEOUT`] is for other instances.
    here: Arc<Mutex<()>>,
    locks: Arc<dyn Locks>,
    everywhere: Locker,
    seen: Arc<AtomicU64>,
}

/// The held lease.
pub(in crate::mall) struct HeldTermsLease {
    since: Instant,
    everywhere: HeldLock,
    /// Greatest token by which a store refused this process.
    seen: Arc<AtomicU64>,
    is_refused: AtomicBool,
    // Dropped last: the next task queues for a lock about to be released.
    _here: OwnedMutexGuard<()>,
}

impl TermsLease {
    pub(in crate::mall) fn new(locks: Arc<dyn Locks>) -> Self {
        let everywhere = Locker::new(Arc::clone(&locks));
        Self { here: Arc::default(), locks, everywhere, seen: Arc::default() }
    }

    /// Acquires the lease, waiting up to [`ACQUIRE_TIMEOUT`] for another instance.
    pub(in crate::mall) async fn next(&self) -> Result<HeldTermsLease, StoreError> {
        let here = Arc::clone(&self.here).lock_owned().await;
        let mut everywhere = self.hold().await?;
        let seen = FencingToken::new(self.seen.load(Ordering::SeqCst));
        if everywhere.token() <= seen {
            // The locks have lost their last token, and their clock is behind.
            tracing::warn!(token = %everywhere.token(), %seen, "raised the fencing token of sale terms");
            self.locks.raise(NAME, seen).await?;
            everywhere.leave().await?;
            everywhere = self.hold().await?;
        }
        Ok(HeldTermsLease {
            since: Instant::now(),
            everywhere,
            seen: Arc::clone(&self.seen),
            is_refused: AtomicBool::new(false),
            _here: here,
        })
    }

    /// Acquires the lock, as a new owner each time: every lease has a token of its own.
    async fn hold(&self) -> Result<HeldLock, StoreError> {
        let held = self.everywhere.hold(NAME, LockOwner::random(), LEASE, ACQUIRE_TIMEOUT).await?;
        held.ok_or_else(|| lost("another instance is changing sales"))
    }

    /// Returns the same lease, or a newly acquired lease if `lease` is [lost](HeldTermsLease::is_lost) or has
    /// been held for [`HOLD_MAX`].
    pub(in crate::mall) async fn renew_if_long(
        &self,
        lease: HeldTermsLease,
    ) -> Result<HeldTermsLease, StoreError> {
        if !lease.is_long() && !lease.is_lost() {
            return Ok(lease);
        }
        drop(lease);
        self.next().await
    }
}

impl HeldTermsLease {
    /// Returns the token, to be passed to every store that changes terms.
    pub(in crate::mall) fn token(&self) -> FencingToken {
        self.everywhere.token()
    }

    /// Returns whether the lease has been held for so long that others should get their turn.
    pub(in crate::mall) fn is_long(&self) -> bool {
        self.since.elapsed() >= HOLD_MAX
    }

    /// Returns whether the lease may be another instance's by now. A process stopped for longer than
    /// [`LEASE`] may lose the lease.
    pub(in crate::mall) fn is_lost(&self) -> bool {
        self.is_refused.load(Ordering::SeqCst) || !self.everywhere.is_held()
    }

    /// Fails if the lease [is lost](Self::is_lost).
    pub(in crate::mall) fn check(&self) -> Result<(), StoreError> {
        if self.is_lost() { Err(lost("lost the sale-terms lease")) } else { Ok(()) }
    }

    /// Returns the result of a fenced write; `None` if a later holder of the lease has written. The lease is
    /// [lost](Self::is_lost) then, and the token of the next lease is greater than the later holder's.
    pub(in crate::mall) fn accepted<T>(&self, outcome: Fenced<T>) -> Option<T> {
        match outcome {
            Fenced::Done(result) => Some(result),
            Fenced::Stale { seen } => {
                tracing::warn!(token = %self.token(), %seen, "refused a late write of sale terms");
                self.seen.fetch_max(seen.get(), Ordering::SeqCst);
                self.is_refused.store(true, Ordering::SeqCst);
                None
            }
        }
    }

    /// Returns the result of a fenced write that the caller can repeat under another lease.
    pub(in crate::mall) fn checked<T>(&self, outcome: Fenced<T>) -> Result<T, StoreError> {
        self.accepted(outcome).ok_or_else(|| lost("lost the sale-terms lease"))
    }
}

fn lost(why: &str) -> StoreError {
    StoreError::Unavailable { op: "sale turn", source: why.into() }
}

#[cfg(test)]
mod tests {

    use async_trait::async_trait;
    use mallbox_storage::locks::Waiters;
    use mallbox_storage::{LockEntry, LockOutcome};
    use mallbox_storage_embedded::EmbeddedOptions;

    use super::*;

    /// The first release has no effect.
    struct FirstLeaveFails(Arc<dyn Locks>, AtomicBool);

    #[async_trait]
    impl Locks for FirstLeaveFails {
        async fn enter(
            &self,
            name: &str,
            entry: LockEntry,
            lease: Duration,
        ) -> Result<LockOutcome, StoreError> {
            self.0.enter(name, entry, lease).await
        }

        async fn renew(&self, name: &str, owner: LockOwner, lease: Duration) -> Result<bool, StoreError> {
            self.0.renew(name, owner, lease).await
        }

        async fn leave(&self, name: &str, entry: LockEntry) -> Result<bool, StoreError> {
            if self.1.swap(true, Ordering::SeqCst) {
                self.0.leave(name, entry).await
            } else {
                Err(lost("away"))
            }
        }

        async fn raise(&self, name: &str, above: FencingToken) -> Result<(), StoreError> {
            self.0.raise(name, above).await
        }

        fn are_shared(&self) -> bool {
            self.0.are_shared()
        }

        fn waiters(&self) -> &Waiters {
            self.0.waiters()
        }
    }

    async fn locks(dir: &tempfile::TempDir) -> Arc<dyn Locks> {
        mallbox_storage_embedded::open(EmbeddedOptions::new(dir.path())).await.unwrap().base.locks
    }

    #[tokio::test]
    async fn a_busy_instance_lets_others_in_between() {
        let dir = tempfile::tempdir().unwrap();
        let locks = locks(&dir).await;
        let instance = || Arc::new(TermsLease::new(Arc::clone(&locks)));
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

    #[tokio::test]
    async fn a_failed_release_is_repeated_before_the_next_lease() {
        let dir = tempfile::tempdir().unwrap();
        let leases = TermsLease::new(Arc::new(FirstLeaveFails(locks(&dir).await, AtomicBool::new(false))));
        let first = leases.next().await.unwrap();
        let token = first.token();
        drop(first);
        // Otherwise the lock would be busy until the end of the first lease.
        assert!(leases.next().await.unwrap().token() > token);
    }

    #[tokio::test]
    async fn a_token_below_the_stores_is_raised_by_the_next_lease() {
        let dir = tempfile::tempdir().unwrap();
        let leases = TermsLease::new(locks(&dir).await);
        let lease = leases.next().await.unwrap();
        let seen = FencingToken::new(lease.token().get() + 1_000_000);
        assert_eq!(lease.accepted(Fenced::<()>::Stale { seen }), None);
        lease.check().unwrap_err();
        let next = leases.renew_if_long(lease).await.unwrap();
        assert!(next.token() > seen && !next.is_lost(), "{} after {seen}", next.token());
        drop(next);
        let later = leases.next().await.unwrap();
        assert!(later.token().get() < seen.get() + 10, "raised once: {} after {seen}", later.token());
    }
}
