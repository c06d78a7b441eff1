//! A job, as the page sees it.

use mallbox_bench_ladder::RungReport;
use serde::Serialize;
use serde_json::Value;

use super::task::{Doing, Task};

/// A job, as the page sees it.
#[derive(Clone, Serialize)]
pub(super) struct Job {
    pub(super) id: u64,
    rungs: Vec<&'static str>,
    comparison: Option<&'static str>,
    pub(super) state: JobState,
    /// Why the job failed.
    pub(super) error: Option<String>,
    /// Steps that are over, and all; both are 0 until the servers run.
    pub(super) done: usize,
    pub(super) total: usize,
    pub(super) doing: Option<Doing>,
    reports: Vec<RungReport>,
    /// The section of the comparison.
    pub(super) section: Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum JobState {
    Running,
    Done,
    Cancelled,
    Failed,
}

impl Job {
    pub(super) fn new(id: u64, task: &Task) -> Self {
        Self {
            id,
            rungs: task.rungs(),
            comparison: task.comparison(),
            state: JobState::Running,
            error: None,
            done: 0,
            total: 0,
            doing: None,
            reports: Vec::new(),
            section: None,
        }
    }

    /// Keeps the newest report of a rung.
    pub(super) fn keep(&mut self, report: &RungReport) {
        self.reports.retain(|known| known.id != report.id);
        self.reports.push(report.clone());
    }

    /// Ends the job. `Err` with the reason of the failure.
    pub(super) fn end(&mut self, state: Result<JobState, String>) {
        self.doing = None;
        match state {
            Ok(JobState::Done) => (self.state, self.done) = (JobState::Done, self.total),
            Ok(state) => self.state = state,
            Err(error) => (self.state, self.error) = (JobState::Failed, Some(error)),
        }
    }
}
