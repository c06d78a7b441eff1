//! Holding a lock for as long as a piece of work takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::{FencingToken, LockAnswer, LockEntry, LockOwner, Locks, Waiter};
use crate::StoreError;

/// How long one who waits goes without a look, when nobody tells it anything: messages may be lost.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Takes locks and keeps them.
pub struct Locker {
    locks: Arc<dyn Locks>,
    entries: AtomicU64,
}

impl Locker {
    /// A locker over these locks. An owner uses one locker.
    #[must_use]
    pub fn new(locks: Arc<dyn Locks>) -> Self {
        Self { locks, entries: AtomicU64::new(0) }
    }

    /// Takes the lock, waiting for it up to `patience` (real time; zero = one look). `None` if it still is another
    /// owner's then.
    ///
    /// The lease is renewed every third of its length for as long as the guard lives; it ends by itself when the process
    /// does.
    ///
    /// # Errors
    /// [`StoreError`]: the lock was not taken, or is free again at the end of the lease.
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
            // Leaves what a call took of which no answer came.
            let guard =
                Leaving { locks: Arc::clone(&self.locks), name: name.to_owned(), entry, is_armed: true };
            let asked = Instant::now();
            match self.locks.enter(name, entry, lease).await? {
                LockAnswer::Held(token) => return Ok(Some(HeldLock::new(guard, token, lease, asked))),
                LockAnswer::Busy { left } => {
                    guard.disarm();
                    let now = Instant::now();
                    if now >= until {
                        return Ok(None);
                    }
                    match &waiter {
                        Some(waiter) => waiter.told((until - now).min(left).min(LOOK_EVERY)).await,
                        // Looks once more, since the lock may have been freed before this.
                        None => waiter = Some(self.locks.waiters().register(name)),
                    }
                }
            }
        }
    }
}

/// Leaves a lock when it is dropped.
struct Leaving {
    locks: Arc<dyn Locks>,
    name: String,
    entry: LockEntry,
    is_armed: bool,
}

impl Leaving {
    fn disarm(mut self) {
        self.is_armed = false;
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if !std::mem::take(&mut self.is_armed) {
            return;
        }
        // Without a runtime the lease has to end by itself.
        if let Ok(runtime) = Handle::try_current() {
            let (locks, name, entry) = (Arc::clone(&self.locks), std::mem::take(&mut self.name), self.entry);
            runtime.spawn(async move {
                if let Err(error) = locks.leave(&name, entry).await {
                    tracing::warn!(lock = %name, %error, "a lock is left to the end of its lease");
                }
            });
        }
    }
}

/// A lock that is held. Leaves it when dropped.
pub struct HeldLock {
    guard: Leaving,
    token: FencingToken,
    /// Until when the lock certainly is this owner's; moved by the watchdog.
    certain_until: Arc<Mutex<Instant>>,
    watchdog: AbortHandle,
}

impl HeldLock {
    fn new(guard: Leaving, token: FencingToken, lease: Duration, asked: Instant) -> Self {
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

    /// What to show to whatever is guarded by the lock.
    #[must_use]
    pub fn token(&self) -> FencingToken {
        self.token
    }

    /// Whether the lock certainly is still held, as far as this process' clock can tell. What must not be done twice asks
    /// for the token as well.
    #[must_use]
    pub fn is_held(&self) -> bool {
        Instant::now() < *self.certain_until.lock()
    }

    /// Leaves the lock. Answers whether it still was this owner's.
    ///
    /// # Errors
    /// [`StoreError`]: it is free at the end of its lease.
    pub async fn leave(mut self) -> Result<bool, StoreError> {
        self.watchdog.abort();
        let left = self.guard.locks.leave(&self.guard.name, self.guard.entry).await;
        // A call that failed is not made again; one that was given up is, by the guard.
        self.guard.is_armed = false;
        left
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        self.watchdog.abort();
    }
}

/// Renews a lease until it is aborted, or the lock is lost.
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
                    tracing::warn!(lock = %self.name, "a lock was lost: its lease ended before it was renewed");
                    return;
                }
                // There is time for another try before the lease ends.
                Err(error) => tracing::warn!(lock = %self.name, %error, "a lock could not be renewed"),
            }
        }
    }
}
