//! A load: script, target, arrivals, and live statistics.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::error::Fault;
use super::shape::Shape;
use super::share::Share;

/// Source of requests and consumer of responses.
///
/// Called on a thread of the load, which has the script for itself. Every request pays for the script's time,
/// so implementations should neither block nor allocate.
pub trait Script: Send + 'static {
    /// Appends the complete next request of `connection` to the empty `buffer` and returns true. Returning
    /// false ends the connection's work.
    ///
    /// `connection` counts the thread's connections from 0, is below [`Load::connections`], and does not
    /// change over a re-dial.
    ///
    /// # Panics
    /// The load panics if the script returns true without appending a request.
    fn request(&mut self, connection: usize, buffer: &mut Vec<u8>) -> bool;

    /// Receives the response to the last request of `connection`.
    fn on_response(&mut self, connection: usize, answer: Answer<'_>);

    /// Reports that the last request of `connection` got no readable response. The request may have taken
    /// effect. A failed dial loses no request and is not reported here.
    fn lost(&mut self, connection: usize, fault: Fault) {
        let _ = (connection, fault);
    }
}

/// A complete response.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The status code, 200 to 999; interim responses (1xx) are skipped.
    pub status: u16,
    /// The complete body.
    pub body: &'a [u8],
    /// Latency from just before the write; in an open loop, from the instant the request was due.
    pub took: Duration,
}

/// Target and arrivals of a load.
#[derive(Clone, Debug)]
pub struct Load {
    /// Addresses of the server, assigned to connections round robin. At least 1.
    pub addresses: Vec<SocketAddr>,
    /// Connections kept open by all threads together, at least one each. All dial before the first request is
    /// sent.
    pub connections: usize,
    /// No request starts at or after this instant; requests in flight are awaited. None: until the script
    /// ends every connection, the shape is over, or [`Progress::stop`].
    pub stop_at: Option<Instant>,
    /// Timeout of a response and of a dial. Checked every twentieth of the timeout, and at least every 50 ms.
    /// A response late by up to one check interval still counts.
    pub request_timeout: Duration,
    /// Arrivals of an open loop; None is a closed loop.
    pub shape: Option<Shape>,
    /// Share of the arrivals that is this load's; other loads make the others.
    pub share: Share,
}

impl Load {
    /// Returns the address of a connection.
    pub(super) fn address(&self, connection: usize) -> SocketAddr {
        self.addresses[connection % self.addresses.len()]
    }
}

/// Live statistics of a running load, readable from another thread. Clones share the statistics.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    answered: AtomicU64,
    errors: AtomicU64,
    stop: AtomicBool,
}

impl Progress {
    /// Returns the number of responses, whatever the status.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.0.answered.load(Ordering::Relaxed)
    }

    /// Returns the number of errors of every kind.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.0.errors.load(Ordering::Relaxed)
    }

    /// Asks the load to start no more requests. The load notices within 50 ms.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }

    pub(super) fn count_answer(&self) {
        self.0.answered.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_error(&self) {
        self.0.errors.fetch_add(1, Ordering::Relaxed);
    }
}
