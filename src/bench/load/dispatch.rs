//! Order of the requests: which connection sends next, from when each latency counts, and what was late.
//!
//! Everything that depends on time, without a socket and without a clock: the caller reads the clock. Tests
//! feed any time.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::error::Fault;
use super::schedule::Schedule;
use super::tally::ReportBuilder;

/// A request that starts later than this although its connection was free is late by the generator's fault.
const LATE: Duration = Duration::from_millis(1);

/// Times of all connections of a thread.
pub(super) struct Dispatch {
    times: Vec<Times>,
    /// Free connections, longest free first. May contain connections lost since.
    free: VecDeque<usize>,
    /// Open loop only.
    schedule: Option<Schedule>,
    pub(super) tally: ReportBuilder,
}

/// Times of a connection.
#[derive(Clone, Copy)]
struct Times {
    is_free: bool,
    free_since: Instant,
    /// Just before the request was written.
    started: Instant,
    /// Start of the latency.
    origin: Instant,
}

/// What to do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// This connection sends a request, now.
    Send(usize),
    /// Nothing is due, or no connection is free.
    Wait,
    /// The schedule is over.
    Over,
}

impl Dispatch {
    /// Starts without a free connection.
    pub fn new(connections: usize, tally: ReportBuilder, now: Instant) -> Self {
        let times = Times { is_free: false, free_since: now, started: now, origin: now };
        Self {
            times: vec![times; connections],
            free: VecDeque::with_capacity(connections),
            schedule: None,
            tally,
        }
    }

    /// Begins an open loop.
    pub fn begin(&mut self, schedule: Schedule) {
        self.tally.began(schedule.origin());
        self.schedule = Some(schedule);
    }

    /// Marks a connection free to send.
    pub fn free(&mut self, connection: usize, now: Instant) {
        let times = &mut self.times[connection];
        times.is_free = true;
        times.free_since = now;
        self.free.push_back(connection);
    }

    /// Marks a connection as not free: closed, or dialling.
    pub fn lose(&mut self, connection: usize) {
        self.times[connection].is_free = false;
    }

    /// Returns what to do at `now`. A connection to send on is no longer free.
    pub fn next(&mut self, now: Instant) -> Next {
        if let Some(schedule) = &self.schedule {
            match schedule.next() {
                None => return Next::Over,
                Some(due) if due > now => return Next::Wait,
                Some(_) => {}
            }
        }
        while let Some(connection) = self.free.pop_front() {
            if std::mem::take(&mut self.times[connection].is_free) {
                return Next::Send(connection);
            }
        }
        Next::Wait
    }

    /// Records that the next request starts on `connection`.
    pub fn start(&mut self, connection: usize, now: Instant) {
        let times = &mut self.times[connection];
        times.started = now;
        times.origin = now;
        if let Some(schedule) = &mut self.schedule
            && let Some(due) = schedule.next()
        {
            // A latency includes the wait for a connection: the server owes the response from here on.
            times.origin = due;
            let is_late = now.saturating_duration_since(due.max(times.free_since)) > LATE;
            self.tally.scheduled(times.free_since > due, is_late);
            schedule.sent();
        }
        self.tally.requested(now);
    }

    /// Records a response. Returns the latency.
    pub fn answered(&mut self, connection: usize, now: Instant) -> Duration {
        let took = now.saturating_duration_since(self.times[connection].origin);
        self.tally.answered(now, took);
        took
    }

    /// Records a fault. `in_flight`: whether a request is lost by it.
    pub fn failed(&mut self, connection: usize, (fault, in_flight): (Fault, bool), now: Instant) {
        self.lose(connection);
        self.tally.failed(now, fault, in_flight);
    }

    /// Returns how long the request on `connection` has been under way.
    pub fn waited(&self, connection: usize, now: Instant) -> Duration {
        now.saturating_duration_since(self.times[connection].started)
    }

    /// Ends the schedule at `end` and counts what was due before and not sent.
    pub fn stop(&mut self, end: Instant) {
        self.free.clear();
        if let Some(schedule) = self.schedule.take() {
            self.tally.unsent(schedule.unsent(end));
        }
    }
}

#[cfg(test)]
mod tests;
