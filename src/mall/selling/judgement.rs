//! Judgement of claims: signals, score and decision of each attempt in a judged sale, and the decision log.
//!
//! Reasons and figures: `src/decisions/0061-judgement.md`.

mod attempt_log;
mod crowding;

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{
    Attempt, AttemptOutcome, Judgement, OrderId, SaleRecord, Signal, Signals, StoreError, Timestamp, UserId,
};
use parking_lot::Mutex;

use self::attempt_log::AttemptLog;
use self::crowding::Crowding;
use super::guard::{CheckedPass, Guards, ShownPass, Traces};
use crate::mall::base::judgement_rules::Rules;
use crate::mall::base::sparse_log::SparseLog;
use crate::mall::base::{Context, Failure, GuardRefusal, Refusal};

/// Age up to which a copy of the rules is used without a check.
const RULES_FRESH_FOR: Duration = Duration::from_secs(1);

/// Judges the attempts of this process.
pub(super) struct Judge {
    context: Context,
    crowding: Crowding,
    log: AttemptLog,
    /// A copy of the rules, with the time of reading.
    rules: Mutex<Option<(Timestamp, Arc<Rules>)>>,
    unreadable_rules: SparseLog,
}

/// An attempt that is being decided.
pub(super) struct OpenAttempt {
    attempt: Attempt,
    mode: Judgement,
    rules: Arc<Rules>,
}

impl Judge {
    pub(super) fn new(context: Context) -> Self {
        Self {
            context,
            crowding: Crowding::default(),
            log: AttemptLog::default(),
            rules: Mutex::default(),
            unreadable_rules: SparseLog::default(),
        }
    }

    /// Opens an attempt at a judged sale. `None` if the sale is not judged. Does not fail: a mall that cannot
    /// read its keys or rules sells without judging.
    pub(super) async fn open(
        &self,
        guards: &Guards,
        user: UserId,
        sale: &SaleRecord,
        shown: &ShownPass<'_>,
        now: Timestamp,
    ) -> Option<OpenAttempt> {
        let mode = sale.judgement?;
        let voucher = sale.terms.voucher;
        let Traces { address, device } = guards.traces(shown, now).await.unwrap_or_default();
        let mut signals = Signals::default();
        let shared = &self.context.settings.shared_networks;
        for (signal, value) in [
            (
                Signal::AddressUsers,
                address.and_then(|address| self.crowding.users(voucher, address, user, now)),
            ),
            (Signal::DeviceUsers, device.and_then(|device| self.crowding.users(voucher, device, user, now))),
            (Signal::UserAttempts, self.crowding.attempts(voucher, user, now)),
        ] {
            let divisor = if signal == Signal::AddressUsers { shared.factor_of(shown.address) } else { 1 };
            if let Some(value) = value {
                signals.set(signal, value.div_ceil(divisor));
            }
        }
        let outcome = AttemptOutcome::Failed;
        let attempt = Attempt { at: now, voucher, user, address, device, outcome, score: 0, signals };
        Some(OpenAttempt { attempt, mode, rules: self.rules(now).await })
    }

    /// Judges an attempt that passed every other check.
    ///
    /// # Errors
    /// [`GuardRefusal::ChallengeAgain`] or [`Refusal::LooksAutomated`], as the sale demands.
    pub(super) fn judge(
        &self,
        open: &mut OpenAttempt,
        sale: &SaleRecord,
        pass: Option<&CheckedPass>,
        registered: Option<Timestamp>,
    ) -> Result<(), Refusal> {
        let now = open.attempt.at;
        if let Some(registered) = registered {
            let hours = now.since(registered).as_secs() / 3_600;
            open.attempt.signals.set(Signal::AccountHours, u32::try_from(hours).unwrap_or(u32::MAX));
        }
        let earned = pass.and_then(|checked| checked.earned);
        if let (Some(CheckedPass { pass, .. }), Some((evidence, lifetime))) = (pass, earned) {
            evidence.add_to(&mut open.attempt.signals, (pass.expires, lifetime), now);
        }
        // The customers of a trusted kiosk share its address.
        let is_trusted = pass.is_some() && earned.is_none();
        if is_trusted || open.score() < open.rules.limit() {
            return Ok(());
        }
        match open.mode {
            Judgement::Refuse => Err(Refusal::LooksAutomated),
            Judgement::Challenge
                if sale.guard.is_some() && !earned.is_some_and(|(evidence, _)| evidence.is_second()) =>
            {
                Err(Refusal::Guard(GuardRefusal::ChallengeAgain))
            }
            Judgement::Observe | Judgement::Challenge => Ok(()),
        }
    }

