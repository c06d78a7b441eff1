//! Accepted claims on their way to the record.

use std::time::Duration;

use async_trait::async_trait;

use crate::{Claim, OrderId, StoreError, Timestamp, UserId, VoucherId};

/// Where a claim stands in the log. Only the log reads anything into it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LogPosition {
    /// The commit, or the message's milliseconds.
    pub major: u64,
    /// The place in it.
    pub minor: u64,
}

/// A claim that waits in the log, as handed to a worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Logged {
    /// Where it stands.
    pub position: LogPosition,
    /// The claim.
    pub claim: Claim,
    /// How often the record has refused it so far.
    pub attempts: u32,
}

/// How the log is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogState {
    /// Claims not yet settled, those being written among them: the log's load, not a statement about any claim.
    pub pending: u64,
    /// When the oldest of them was made.
    pub oldest: Option<Timestamp>,
    /// Why claims are refused at present, if they are.
    pub trouble: Option<String>,
    /// Whether the cause is too little room on the disk: nothing is damaged, and claims resume once there is room.
    pub is_short_of_space: bool,
}

/// Pending claims of a sale.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PendingClaims {
    /// Durable ones.
    pub durable: u64,
    /// Being written, or of a group commit that failed: a crash may lose them. None on servers.
    pub in_doubt: u64,
}

/// Accepted claims until they are in the record.
///
/// - [`Sales::claim`](crate::Sales::claim) appends. What was answered `Accepted` is here, or in the record, or in
///   the dead letters, after any crash.
/// - [`take`](OrderLog::take) hands each claim to one worker. What a worker has taken and neither
///   [`done`](OrderLog::done) nor [`put_back`](OrderLog::put_back) is its own until
///   [`reclaim`](OrderLog::reclaim).
/// - After a crash, claims that were settled shortly before may be handed out again: settling is idempotent
///   by order id.
/// - A pending claim is found by its order and by its user as soon as the claim was answered.
/// - Nothing that is not durable is shown, or handed to a worker: [`find`](OrderLog::find) and [`of_user`](OrderLog::of_user)
///   wait for the group commit of a claim being written, and are [`StoreError::Unavailable`] at once after a failed one. On
///   servers, durable is what their configuration promises (Redis: `appendfsync`, replicas).
#[async_trait]
pub trait OrderLog: Send + Sync {
    /// Up to `max` claims, oldest first; waits up to `wait` (real time) for the first.
    ///
    /// # Errors
    /// [`StoreError`] if the log cannot be read.
    async fn take(&self, worker: &str, max: usize, wait: Duration) -> Result<Vec<Logged>, StoreError>;

    /// These are in the record or in the dead letters, and leave the log. Answers the orders of those that the worker does
    /// not have in hand, which changes nothing for them: it let them go before, another one has them since, or a log on
    /// another machine lost what it had answered last. Then the [`Sales`](crate::Sales) of that machine may have lost the
    /// unit too, and whoever has made it an order [reserves](crate::Sales::reserve) it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: they may be handed out again.
    async fn done(&self, worker: &str, settled: &[Logged]) -> Result<Vec<OrderId>, StoreError>;

    /// Hands these out again. `refused`: the record refused each of them, which counts as an attempt.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: they stay with the worker until reclaimed.
    async fn put_back(&self, worker: &str, claims: &[Logged], refused: bool) -> Result<(), StoreError>;

    /// Hands out again whatever a worker that died had taken. Answers how many.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn reclaim(&self, worker: &str) -> Result<usize, StoreError>;

    /// A pending claim by its order.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn find(&self, order: OrderId) -> Result<Option<Claim>, StoreError>;

    /// The pending claims of a user, newest first by their orders.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn of_user(&self, user: UserId) -> Result<Vec<Claim>, StoreError>;

    /// Counts the pending claims of a sale one by one, for the books. Waits for none.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn count(&self, voucher: VoucherId) -> Result<PendingClaims, StoreError>;

    /// How the log is, now.
    async fn state(&self) -> LogState;
}
