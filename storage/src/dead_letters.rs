//! Dead letters: accepted claims that could not become orders.

use async_trait::async_trait;

use crate::{DeadLetterId, DeadReason, Order, OrderId, Page, StoreError, Timestamp, UserId, VoucherId};

/// State of a dead letter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeadState {
    /// Waiting for an operator's decision.
    Open,
    /// Replayed: an order now.
    Replayed,
    /// Given up by an operator.
    Voided,
}

/// An accepted claim that could not become an order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadLetter {
    /// Id of the dead letter.
    pub id: DeadLetterId,
    /// Order id of the claim.
    pub order: OrderId,
    /// The voucher on sale.
    pub voucher: VoucherId,
    /// The user who claimed.
    pub user: UserId,
    /// Time of the claim.
    pub claimed: Timestamp,
    /// Code of the reason: see [`DeadReason::code`].
    pub reason: String,
    /// Explanation or error message of the database.
    pub detail: String,
    /// Number of attempts to write the order, replays included.
    pub attempts: u32,
    /// Whether the dead letter holds a unit of the sale.
    pub holds_unit: bool,
    /// Time at which the claim became a dead letter.
    pub created: Timestamp,
    /// Current state of the dead letter.
    pub state: DeadState,
    /// Time of the replay or void; `None` while open.
    pub closed: Option<Timestamp>,
}

/// Outcome of a replay.
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReplayOutcome {
    /// The claim is an order, written by this call or an earlier one. The order as stored.
    Order(Order),
    /// The database still refuses the claim; reason and explanation. Counts as an attempt.
    Refused(DeadReason, String),
    /// The dead letter was voided before.
    Voided,
    /// The dead letter does not exist.
    Unknown,
}

/// Outcome of voiding a dead letter.
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VoidOutcome {
    /// The dead letter is void, by this call or an earlier one.
    Void(DeadLetter),
    /// The dead letter was replayed before. Cancel or refund the order instead.
    Replayed(DeadLetter),
    /// The dead letter does not exist.
    Unknown,
}

/// Dead letters in the database. [`Orders::persist`](crate::Orders::persist) and
/// [`Orders::insert_dead_letter`](crate::Orders::insert_dead_letter) insert them; nothing removes them.
///
/// - An open dead letter that holds a unit reduces the database's stock and counts as its user's purchase
///   ([`Orders::holding`](crate::Orders::holding)). A closed dead letter holds nothing.
/// - The claim of a dead letter stays settled in every state: if the log delivers the claim again, nothing
///   happens.
/// - Every call is a transaction of its own, durable when the call returns.
#[async_trait]
pub trait DeadLetters: Send + Sync {
    /// Returns a page of dead letters, all or only those in `state`, latest first, and the total number of
    /// matches.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn page(&self, state: Option<DeadState>, page: Page) -> Result<(Vec<DeadLetter>, u64), StoreError>;

    /// Returns the dead letters with this order id, by their own id. More than one exists only if claims of
    /// several users had the same order id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn of_order(&self, order: OrderId) -> Result<Vec<DeadLetter>, StoreError>;

    /// Retries writing the order, unpaid, with the sale's full time to pay. The dead letter's unit passes to
    /// the order; a dead letter without a unit takes one from the database's stock.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn replay(&self, letter: DeadLetterId, now: Timestamp) -> Result<ReplayOutcome, StoreError>;

    /// Gives up a dead letter. Its unit, if any, returns to the database's stock. The caller must then
    /// [release](crate::Sales::release) the unit in [`Sales`](crate::Sales).
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn void(&self, letter: DeadLetterId, now: Timestamp) -> Result<VoidOutcome, StoreError>;
}
