//! Promotion of waiting users: units of a sold-out sale that become free go to the first on the list.
//!
//! Reasons: `src/decisions/0057-waiting-lists.md`.

use mallbox_storage::{
    OrderStatus, OutboxEntry, PromoteOutcome, ReserveOutcome, SaleRecord, Timestamp, UserId, VoucherId,
    VoucherStatus, WaitingEntry, WaitingState,
};

use super::FlashSales;
use crate::mall::base::{Failure, Refusal};
use crate::mall::selling::terms_lease::HeldTermsLease;

/// Entries read per batch.
const BATCH: u32 = 64;

/// Result of one step.
enum Served {
    /// The user got an order.
    Promoted,
    /// The user got none, and the next user follows.
    Passed,
    /// No unit is left.
    NoUnit,
}

impl FlashSales {
    /// Hands free units of all sales to the users who wait for them, and ends the waiting for sales without
    /// such users. Returns the number of users who got an order.
    ///
    /// # Errors
    /// [`Failure`] of a sale whose list could not be served; the other lists are served all the same. A
    /// repeat continues.
    pub(in crate::mall) async fn serve_waiting_lists(&self, now: Timestamp) -> Result<u64, Failure> {
        let sales = self.inner.context.storage.selling.waiting_lists.waited_for().await?;
        let (mut promoted, mut failed) = (0, None);
        for sale in sales {
            let voucher = sale.terms.voucher;
            match self.serve_if_due(&sale, now).await {
                Ok(count) => promoted += count,
                Err(error) => {
                    tracing::warn!(sale = voucher.get(), %error, "could not serve a waiting list");
                    failed = Some(error);
                }
            }
        }
        failed.map_or(Ok(promoted), Err)
    }

    async fn serve_if_due(&self, sale: &SaleRecord, now: Timestamp) -> Result<u64, Failure> {
        let selling = &self.inner.context.storage.selling;
        let voucher = sale.terms.voucher;
        let has_ended = now >= sale.terms.end;
        if sale.terms.paused && !has_ended {
            return Ok(0);
        }
        let (head, _) = selling.waiting_lists.head(voucher, 1).await?;
        let has_offer = head.first().is_some_and(|entry| entry.state == WaitingState::Offered);
        let left = selling.sales.units(voucher).await?.map(|units| units.left());
        let is_idle = !has_ended && !has_offer && !head.is_empty() && left == Some(Some(0));
        if is_idle { Ok(0) } else { self.serve(voucher, now).await }
    }

    /// Serves one list. Holds the lease on terms, so that no other instance serves the list, and the sale is
    /// not loaded between a reservation and its order.
    async fn serve(&self, voucher: VoucherId, now: Timestamp) -> Result<u64, Failure> {
        let storage = &self.inner.context.storage;
        let lists = &storage.selling.waiting_lists;
        let mut lease = self.lease_terms().await?;
        let mut promoted = 0;
        loop {
            // Others may change the sale in between: it is read after the renewal.
            lease = self.inner.terms_lease.renew_if_long(lease).await?;
            let Some(found) = storage.catalogue.vouchers.get(voucher).await? else { return Ok(promoted) };
            let Some(sale) = found.sale.filter(|sale| sale.terms.waiting) else { return Ok(promoted) };
            let is_held = sale.terms.paused || found.text.status != VoucherStatus::OnShelf;
            let has_ended = now >= sale.terms.end;
            if has_ended {
                lists.expire(voucher, now).await?;
            } else if is_held {
                return Ok(promoted);
            } else if storage.selling.sales.units(voucher).await?.is_none() {
                self.sync_to_store(&lease, voucher, now).await?;
            }
            let (head, _) = lists.head(voucher, BATCH).await?;
            if head.is_empty() {
                self.end_waiting(&lease, voucher, now).await?;
                return Ok(promoted);
            }
            for (index, entry) in head.into_iter().enumerate() {
                // However slow the store is, each round serves an entry.
                if index > 0 && lease.is_long() {
                    break;
                }
                match self.serve_entry(&lease, &sale, entry, now).await? {
                    Served::Promoted => promoted += 1,
                    Served::Passed => {}
                    Served::NoUnit => return Ok(promoted),
                }
            }
        }
    }

