//! What every service needs: the store, the time, the settings.

use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use mallbox_storage::{Limit, Pass, PaymentMode, Storage, StoreError, Timestamp, UserId};

use super::clock_jump::ClockJump;
use super::{Clock, Copies, Failure, Refusal, Settings};

/// Handed to every service; cheap to clone. Nothing of it is process-wide, so two malls live in one process.
#[derive(Clone)]
pub struct Context {
    /// What the mall remembers.
    pub storage: Storage,
    /// Copies of some of that.
    pub copies: Copies,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// The zone in which times are written for people.
    pub zone: TimeZone,
    /// How the mall behaves.
    pub settings: Arc<Settings>,
}

impl Context {
    /// Of a mall that remembers this, and has no copies of it yet.
    #[must_use]
    pub fn new(storage: Storage, clock: Arc<dyn Clock>, zone: TimeZone, settings: Arc<Settings>) -> Self {
        Self { copies: Copies::of(&storage), storage, clock, zone, settings }
    }

    /// The mall's time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The instant by which anything is judged that expires to a user's harm: `now`, less a forward jump of the clock
    /// that is in doubt.
    #[must_use]
    pub fn expiry_now(&self, now: Timestamp) -> Timestamp {
        now - self.doubted()
    }

    /// By how much the clock may be ahead of the time that passed, while a jump is in doubt; zero otherwise.
    #[must_use]
    pub fn doubted(&self) -> Duration {
        self.clock.doubt().map_or(Duration::ZERO, ClockJump::ahead)
    }

    /// Returns how orders that are written now are paid for, from a copy. A mode that another instance
    /// [set](Self::set_payment_mode) is seen once its message arrives, and within five seconds if the message is lost.
    ///
    /// # Errors
    /// There is no copy and the database cannot be read, or the stored mode is unknown to this version.
    pub async fn payment_mode(&self) -> Result<PaymentMode, Failure> {
        let stored = self.copies.payment.get((), self.now()).await?.and_then(|setting| setting.0);
        PaymentMode::from_setting(stored.as_deref())
            .ok_or_else(|| Failure::Bug(format!("the payment mode {stored:?} is unknown to this version")))
    }

    /// Stores how orders that are written from now on are paid for, and drops the copies of all instances.
    ///
    /// # Errors
    /// [`StoreError`]: the mode may or may not be stored.
    pub async fn set_payment_mode(&self, mode: PaymentMode) -> Result<(), StoreError> {
        self.storage.upkeep.put_setting(PaymentMode::SETTING, mode.name()).await?;
        self.copies.payment.changed(&[()]).await;
        Ok(())
    }

    /// Stores how new orders are paid for, unless a mode is stored.
    ///
    /// # Errors
    /// [`StoreError`]: the mode may or may not be stored.
    pub async fn keep_payment_mode(&self, mode: PaymentMode) -> Result<(), StoreError> {
        self.storage.upkeep.keep_setting(PaymentMode::SETTING, mode.name()).await?;
        self.copies.payment.changed(&[()]).await;
        Ok(())
    }

    /// Counts a call of a user, if there is a limit on what they do.
    ///
    /// # Errors
    /// [`Refusal::RateLimited`]; or the store is in trouble.
    pub async fn within(
        &self,
        limit: Option<Limit>,
        what: &str,
        user: UserId,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let Some(limit) = limit else { return Ok(()) };
        match self.storage.rate_limits.pass(&format!("{what}:{user}"), limit, now).await? {
            Pass::Allowed => Ok(()),
            Pass::Refused { retry_after } => Err(Refusal::RateLimited { retry_after }.into()),
        }
    }
}
