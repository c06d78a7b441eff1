//! All connections of a thread of a load, served by one task.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::time::{Sleep, sleep};

use super::connection::{Connection, Step};
use super::crew::Crew;
use super::dispatch::{Dispatch, Next};
use super::error::{Fault, LoadError};
use super::pace::PaceThread;
use super::ready_set::ReadySet;
use super::report::Report;
use super::response::CompleteResponse;
use super::response_error::ResponseError;
use super::schedule::Schedule;
use super::script::{Answer, Load, Progress, Script};
use super::tally::ReportBuilder;

/// Consecutive faults of one connection that end the load, provided no other connection got a response
/// meanwhile. With the pauses below, a server may be away for about a second.
const CONSECUTIVE_FAULTS_MAX: u32 = 8;
/// Pause before the dial after a first fault; doubled by each further fault.
const REDIAL_PAUSE_MIN: Duration = Duration::from_millis(10);
/// Upper limit of the pause.
const REDIAL_PAUSE_MAX: Duration = Duration::from_millis(500);
/// Longest time between two checks of timeouts and of the stop flag.
const SWEEP_INTERVAL_MAX: Duration = Duration::from_millis(50);
/// Shortest time between two checks: the resolution of the runtime's timers.
const SWEEP_INTERVAL_MIN: Duration = Duration::from_millis(1);

/// State of the task.
pub(super) struct LoadDriver<S> {
    load: Load,
    script: S,
    progress: Progress,
    crew: Crew,
    dispatch: Dispatch,
    connections: Vec<Connection>,
    /// Connections not closed for good.
    live: usize,
    /// Connections still in their first dial. No request is sent before those of all threads are over.
    first_dials: usize,
    has_begun: bool,
    /// Whether any dial succeeded.
    reached: bool,
    rung: Arc<ReadySet>,
    /// Connections to poll.
    work: VecDeque<usize>,
    /// Open loops only, after the start.
    pace: Option<PaceThread>,
    sweep: Pin<Box<Sleep>>,
    /// Last reading of the clock.
    now: Instant,
    stopped: bool,
    /// Set when the load is given up.
    given_up: Option<LoadError>,
}

impl<S: Script> LoadDriver<S> {
    /// Starts dialling; to be called within the runtime that drives the load.
    pub fn new(load: Load, script: S, progress: Progress, crew: Crew) -> Result<Self, LoadError> {
        let rung = Arc::<ReadySet>::default();
        let connections: Vec<_> = crew
            .numbers(load.connections)
            .enumerate()
            .map(|(own, number)| Connection::new(rung.bell(own), load.address(number), load.request_timeout))
            .collect();
        let (count, now) = (connections.len(), Instant::now());
        Ok(Self {
            script,
            dispatch: Dispatch::new(count, ReportBuilder::new(progress.clone())?, now),
            progress,
            crew,
            connections,
            live: count,
            first_dials: count,
            has_begun: false,
            reached: false,
            rung,
            work: (0..count).collect(),
            pace: None,
            sweep: Box::pin(sleep(Duration::ZERO)),
            now,
            stopped: false,
            given_up: None,
            load,
        })
    }

