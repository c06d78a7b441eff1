//! What the record's changes ask to be done elsewhere.

use async_trait::async_trait;

use crate::{OrderId, StoreError, UserId, VoucherId};

/// Something to be done because the record was changed. Doing it twice does what doing it once does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Errand {
    /// The order of a sale was closed, or its claim died beside another order of its user: [`Sales::release`](crate::Sales::release) its unit.
    Release {
        /// Of what.
        voucher: VoucherId,
        /// Whose.
        user: UserId,
        /// Which.
        order: OrderId,
    },
}

/// Errands that are still to be run.
///
/// - An errand is written in the transaction that makes it necessary: whatever crashes after that, it is here until it is
///   [`done`](Outbox::done).
/// - [`Orders::step`](crate::Orders::step) leaves [`Errand::Release`] when it closes an order of a sale,
///   [`DeadLetters::void`](crate::DeadLetters::void) for one that holds a unit, and whatever lets a claim die as
///   [`DeadReason::Double`](crate::DeadReason::Double); nothing else does. An ordinary voucher has no units.
/// - Several may run the same errand at the same time; nothing is handed out to one alone.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Errands, oldest first, at most `max`.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn open(&self, max: u32) -> Result<Vec<Errand>, StoreError>;

    /// These were run. No error for one that is not here.
    ///
    /// # Errors
    /// [`StoreError`]: some may be here still, to be run again.
    async fn done(&self, errands: &[Errand]) -> Result<(), StoreError>;
}
