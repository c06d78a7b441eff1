//! Release of the units of many closed orders, with one read of the database.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use mallbox_storage::{OrderId, UserId, VoucherId};

use super::super::pending::Pending;
use super::{Sale, SalesInMemory};

/// State of a buyer before the read of the database.
pub(super) struct BuyerSnapshot {
    sale: Arc<Sale>,
    pub(super) voucher: VoucherId,
    pub(super) user: UserId,
    pub(super) order: OrderId,
    units: u64,
    removals: u64,
    /// Whether a claim of the buyer was pending. Such a claim may become an order after the read of the
    /// database and before the second check: neither then accounts for the unit.
    is_pending: bool,
}

impl SalesInMemory {
    /// Records the state of a buyer. `None` if the user holds no unit, or if the sale is not in memory.
    pub(super) fn snapshot_buyer(
        &self,
        (voucher, user, order): (VoucherId, UserId, OrderId),
    ) -> Option<BuyerSnapshot> {
        let sale = self.sale_to_change(voucher)?;
        let buyer = sale.buyers.lock(user);
        let (units, removals) = (buyer.units(), buyer.removals());
        let is_pending = !self.pending.holdings(voucher, user).is_empty();
        drop(buyer);
        (units > 0).then_some(BuyerSnapshot { sale, voucher, user, order, units, removals, is_pending })
    }
}

impl BuyerSnapshot {
    /// Releases the unit if the database accounts for fewer units than the user holds. Returns whether the
    /// unit was released. `own` is the number of removals from the shard by the caller since
    /// [`SalesInMemory::snapshot_buyer`]. `None`, without any change, if the state has changed otherwise, or
    /// if a claim is or was pending.
    pub(super) fn release(&self, pending: &Pending, recorded: &HashSet<OrderId>, own: u64) -> Option<bool> {
        let standing = self.sale.standing.read().unwrap_or_else(PoisonError::into_inner);
        let mut buyer = self.sale.buyers.lock(self.user);
        let is_as_seen = buyer.units() == self.units && buyer.removals() == self.removals + own;
        let is_pending = self.is_pending || !pending.holdings(self.voucher, self.user).is_empty();
        if !is_as_seen || is_pending {
            return None;
        }
        if buyer.units() <= recorded.len() as u64 {
            return Some(false);
        }
        buyer.remove();
        standing.give_back();
        Some(true)
    }
}
