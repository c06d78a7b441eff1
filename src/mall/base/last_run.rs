//! A stored time of the mall's last run, to detect a wrong clock at start.

use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{StoreError, Timestamp};

use super::Context;
use super::chores::{Chore, Every};

/// Setting with the latest instant at which the mall ran, in milliseconds.
const LAST_RUN: &str = "clock: last run ms";
const NOTED_EVERY: Duration = Duration::from_secs(60);
/// Longer than a stored time is old and than the clocks of several instances differ.
const BEHIND_MAX: Duration = Duration::from_secs(2 * 60);
/// A mall that was stopped for this long is rarer than a wrong clock.
const AHEAD_MAX: Duration = Duration::from_secs(400 * 24 * 60 * 60);

/// Logs a warning if the clock stands before the last run, or far beyond it. Never refuses the start: the
/// clock may have been wrong during the last run.
///
/// # Errors
/// [`StoreError`] if the setting cannot be read.
pub(in crate::mall) async fn compare_with_last_run(context: &Context) -> Result<(), StoreError> {
    let last = context.storage.base.upkeep.setting(LAST_RUN).await?;
    let Some(last) = last.and_then(|ms| ms.parse().ok()).map(Timestamp::from_millis) else { return Ok(()) };
    if let Some(warning) = warning(last, context.now()) {
        tracing::warn!(last_run_ms = last.as_millis(), now_ms = context.now().as_millis(), "{warning}");
    }
    Ok(())
}

fn warning(last: Timestamp, now: Timestamp) -> Option<String> {
    let (behind, ahead) = (last.since(now), now.since(last));
    if behind > BEHIND_MAX {
        let text =
            "before this mall's last run: check the clock. Sales and deadlines follow the current time";
        return Some(format!("the clock is {} s {text}", behind.as_secs()));
    }
    let days = ahead.as_secs() / (24 * 60 * 60);
    (ahead > AHEAD_MAX).then(|| {
        format!(
            "the clock is {days} days after this mall's last run: if wrong, set the clock before orders \
             expire"
        )
    })
}

/// Stores the current time once a minute.
pub(in crate::mall) struct StoreLastRun {
    every: Every,
    context: Context,
}

impl StoreLastRun {
    pub(in crate::mall) fn new(context: &Context) -> Self {
        Self { every: Every::new(NOTED_EVERY), context: context.clone() }
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
        if let Err(error) =
            self.context.storage.base.upkeep.put_setting(LAST_RUN, &now.as_millis().to_string()).await
        {
            tracing::debug!(%error, "could not store the time of the last run");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_doubted_that_stands_before_the_last_run_or_more_than_a_year_after_it() {
        let last = Timestamp::from_millis(1_795_262_400_000);
        let day = Duration::from_secs(24 * 60 * 60);
        for (now, words) in [
            (last, None),
            (last + 30 * day, None),
            (last - Duration::from_secs(60), None),
            (last - Duration::from_secs(3_600), Some("3600 s before")),
            (last + 3_650 * day, Some("3650 days after")),
        ] {
            let warning = warning(last, now);
            assert_eq!(warning.is_some(), words.is_some(), "{warning:?}");
            assert!(warning.unwrap_or_default().contains(words.unwrap_or_default()));
        }
    }
}
