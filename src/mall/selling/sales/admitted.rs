//! Claims in two steps, for batches: the checks, and later the claim under an order id drawn in between.

use std::sync::Arc;

use mallbox_storage::{Claim, OrderId, Pass, Timestamp, UserId, VoucherId};

use super::FlashSales;
use crate::mall::base::Failure;
use crate::mall::selling::guard::ShownPass;
use crate::mall::selling::judgement::OpenAttempt;
use crate::mall::selling::order_numbers::Number;
use crate::mall::selling::sale_terms::CachedSale;

/// A claim that passed every check before the sales store.
pub(in crate::mall::selling) struct AdmittedClaim {
    known: Arc<CachedSale>,
    user: UserId,
    holding: u8,
    pass: Option<Pass>,
    attempt: Option<OpenAttempt>,
}

impl FlashSales {
    /// Checks a claim as [`claim_with_pass`](Self::claim_with_pass) does, without claiming.
    ///
    /// # Errors
    /// As [`claim_with_pass`](Self::claim_with_pass).
    pub(in crate::mall::selling) async fn admit(
        &self,
        user: UserId,
        voucher: VoucherId,
        shown: ShownPass<'_>,
        now: Timestamp,
    ) -> Result<AdmittedClaim, Failure> {
        let inner = &*self.inner;
        let known = inner.known(voucher, now).await?;
        let mut attempt = inner.judge.open(&inner.guards, user, &known.sale, &shown, now).await;
        let checked = inner.admit(user, &known.sale, (shown, attempt.as_mut()), now).await;
        if let Err(failure) = &checked
            && let Some(attempt) = attempt.take()
        {
            inner.judge.close(attempt, Err(failure));
        }
        Ok(AdmittedClaim { pass: checked?, known, user, holding: shown.holding, attempt })
    }

    /// Draws an order id for an admitted claim.
    ///
    /// # Errors
    /// [`Refusal::Busy`](crate::mall::Refusal::Busy) if the day's ids are used up; [`Failure::Store`] if none
    /// can be reserved.
    pub(in crate::mall::selling) async fn reserve(
        &self,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<(OrderId, Number), Failure> {
        self.inner.numbers.next(&self.inner.context.storage, voucher, now).await
    }

    /// Claims a unit under an order id drawn for `now`. The returned order id is durable.
    ///
    /// # Errors
    /// As [`claim_with_pass`](Self::claim_with_pass).
    pub(in crate::mall::selling) async fn take_admitted(
        &self,
        admitted: AdmittedClaim,
        order: OrderId,
        now: Timestamp,
    ) -> Result<OrderId, Failure> {
        let inner = &*self.inner;
        let AdmittedClaim { known, user, holding, pass, attempt } = admitted;
        let voucher = known.sale.terms.voucher;
        inner.holds.pass(voucher).await;
        let claim = Claim { order, voucher, user, at: now };
        let decided = inner.take(claim, &known.sale, (holding, pass), now).await;
        if let Some(attempt) = attempt {
            inner.judge.close(attempt, decided.as_ref().copied());
        }
        decided
    }

    /// Recycles the number of an order id. No order, claim or call in progress may carry the number.
    pub(in crate::mall::selling) fn give_back(&self, number: Number) {
        self.inner.numbers.give_back(number);
    }
}