    async fn end_waiting(
        &self,
        lease: &HeldTermsLease,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<(), Failure> {
        self.mark_unsynced(voucher);
        lease.check()?;
        self.inner.context.storage.selling.waiting_lists.close(voucher).await?;
        self.sync_to_store(lease, voucher, now).await?;
        Ok(())
    }

    /// Hands a unit to the user of an entry, if a unit is left and the user may buy.
    async fn serve_entry(
        &self,
        lease: &HeldTermsLease,
        sale: &SaleRecord,
        entry: WaitingEntry,
        now: Timestamp,
    ) -> Result<Served, Failure> {
        let storage = &self.inner.context.storage;
        let (lists, sales) = (&storage.selling.waiting_lists, &storage.selling.sales);
        let WaitingEntry { number, voucher, user, .. } = entry;
        let order = match (entry.state, entry.order) {
            (WaitingState::Offered, Some(order)) => order,
            _ => {
                if sales.units(voucher).await?.is_some_and(|units| units.left() == Some(0)) {
                    return Ok(Served::NoUnit);
                }
                let (order, of_day) = self.inner.numbers.next(storage, voucher, now).await?;
                lease.check()?;
                if !lists.offer(number, order, now).await? {
                    // The user has left.
                    self.inner.numbers.give_back(of_day);
                    return Ok(Served::Passed);
                }
                order
            }
        };
        lease.check()?;
        let reserved = sales.reserve(voucher, user, order).await?;
        if reserved == ReserveOutcome::SoldOut {
            lists.withdraw_offer(number, now).await?;
            return Ok(Served::NoUnit);
        }
        let may_buy = self.may_buy(user, sale, now).await?;
        lease.check()?;
        match lists.promote(number, order, may_buy, now).await? {
            PromoteOutcome::Promoted(order) => {
                // A repeated release of an earlier order of the user may have taken the reserved unit.
                let _ = sales.reserve(voucher, user, order.id).await?;
                if order.status == OrderStatus::Unpaid {
                    storage.selling.deadlines.set(&[(order.id, order.deadline)]).await?;
                }
                Ok(Served::Promoted)
            }
            PromoteOutcome::Dropped => {
                let _ = sales.release(voucher, user, order).await?;
                storage.selling.outbox.done(&[OutboxEntry::Release { voucher, user, order }]).await?;
                Ok(Served::Passed)
            }
            PromoteOutcome::Postponed(reason) => {
                tracing::warn!(
                    sale = voucher.get(),
                    user = user.get(),
                    reason = reason.code(),
                    "postponed a promotion: the database refuses the order"
                );
                let _ = sales.release(voucher, user, order).await?;
                storage.selling.outbox.done(&[OutboxEntry::Release { voucher, user, order }]).await?;
                Ok(Served::NoUnit)
            }
            PromoteOutcome::Stands => {
                if reserved == ReserveOutcome::Taken {
                    let _ = sales.release(voucher, user, order).await?;
                }
                Ok(Served::Passed)
            }
        }
    }

    /// Returns whether the user may still buy: neither blocked nor deleted, and of the sale's level.
    async fn may_buy(&self, user: UserId, sale: &SaleRecord, now: Timestamp) -> Result<bool, Failure> {
        let found = self.inner.context.storage.people.users.get(user).await?;
        if !found.is_some_and(|found| found.may_log_in()) {
            return Ok(false);
        }
        match self.inner.check_level(user, sale.min_level, now).await {
            Ok(()) => Ok(true),
            Err(Failure::Refused(Refusal::LevelTooLow)) => Ok(false),
            Err(failure) => Err(failure),
        }
    }
}