    /// Drives all connections until each has ended.
    pub async fn drive(mut self) -> Result<(S, Report), LoadError> {
        poll_fn(|context| self.poll(context)).await?;
        let address = self.address(0);
        let report = self.dispatch.tally.finish();
        if !self.reached && !self.progress.is_stopped() {
            // Stopped by the deadline before the number of tries was used up.
            let fault = report.errors.last.unwrap_or(Fault::Connect(ErrorKind::TimedOut));
            let tries = u32::try_from(report.errors.connect.max(1)).unwrap_or(u32::MAX);
            return Err(LoadError::NoResponse { address, tries, fault });
        }
        Ok((self.script, report))
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), LoadError>> {
        self.now = Instant::now();
        while self.sweep.as_mut().poll(context).is_ready() {
            self.sweep();
        }
        self.rung.drain(&mut self.work, context.waker());
        if !self.has_begun
            && let Some(started) = self.crew.line.started()
        {
            self.begin(started);
        }
        // A connection that can send goes first: its request keeps the server busy while the other responses
        // are read.
        while let Some(number) = self.start_one().or_else(|| self.work.pop_front()) {
            self.serve(number);
        }
        if let Some(error) = self.given_up.take() {
            return Poll::Ready(Err(error));
        }
        if self.live == 0 { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    /// Returns the address of a connection of this thread.
    fn address(&self, number: usize) -> SocketAddr {
        self.load.address(self.crew.number(number))
    }

    /// Begins the load, together with the other threads.
    fn begin(&mut self, started: Instant) {
        self.has_begun = true;
        self.dispatch.tally.dialled();
        let Some(shape) = &self.load.shape else { return };
        let schedule = Schedule::new(shape.clone(), started, self.crew.arrivals);
        match PaceThread::start(schedule.clone(), Arc::clone(&self.rung)) {
            Ok(pace) => self.pace = Some(pace),
            Err(error) => self.given_up = Some(LoadError::Start(error)),
        }
        self.dispatch.begin(schedule);
        self.now = Instant::now();
    }

    /// Assigns the next free connection a request if one is due. The caller must poll the connection at once,
    /// because the request's clock runs.
    fn start_one(&mut self) -> Option<usize> {
        if !self.has_begun || self.stopped {
            return None;
        }
        loop {
            let number = match self.dispatch.next(self.now) {
                Next::Send(number) => number,
                Next::Wait => return None,
                Next::Over => {
                    self.stop();
                    return None;
                }
            };
            if self.load.stop_at.is_some_and(|stop_at| stop_at <= self.now) {
                self.stop();
                return None;
            }
            let connection = &mut self.connections[number];
            let request = connection.request();
            if !self.script.request(number, request) {
                self.end(number);
                continue;
            }
            assert!(!request.is_empty(), "the script returned true without appending a request");
            connection.start();
            self.dispatch.start(number, Instant::now());
            return Some(number);
        }
    }

    /// Polls one connection and handles the result.
    fn serve(&mut self, number: usize) {
        match self.connections[number].poll() {
            Step::Wait => {}
            Step::Opened => {
                self.reached = true;
                self.free(number);
                self.dialled(number);
            }
            Step::Answered(whole) => self.answered(number, whole),
            Step::HungUp => {
                self.dispatch.tally.reconnected();
                self.redial(number, REDIAL_PAUSE_MIN);
            }
            Step::Failed(fault) => {
                self.failed(number, fault);
                self.dialled(number);
            }
        }
    }

    fn answered(&mut self, number: usize, whole: CompleteResponse) {
        self.now = Instant::now();
        let connection = &mut self.connections[number];
        connection.answered();
        let took = self.dispatch.answered(number, self.now);
        let answer = Answer { status: whole.status, body: connection.body(whole), took };
        self.script.on_response(number, answer);
        if whole.surplus {
            // The response was complete and counts; the connection is no longer trusted.
            self.failed(number, Fault::Unreadable(ResponseError::Unasked));
        } else if whole.close {
            self.dispatch.tally.reconnected();
            self.redial(number, Duration::ZERO);
        } else {
            self.free(number);
        }
    }

    fn failed(&mut self, number: usize, fault: Fault) {
        self.now = Instant::now();
        let connection = &mut self.connections[number];
        let in_flight = connection.is_busy();
        self.dispatch.failed(number, (fault, in_flight), self.now);
        if in_flight {
            self.script.lost(number, fault);
        }
        let (tries, since) = connection.failed(self.now);
        if tries >= CONSECUTIVE_FAULTS_MAX && self.dispatch.tally.is_silent_since(since) {
            let address = self.address(number);
            self.given_up = Some(LoadError::NoResponse { address, tries, fault });
        }
        let doublings = tries.saturating_sub(1).min(10);
        self.redial(number, (REDIAL_PAUSE_MIN * (1 << doublings)).min(REDIAL_PAUSE_MAX));
    }

    /// Marks an open connection idle.
    fn free(&mut self, number: usize) {
        if self.stopped {
            self.end(number);
            return;
        }
        self.dispatch.free(number, self.now);
        if !self.has_begun || self.pace.is_some() {
            // An idle connection is polled, so that a close by the server is noticed.
            self.work.push_back(number);
        }
    }

    fn redial(&mut self, number: usize, pause: Duration) {
        if self.stopped {
            self.end(number);
            return;
        }
        let address = self.address(number);
        self.dispatch.lose(number);
        self.connections[number].redial(address, pause, self.load.request_timeout);
        self.work.push_back(number);
    }

    /// Records the end of a dial. After the first dial of every connection this thread is ready.
    fn dialled(&mut self, number: usize) {
        if !self.connections[number].first_dial_over() {
            return;
        }
        self.first_dials -= 1;
        if self.first_dials == 0 {
            self.crew.line.ready(Arc::clone(&self.rung));
            if let Some(started) = self.crew.line.started() {
                self.begin(started);
            }
        }
    }

    /// Checks timeouts and the stop flag.
    fn sweep(&mut self) {
        let over = self.load.stop_at.is_some_and(|stop_at| stop_at <= self.now);
        if over || self.progress.is_stopped() {
            self.stop();
        }
        for number in 0..self.connections.len() {
            let connection = &self.connections[number];
            if connection.is_busy() && self.dispatch.waited(number, self.now) >= self.load.request_timeout {
                self.failed(number, Fault::Timeout);
            }
        }
        let pause = (self.load.request_timeout / 20).clamp(SWEEP_INTERVAL_MIN, SWEEP_INTERVAL_MAX);
        let mut next = self.now + pause;
        if let Some(stop_at) = self.load.stop_at
            && stop_at > self.now
        {
            next = next.min(stop_at);
        }
        self.sweep.as_mut().reset(next.into());
    }

    /// Starts no more requests. A connection with a request in flight ends with the response or the fault.
    fn stop(&mut self) {
        if self.stopped {
            return;
        }
        self.stopped = true;
        self.pace = None;
        self.dispatch.stop(self.load.stop_at.map_or(self.now, |stop_at| stop_at.min(self.now)));
        for number in 0..self.connections.len() {
            if !self.connections[number].is_busy() {
                self.end(number);
            }
        }
    }

    fn end(&mut self, number: usize) {
        self.live -= usize::from(self.connections[number].end());
    }
}
