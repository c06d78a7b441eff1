//! Results of a load.

use std::fs;
use std::io;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::error::{Fault, LoadError};

/// Longest latency recorded, in µs: an hour. Longer latencies count as an hour.
const MAX_LATENCY_US: u64 = 3_600_000_000;

/// Share of its time from which on a thread counts as busy.
const GENERATOR_BUSY: f64 = 0.9;
/// Shortest load whose share of busy time means anything.
const LOAD_MIN: Duration = Duration::from_millis(100);
/// One late request in so many is tolerable.
const LATE_SHARE: u64 = 100;

/// Number of [`Fault`]s by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Errors {
    /// Failed dials; the connection dials again after a pause.
    pub connect: u64,
    /// Requests without a response within the timeout.
    pub timeout: u64,
    /// Requests whose connection broke.
    pub broken: u64,
    /// Responses that could not be read.
    pub unreadable: u64,
    /// The last fault of any kind, as an example.
    pub last: Option<Fault>,
}

impl Errors {
    /// Returns the number of all faults.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.connect + self.timeout + self.broken + self.unreadable
    }

    fn add(&mut self, other: &Self) {
        self.connect += other.connect;
        self.timeout += other.timeout;
        self.broken += other.broken;
        self.unreadable += other.unreadable;
        self.last = self.last.or(other.last);
    }

    pub(super) fn count(&mut self, fault: Fault) {
        self.last = Some(fault);
        *match fault {
            Fault::Connect(_) => &mut self.connect,
            Fault::Timeout => &mut self.timeout,
            Fault::Broken(_) => &mut self.broken,
            Fault::Unreadable(_) => &mut self.unreadable,
        } += 1;
    }
}

/// Results of a load.
#[derive(Clone, Debug)]
pub struct Report {
    /// Number of requests sent.
    pub requests: u64,
    /// Number of responses, whatever the status.
    pub answered: u64,
    /// Faults; not included in `answered` or in the latencies.
    pub errors: Errors,
    /// Connections re-dialled after an orderly close by the server.
    pub reconnects: u64,
    /// Open loop only: requests due before the stop for which no connection was free. More than a few mean
    /// that the server did not keep up.
    pub unsent: u64,
    /// Open loop only: requests sent later than due because no connection was free. Their latencies include
    /// the wait.
    pub waited: u64,
    /// Open loop only: requests sent over a millisecond late although a connection was free. The generator
    /// did not keep up; the latencies include its delay.
    pub late: u64,
    /// Start: in an open loop the instant from which requests are due, otherwise the first request.
    pub began: Option<Instant>,
    /// Time from the start to the last response or fault.
    pub elapsed: Duration,
    /// CPU time since the start of all threads that send, where available (Linux).
    pub cpu: Option<Duration>,
    /// CPU time of the thread that used most.
    pub busiest: Option<Duration>,
    /// Latencies in µs with three significant digits: [`Answer::took`](super::Answer::took) of every
    /// response.
    pub latencies: Histogram<u64>,
}

impl Report {
    /// Returns an empty report.
    pub(in crate::bench) fn new() -> Result<Self, LoadError> {
        let latencies = Histogram::new_with_bounds(1, MAX_LATENCY_US, 3)
            .map_err(|error| LoadError::Start(io::Error::other(error)))?;
        Ok(Self {
            requests: 0,
            answered: 0,
            errors: Errors::default(),
            reconnects: 0,
            unsent: 0,
            waited: 0,
            late: 0,
            began: None,
            elapsed: Duration::ZERO,
            cpu: None,
            busiest: None,
            latencies,
        })
    }

    pub(super) fn record(&mut self, took: Duration) {
        self.answered += 1;
        let us = u64::try_from(took.as_micros()).unwrap_or(MAX_LATENCY_US);
        self.latencies.saturating_record(us);
    }

    /// Adds what another thread or machine of the same load measured.
    pub(in crate::bench) fn add(&mut self, other: &Self) {
        let ended = |report: &Self| report.began.map(|began| began + report.elapsed);
        let end = ended(self).max(ended(other));
        self.began = self.began.into_iter().chain(other.began).min();
        self.elapsed = end.zip(self.began).map_or(Duration::ZERO, |(end, began)| end - began);
        self.requests += other.requests;
        self.answered += other.answered;
        self.errors.add(&other.errors);
        self.reconnects += other.reconnects;
        self.unsent += other.unsent;
        self.waited += other.waited;
        self.late += other.late;
        self.cpu = self.cpu.zip(other.cpu).map(|(one, more)| one + more);
        self.busiest = self.busiest.max(other.busiest);
        for value in other.latencies.iter_recorded() {
            self.latencies.saturating_record_n(value.value_iterated_to(), value.count_at_value());
        }
    }

    /// Returns the share of its time that the busiest thread of the load computed.
    #[must_use]
    pub fn busiest_share(&self) -> Option<f64> {
        let elapsed = self.elapsed.as_secs_f64().max(f64::MIN_POSITIVE);
        self.busiest.map(|busiest| busiest.as_secs_f64() / elapsed)
    }

    /// Returns whether the load, not the server, was the limit: a thread of the load was busy for nine tenths
    /// of the time.
    #[must_use]
    pub fn is_generator_bound(&self) -> bool {
        self.elapsed >= LOAD_MIN && self.busiest_share().is_some_and(|share| share >= GENERATOR_BUSY)
    }

    /// Returns whether the load was short of CPU: more than one request in a hundred was late by its fault.
    #[must_use]
    pub fn is_generator_starved(&self) -> bool {
        self.late * LATE_SHARE > self.answered
    }

    /// Returns responses per second of `elapsed`; 0 without responses.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        if self.elapsed.is_zero() {
            return 0.0;
        }
        #[expect(clippy::cast_precision_loss, reason = "exact to 2^53 responses")]
        let answered = self.answered as f64;
        answered / self.elapsed.as_secs_f64()
    }

    /// Returns the median latency; 0 without responses.
    #[must_use]
    pub fn p50(&self) -> Duration {
        self.quantile(0.5)
    }

    /// Returns the 90th percentile of the latencies.
    #[must_use]
    pub fn p90(&self) -> Duration {
        self.quantile(0.9)
    }

    /// Returns the 99th percentile of the latencies.
    #[must_use]
    pub fn p99(&self) -> Duration {
        self.quantile(0.99)
    }

    /// Returns the longest latency.
    #[must_use]
    pub fn max(&self) -> Duration {
        Duration::from_micros(self.latencies.max())
    }

    /// Returns a quantile of the latencies, from 0 to 1; 0 without responses.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Duration {
        Duration::from_micros(self.latencies.value_at_quantile(quantile))
    }
}

/// Returns the CPU time used by the current thread so far.
pub(super) fn thread_cpu() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let spent_ns = text.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(spent_ns))
}
