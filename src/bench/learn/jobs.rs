//! The job that runs: one at a time. Servers of the ladder stay up between jobs.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mallbox_bench_ladder::RungReport;
use parking_lot::Mutex;
use serde_json::Value;

use super::job::{Job, JobState};
use super::task::{News, Task};
use crate::bench::ladder::LadderSession;

/// All jobs since the server started.
pub(super) struct Jobs {
    dir: PathBuf,
    state: Mutex<State>,
    /// Opened by the first job on rungs. Locked while a job runs.
    session: Mutex<Option<LadderSession>>,
    is_cancelled: AtomicBool,
}

#[derive(Default)]
struct State {
    job: Option<Job>,
    /// The newest report of each rung.
    reports: BTreeMap<&'static str, RungReport>,
    /// The newest section of each comparison.
    sections: BTreeMap<&'static str, Value>,
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

    /// Returns the newest section of a comparison.
    pub(super) fn section(&self, comparison: &str) -> Option<Value> {
        self.state.lock().sections.get(comparison).cloned()
    }

    /// Starts a job. `Err` with the job that runs already.
    pub(super) fn start(self: &Arc<Self>, task: Task) -> Result<Job, Box<Job>> {
        let job = {
            let mut state = self.state.lock();
            if let Some(running) = state.job.as_ref().filter(|job| job.state == JobState::Running) {
                return Err(Box::new(running.clone()));
            }
            self.is_cancelled.store(false, Ordering::SeqCst);
            let id = state.job.as_ref().map_or(1, |job| job.id + 1);
            state.job.insert(Job::new(id, &task)).clone()
        };
        let jobs = Arc::clone(self);
        std::thread::spawn(move || {
            let runner = Arc::clone(&jobs);
            let ended = std::thread::spawn(move || runner.run(&task)).join();
            let state = match ended {
                Ok(Ok(ControlFlow::Continue(()))) => Ok(JobState::Done),
                Ok(Ok(ControlFlow::Break(()))) => Ok(JobState::Cancelled),
                Ok(Err(error)) => Err(format!("{error:#}")),
                Err(panic) => Err(panic_text(&*panic)),
            };
            jobs.update(|job| job.end(state));
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

    fn run(&self, task: &Task) -> anyhow::Result<ControlFlow<()>> {
        let mut session = self.session.lock();
        task.run(&self.dir, &mut session, &mut |news| self.receive(news))
    }

    fn receive(&self, news: News<'_>) -> ControlFlow<()> {
        match news {
            News::Step { doing, done, total, report } => self.update(|job| {
                (job.done, job.total, job.doing) = (done, total, Some(doing));
                report.into_iter().for_each(|report| job.keep(report));
            }),
            News::Rung(id, report) => {
                self.update(|job| job.keep(&report));
                self.state.lock().reports.insert(id, report);
            }
            News::Section(name, section) => {
                self.update(|job| job.section = Some(section.clone()));
                self.state.lock().sections.insert(name, section);
                // Nothing is left to cancel.
                return ControlFlow::Continue(());
            }
        }
        if self.is_cancelled.load(Ordering::SeqCst) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn update(&self, change: impl FnOnce(&mut Job)) {
        if let Some(job) = &mut self.state.lock().job {
            change(job);
        }
    }
}

/// Returns the message of a panic.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the job panicked: {}", text.unwrap_or("without a message"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use anyhow::bail;
    use mallbox_test_patience::Deadline;
    use serde_json::json;

    use super::*;
    use crate::bench::learn::comparisons::Comparison;
    use crate::bench::step::{OnStep, Step};

    const STEPS: usize = 3;

    type Run = fn(&Path, &mut OnStep<'_>) -> anyhow::Result<Option<Value>>;

    /// Runs a comparison to its end.
    fn ended(jobs: &Arc<Jobs>, run: Run) -> Job {
        let task = Task::Comparison(Comparison { name: "drawers", ways: Vec::new, run });
        assert!(jobs.start(task).is_ok(), "a job is running");
        let deadline = Deadline::after(Duration::from_secs(30));
        loop {
            let job = jobs.newest().unwrap();
            if job.state != JobState::Running {
                return job;
            }
            assert!(!deadline.is_over(), "the job does not end");
            std::thread::yield_now();
        }
    }

    fn stepping(_: &Path, on_step: &mut OnStep<'_>) -> anyhow::Result<Option<Value>> {
        for done in 0..STEPS {
            let step = Step { way: "top", words: "pull", done, total: STEPS };
            if on_step(step).is_break() {
                return Ok(None);
            }
        }
        Ok(Some(json!({"verdicts": ["it sticks"]})))
    }

    #[test]
    fn the_newest_section_of_a_comparison_is_kept() {
        let jobs = Arc::new(Jobs::new(PathBuf::new()));
        let job = ended(&jobs, stepping);
        assert_eq!((job.state, job.done, job.total, job.doing), (JobState::Done, STEPS, STEPS, None));
        let section = Some(json!({"verdicts": ["it sticks"]}));
        assert_eq!((&job.section, &jobs.section("drawers")), (&section, &section));
        // A later job without a result leaves it.
        assert_eq!(ended(&jobs, |_, _| bail!("no drawer")).id, 2);
        assert_eq!(jobs.section("drawers"), section);
        assert_eq!(jobs.section("shelves"), None);
    }

    #[test]
    fn errors_and_panics_fail_the_job_with_their_text() {
        let jobs = Arc::new(Jobs::new(PathBuf::new()));
        let failed = ended(&jobs, |_, _| bail!("the drawer is locked"));
        assert_eq!((failed.state, failed.error), (JobState::Failed, Some("the drawer is locked".to_owned())));
        let panicked = ended(&jobs, |_, _| panic!("drawer {} is gone", 4));
        let text = Some("the job panicked: drawer 4 is gone".to_owned());
        assert_eq!((panicked.state, panicked.error), (JobState::Failed, text));
        assert_eq!(ended(&jobs, stepping).state, JobState::Done);
    }

    #[test]
    fn a_cancelled_comparison_ends_before_its_next_step() {
        let jobs = Arc::new(Jobs::new(PathBuf::new()));
        static STARTED: AtomicBool = AtomicBool::new(false);
        let until_cancelled: Run = |_, on_step| {
            let step = |done| Step { way: "top", words: "pull", done, total: usize::MAX };
            let cancelled = (0..).find(|done| {
                STARTED.store(true, Ordering::SeqCst);
                on_step(step(*done)).is_break()
            });
            Ok(cancelled.is_none().then(|| json!({})))
        };
        let canceller = Arc::clone(&jobs);
        let cancelled = std::thread::spawn(move || {
            while !STARTED.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            canceller.cancel();
        });
        let job = ended(&jobs, until_cancelled);
        cancelled.join().unwrap();
        assert_eq!((job.state, job.error, job.section), (JobState::Cancelled, None, None));
        assert_eq!(jobs.section("drawers"), None);
    }
}
