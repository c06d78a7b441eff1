//! Waiting lists: joining, leaving and the user's place.
//!
//! Reasons: `src/decisions/0057-waiting-lists.md`.

use std::time::Duration;

use mallbox_storage::{
    FirstToJoin, JoinOutcome, SaleRecord, Terms, Timestamp, UserId, VoucherId, WaitingPlace, WaitingState,
};

use super::{FlashSales, Inner};
use crate::mall::base::{Failure, Refusal, WaitingRefusal};
use crate::mall::selling::guard::ShownPass;

/// Interval at which the first users of a list ask for their place.
const POLL_MIN: Duration = Duration::from_secs(2);
/// Interval at which the last users of a long list ask.
const POLL_MAX: Duration = Duration::from_secs(30);
/// Users before a user per second of the interval: with 10,000 users some 600 calls a second.
const AHEAD_PER_SECOND: u64 = 200;

impl FlashSales {
    /// Adds a user to the waiting list of a sold-out sale. Idempotent while the user waits. A guarded sale
    /// requires a pass, which stays unspent. The list is for users without a unit, also if the sale allows
    /// several.
    ///
    /// # Errors
    /// [`Failure::Refused`] with the reason, as for a claim, or a [`WaitingRefusal`]. After
    /// [`Failure::Store`] a repeat resolves the doubt.
    pub async fn join_waiting_list(
        &self,
        user: UserId,
        voucher: VoucherId,
        shown: ShownPass<'_>,
        now: Timestamp,
    ) -> Result<WaitingPlace, Failure> {
        let inner = &*self.inner;
        let known = inner.known(voucher, now).await?;
        let storage = &inner.context.storage;
        if let Some(order) = storage.selling.sales.held(voucher, user, 0).await? {
            return Err(Refusal::AlreadyBought(order).into());
        }
        if known.sale.waiting_max.is_none() && !known.sale.terms.waiting {
            return Err(WaitingRefusal::NoList.into());
        }
        inner.check_claim(user, &known.sale, (shown, None), now).await?;
        let lists = &storage.selling.waiting_lists;
        match lists.join(voucher, user, FirstToJoin::No, now).await? {
            JoinOutcome::NobodyWaits => self.join_first(user, voucher, now).await,
            outcome => joined(outcome),
        }
    }

    /// Takes a user off the list. Idempotent. A user whose turn has come stays. `None` if the user never
    /// joined.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn leave_waiting_list(
        &self,
        user: UserId,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<Option<WaitingPlace>, Failure> {
        Ok(self.inner.context.storage.selling.waiting_lists.leave(voucher, user, now).await?)
    }

    /// Returns the user's place in the list of a sale; `None` if the user never joined.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn waiting_place(
        &self,
        user: UserId,
        voucher: VoucherId,
    ) -> Result<Option<WaitingPlace>, Failure> {
        Ok(self.inner.context.storage.selling.waiting_lists.place(voucher, user).await?)
    }

    /// Adds the first user of a list, if the sale is sold out. From here on the sale accepts no claims: the
    /// sales store learns of the list before the database does, so that nobody waits while units are on sale.
    async fn join_first(
        &self,
        user: UserId,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<WaitingPlace, Failure> {
        let storage = &self.inner.context.storage;
        let lease = self.lease_terms().await?;
        let found = storage.catalogue.vouchers.get(voucher).await?;
        let sale = found.and_then(|found| found.sale).ok_or(Refusal::UnknownSale)?;
        if !sale.terms.waiting && !self.inner.is_sold_out(&sale).await? {
            return Err(WaitingRefusal::UnitsLeft.into());
        }
        self.mark_unsynced(voucher);
        lease.check()?;
        let waiting = Terms { waiting: true, ..sale.terms };
        let units = lease.checked(storage.selling.sales.put(waiting, lease.token()).await?)?;
        // A unit may have been released since the check; no claim takes it any more.
        let outcome = if sale.terms.waiting || units.left() == Some(0) {
            lease.check()?;
            Some(storage.selling.waiting_lists.join(voucher, user, FirstToJoin::Yes, now).await)
        } else {
            None
        };
        self.finish_change(lease, voucher, now).await?;
        match outcome {
            Some(outcome) => joined(outcome?),
            None => Err(WaitingRefusal::UnitsLeft.into()),
        }
    }
}

impl Inner {
    /// Returns whether the sales store has no unit of a sale.
    async fn is_sold_out(&self, sale: &SaleRecord) -> Result<bool, Failure> {
        let units = self.context.storage.selling.sales.units(sale.terms.voucher).await?;
        let left = units.map_or(sale.stock, |units| units.left());
        Ok(left == Some(0))
    }
}

fn joined(outcome: JoinOutcome) -> Result<WaitingPlace, Failure> {
    let refusal = match outcome {
        JoinOutcome::Joined(place) => return Ok(place),
        JoinOutcome::NobodyWaits => WaitingRefusal::UnitsLeft,
        JoinOutcome::Full => WaitingRefusal::Full,
        JoinOutcome::NoList => WaitingRefusal::NoList,
    };
    Err(refusal.into())
}

/// Returns the time after which a user asks for the place again.
#[must_use]
pub fn poll_interval(place: &WaitingPlace) -> Duration {
    match place.entry.state {
        WaitingState::Offered => Duration::from_secs(1),
        _ => (POLL_MIN + Duration::from_secs(place.ahead / AHEAD_PER_SECOND)).min(POLL_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_ask_less_often_the_more_users_are_before_them() {
        let place = |state, ahead| {
            let at = Timestamp::from_millis(0);
            let (voucher, user) = (VoucherId::new(1), UserId::new(1));
            let entry = mallbox_storage::WaitingEntry {
                number: 1,
                voucher,
                user,
                state,
                joined: at,
                changed: at,
                order: None,
            };
            WaitingPlace { entry, ahead, waiting: ahead.saturating_add(1) }
        };
        for (state, ahead, seconds) in [
            (WaitingState::Offered, 0, 1),
            (WaitingState::Waiting, 0, 2),
            (WaitingState::Waiting, 199, 2),
            (WaitingState::Waiting, 1_000, 7),
            (WaitingState::Waiting, u64::MAX, 30),
        ] {
            assert_eq!(poll_interval(&place(state, ahead)).as_secs(), seconds, "{state:?} {ahead}");
        }
    }
}
