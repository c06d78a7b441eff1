//! Checks of a claim before the sales store decides.

use mallbox_storage::{Limit, OrderId, Pass, SaleRecord, Timestamp, UserId, VoucherId};

use super::Inner;
use crate::mall::base::{Failure, Refusal};
use crate::mall::selling::guard::ShownPass;
use crate::mall::selling::judgement::OpenAttempt;

/// Repeated claims allowed to a holder per claim of the rate limit. Each repeat returns the existing order.
const REPEATS_PER_CLAIM: u32 = 6;

impl Inner {
    /// Checks a claim. Returns the pass to spend. Refuses by an unsure clock, the sale's window, the pause,
    /// the level, the thresholds, the user's rate limit, the admission, the pass, the judgement and the
    /// length of the order log, in this order.
    pub(super) async fn check_claim(
        &self,
        user: UserId,
        sale: &SaleRecord,
        (shown, attempt): (ShownPass<'_>, Option<&mut OpenAttempt>),
        now: Timestamp,
    ) -> Result<Option<Pass>, Failure> {
        let context = &self.context;
        context.require_sure_clock()?;
        if let Some(closed) = sale.terms.closed(now) {
            return Err(Refusal::from(closed).into());
        }
        self.check_buyer(user, sale, shown.by_sms_code, now).await?;
        let what = format!("claim:{}", sale.terms.voucher);
        context.within(context.settings.claim_limit, &what, user, now).await?;
        self.guards.check_admission(user, sale, shown.admission, now).await?;
        let checked = self.guards.check(user, sale, shown, now).await?;
        if let Some(attempt) = attempt {
            self.check_judgement(user, sale, (attempt, checked.as_ref()), now).await?;
        }
        if self.backlog.exceeds(context.settings.max_backlog, &*context.storage.selling.order_log).await {
            return Err(Refusal::Busy.into());
        }
        Ok(checked.map(|checked| checked.pass))
    }

    /// Returns the order of a user who already holds enough units and whose claim was refused. A holder gets
    /// the order before any refusal. Repeats beyond the rate limit have a ceiling of their own.
    pub(super) async fn held(
        &self,
        user: UserId,
        (voucher, holding): (VoucherId, u8),
        refusal: &Refusal,
        now: Timestamp,
    ) -> Result<Option<OrderId>, Failure> {
        let context = &self.context;
        if let (Refusal::RateLimited { .. }, Some(limit)) = (refusal, context.settings.claim_limit) {
            let count = limit.count.saturating_mul(REPEATS_PER_CLAIM);
            let ceiling = Some(Limit { count, ..limit });
            match context.within(ceiling, &format!("repeat:{voucher}"), user, now).await {
                Err(Failure::Refused(_)) => return Ok(None),
                passed => passed?,
            }
        }
        Ok(context.storage.selling.sales.held(voucher, user, holding).await?)
    }

    /// Refuses users below the level or the thresholds of a sale.
    pub(super) async fn check_buyer(
        &self,
        user: UserId,
        sale: &SaleRecord,
        by_sms_code: bool,
        now: Timestamp,
    ) -> Result<(), Failure> {
        self.check_level(user, sale.min_level, now).await?;
        let Some(thresholds) = sale.thresholds else { return Ok(()) };
        let age = thresholds.account_age();
        if !age.is_zero() {
            let old_enough_in = (self.registered(user, now).await? + age).since(now);
            if !old_enough_in.is_zero() {
                return Err(Refusal::AccountTooNew { old_enough_in }.into());
            }
        }
        if thresholds.sms_code && !by_sms_code { Err(Refusal::SmsCodeNeeded.into()) } else { Ok(()) }
    }

    /// Returns the time of a user's registration; `now` for an unknown user.
    pub(super) async fn registered(&self, user: UserId, now: Timestamp) -> Result<Timestamp, Failure> {
        let copy = self.context.copies.people.get(user, now).await?;
        if let Some(created) = copy.and_then(|person| person.created) {
            return Ok(created);
        }
        let found = self.context.storage.people.users.get(user).await?;
        Ok(found.map_or(now, |user| user.created))
    }

    /// Reads the cached user; every change of a level or of credits invalidates the cache. Reads the table of
    /// levels only if credits have to make the level.
    pub(super) async fn check_level(
        &self,
        user: UserId,
        min_level: u8,
        now: Timestamp,
    ) -> Result<(), Failure> {
        if min_level == 0 {
            return Ok(());
        }
        let person = self.context.copies.people.get(user, now).await?;
        let card = person.ok_or(Refusal::LevelTooLow)?.card;
        let is_enough = card.granted_level() >= min_level
            || self.context.level_table(now).await?.earned(card.credits) >= min_level;
        if is_enough { Ok(()) } else { Err(Refusal::LevelTooLow.into()) }
    }
}
