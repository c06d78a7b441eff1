//! The job that runs: one at a time, on servers that stay up between jobs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mallbox_bench_ladder::{RungReport, Trigger};
use parking_lot::Mutex;
use serde::Serialize;

use crate::bench::ladder::{AnyRung, LadderEffort, LadderSession, LadderStep};

/// Length of the measurement of a rung's rates.
const SPAN: Duration = Duration::from_millis(500);

/// All jobs since the server started.
pub(super) struct Jobs {
    dir: PathBuf,
    state: Mutex<State>,
    /// Opened by the first job.
    session: Mutex<Option<LadderSession>>,
    is_cancelled: AtomicBool,
}

#[derive(Default)]
struct State {
    job: Option<Job>,
    /// The newest report of each rung.
    reports: BTreeMap<&'static str, RungReport>,
}

/// A job, as the page sees it.
#[derive(Clone, Serialize)]
pub(super) struct Job {
    id: u64,
    rungs: Vec<&'static str>,
    state: JobState,
    /// Why the job failed.
    error: Option<String>,
    /// Steps that are over, and all.
    done: usize,
    total: usize,
    doing: Option<Doing>,
    reports: Vec<RungReport>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum JobState {
    Running,
    Done,
    Cancelled,
    Failed,
}

/// The step that runs.
#[derive(Clone, Copy, Serialize)]
struct Doing {
    rung: &'static str,
    /// `None` while rates are measured.
    trigger: Option<Trigger>,
}

impl Job {
    /// Keeps the newest report of a rung.
    fn keep(&mut self, report: &RungReport) {
        self.reports.retain(|known| known.id != report.id);
        self.reports.push(report.clone());
    }
}

impl Jobs {
    /// Creates the jobs of a server whose servers keep their data below `dir`.
    pub(super) fn new(dir: PathBuf) -> Self {
        Self { dir, state: Mutex::default(), session: Mutex::default(), is_cancelled: AtomicBool::new(false) }
    }

    /// Returns the newest job.
    pub(super) fn newest(&self) -> Option<Job> {
        self.state.lock().job.clone()
    }

    /// Returns the newest report of each rung.
    pub(super) fn reports(&self) -> Vec<RungReport> {
        self.state.lock().reports.values().cloned().collect()
    }

    /// Starts a job. `Err` with the job that runs already.
    pub(super) fn start(self: &Arc<Self>, rungs: Vec<AnyRung>, repeat: usize) -> Result<Job, Box<Job>> {
        let effort = LadderEffort { triggers: Trigger::ALL.into(), repeat, span: SPAN };
        let job = {
            let mut state = self.state.lock();
            if let Some(running) = state.job.as_ref().filter(|job| job.state == JobState::Running) {
                return Err(Box::new(running.clone()));
            }
            let job = Job {
                id: state.job.as_ref().map_or(1, |job| job.id + 1),
                rungs: rungs.iter().map(|rung| rung.id()).collect(),
                state: JobState::Running,
                error: None,
                done: 0,
                // A measurement, and each trigger.
                total: rungs.iter().map(|rung| 1 + rung.triggers().count()).sum(),
                doing: None,
                reports: Vec::new(),
            };
            self.is_cancelled.store(false, Ordering::SeqCst);
            state.job.insert(job).clone()
        };
        let jobs = Arc::clone(self);
        std::thread::spawn(move || {
            let runner = Arc::clone(&jobs);
            let ended = std::thread::spawn(move || runner.run(&rungs, &effort)).join();
            jobs.update(|job| {
                job.doing = None;
                (job.state, job.error) = match ended {
                    Ok(Ok(true)) => (JobState::Done, None),
                    Ok(Ok(false)) => (JobState::Cancelled, None),
                    Ok(Err(error)) => (JobState::Failed, Some(format!("{error:#}"))),
                    Err(_) => (JobState::Failed, Some("the job panicked".to_owned())),
                };
            });
        });
        Ok(job)
    }

    /// Ends the job that runs after its current step.
    pub(super) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::SeqCst);
    }

    /// Waits for the current step of a job, and ends the servers.
    pub(super) fn end(&self) {
        self.cancel();
        drop(self.session.lock().take());
    }

    /// Runs the rungs. Returns false if cancelled.
    fn run(&self, rungs: &[AnyRung], effort: &LadderEffort) -> anyhow::Result<bool> {
        let mut kept = self.session.lock();
        let session = match kept.take() {
            Some(session) => session,
            None => LadderSession::open(&self.dir, None)?,
        };
        // After an error the next job gets servers of its own.
        let is_done = self.climb(&session, rungs, effort)?;
        *kept = Some(session);
        Ok(is_done)
    }

    fn climb(
        &self,
        session: &LadderSession,
        rungs: &[AnyRung],
        effort: &LadderEffort,
    ) -> anyhow::Result<bool> {
        let mut begun = 0;
        for rung in rungs {
            let report = session.report(*rung, effort, |LadderStep { rung, trigger }, so_far| {
                self.update(|job| {
                    job.done = begun;
                    job.doing = Some(Doing { rung, trigger });
                    job.keep(so_far);
                });
                begun += 1;
                !self.is_cancelled.load(Ordering::SeqCst)
            })?;
            if self.is_cancelled.load(Ordering::SeqCst) {
                return Ok(false);
            }
            self.state.lock().reports.insert(rung.id(), report.clone());
            self.update(|job| {
                job.done = begun;
                job.keep(&report);
            });
        }
        Ok(true)
    }

    fn update(&self, change: impl FnOnce(&mut Job)) {
        if let Some(job) = &mut self.state.lock().job {
            change(job);
        }
    }
}
