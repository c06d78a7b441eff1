//! Holding a lock for the duration of a piece of work.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::waiters::Turn;
use super::{FencingToken, LockEntry, LockOutcome, LockOwner, Locks};
use crate::StoreError;

/// Polling interval of a waiter without wake-ups, since wake-up messages may be lost.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Delay between a release and the next local turn, if other processes compete. They learn of a release by a
/// message and then have to ask, which takes about a millisecond.
const HEAD_START: Duration = Duration::from_millis(3);

/// Acquires locks and renews their leases.
///
/// # Fairness
///
/// - **Within a process**, the callers of [`hold`](Self::hold) get a lock in the order of asking, across all
///   lockers over the same [`Locks`]: of `n` waiting callers, each waits for at most `n - 1` local holders. A
///   caller who asks again right after a release queues behind all who wait. An owner who holds the lock
///   enters again past the queue.
/// - **Between processes**, a released lock goes to the first to ask. A release wakes the first caller of
///   each process, and the process that released asks again 3 ms later. So no process keeps a lock that
///   others wait for, unless they take longer than the 3 ms to ask. There is no order among the others and no
///   upper bound: with `p` processes waiting, each release is a draw among `p - 1`.
/// - A caller whose patience ends leaves the queue, and delays nobody.
/// - A holder that died, or is stopped, keeps the lock until the end of its lease, and so does a holder of
///   this process whose lease cannot be renewed.
pub struct Locker {
    locks: Arc<dyn Locks>,
    entries: AtomicU64,
    left_behind: Arc<LeftBehind>,
}

/// Entries whose release failed. Left before the next acquisition, since an owner who enters again would
/// otherwise extend a lease that no release ends.
#[derive(Default)]
struct LeftBehind(Mutex<Vec<(String, LockEntry)>>);

impl LeftBehind {
    fn add(&self, name: &str, entry: LockEntry) {
        self.0.lock().push((name.to_owned(), entry));
    }

    fn take(&self, name: &str) -> Vec<LockEntry> {
        self.0.lock().extract_if(.., |(of, _)| of == name).map(|(_, entry)| entry).collect()
    }
}

impl Locker {
    /// Creates a locker over `locks`. An owner must use a single locker, which numbers the owner's entries.
    #[must_use]
    pub fn new(locks: Arc<dyn Locks>) -> Self {
        Self { locks, entries: AtomicU64::new(0), left_behind: Arc::default() }
    }

    /// Acquires the lock, waiting up to `patience` (real time; zero = one attempt). `None` if another owner
    /// still holds the lock then, or other callers of this process are before this one.
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
        let mut turn = pin!(self.locks.waiters().register(name).turn());
        let first_poll = std::future::poll_fn(|context| Poll::Ready(turn.as_mut().poll(context)));
        let turn = match first_poll.await {
            Poll::Ready(turn) => Some(turn),
            // An owner who holds the lock would wait for callers who wait for this owner.
            Poll::Pending if self.locks.renew(name, owner, lease).await? => None,
            Poll::Pending => match tokio::time::timeout_at(until, turn).await {
                Ok(turn) => Some(turn),
                Err(_) => return Ok(None),
            },
        };
        self.leave_behind(name).await?;
        self.enter(name, owner, lease, (turn, until)).await
    }

    /// Leaves entries whose release failed.
    async fn leave_behind(&self, name: &str) -> Result<(), StoreError> {
        for entry in self.left_behind.take(name) {
            if let Err(error) = self.locks.leave(name, entry).await {
                self.left_behind.add(name, entry);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Competes with other processes. The lock keeps the turn until the release.
    async fn enter(
        &self,
        name: &str,
        owner: LockOwner,
        lease: Duration,
        (mut turn, until): (Option<Turn>, Instant),
    ) -> Result<Option<HeldLock>, StoreError> {
        let entry = LockEntry { owner, number: self.entries.fetch_add(1, Ordering::Relaxed) };
        loop {
            // Leaves the lock if the call acquired the lock but the response never arrived.
            let mut guard = LeaveGuard {
                locks: Arc::clone(&self.locks),
                left_behind: Arc::clone(&self.left_behind),
                name: name.to_owned(),
                entry,
                turn: SharedTurn::default(),
                is_armed: true,
            };
            let asked = Instant::now();
            match self.locks.enter(name, entry, lease).await? {
                LockOutcome::Held(token) => {
                    guard.turn = Arc::new(Mutex::new(turn));
                    return Ok(Some(HeldLock::new(guard, token, lease, asked)));
                }
                LockOutcome::Busy { left } => {
                    guard.is_armed = false;
                    let now = Instant::now();
                    if now >= until {
                        return Ok(None);
                    }
                    let at_most = (until - now).min(left).min(POLL_INTERVAL);
                    match &turn {
                        Some(turn) => turn.waiter().wait(at_most).await,
                        // The owner's lease ended after the check: one caller beside the queue, once.
                        None => turn = Some(self.locks.waiters().register(name).turn().await),
                    }
                }
            }
        }
    }
}

/// Drop guard: leaves the lock unless disarmed.
struct LeaveGuard {
    locks: Arc<dyn Locks>,
    left_behind: Arc<LeftBehind>,
    name: String,
    entry: LockEntry,
    turn: SharedTurn,
    is_armed: bool,
}

/// The turn of a holder among local callers, until the lock is left or lost. Empty for an owner who entered
/// again.
type SharedTurn = Arc<Mutex<Option<Turn>>>;

/// Passes the turn to the next local caller, after other processes had theirs.
async fn pass_on(turn: Option<Turn>, locks: &dyn Locks) {
    // Skips a zero delay: timers last at least a millisecond.
    if turn.is_some() && locks.are_shared() {
        tokio::time::sleep(HEAD_START).await;
    }
    drop(turn);
}

impl Drop for LeaveGuard {
    fn drop(&mut self) {
        if !std::mem::take(&mut self.is_armed) {
            return;
        }
        // Without a runtime, the lock stays held until the lease expires.
        if let Ok(runtime) = Handle::try_current() {
            let (locks, left_behind) = (Arc::clone(&self.locks), Arc::clone(&self.left_behind));
            let (name, entry, turn) = (std::mem::take(&mut self.name), self.entry, self.turn.lock().take());
            runtime.spawn(async move {
                if let Err(error) = locks.leave(&name, entry).await {
                    left_behind.add(&name, entry);
                    tracing::warn!(lock = %name, %error, "could not release the lock; its lease will expire");
                }
                pass_on(turn, &*locks).await;
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
            turn: Arc::clone(&guard.turn),
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
        // If the future is dropped before the call ends, the guard leaves the lock.
        self.guard.is_armed = false;
        if left.is_err() {
            self.guard.left_behind.add(&self.guard.name, self.guard.entry);
        }
        let (turn, locks) = (self.guard.turn.lock().take(), Arc::clone(&self.guard.locks));
        if locks.are_shared() {
            tokio::spawn(async move { pass_on(turn, &*locks).await });
        }
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
    turn: SharedTurn,
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
                    self.turn.lock().take();
                    tracing::warn!(lock = %self.name, "lost the lock: its lease expired before the renewal");
                    return;
                }
                // Two more attempts fit before the lease ends.
                Err(error) => {
                    tracing::warn!(lock = %self.name, %error, "could not renew the lease");
                    if *self.certain_until.lock() <= Instant::now() {
                        // Others of this process may compete like everybody.
                        self.turn.lock().take();
                    }
                }
            }
        }
    }
}
