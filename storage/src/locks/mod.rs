//! Named locks shared by instances: leases with fencing tokens.

mod fenced;
mod holding;
mod waiters;

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use async_trait::async_trait;

pub use fenced::Fenced;
pub use holding::{HeldLock, Locker};
pub use waiters::{Waiter, Waiters};

use crate::StoreError;

/// Identity of a lock owner: one task doing one piece of work. The number must be unique among all owners, so
/// draw it at random or from a counter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LockOwner(u128);

impl LockOwner {
    /// Wraps the owner's number.
    #[must_use]
    pub const fn new(number: u128) -> Self {
        Self(number)
    }

    /// Returns a unique owner, drawn from the standard library's random hash seeds.
    #[must_use]
    pub fn random() -> Self {
        let half = || u128::from(RandomState::new().hash_one("lock owner"));
        Self(half() << 64 | half())
    }

    /// Returns the wrapped number.
    #[must_use]
    pub const fn get(self) -> u128 {
        self.0
    }
}

/// One acquisition of a lock. Locks are reentrant: an owner may hold several entries, each under another
/// number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LockEntry {
    /// The owner acquiring the lock.
    pub owner: LockOwner,
    /// Number of the acquisition, counted by the owner.
    pub number: u64,
}

/// Fencing token: rises with every new holder of a lock, for ever. A resource guarded by the lock stores the
/// greatest token seen and refuses smaller ones, whose holders were stalled past the end of their lease.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FencingToken(u64);

impl FencingToken {
    /// Wraps the token's number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the wrapped number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for FencingToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Outcome of an attempt to acquire a lock.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockOutcome {
    /// The owner holds the lock, under this fencing token.
    Held(FencingToken),
    /// Another owner holds the lock.
    Busy {
        /// Time until the lease ends, unless renewed.
        left: Duration,
    },
}

/// Named leases, reentrant and fenced.
///
/// - **Mutual exclusion.** A lock has one owner at a time, until the lease ends or the owner has left as
///   often as entered. Leases run on real time, by the clock of the store, which all instances share.
/// - **Reentrant.** An owner who holds a lock can enter again, under the same token. Entering again never
///   shortens the lease.
/// - **Fencing.** Each new holder gets a token greater than every earlier token of the name, across crashes
///   and restarts.
/// - **Idempotent.** `enter` and `leave` are idempotent by [`LockEntry`]: a repeated `enter` counts once, and
///   a repeated `leave` changes nothing.
/// - A holder stalled past the end of its lease does not notice. Only the fencing token can stop its later
///   writes.
///
/// - **Fairness.** A free lock goes to the first `enter`. [`Locker`] queues the callers of a process.
///
/// [`Locker`] renews leases, waits in turn, and leaves when its guard is dropped.
#[async_trait]
pub trait Locks: Send + Sync {
    /// Tries to acquire a lock, or to enter it again, without waiting.
    ///
    /// # Errors
    /// Any [`StoreError`]: the outcome is in doubt. If the lock was acquired, the end of the lease frees it.
    async fn enter(&self, name: &str, entry: LockEntry, lease: Duration) -> Result<LockOutcome, StoreError>;

    /// Extends the lease to at least `lease` from now if the owner still holds the lock. Returns whether the
    /// owner does.
    ///
    /// # Errors
    /// Any [`StoreError`]: the lease may end at its former time.
    async fn renew(&self, name: &str, owner: LockOwner, lease: Duration) -> Result<bool, StoreError>;

    /// Leaves a lock. Returns whether the owner had entered under this entry; if not, nothing changed.
    ///
    /// # Errors
    /// Any [`StoreError`]: the outcome is in doubt; at the latest, the end of the lease frees the lock.
    async fn leave(&self, name: &str, entry: LockEntry) -> Result<bool, StoreError>;

    /// Makes every token issued from now on greater than `above`. A lock held now keeps its token. A repeat
    /// changes nothing.
    ///
    /// For a guarded resource that remembers a greater token than the locks do: servers may lose the last
    /// token while their clock is behind, and the resource would refuse every holder until then.
    ///
    /// # Errors
    /// Any [`StoreError`]: later tokens may be smaller; call again.
    async fn raise(&self, name: &str, above: FencingToken) -> Result<(), StoreError>;

    /// Returns whether other processes may compete for the locks.
    fn are_shared(&self) -> bool;

    /// Returns the waiters of this process. A waiter is woken when its lock may be free. Wake-ups are a hint
    /// only: messages between processes can be lost.
    fn waiters(&self) -> &Waiters;
}
