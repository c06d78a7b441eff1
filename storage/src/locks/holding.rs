//! Holding a lock for the duration of a piece of work.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::{FencingToken, LockEntry, LockOutcome, LockOwner, Locks, Waiter};
use crate::StoreError;

/// Polling interval of a waiter without wake-ups, since wake-up messages may be lost.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Acquires locks and renews their leases.
pub struct Locker {
    locks: Arc<dyn Locks>,
    entries: AtomicU64,
}

impl Locker {
    /// Creates a locker over `locks`. An owner must use a single locker, which numbers the owner's entries.
    #[must_use]
    pub fn new(locks: Arc<dyn Locks>) -> Self {
        Self { locks, entries: AtomicU64::new(0) }
    }

    /// Acquires the lock, waiting up to `patience` (real time; zero = one attempt). `None` if another owner
    /// still holds the lock then.
    ///
    /// A watchdog renews the lease every third of its length while the guard lives. If the process dies, the
    /// lease expires.
    ///
    /// # Errors
    /// Any [`StoreError`]: the lock was not acquired, or the end of the lease frees it.
    pub async fn hold(
        &self,
        name: &str,
        owner: LockOwner,
        lease: Duration,
        patience: Duration,
    ) -> Result<Option<HeldLock>, StoreError> {
        let until = Instant::now() + patience;
        let entry = LockEntry { owner, number: self.entries.fetch_add(1, Ordering::Relaxed) };
        let mut waiter: Option<Waiter> = None;
        loop {
            // Leaves the lock if the call acquired the lock but the response never arrived.
            let guard =
                LeaveGuard { locks: Arc::clone(&self.locks), name: name.to_owned(), entry, is_armed: true };
            let asked = Instant::now();
            match self.locks.enter(name, entry, lease).await? {
                LockOutcome::Held(token) => return Ok(Some(HeldLock::new(guard, token, lease, asked))),
                LockOutcome::Busy { left } => {
                    guard.disarm();
                    let now = Instant::now();
                    if now >= until {
                        return Ok(None);
                    }
                    match &waiter {
                        Some(waiter) => waiter.wait((until - now).min(left).min(POLL_INTERVAL)).await,
                        // Tries again after registering, since the lock may have become free in between.
                        None => waiter = Some(self.locks.waiters().register(name)),
                    }
                }
            }
        }
    }
}

/// Drop guard: leaves the lock unless disarmed.
struct LeaveGuard {
    locks: Arc<dyn Locks>,
    name: String,
    entry: LockEntry,
    is_armed: bool,
}

impl LeaveGuard {
    fn disarm(mut self) {
        self.is_armed = false;
    }
}

impl Drop for LeaveGuard {
    fn drop(&mut self) {
        if !std::mem::take(&mut self.is_armed) {
            return;
        }
        // Without a runtime, the lock stays held until the lease expires.
        if let Ok(runtime) = Handle::try_current() {
            let (locks, name, entry) = (Arc::clone(&self.locks), std::mem::take(&mut self.name), self.entry);
            runtime.spawn(async move {
                if let Err(error) = locks.leave(&name, entry).await {
                    tracing::warn!(lock = %name, %error, "could not release the lock; its lease will expire");
                }
            });
        }
    }
}

/// A held lock. Leaves the lock on drop.
pub struct HeldLock {
    guard: LeaveGuard,
    token: FencingToken,
    /// Instant until which the lock is certainly held; extended by the watchdog.
    certain_until: Arc<Mutex<Instant>>,
    watchdog: AbortHandle,
}

impl HeldLock {
    fn new(guard: LeaveGuard, token: FencingToken, lease: Duration, asked: Instant) -> Self {
        let certain_until = Arc::new(Mutex::new(asked + lease));
        let watchdog = Watchdog {
            locks: Arc::clone(&guard.locks),
            name: guard.name.clone(),
            owner: guard.entry.owner,
            lease,
            certain_until: Arc::clone(&certain_until),
        };
        let watchdog = tokio::spawn(watchdog.run()).abort_handle();
        Self { guard, token, certain_until, watchdog }
    }

    /// Returns the fencing token, to be passed to the resource that the lock guards.
    #[must_use]
    pub fn token(&self) -> FencingToken {
        self.token
    }

    /// Returns whether the lock is certainly still held, as far as this process's clock can tell. Work that
    /// must not run twice has to check the fencing token as well.
    #[must_use]
    pub fn is_held(&self) -> bool {
        Instant::now() < *self.certain_until.lock()
    }

    /// Leaves the lock. Returns whether this owner still held it.
    ///
    /// # Errors
    /// Any [`StoreError`]: the end of the lease frees the lock.
    pub async fn leave(mut self) -> Result<bool, StoreError> {
        self.watchdog.abort();
        let left = self.guard.locks.leave(&self.guard.name, self.guard.entry).await;
        // A failed call is not retried. If the future is dropped before the call ends, the guard leaves the
        // lock.
        self.guard.is_armed = false;
        left
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        self.watchdog.abort();
    }
}

/// Renews the lease until aborted, or until the lock is lost.
struct Watchdog {
    locks: Arc<dyn Locks>,
    name: String,
    owner: LockOwner,
    lease: Duration,
    certain_until: Arc<Mutex<Instant>>,
}

impl Watchdog {
    async fn run(self) {
        loop {
            tokio::time::sleep(self.lease / 3).await;
            let asked = Instant::now();
            match self.locks.renew(&self.name, self.owner, self.lease).await {
                Ok(true) => *self.certain_until.lock() = asked + self.lease,
                Ok(false) => {
                    *self.certain_until.lock() = asked;
                    tracing::warn!(lock = %self.name, "lost the lock: its lease expired before the renewal");
                    return;
                }
                // Another attempt fits before the lease ends.
                Err(error) => tracing::warn!(lock = %self.name, %error, "could not renew the lease"),
            }
        }
    }
}
