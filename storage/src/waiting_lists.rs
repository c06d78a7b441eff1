//! Waiting lists of sold-out sales.
//!
//! Reasons: `src/decisions/0057-waiting-lists.md`.

use async_trait::async_trait;

use crate::{DeadReason, Order, OrderId, SaleRecord, StoreError, Timestamp, UserId, VoucherId};

/// State of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitingState {
    /// The user waits.
    Waiting,
    /// An order id is drawn, and a unit is about to be reserved; the user still waits.
    Offered,
    /// The user got the order of the entry.
    Promoted,
    /// The user left the list.
    Left,
    /// The sale ended first.
    Expired,
    /// The user's turn came, but the user may not buy.
    Dropped,
}

impl WaitingState {
    /// Returns the API's name of the state.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "WAITING",
            Self::Offered => "OFFERED",
            Self::Promoted => "PROMOTED",
            Self::Left => "LEFT",
            Self::Expired => "EXPIRED",
            Self::Dropped => "DROPPED",
        }
    }

    /// Returns whether the user waits.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Waiting | Self::Offered)
    }
}

/// A user's entry in the waiting list of a sale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitingEntry {
    /// Number of the entry. Ascending in time of joining, unique in the mall.
    pub number: u64,
    /// The sale.
    pub voucher: VoucherId,
    /// The user.
    pub user: UserId,
    /// State of the entry.
    pub state: WaitingState,
    /// Time of joining.
    pub joined: Timestamp,
    /// Time of the last change of the state.
    pub changed: Timestamp,
    /// Order of an offered or promoted entry.
    pub order: Option<OrderId>,
}

/// An entry with its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitingPlace {
    /// The entry.
    pub entry: WaitingEntry,
    /// Number of users who wait and joined earlier; 0 for a closed entry.
    pub ahead: u64,
    /// Number of users who wait.
    pub waiting: u64,
}

/// Whether [`WaitingLists::join`] may be the first to join.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstToJoin {
    /// Only join a list on which somebody waits already.
    No,
    /// The caller has seen the sale sold out, and puts the terms into [`Sales`](crate::Sales) afterwards.
    Yes,
}

/// Outcome of [`WaitingLists::join`].
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JoinOutcome {
    /// The user waits, by this call or an earlier one.
    Joined(WaitingPlace),
    /// Nobody waits, and the call was not to be the first. Nothing changed.
    NobodyWaits,
    /// The maximum number of users wait. Nothing changed.
    Full,
    /// The sale has no waiting list, has ended, or does not exist. Nothing changed.
    NoList,
}

/// Outcome of [`WaitingLists::promote`].
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PromoteOutcome {
    /// The unit and the entry became this order, by this call or an earlier one.
    Promoted(Order),
    /// The user may not buy: the entry is dropped, or expired after the end. The reserved unit will be
    /// released.
    Dropped,
    /// The database has no unit, or refuses the order for a reason of its own: the user waits again in the
    /// same place. The reserved unit will be released.
    Postponed(DeadReason),
    /// The entry is not offered under this order. Nothing changed.
    Stands,
}

/// Waiting lists of sales, in the database.
///
/// - A sale has a list once an operator has set a maximum. While somebody waits, or a unit is about to be
///   handed on, the sale [is waited for](crate::Terms::waiting): [`Sales`](crate::Sales) accepts no claims,
///   so that every returned or added unit goes to the list.
/// - A user has at most one entry per sale. Joining again after the entry was closed makes a new entry, at
///   the end.
/// - **Promotion** takes three steps: [`offer`](WaitingLists::offer) draws the order id,
///   [`Sales::reserve`](crate::Sales::reserve) takes the unit, and [`promote`](WaitingLists::promote) turns
///   unit and entry into an order in one transaction. After a crash, an offered entry continues with
///   `reserve`. A single caller at a time promotes entries of a sale.
/// - Every call is a transaction of its own, durable when the call returns.
#[async_trait]
pub trait WaitingLists: Send + Sync {
    /// Sets the maximum number of users on the list of a sale; `None` for no list. Users who wait keep their
    /// places. Returns the sale; `None` if the sale does not exist.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_max(
        &self,
        voucher: VoucherId,
        max: Option<u32>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError>;

    /// Adds the user to the list. Idempotent while the user waits. Concurrent calls may exceed the maximum by
    /// their number.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn join(
        &self,
        voucher: VoucherId,
        user: UserId,
        first: FirstToJoin,
        now: Timestamp,
    ) -> Result<JoinOutcome, StoreError>;

    /// Closes the entry of a waiting user. Idempotent. An offered entry stays offered. Returns the entry as
    /// stored; `None` without one.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn leave(
        &self,
        voucher: VoucherId,
        user: UserId,
        now: Timestamp,
    ) -> Result<Option<WaitingPlace>, StoreError>;

    /// Returns the user's entry with its place; `None` without one.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn place(&self, voucher: VoucherId, user: UserId) -> Result<Option<WaitingPlace>, StoreError>;

    /// Returns the first `max` users who wait, offered entries included, by number, and the number of all who
    /// wait.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn head(&self, voucher: VoucherId, max: u32) -> Result<(Vec<WaitingEntry>, u64), StoreError>;

    /// Returns up to `max` entries of a user with a number above `after`, by number.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn of_user(&self, user: UserId, after: u64, max: u32) -> Result<Vec<WaitingEntry>, StoreError>;

    /// Returns the sales that are waited for, by voucher.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn waited_for(&self) -> Result<Vec<SaleRecord>, StoreError>;

    /// Draws the order id of a waiting entry. Idempotent. Returns false, without any change, unless the entry
    /// waits or is offered under this order.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn offer(&self, number: u64, order: OrderId, now: Timestamp) -> Result<bool, StoreError>;

    /// Takes an offer back: the user waits again. No effect unless the entry is offered. The caller has
    /// reserved no unit.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn withdraw_offer(&self, number: u64, now: Timestamp) -> Result<(), StoreError>;

    /// Turns an offered entry and a unit into an order with a payment deadline of its own, or, unless
    /// `may_buy`, drops the entry. Idempotent. Nobody is promoted at or after the end of the sale. An
    /// [`OutboxEntry`](crate::OutboxEntry) releases the reserved unit of an entry that became no order.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn promote(
        &self,
        number: u64,
        order: OrderId,
        may_buy: bool,
        now: Timestamp,
    ) -> Result<PromoteOutcome, StoreError>;

    /// Closes all waiting entries of an ended sale; no effect before the end. Offered entries stay. Returns
    /// the number of closed entries.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn expire(&self, voucher: VoucherId, now: Timestamp) -> Result<u64, StoreError>;

    /// Ends the waiting for a sale if nobody waits any more. Returns whether the sale is not waited for now.
    /// The caller puts the terms into [`Sales`](crate::Sales) afterwards.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn close(&self, voucher: VoucherId) -> Result<bool, StoreError>;
}