    /// Adds a decided attempt to the log. Never waits.
    pub(super) fn close(&self, open: OpenAttempt, decided: Result<OrderId, &Failure>) {
        let outcome = outcome_of(decided);
        self.log.add(Attempt { outcome, score: open.score(), ..open.attempt });
    }

    /// Writes logged attempts to the database.
    ///
    /// # Errors
    /// [`StoreError`]: the attempts of the failed transaction are lost and counted.
    pub(super) async fn store(&self) -> Result<(), StoreError> {
        self.log.store(&*self.context.storage.selling.attempts).await
    }

    /// Deletes attempts that are too old or too many from the database, and counts that are over from memory.
    ///
    /// # Errors
    /// [`StoreError`]: the next call continues.
    pub(super) async fn sweep(&self, now: Timestamp) -> Result<(), StoreError> {
        self.crowding.forget(now);
        attempt_log::sweep(&*self.context.storage.selling.attempts, self.context.expiry_now(now)).await
    }

    /// Returns whether attempts wait to be written.
    pub(super) fn has_to_store(&self) -> bool {
        !self.log.is_empty()
    }

    /// Returns the number of attempts that this process could not log.
    pub(super) fn lost(&self) -> u64 {
        self.log.lost()
    }

    /// Returns the rules in force, from a copy of a second at most; the last copy while the stored rules
    /// cannot be read, and the default without one.
    async fn rules(&self, now: Timestamp) -> Arc<Rules> {
        let copy = self.rules.lock().clone();
        if let Some((at, rules)) = &copy
            && now >= *at
            && now.since(*at) < RULES_FRESH_FOR
        {
            return Arc::clone(rules);
        }
        let rules = match self.context.judgement_rules(now).await {
            Ok(rules) => Arc::new(rules),
            Err(error) => {
                if let Some(times) = self.unreadable_rules.again() {
                    tracing::warn!(%error, times, "could not read the judgement rules; the last known apply");
                }
                copy.map_or_else(Arc::default, |(_, rules)| rules)
            }
        };
        *self.rules.lock() = Some((now, Arc::clone(&rules)));
        rules
    }
}

impl OpenAttempt {
    /// Returns whether the score depends on the age of the account.
    pub(super) fn asks_for_age(&self) -> bool {
        self.rules.asks_for(Signal::AccountHours)
    }

    fn score(&self) -> u32 {
        self.rules.score(&self.attempt.signals)
    }
}

fn outcome_of(decided: Result<OrderId, &Failure>) -> AttemptOutcome {
    let refusal = match decided {
        Ok(_) => return AttemptOutcome::Accepted,
        Err(Failure::Refused(refusal)) => refusal,
        Err(_) => return AttemptOutcome::Failed,
    };
    match refusal {
        Refusal::AlreadyBought(_) | Refusal::LimitReached(_) => AttemptOutcome::AlreadyBought,
        Refusal::SoldOut | Refusal::SoldOutUntil { .. } => AttemptOutcome::SoldOut,
        Refusal::NotOpen | Refusal::Ended | Refusal::Paused | Refusal::UnknownSale => AttemptOutcome::Closed,
        Refusal::LevelTooLow | Refusal::AccountTooNew { .. } | Refusal::SmsCodeNeeded => {
            AttemptOutcome::NotEligible
        }
        Refusal::RateLimited { .. } | Refusal::Crowded { .. } => AttemptOutcome::RateLimited,
        Refusal::Guard(GuardRefusal::AdmissionRequired) => AttemptOutcome::NotAdmitted,
        Refusal::Guard(GuardRefusal::ChallengeAgain) => AttemptOutcome::ChallengeAgain,
        Refusal::Guard(_) => AttemptOutcome::PassRequired,
        Refusal::LooksAutomated => AttemptOutcome::LooksAutomated,
        _ => AttemptOutcome::Failed,
    }
}
