//! The order log: accepted claims on their way to the database.

use std::time::Duration;

use async_trait::async_trait;

use crate::{Claim, OrderId, StoreError, Timestamp, UserId, VoucherId};

/// Position of a claim in the log. Opaque to everything but the log itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LogPosition {
    /// Number of the group commit (embedded), or milliseconds of the stream entry's id (Redis).
    pub major: u64,
    /// Place within `major`, from 0.
    pub minor: u64,
}

/// A pending claim, as handed to a worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoggedClaim {
    /// Position in the log.
    pub position: LogPosition,
    /// The accepted claim.
    pub claim: Claim,
    /// Number of times the database has refused the claim so far.
    pub attempts: u32,
}

/// Health and load of the order log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogState {
    /// Claims not yet settled, including claims being written. A measure of load, not a statement about any
    /// claim.
    pub pending: u64,
    /// Time of the oldest pending claim; `None` if none is pending.
    pub oldest: Option<Timestamp>,
    /// Why claims are refused at present; `None` if the log is healthy.
    pub trouble: Option<String>,
    /// Whether the cause is a lack of disk space. Nothing is damaged then, and claims resume once space is
    /// free.
    pub is_short_of_space: bool,
}

/// Pending claims of a sale, by durability.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PendingClaims {
    /// Claims that survive a crash.
    pub durable: u64,
    /// Claims in doubt: being written, or part of a failed group commit. A crash may lose them. Always 0 on
    /// servers.
    pub in_doubt: u64,
}

/// Queue of accepted claims, from their claim until they are in the database.
///
/// - [`Sales::claim`](crate::Sales::claim) appends. After any crash, an `Accepted` claim is in the log, in
///   the database or among the dead letters.
/// - [`take`](OrderLog::take) delivers each claim to one worker. A claim taken and neither settled by
///   [`done`](OrderLog::done) nor returned by [`put_back`](OrderLog::put_back) stays with the worker until
///   [`reclaim`](OrderLog::reclaim).
/// - Delivery is at least once: after a crash, claims settled shortly before may be delivered again. Settling
///   is idempotent by order id.
/// - A pending claim can be found by order and by user as soon as [`Sales::claim`](crate::Sales::claim) has
///   returned.
/// - Only durable claims are visible or delivered. [`find`](OrderLog::find) and
///   [`of_user`](OrderLog::of_user) wait for the group commit of a claim being written; after a failed group
///   commit they return [`StoreError::Unavailable`] at once. On servers, durable means whatever their
///   configuration promises (Redis: `appendfsync`, replicas).
#[async_trait]
pub trait OrderLog: Send + Sync {
    /// Takes up to `max` claims for `worker`, oldest first. Waits up to `wait` (real time) for the first
    /// claim.
    ///
    /// # Errors
    /// Any [`StoreError`] if the log cannot be read.
    async fn take(&self, worker: &str, max: usize, wait: Duration) -> Result<Vec<LoggedClaim>, StoreError>;

    /// Acknowledges claims that are settled (in the database or among the dead letters), and removes them
    /// from the log.
    ///
    /// Returns the orders of claims that `worker` does not hold; nothing changes for them. Causes: the worker
    /// gave the claim up before, another worker holds the claim now, or a log on another machine lost its
    /// latest writes. In the last case the [`Sales`](crate::Sales) of the other machine may have lost the
    /// unit too, so the caller must [reserve](crate::Sales::reserve) a unit for each order written.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: the claims may be delivered again.
    async fn done(&self, worker: &str, settled: &[LoggedClaim]) -> Result<Vec<OrderId>, StoreError>;

    /// Returns claims to the queue, to be delivered again. `refused`: the database refused each of them,
    /// which counts as an attempt.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: the claims stay with the worker until reclaimed.
    async fn put_back(&self, worker: &str, claims: &[LoggedClaim], refused: bool) -> Result<(), StoreError>;

    /// Re-queues all claims held by a dead worker. Returns their number.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn reclaim(&self, worker: &str) -> Result<usize, StoreError>;

    /// Returns a pending claim by its order id.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn find(&self, order: OrderId) -> Result<Option<Claim>, StoreError>;

    /// Returns the pending claims of a user, newest order first.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn of_user(&self, user: UserId) -> Result<Vec<Claim>, StoreError>;

    /// Counts the pending claims of a sale one by one, for the ledger check. Does not wait for claims being
    /// written.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn count(&self, voucher: VoucherId) -> Result<PendingClaims, StoreError>;

    /// Returns all durable pending claims, in any order: for a backup. A claim that is settled meanwhile may
    /// be missing; then the database has it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn pending(&self) -> Result<Vec<Claim>, StoreError>;

    /// Returns the current state of the log.
    async fn state(&self) -> LogState;
}
