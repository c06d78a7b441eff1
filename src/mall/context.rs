//! What every service needs: the store, the time, the settings.

use std::sync::Arc;

use jiff::tz::TimeZone;
use mallbox_storage::{Limit, Pass, Storage, Timestamp, UserId};

use super::{Clock, Failure, Refusal, Settings};

/// Handed to every service; cheap to clone. Nothing of it is process-wide, so two malls live in one process.
#[derive(Clone)]
pub struct Context {
    /// What the mall remembers.
    pub storage: Storage,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// The zone in which times are written for people.
    pub zone: TimeZone,
    /// How the mall behaves.
    pub settings: Arc<Settings>,
}

impl Context {
    /// The mall's time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Counts a call of a user, if there is a limit. `what` names the calls that it is on.
    pub(super) async fn within_limit(
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
