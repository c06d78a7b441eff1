//! Archiving old days of a ledger, and reading archived days.
//!
//! Reasons: `storage/decisions/0031-archive.md`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mallbox_storage::{
    ArchiveLedger, ArchiveOutcome, ArchivedDay, ArchivedVotes, Day, LineCursor, LinesPage, StoreError,
    utc_day,
};
use serde_json::json;

use crate::mall::base::{AuditLog, AuditedAction, By, Context, Failure, Refusal, run_audited};

/// Time after which a call begins no further day: the caller sees progress, and may stop between calls.
const RUN_TIME_MAX: Duration = Duration::from_secs(2);
/// Repetitions of a day whose draft another process removed.
const TRIES_MAX: usize = 3;

/// A day archived by a call.
#[derive(Clone, Debug)]
pub struct DayRun {
    /// The day's file.
    pub day: ArchivedDay,
    /// Whether this call wrote the file. Otherwise only lines left the table.
    pub is_new: bool,
    /// Lines removed from the table.
    pub removed: u64,
    /// The fault of the file; nothing was removed then.
    pub fault: Option<String>,
}

/// Result of a call that archives.
#[derive(Clone, Debug, Default)]
pub struct ArchiveRun {
    /// The days, oldest first. A day with a fault is the last.
    pub days: Vec<DayRun>,
    /// The next day to archive; `None` if no day is left.
    pub next: Option<Day>,
}

/// The operators' service for the archive. Cheap to clone.
#[derive(Clone)]
pub struct ArchiveAdmin {
    context: Context,
    audit: AuditLog,
    votes: ArchivedVotes,
    /// One call archives at a time.
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl ArchiveAdmin {
    /// Archived days per page.
    pub const DAYS: u32 = 500;
    /// Lines of a day per page.
    pub const LINES: u32 = 50;

    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog) -> Self {
        let votes = ArchivedVotes::of(&context.storage);
        Self { context, audit, votes, turn: Arc::default() }
    }

    /// Returns the first day kept in the table if `days` days before today are kept.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for a number beyond the calendar.
    pub fn first_kept(&self, days: u32, by: By) -> Result<Day, Failure> {
        let today = today(by)?;
        let first = i32::try_from(days).ok().and_then(|days| today.number().checked_sub(days));
        Ok(first.and_then(Day::from_number).ok_or(Refusal::BadValue("keep-days"))?)
    }

    /// Archives the days of a ledger from `from` to before `before`, for some seconds. The caller calls again
    /// with [`ArchiveRun::next`] until no day is left.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for a day that is not over; [`Failure::Store`] if the store fails: no line is
    /// lost, and a repeat goes on.
    pub async fn archive(
        &self,
        by: By,
        ledger: ArchiveLedger,
        before: Day,
        from: Option<Day>,
    ) -> Result<ArchiveRun, Failure> {
        if before > today(by)? {
            return Err(Refusal::BadValue("before").into());
        }
        let action = AuditedAction {
            action: "ledger.archive",
            subject: ledger.to_string(),
            detail: json!({ "before": before.to_string(), "from": from.map(|from| from.to_string()) }),
        };
        let this = self.clone();
        run_audited(&self.audit, by, action, async move {
            let ArchiveLedger::Votes = ledger;
            this.archive_votes(by, before, from).await
        })
        .await
    }

    async fn archive_votes(&self, by: By, before: Day, mut from: Option<Day>) -> Result<ArchiveRun, Failure> {
        let _turn = self.turn.lock().await;
        let begun = Instant::now();
        let mut run = ArchiveRun::default();
        while let Some(day) = self.votes.next_day(from, before).await? {
            if begun.elapsed() >= RUN_TIME_MAX {
                run.next = Some(day);
                break;
            }
            let done = self.archive_day(day, by).await?;
            let is_damaged = done.fault.is_some();
            run.days.push(done);
            from = Day::from_number(day.number() + 1);
            if is_damaged || from.is_none() {
                break;
            }
        }
        Ok(run)
    }

    async fn archive_day(&self, day: Day, by: By) -> Result<DayRun, Failure> {
        for _ in 0..TRIES_MAX {
            match self.votes.archive(day, by.at).await? {
                ArchiveOutcome::Archived { day, is_new, removed } => {
                    return Ok(DayRun { day, is_new, removed, fault: None });
                }
                ArchiveOutcome::Damaged { day, fault } => {
                    return Ok(DayRun { day, is_new: false, removed: 0, fault: Some(fault.to_string()) });
                }
                ArchiveOutcome::Interrupted => {}
            }
        }
        Err(Refusal::Busy.into())
    }

    /// Returns archived days of a ledger behind `after`, oldest first; `None` begins.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn days(&self, ledger: ArchiveLedger, after: Option<Day>) -> Result<Vec<ArchivedDay>, Failure> {
        Ok(self.context.storage.operator.archive.days(ledger, after, Self::DAYS).await?)
    }

    /// Returns lines of an archived day of the ledger of votes, oldest first.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for a day that is not archived, or a place that no page returned;
    /// [`Failure::Store`] if the store fails or the file is damaged.
    pub async fn votes(&self, day: Day, from: LineCursor, max: u32) -> Result<LinesPage, Failure> {
        match self.votes.page(day, from, max).await {
            Ok(page) => Ok(page.ok_or(Refusal::NotFound("archived day"))?),
            Err(error @ StoreError::Corrupt { .. }) => {
                tracing::error!(%error, "could not read a file of the archive; mallbox verify checks all");
                Err(error.into())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns today, in UTC.
fn today(by: By) -> Result<Day, Failure> {
    Ok(utc_day(by.at).ok_or(Refusal::Busy)?)
}
