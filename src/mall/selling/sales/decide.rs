//! The decision of a claim: the checks, then the sales store.

use mallbox_storage::{Claim, ClaimOutcome, OrderId, Pass, SaleRecord, Timestamp, UserId};

use super::Inner;
use crate::mall::base::{Failure, GuardRefusal, Refusal};
use crate::mall::selling::guard::ShownPass;
use crate::mall::selling::judgement::OpenAttempt;

impl Inner {
    /// Decides a claim. `attempt`: the judgement of the claim, if the sale is judged.
    pub(super) async fn decide(
        &self,
        user: UserId,
        sale: &SaleRecord,
        (shown, attempt): (ShownPass<'_>, Option<&mut OpenAttempt>),
        now: Timestamp,
    ) -> Result<OrderId, Failure> {
        let voucher = sale.terms.voucher;
        let holding = shown.holding;
        let pass = self.admit(user, sale, (shown, attempt), now).await?;
        self.holds.pass(voucher).await;
        let (order, number) = self.numbers.next(&self.context.storage, voucher, now).await?;
        let claim = Claim { order, voucher, user, at: now };
        let taken = self.take(claim, sale, (holding, pass), now).await;
        if let Err(Failure::Refused(_)) = taken {
            self.numbers.give_back(number);
        }
        taken
    }

    /// Checks a claim before the sales store decides. Returns the pass to spend. A user who holds enough
    /// units gets the order before any refusal.
    pub(super) async fn admit(
        &self,
        user: UserId,
        sale: &SaleRecord,
        (shown, attempt): (ShownPass<'_>, Option<&mut OpenAttempt>),
        now: Timestamp,
    ) -> Result<Option<Pass>, Failure> {
        let voucher = sale.terms.voucher;
        // Refused without asking the store whether the user holds a unit: that is what the limit protects.
        if sale.terms.closed(now).is_none() {
            self.claim_limits.pass(sale)?;
        }
        match self.check_claim(user, sale, (shown, attempt), now).await {
            Err(Failure::Refused(refusal)) => {
                let held = self.held(user, (voucher, shown.holding), &refusal, now).await?;
                Err(held.map_or(refusal, |order| enough(sale, shown.holding, order)).into())
            }
            checked => checked,
        }
    }

    /// Claims a unit for an admitted claim. A refused claim leaves its order id unused.
    pub(super) async fn take(
        &self,
        claim: Claim,
        sale: &SaleRecord,
        (holding, pass): (u8, Option<Pass>),
        now: Timestamp,
    ) -> Result<OrderId, Failure> {
        let Claim { order, voucher, .. } = claim;
        let storage = &self.context.storage;
        let claimed = async || match (holding, pass) {
            (0, None) => storage.selling.sales.claim(claim).await,
            (0, Some(pass)) => storage.selling.sales.claim_with_pass(claim, pass).await,
            (holding, pass) => storage.selling.sales.claim_further(claim, holding, pass).await,
        };
        let mut answer = claimed().await?;
        if answer == ClaimOutcome::Unknown && self.put(voucher).await? {
            answer = claimed().await?;
        }
        let refusal = match answer {
            ClaimOutcome::Accepted => return Ok(order),
            ClaimOutcome::AlreadyBought(order) => enough(sale, holding, order),
            ClaimOutcome::SoldOut => Refusal::sold_out(sale, now),
            ClaimOutcome::NotOpen => Refusal::NotOpen,
            ClaimOutcome::Ended => Refusal::Ended,
            ClaimOutcome::Paused => Refusal::Paused,
            ClaimOutcome::Unknown => Refusal::UnknownSale,
            ClaimOutcome::PassRefused => Refusal::Guard(GuardRefusal::PassRequired),
        };
        Err(refusal.into())
    }
}

/// Refuses a user who holds enough units, the newest by `order`: the claim was made before, or the sale
/// allows no more.
fn enough(sale: &SaleRecord, holding: u8, order: OrderId) -> Refusal {
    let per_user = sale.terms.per_user;
    if holding < per_user.get() { Refusal::AlreadyBought(order) } else { Refusal::LimitReached(per_user) }
}
