//! Counters of a thread of a running load.

use std::time::{Duration, Instant};

use super::error::{Fault, LoadError};
use super::report::{Report, thread_cpu};
use super::script::Progress;

/// The report under construction.
pub(super) struct ReportBuilder {
    report: Report,
    progress: Progress,
    cpu_before: Option<Duration>,
    last_answer: Option<Instant>,
    /// Time of the last response or lost request.
    last_event: Option<Instant>,
}

impl ReportBuilder {
    /// Starts empty. Must be called on the load's own thread, whose CPU time is read.
    pub fn new(progress: Progress) -> Result<Self, LoadError> {
        Ok(Self {
            report: Report::new()?,
            progress,
            cpu_before: thread_cpu(),
            last_answer: None,
            last_event: None,
        })
    }

    /// Records the start of the schedule.
    pub fn began(&mut self, at: Instant) {
        self.report.began = Some(at);
    }

    pub fn requested(&mut self, at: Instant) {
        self.report.began.get_or_insert(at);
        self.report.requests += 1;
    }

    /// Counts the thread's CPU time from now on: dialling is over.
    pub fn dialled(&mut self) {
        self.cpu_before = thread_cpu();
    }

    /// Records a request of the schedule: whether it waited for a free connection, and whether it started
    /// late although one was free.
    pub fn scheduled(&mut self, has_waited: bool, is_late: bool) {
        self.report.waited += u64::from(has_waited);
        self.report.late += u64::from(is_late);
    }

    pub fn answered(&mut self, at: Instant, took: Duration) {
        self.report.record(took);
        self.last_answer = Some(at);
        self.last_event = Some(at);
        self.progress.count_answer();
    }

    /// Counts a fault. `in_flight` means that a request was lost.
    pub fn failed(&mut self, at: Instant, fault: Fault, in_flight: bool) {
        self.report.errors.count(fault);
        if in_flight {
            self.last_event = Some(at);
        }
        self.progress.count_error();
    }

    pub fn reconnected(&mut self) {
        self.report.reconnects += 1;
    }

    pub fn unsent(&mut self, requests: u64) {
        self.report.unsent = requests;
    }

    /// Returns whether no connection at all got a response since `instant`.
    pub fn is_silent_since(&self, instant: Instant) -> bool {
        self.last_answer.is_none_or(|last| last < instant)
    }

    pub fn finish(mut self) -> Report {
        if let (Some(began), Some(last)) = (self.report.began, self.last_event) {
            self.report.elapsed = last.saturating_duration_since(began);
        }
        self.report.cpu = thread_cpu().zip(self.cpu_before).map(|(now, before)| now.saturating_sub(before));
        self.report.busiest = self.report.cpu;
        self.report
    }
}
