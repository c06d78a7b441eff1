//! Results of a load.

use std::fs;
use std::io;
use std::time::Duration;

use hdrhistogram::Histogram;

use super::error::{Fault, LoadError};

/// Longest latency recorded, in µs: an hour. Longer latencies count as an hour.
const MAX_LATENCY_US: u64 = 3_600_000_000;

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
    /// Number of responses, whatever the status.
    pub answered: u64,
    /// Faults; not included in `answered` or in the latencies.
    pub errors: Errors,
    /// Connections re-dialled after an orderly close by the server.
    pub reconnects: u64,
    /// Paced only: requests due before the stop for which no connection was free. More than a few mean that
    /// the server did not keep up.
    pub unsent: u64,
    /// Time from the first request to the last response or fault.
    pub elapsed: Duration,
    /// CPU time of the load's own thread, where available (Linux). A value close to `elapsed` means that the
    /// generator, not the server, was the limit.
    pub cpu: Option<Duration>,
    /// Latencies in µs with three significant digits: [`Answer::took`](super::Answer::took) of every
    /// response.
    pub latencies: Histogram<u64>,
}

impl Report {
    pub(super) fn new() -> Result<Self, LoadError> {
        let latencies = Histogram::new_with_bounds(1, MAX_LATENCY_US, 3)
            .map_err(|error| LoadError::Start(io::Error::other(error)))?;
        Ok(Self {
            answered: 0,
            errors: Errors::default(),
            reconnects: 0,
            unsent: 0,
            elapsed: Duration::ZERO,
            cpu: None,
            latencies,
        })
    }

    pub(super) fn record(&mut self, took: Duration) {
        self.answered += 1;
        let us = u64::try_from(took.as_micros()).unwrap_or(MAX_LATENCY_US);
        self.latencies.saturating_record(us);
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

    fn quantile(&self, quantile: f64) -> Duration {
        Duration::from_micros(self.latencies.value_at_quantile(quantile))
    }
}

/// Returns the CPU time used by the current thread so far.
pub(super) fn thread_cpu() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let spent_ns = text.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(spent_ns))
}
