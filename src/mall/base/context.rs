//! Shared dependencies of every service: store, caches, clock, settings.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use mallbox_storage::{Limit, PaymentMode, RateLimitOutcome, Storage, StoreError, Timestamp, UserId};

use super::clock_doubt::ClockState;
use super::clock_guard::ClockGuard;
use super::clock_jump::ClockJump;
use super::judgement_rules::Rules;
use super::kiosk_keys::{Kiosk, Kiosks};
use super::levels::LevelTable;
use super::{Caches, Clock, ClockRefusal, Failure, Refusal, Settings};

/// Dependencies passed to every service. Cheap to clone: all services of a mall share one
/// [`SharedContext`].
#[derive(Clone)]
pub struct Context(Arc<SharedContext>);

/// The dependencies in a [`Context`]. Nothing here is process-wide, so two malls can live in one process.
#[derive(Clone)]
pub struct SharedContext {
    /// Storage ports of the back end.
    pub storage: Storage,
    /// Caches of some stored values.
    pub copies: Caches,
    /// The mall's clock.
    pub clock: Arc<dyn Clock>,
    /// Time zone for times shown to people.
    pub zone: TimeZone,
    /// Settings of the mall.
    pub settings: Arc<Settings>,
}

impl Deref for Context {
    type Target = SharedContext;

    fn deref(&self) -> &SharedContext {
        &self.0
    }
}

/// A change is one of this context alone, and not of its clones.
impl DerefMut for Context {
    fn deref_mut(&mut self) -> &mut SharedContext {
        Arc::make_mut(&mut self.0)
    }
}

impl Context {
    /// Creates a context with empty caches.
    #[must_use]
    pub fn new(storage: Storage, clock: Arc<dyn Clock>, zone: TimeZone, settings: Arc<Settings>) -> Self {
        Self(Arc::new(SharedContext { copies: Caches::of(&storage), storage, clock, zone, settings }))
    }

    /// Returns the mall's current time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns whether the clock of the machine is sure; a clock moved on purpose is.
    #[must_use]
    pub fn clock_state(&self) -> ClockState {
        self.clock.guard().map_or(ClockState::Sure, ClockGuard::state)
    }

    /// Refuses what depends on the time of day while the clock is unsure.
    ///
    /// # Errors
    /// [`ClockRefusal::Unsure`].
    pub(in crate::mall) fn require_sure_clock(&self) -> Result<(), Refusal> {
        match self.clock_state() {
            ClockState::Sure => Ok(()),
            ClockState::Unsure(_) => Err(ClockRefusal::Unsure.into()),
        }
    }

    /// Returns the time of the machine's clock while the clock is unsure, `now` otherwise: for codes of a
    /// second factor, which follow the time of the user's phone.
    pub(in crate::mall) fn time_of_phones(&self, now: Timestamp) -> Timestamp {
        let unsure = self.clock.guard().filter(|guard| guard.state() != ClockState::Sure);
        unsure.map_or(now, ClockGuard::wall)
    }

    /// Returns the instant by which expiry to a user's disadvantage is judged: `now` minus a jump forward
    /// that expiry does not follow yet.
    #[must_use]
    pub fn expiry_now(&self, now: Timestamp) -> Timestamp {
        now - self.doubted()
    }

    /// Returns how far the clock may be ahead of elapsed time while a jump is in doubt; zero otherwise.
    #[must_use]
    pub fn doubted(&self) -> Duration {
        self.clock.doubt().map_or(Duration::ZERO, ClockJump::ahead)
    }

    /// Returns the payment mode for new orders, from the cache. A mode [set](Self::set_payment_mode) by
    /// another instance is seen when its invalidation message arrives, or within five seconds if the message
    /// is lost.
    ///
    /// # Errors
    /// [`Refusal::Busy`] or [`Failure::Store`] if no mode is cached and the database cannot be read in time;
    /// [`Failure::Bug`] if the stored mode is unknown to this version.
    pub async fn payment_mode(&self) -> Result<PaymentMode, Failure> {
        let stored = self.copies.payment.get((), self.now()).await?.and_then(|setting| setting.0);
        PaymentMode::from_setting(stored.as_deref())
            .ok_or_else(|| Failure::Bug(format!("the payment mode {stored:?} is unknown to this version")))
    }

    /// Stores the payment mode for new orders and invalidates the caches of all instances.
    ///
    /// # Errors
    /// [`StoreError`]: the mode may or may not be stored.
    pub async fn set_payment_mode(&self, mode: PaymentMode) -> Result<(), StoreError> {
        self.storage.base.upkeep.put_setting(PaymentMode::SETTING, mode.name()).await?;
        self.copies.payment.changed(&[()]).await;
        Ok(())
    }

    /// Stores the payment mode for new orders, unless a mode is already stored.
    ///
    /// # Errors
    /// [`StoreError`]: the mode may or may not be stored.
    pub async fn keep_payment_mode(&self, mode: PaymentMode) -> Result<(), StoreError> {
        self.storage.base.upkeep.keep_setting(PaymentMode::SETTING, mode.name()).await?;
        self.copies.payment.changed(&[()]).await;
        Ok(())
    }

