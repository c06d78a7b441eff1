//! Counters of a running load.

use std::time::{Duration, Instant};

use super::error::{Fault, LoadError};
use super::report::{Report, thread_cpu};
use super::script::Progress;

/// The report under construction.
pub(super) struct ReportBuilder {
    report: Report,
    progress: Progress,
    cpu_before: Option<Duration>,
    first_request: Option<Instant>,
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
            first_request: None,
            last_answer: None,
            last_event: None,
        })
    }

    pub fn requested(&mut self, at: Instant) {
        self.first_request.get_or_insert(at);
    }

    pub fn answered(&mut self, at: Instant, took: Duration) {
        self.report.record(took);
        self.last_answer = Some(at);
        self.last_event = Some(at);
        self.publish();
    }

    /// Counts a fault. `in_flight` means that a request was lost.
    pub fn failed(&mut self, at: Instant, fault: Fault, in_flight: bool) {
        self.report.errors.count(fault);
        if in_flight {
            self.last_event = Some(at);
        }
        self.publish();
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
        if let (Some(first), Some(last)) = (self.first_request, self.last_event) {
            self.report.elapsed = last.saturating_duration_since(first);
        }
        self.report.cpu = thread_cpu().zip(self.cpu_before).map(|(now, before)| now.saturating_sub(before));
        self.report
    }

    fn publish(&self) {
        self.progress.publish(self.report.answered, self.report.errors.total());
    }
}
