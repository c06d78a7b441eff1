//! Transactional outbox: follow-up actions of database changes.
//!
//! Reasons and figures: `storage/decisions/0011-outbox-for-units.md`.

use async_trait::async_trait;

use crate::{OrderId, StoreError, UserId, VoucherId};

/// Outbox entry: an idempotent action made necessary by a change of the database.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OutboxEntry {
    /// [Release](crate::Sales::release) the unit of a closed order of a sale, of a claim that became a dead
    /// letter because its user had another order, or of an offer that became no order.
    Release {
        /// The voucher on sale.
        voucher: VoucherId,
        /// The holder of the unit.
        user: UserId,
        /// The order that held the unit.
        order: OrderId,
    },
}

/// Outbox entries still to be executed.
///
/// - An entry is written in the transaction that makes the action necessary. Whatever crashes afterwards, the
///   entry remains until marked [`done`](Outbox::done).
/// - Four places write [`OutboxEntry::Release`], and no others: [`Orders::step`](crate::Orders::step) when
///   closing an order of a sale, [`DeadLetters::void`](crate::DeadLetters::void) for a dead letter with a
///   unit, every path that makes a claim a dead letter as
///   [`DeadReason::Double`](crate::DeadReason::Double), and
///   [`WaitingLists::promote`](crate::WaitingLists::promote) for an entry that becomes no order. An ordinary
///   voucher has no units.
/// - Entries are not leased: several workers may execute the same entry at the same time.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Returns up to `max` open entries, oldest first.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn open(&self, max: u32) -> Result<Vec<OutboxEntry>, StoreError>;

    /// Removes executed entries. An entry already removed is no error.
    ///
    /// # Errors
    /// Any [`StoreError`]: some entries may remain and be executed again.
    async fn done(&self, entries: &[OutboxEntry]) -> Result<(), StoreError>;
}
