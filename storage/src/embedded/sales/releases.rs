//! Units of many closed orders, given back with one look into the database.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use super::super::pending::Pending;
use super::{Memory, Sale};
use crate::{OrderId, UserId, VoucherId};

/// A buyer of a sale, as seen before the database was asked for the buyer's orders.
pub(super) struct Look {
    sale: Arc<Sale>,
    pub(super) voucher: VoucherId,
    pub(super) user: UserId,
    pub(super) order: OrderId,
    units: u64,
    removals: u64,
    /// A claim of the buyer was pending. The claim may become an order after the database was read and before the second
    /// look: neither then accounts for the unit.
    is_pending: bool,
}

impl Memory {
    /// `None`: the user holds no unit, or the sale is not in memory.
    pub(super) fn look_at(&self, (voucher, user, order): (VoucherId, UserId, OrderId)) -> Option<Look> {
        let sale = self.sale_to_change(voucher)?;
        let buyer = sale.buyers.lock(user);
        let (units, removals) = (buyer.units(), buyer.removals());
        let is_pending = !self.pending.holdings(voucher, user).is_empty();
        drop(buyer);
        (units > 0).then_some(Look { sale, voucher, user, order, units, removals, is_pending })
    }
}

impl Look {
    /// Gives the unit back if the database accounts for fewer than the user holds. `own`: removals from the shard by the
    /// caller since the look. `None`: something else happened meanwhile, or a claim is or was pending; nothing changed.
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
