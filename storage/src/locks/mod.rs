//! Named locks that instances share.

mod holding;
mod waiters;

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use async_trait::async_trait;

pub use holding::{HeldLock, Locker};
pub use waiters::{Waiter, Waiters};

use crate::StoreError;

/// Who takes locks: one task, one piece of work. Nobody else may have the same number, so it is drawn at random or
/// counted by whoever draws.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LockOwner(u128);

impl LockOwner {
    /// Wraps the number.
    #[must_use]
    pub const fn new(number: u128) -> Self {
        Self(number)
    }

    /// An owner that nobody else is, from the seeds that the standard library draws from the system.
    #[must_use]
    pub fn random() -> Self {
        let half = || u128::from(RandomState::new().hash_one("lock owner"));
        Self(half() << 64 | half())
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u128 {
        self.0
    }
}

/// One time that an owner is in a lock. The owner may be in it several times, each under another number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LockEntry {
    /// Who.
    pub owner: LockOwner,
    /// Which time; the owner's own count.
    pub number: u64,
}

/// Rises with every new holder of a lock, for ever. Whoever guards something by the lock keeps the greatest token that it
/// has seen, and refuses whatever comes with a smaller one: its holder was stopped past the end of its lease.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FencingToken(u64);

impl FencingToken {
    /// Wraps the number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
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

/// What became of an attempt to take a lock.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockAnswer {
    /// It is the owner's.
    Held(FencingToken),
    /// It is another owner's.
    Busy {
        /// The end of the lease, unless it is renewed.
        left: Duration,
    },
}

/// Named leases.
///
/// - A lock has one owner at a time, until its lease ends or the owner has left it as often as it entered. Leases run on
///   real time: by the clock of the store, which all instances share.
/// - An owner who holds a lock enters it again, with the same token. Its lease never gets shorter by that.
/// - Each new holder has a token greater than every one before it had for this name, whatever crashes or restarts.
/// - Entering and leaving are idempotent by [`LockEntry`].
/// - A holder that is stopped past the end of its lease does not know: what it then does is refused by its token, or not at
///   all.
///
/// [`Locker`] renews leases, waits, and leaves when its guard is dropped.
#[async_trait]
pub trait Locks: Send + Sync {
    /// Takes a lock or enters it again, without waiting.
    ///
    /// # Errors
    /// [`StoreError`]: perhaps it was taken; then it is free again at the end of the lease.
    async fn enter(&self, name: &str, entry: LockEntry, lease: Duration) -> Result<LockAnswer, StoreError>;

    /// Lets the lease last at least so far from now, if the lock still is the owner's. Answers whether it is.
    ///
    /// # Errors
    /// [`StoreError`]: it may end when it would have.
    async fn renew(&self, name: &str, owner: LockOwner, lease: Duration) -> Result<bool, StoreError>;

    /// Leaves a lock. Answers whether the owner was in it by this entry; if not, nothing changed.
    ///
    /// # Errors
    /// [`StoreError`]: perhaps it was left; else it is free at the end of the lease.
    async fn leave(&self, name: &str, entry: LockEntry) -> Result<bool, StoreError>;

    /// Whether other processes may want these locks.
    fn are_shared(&self) -> bool;

    /// Who waits in this process. One who waits for a lock is told when it may have become free. Nobody may rely on being
    /// told: messages between processes can be lost.
    fn waiters(&self) -> &Waiters;
}
