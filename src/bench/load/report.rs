//! What a load came to.

use std::fs;
use std::io;
use std::time::Duration;

use hdrhistogram::Histogram;

use super::{LoadError, Unreadable};

/// Longest latency told apart, in µs: an hour. Longer ones count as this.
const MAX_LATENCY_US: u64 = 3_600_000_000;

/// Why a request got no answer, or a connection none to send it on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The connection could not be opened.
    #[error("cannot connect: {0}")]
    Connect(io::ErrorKind),
    /// No answer within [`Load::request_timeout`](super::Load::request_timeout).
    #[error("no answer in time")]
    Timeout,
    /// The connection broke before the answer was whole.
    #[error("connection broke: {0}")]
    Broken(io::ErrorKind),
    /// What came is no answer that can be read.
    #[error("unreadable answer: {0}")]
    Unreadable(Unreadable),
}

/// How often each kind of [`Fault`] happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Errors {
    /// Failed dials; the same connection dials again after a pause.
    pub connect: u64,
    /// Requests given up on.
    pub timeout: u64,
    /// Requests whose connection broke.
    pub broken: u64,
    /// Answers that could not be read.
    pub unreadable: u64,
    /// The last fault of any kind, to have an example.
    pub last: Option<Fault>,
}

impl Errors {
    /// All of them.
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

/// What a load came to.
#[derive(Clone, Debug)]
pub struct Report {
    /// Requests answered, whatever the status.
    pub answered: u64,
    /// What went wrong; none of it is in `answered` or in the latencies.
    pub errors: Errors,
    /// Connections dialled again because the server closed them in good order.
    pub reconnects: u64,
    /// Paced only: requests due before the load was stopped that no connection was free to send.
    /// Anything but a few says that the server did not keep up.
    pub unsent: u64,
    /// From the first request to the last answer or fault.
    pub elapsed: Duration,
    /// Processor time of the load's own thread, where the system tells (Linux). Close to `elapsed`
    /// means that the generator, not the server, was the limit.
    pub cpu: Option<Duration>,
    /// Latencies in µs to three digits: [`Answer::took`](super::Answer::took) of every answer.
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

    /// Answers per second of `elapsed`; 0 if there were none.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        if self.elapsed.is_zero() {
            return 0.0;
        }
        #[expect(clippy::cast_precision_loss, reason = "exact to 2^53 answers")]
        let answered = self.answered as f64;
        answered / self.elapsed.as_secs_f64()
    }

    /// The latency that half of the answers did not exceed; 0 if there were none.
    #[must_use]
    pub fn p50(&self) -> Duration {
        self.quantile(0.5)
    }

    /// The latency that nine answers in ten did not exceed.
    #[must_use]
    pub fn p90(&self) -> Duration {
        self.quantile(0.9)
    }

    /// The latency that 99 answers in 100 did not exceed.
    #[must_use]
    pub fn p99(&self) -> Duration {
        self.quantile(0.99)
    }

    /// The longest latency.
    #[must_use]
    pub fn max(&self) -> Duration {
        Duration::from_micros(self.latencies.max())
    }

    fn quantile(&self, quantile: f64) -> Duration {
        Duration::from_micros(self.latencies.value_at_quantile(quantile))
    }
}

/// Processor time this thread has used so far.
pub(super) fn thread_cpu() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let spent_ns = text.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(spent_ns))
}
