//! Servers that misbehave, in simulated time: what the load measures is compared with what the server knows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::ErrorKind;

use hdrhistogram::Histogram;
use mallbox_test_pathologies::{Outcome, Pathology, Patient};

use super::super::report::Report;
use super::super::script::Progress;
use super::super::shape::{Piece, Shape};
use super::super::share::Share;
use super::*;

const SECONDS: u64 = 12;
/// Time until a lost connection is open again.
const REDIAL: Duration = Duration::from_millis(10);

/// What happens on a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    Answered,
    Dropped,
    Opened,
}

struct Simulation {
    dispatch: Dispatch,
    patient: Patient,
    origin: Instant,
    now: Instant,
    events: BinaryHeap<Reverse<(Instant, usize, Event)>>,
    shape: Shape,
    sent: u64,
    /// Latencies as the server knows them, in µs.
    truth: Histogram<u64>,
    dropped: u64,
}

impl Simulation {
    fn new(pathology: Pathology, rate: f64, connections: usize) -> Self {
        let origin = Instant::now();
        let mut dispatch =
            Dispatch::new(connections, ReportBuilder::new(Progress::default()).unwrap(), origin);
        let shape = Shape::new(&[Piece::even(rate, Duration::from_secs(SECONDS))]).unwrap();
        dispatch.begin(Schedule::new(shape.clone(), origin, Share::WHOLE));
        for connection in 0..connections {
            dispatch.free(connection, origin);
        }
        Self {
            dispatch,
            patient: Patient::new(pathology),
            origin,
            now: origin,
            events: BinaryHeap::new(),
            shape,
            sent: 0,
            truth: Histogram::new(3).unwrap(),
            dropped: 0,
        }
    }

    /// Runs the load to its end. Returns the report of the load, and the server's latencies and losses.
    fn run(mut self) -> (Report, Histogram<u64>, u64) {
        loop {
            match self.dispatch.next(self.now) {
                Next::Send(connection) => {
                    self.send(connection);
                    continue;
                }
                Next::Over if self.events.is_empty() => break,
                Next::Over | Next::Wait => {}
            }
            let next_event = self.events.peek().map(|Reverse((at, ..))| *at);
            let next_due = self.shape.due(self.sent).map(|due| self.origin + due).filter(|at| *at > self.now);
            self.now = next_event.into_iter().chain(next_due).min().unwrap();
            while let Some(Reverse((at, connection, event))) = self.events.peek().copied()
                && at <= self.now
            {
                self.events.pop();
                self.happens(connection, event);
            }
        }
        (self.dispatch.tally.finish(), self.truth, self.dropped)
    }

    fn send(&mut self, connection: usize) {
        self.dispatch.start(connection, self.now);
        let due = self.shape.due(self.sent).unwrap();
        self.sent += 1;
        let Outcome { at, is_dropped } = self.patient.decide(connection, self.now - self.origin);
        let event = if is_dropped { Event::Dropped } else { Event::Answered };
        self.events.push(Reverse((self.origin + at, connection, event)));
        if is_dropped {
            self.dropped += 1;
        } else {
            self.truth.record(u64::try_from((at - due).as_micros()).unwrap()).unwrap();
        }
    }

    fn happens(&mut self, connection: usize, event: Event) {
        match event {
            Event::Answered => {
                self.dispatch.answered(connection, self.now);
                self.dispatch.free(connection, self.now);
            }
            Event::Dropped => {
                let fault = Fault::Broken(ErrorKind::UnexpectedEof);
                self.dispatch.failed(connection, (fault, true), self.now);
                self.events.push(Reverse((self.now + REDIAL, connection, Event::Opened)));
            }
            Event::Opened => self.dispatch.free(connection, self.now),
        }
    }
}

#[test]
fn percentiles_are_those_of_the_server() {
    for pathology in Pathology::ALL {
        let (report, truth, dropped) = Simulation::new(pathology, 400.0, 32).run();
        assert_eq!(report.errors.broken, dropped, "{pathology:?}");
        assert_eq!(report.answered + dropped, 400 * SECONDS, "{pathology:?}");
        for quantile in [0.5, 0.9, 0.99, 0.999, 0.9999, 1.0] {
            let told = report.latencies.value_at_quantile(quantile);
            let true_one = truth.value_at_quantile(quantile);
            let off = told.abs_diff(true_one) as f64 / true_one as f64;
            assert!(off <= 0.02, "{pathology:?}: {told} µs at {quantile}, the server knows {true_one} µs");
        }
    }
}

/// A pause shows in the latencies of all requests due in it, not only in those of 32 connections.
#[test]
fn a_pause_is_not_hidden_by_the_requests_it_prevents() {
    let (report, ..) = Simulation::new(Pathology::Pause, 400.0, 32).run();
    let slow = report.latencies.iter_recorded().filter(|at| at.value_iterated_to() > 50_000);
    let slow: u64 = slow.map(|at| at.count_at_value()).sum();
    // Of the 400 ms of a pause, 350 leave a request with 50 ms or more to wait: 140 requests in each of 6.
    assert!((750..=1_100).contains(&slow), "{slow} slow requests");
    assert!(report.waited > 0 && report.unsent == 0 && report.late == 0, "{report:?}");
}

#[test]
fn a_server_below_the_rate_leaves_requests_unsent() {
    let mut simulation = Simulation::new(Pathology::Bimodal, 400.0, 1);
    let end = simulation.origin + Duration::from_secs(1);
    let mut answered = 0_u64;
    while simulation.now < end {
        if let Next::Send(connection) = simulation.dispatch.next(simulation.now) {
            simulation.send(connection);
        }
        let Reverse((at, connection, event)) = simulation.events.pop().unwrap();
        simulation.now = at;
        simulation.happens(connection, event);
        answered += 1;
    }
    simulation.dispatch.stop(end);
    let report = simulation.dispatch.tally.finish();
    assert_eq!((report.answered, report.unsent), (answered, 400 - answered));
}

#[test]
fn a_generator_that_sleeps_is_late_by_its_own_fault() {
    let mut simulation = Simulation::new(Pathology::Bimodal, 400.0, 2);
    for wake in [Duration::ZERO, Duration::from_micros(2_900), Duration::from_millis(9)] {
        simulation.now = simulation.origin + wake;
        while let Next::Send(connection) = simulation.dispatch.next(simulation.now) {
            simulation.send(connection);
        }
        while let Some(Reverse((_, connection, event))) = simulation.events.pop() {
            simulation.happens(connection, event);
        }
    }
    // Due at 0, 2.5, 5 and 7.5 ms; sent at 0, 2.9, 9 and 9 ms.
    let report = simulation.dispatch.tally.finish();
    assert_eq!((report.answered, report.late, report.waited), (4, 2, 0));
}
