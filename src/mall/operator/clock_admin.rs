//! The machine's clock from the operator's side: its state, and the confirmation of an unsure clock.

use mallbox_storage::Timestamp;
use serde_json::json;

use crate::mall::base::clock_doubt::ClockState;
use crate::mall::base::clock_guard::{ClockGuard, ConfirmError};
use crate::mall::base::last_run::store_last_run;
use crate::mall::base::{
    AuditLog, AuditedAction, By, ClockRefusal, Context, Failure, Refusal, run_audited, wall_time,
};

/// The operators' service for the clock of this machine. Cheap to clone.
#[derive(Clone)]
pub struct ClockAdmin {
    context: Context,
    audit: AuditLog,
}

/// What the machine's clock shows, and what the mall makes of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockReading {
    /// Whether the clock is sure.
    pub state: ClockState,
    /// Time of the machine's clock.
    pub machine: Timestamp,
    /// Time of the mall: the last sure time plus the time that has passed, while the clock is unsure.
    pub mall: Timestamp,
}

impl ClockAdmin {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog) -> Self {
        Self { context, audit }
    }

    /// Reads the clock.
    #[must_use]
    pub fn reading(&self) -> ClockReading {
        ClockReading::of(&self.context)
    }

    /// Confirms the time that the machine's clock shows: the clock is sure from now on. `seen` is the time
    /// that the operator saw, a few minutes ago at most. A sure clock stays as it is, and nothing is logged.
    ///
    /// # Errors
    /// [`ClockRefusal::Moved`] if the clock stands elsewhere meanwhile; [`ClockRefusal::BeforeRelease`];
    /// [`Failure::Store`] if the audit log cannot be written: nothing was done then.
    pub async fn confirm(&self, by: By, seen: Timestamp) -> Result<ClockReading, Failure> {
        let (Some(doubt), Some(_)) = (self.reading().state.doubt(), self.context.clock.guard()) else {
            return Ok(self.reading());
        };
        let detail = json!({ "time": wall_time::text(seen, &self.context.zone), "doubt": doubt.name() });
        let subject = "clock".to_owned();
        let context = self.context.clone();
        run_audited(&self.audit, by, AuditedAction { action: "clock.confirm", subject, detail }, async move {
            let guard = context.clock.guard().ok_or_else(|| Failure::Bug("a clock lost its guard".into()))?;
            let confirmed = guard.confirm(seen).map_err(Refusal::from)?;
            // The clock is sure all the same: the background job stores the time within a minute.
            if let Err(error) = store_last_run(&context, confirmed).await {
                tracing::warn!(%error, "could not store the confirmed time");
            }
            Ok(ClockReading::of(&context))
        })
        .await
    }
}

impl ClockReading {
    fn of(context: &Context) -> Self {
        let (state, mall) = (context.clock_state(), context.now());
        Self { state, machine: context.clock.guard().map_or(mall, ClockGuard::wall), mall }
    }
}

impl From<ConfirmError> for Refusal {
    fn from(error: ConfirmError) -> Self {
        Self::Clock(match error {
            ConfirmError::Moved => ClockRefusal::Moved,
            ConfirmError::BeforeRelease => ClockRefusal::BeforeRelease,
        })
    }
}
