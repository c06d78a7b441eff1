//! The last sure time of the mall, stored, to detect a wrong clock at start.

use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{StoreError, Timestamp};
use parking_lot::Mutex;

use super::Context;
use super::chores::{Chore, Every};
use super::clock_doubt::ClockState;

/// Setting with the latest instant at which the mall ran, in milliseconds.
const LAST_RUN: &str = "clock: last run ms";
const NOTED_EVERY: Duration = Duration::from_secs(60);

/// Returns the last sure time that was stored; `None` in a mall that ran for less than a minute.
///
/// # Errors
/// [`StoreError`] if the setting cannot be read.
pub(in crate::mall) async fn last_run(context: &Context) -> Result<Option<Timestamp>, StoreError> {
    let stored = context.storage.base.upkeep.setting(LAST_RUN).await?;
    Ok(stored.and_then(|ms| ms.parse().ok()).map(Timestamp::from_millis))
}

/// Stores a sure time.
///
/// # Errors
/// [`StoreError`]: the time may or may not be stored.
pub(in crate::mall) async fn store_last_run(context: &Context, at: Timestamp) -> Result<(), StoreError> {
    context.storage.base.upkeep.put_setting(LAST_RUN, &at.as_millis().to_string()).await
}

/// Judges the machine's clock at a start against the last stored time. Never refuses the start: the clock may
/// have been wrong during the last run.
pub(in crate::mall) fn judge_clock(context: &Context, last_run: Option<Timestamp>) {
    let Some(guard) = context.clock.guard() else { return };
    if let ClockState::Unsure(doubt) = guard.start(last_run) {
        let (last_run_ms, now_ms) = (last_run.map(Timestamp::as_millis), guard.wall().as_millis());
        tracing::warn!(last_run_ms, now_ms, doubt = doubt.name(), "{doubt}");
    }
}

/// Stores the mall's time once a minute.
///
/// While the clock is unsure, the mall's time is the last sure time plus the time that has passed: the stored
/// time never follows an unsure clock. Another instance may have stored a sure time meanwhile, by which the
/// clock is judged anew.
pub(in crate::mall) struct StoreLastRun {
    every: Every,
    context: Context,
    /// What this process stored or read last.
    known: Mutex<Option<Timestamp>>,
}

impl StoreLastRun {
    /// Creates the job of a mall that started with `last_run`.
    pub(in crate::mall) fn new(context: &Context, last_run: Option<Timestamp>) -> Self {
        Self { every: Every::new(NOTED_EVERY), context: context.clone(), known: Mutex::new(last_run) }
    }

    async fn store(&self) -> Result<(), StoreError> {
        let context = &self.context;
        if let (ClockState::Unsure(_), Some(guard)) = (context.clock_state(), context.clock.guard()) {
            let known = *self.known.lock();
            // A mall that never had a sure time has none to go on from.
            let Some(stored) = last_run(context).await? else { return Ok(()) };
            if Some(stored) != known {
                guard.adopt(stored);
                *self.known.lock() = Some(stored);
                return Ok(());
            }
        }
        let now = context.now();
        store_last_run(context, now).await?;
        *self.known.lock() = Some(now);
        Ok(())
    }
}

#[async_trait]
impl Chore for StoreLastRun {
    fn name(&self) -> &'static str {
        "record the time of the last run"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        if let Err(error) = self.store().await {
            tracing::debug!(%error, "could not store the time of the last run");
        }
    }
}
