//! Claims at the counter: a unit for a walk-in customer.

use mallbox_storage::{Claim, OrderId, Timestamp, UserId, VoucherId};

use super::{FlashSales, Inner};
use crate::mall::base::{Failure, Refusal};
use crate::mall::selling::sale_terms::CachedSale;

impl FlashSales {
    /// Claims one unit of a sale for a walk-in customer. The returned order id is durable. A repeat returns
    /// the same order.
    ///
    /// Clock, window, pause, level, waiting list, stock and the length of the order log are checked as for
    /// any claim. Guard, judgement, thresholds, waiting room and rate limits are not: they protect from
    /// programs, and the seller sees the person.
    ///
    /// # Errors
    /// [`Failure::Refused`] with the reason. After [`Failure::Store`] the claim is in doubt: a repeat
    /// resolves the doubt.
    pub(in crate::mall) async fn claim_at_counter(
        &self,
        buyer: UserId,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<OrderId, Failure> {
        let inner = &*self.inner;
        let known = inner.known(voucher, now).await?;
        match inner.claim_at_counter(buyer, &known, now).await {
            Err(Failure::Refused(Refusal::AlreadyBought(order))) => Ok(order),
            // A claim of an interrupted call stands, even if the sale has closed since.
            Err(Failure::Refused(refusal)) => {
                let held = inner.context.storage.selling.sales.held(voucher, buyer, 0).await?;
                held.ok_or_else(|| refusal.into())
            }
            claimed => claimed,
        }
    }
}

impl Inner {
    async fn claim_at_counter(
        &self,
        buyer: UserId,
        known: &CachedSale,
        now: Timestamp,
    ) -> Result<OrderId, Failure> {
        let (sale, context) = (&known.sale, &self.context);
        let voucher = sale.terms.voucher;
        context.require_sure_clock()?;
        if let Some(closed) = sale.terms.closed(now) {
            return Err(Refusal::from(closed).into());
        }
        self.check_level(buyer, sale.min_level, now).await?;
        if self.backlog.exceeds(context.settings.max_backlog, &*context.storage.selling.order_log).await {
            return Err(Refusal::Busy.into());
        }
        self.holds.pass(voucher).await;
        let (order, number) = self.numbers.next(&context.storage, voucher, now).await?;
        let claim = Claim { order, voucher, user: buyer, at: now };
        let taken = self.take(claim, sale, (0, None), now).await;
        if let Err(Failure::Refused(_)) = taken {
            self.numbers.give_back(number);
        }
        taken
    }
}