    /// Returns the table of member levels, from the cache. A table set by another instance is seen as a
    /// [payment mode](Self::payment_mode) is.
    ///
    /// # Errors
    /// [`Refusal::Busy`] or [`Failure::Store`] if no table is cached and the database cannot be read in time;
    /// [`Failure::Bug`] if the stored table is unknown to this version.
    pub async fn level_table(&self, now: Timestamp) -> Result<LevelTable, Failure> {
        let stored = self.copies.levels.get((), now).await?.and_then(|setting| setting.0);
        LevelTable::from_setting(stored.as_deref())
            .ok_or_else(|| Failure::Bug(format!("the table of levels {stored:?} is unknown to this version")))
    }

    /// Stores the table of member levels and invalidates the caches of all instances.
    ///
    /// # Errors
    /// [`StoreError`]: the table may or may not be stored.
    pub async fn set_level_table(&self, table: &LevelTable) -> Result<(), StoreError> {
        let stored = self.storage.base.upkeep.put_setting(LevelTable::SETTING, &table.to_setting()).await;
        self.copies.levels.changed(&[()]).await;
        stored
    }

    /// Returns the rules of the judgement, cached for some seconds at most.
    ///
    /// # Errors
    /// [`Refusal::Busy`] or [`Failure::Store`] if no rules are cached and the database cannot be read in
    /// time; [`Failure::Bug`] if the stored rules are unknown to this version.
    pub async fn judgement_rules(&self, now: Timestamp) -> Result<Rules, Failure> {
        let text = self.judgement_rules_text(now).await?;
        let rules = text.as_deref().map_or_else(|| Ok(Rules::default()), Rules::parse);
        rules.map_err(|error| {
            Failure::Bug(format!("the judgement rules are unknown to this version: {error:?}"))
        })
    }

    /// Returns the text of the rules of the judgement; `None` for the default.
    ///
    /// # Errors
    /// As [`judgement_rules`](Self::judgement_rules).
    pub async fn judgement_rules_text(&self, now: Timestamp) -> Result<Option<String>, Failure> {
        let stored = self.copies.judgement.get((), now).await?.and_then(|setting| setting.0);
        Ok(stored.filter(|text| !text.is_empty()))
    }

    /// Stores the rules of the judgement and invalidates the caches of all instances. An empty text restores
    /// the default.
    ///
    /// # Errors
    /// [`StoreError`]: the rules may or may not be stored.
    pub(in crate::mall) async fn set_judgement_rules(&self, text: &str) -> Result<(), StoreError> {
        let stored = self.storage.base.upkeep.put_setting(Rules::SETTING, text).await;
        self.copies.judgement.changed(&[()]).await;
        stored
    }

    /// Returns the trusted kiosk of a key, if any. Cached for some seconds at most.
    ///
    /// # Errors
    /// [`Refusal::Busy`] or [`Failure::Store`] if no list is cached and the database cannot be read in time;
    /// [`Failure::Bug`] if the stored list is unknown to this version.
    pub(in crate::mall) async fn kiosk_of(
        &self,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<Kiosk>, Failure> {
        Ok(self.kiosks(now).await?.of_key(key).cloned())
    }

    /// Returns the trusted kiosks, cached for seconds.
    ///
    /// # Errors
    /// As [`kiosk_of`](Self::kiosk_of).
    pub(in crate::mall) async fn kiosks(&self, now: Timestamp) -> Result<Kiosks, Failure> {
        let stored = self.copies.kiosks.get((), now).await?.and_then(|setting| setting.0);
        Kiosks::from_setting(stored.as_deref())
            .ok_or_else(|| Failure::Bug("the list of kiosks is unknown to this version".to_owned()))
    }

    /// Invalidates the cached profile of a user whose credits have changed.
    pub(in crate::mall) async fn credits_changed(&self, user: UserId) {
        self.copies.people.changed(&[user]).await;
    }

    /// Counts a like, follow or profile edit against the user's limit of small writes.
    ///
    /// # Errors
    /// [`Refusal::RateLimited`] above the limit; [`Failure::Store`] if the store fails.
    pub async fn count_action(&self, user: UserId, now: Timestamp) -> Result<(), Failure> {
        self.within(self.settings.action_limit, "act", user, now).await
    }

    /// Counts an action of a user against a rate limit, if there is a limit. `what` names the action.
    ///
    /// # Errors
    /// [`Refusal::RateLimited`] above the limit; [`Failure::Store`] if the store fails.
    pub async fn within(
        &self,
        limit: Option<Limit>,
        what: &str,
        user: UserId,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let Some(limit) = limit else { return Ok(()) };
        match self.storage.base.rate_limits.pass(&format!("{what}:{user}"), limit, now).await? {
            RateLimitOutcome::Allowed => Ok(()),
            RateLimitOutcome::Refused { retry_after } => Err(Refusal::RateLimited { retry_after }.into()),
        }
    }
}
