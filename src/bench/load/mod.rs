//! A load generator: HTTP/1.1 over keep-alive connections, all on one thread.
//!
//! Low cost per request is the purpose. On a machine whose cores the generator shares with the server, each
//! microsecond spent on a request lowers the reported rate. A request costs one write, one read and a share
//! of an `epoll_wait`. Buffers are reused, so nothing is allocated once they have grown.
//!
//! - Closed loop (`rate: None`): a connection sends the next request after the response to the last.
//! - Paced (`rate: Some(..)`): requests are due at fixed instants, independent of the server, and a latency
//!   counts from the due instant. A stalled server cannot hide the requests due during the stall (coordinated
//!   omission).
//!
//! One request is in flight per connection. Responses need a `content-length`; chunked ones are refused and
//! counted as unreadable. HEAD and CONNECT are not supported.

mod answer;
mod bell;
mod connection;
mod crew;
mod pace;
mod report;
mod request;
mod tally;
#[cfg(test)]
mod tests;

use std::io;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub use answer::ResponseError;
pub use report::{Errors, Fault, Report};
pub use request::{get, post};

use crew::LoadDriver;

/// Source of requests and consumer of responses.
///
/// Called on the load's own thread, never concurrently. Every request pays for the script's time, so
/// implementations should neither block nor allocate.
pub trait Script: Send + 'static {
    /// Appends the complete next request of `connection` to the empty `buffer` and returns true. Returning
    /// false ends the connection's work.
    ///
    /// `connection` is below [`Load::connections`] and does not change over a re-dial.
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
    /// Latency from just before the write, or, if paced, from the instant the request was due.
    pub took: Duration,
}

/// Target and rate of a load.
#[derive(Clone, Debug)]
pub struct Load {
    /// Addresses of the server, assigned to connections round robin. At least 1.
    pub addresses: Vec<SocketAddr>,
    /// Connections kept open, at least 1. All dial before the first request is sent.
    pub connections: usize,
    /// No request starts at or after this instant; requests in flight are awaited. None: until the script
    /// ends every connection, or [`Progress::stop`].
    pub stop_at: Option<Instant>,
    /// Timeout of a response and of a dial. Checked every twentieth of the timeout, and at least every 50 ms.
    /// A response late by up to one check interval still counts.
    pub request_timeout: Duration,
    /// Requests per second over all connections, 0.001 to 10,000,000; None is a closed loop.
    pub rate: Option<f64>,
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

    fn is_stopped(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }

    fn publish(&self, answered: u64, errors: u64) {
        self.0.answered.store(answered, Ordering::Relaxed);
        self.0.errors.store(errors, Ordering::Relaxed);
    }
}

/// Reason why a load failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A field of [`Load`] out of range.
    #[error("load: {0}")]
    Setting(&'static str),
    /// Nothing but failures: one connection failed eight times in a row without a response on any other, or
    /// the time was over before a connection was opened.
    #[error("no response from {address} in {tries} tries; the last error: {fault}")]
    NoResponse {
        /// The server dialled.
        address: SocketAddr,
        /// Failures since the last response.
        tries: u32,
        /// The last failure.
        fault: Fault,
    },
    /// The machine gave no thread, runtime or histogram.
    #[error("load: cannot start a thread")]
    Start(#[source] io::Error),
}

/// Runs the load on a dedicated thread. Returns the script and the report after the end. Blocks: call from a
/// plain thread or `spawn_blocking`.
///
/// # Errors
/// [`LoadError::NoResponse`] if the server is down or sends nothing readable; transient faults are counted in
/// [`Report::errors`] instead. [`LoadError::Setting`] for a field out of range and [`LoadError::Start`] if
/// the machine lacks resources.
///
/// # Panics
/// Propagates a panic of the script.
pub fn run<S: Script>(load: &Load, script: S, progress: &Progress) -> Result<(S, Report), LoadError> {
    check(load)?;
    let (load, progress) = (load.clone(), progress.clone());
    let thread = std::thread::Builder::new()
        .name("load".to_owned())
        .spawn(move || on_this_thread(load, script, progress))
        .map_err(LoadError::Start)?;
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

fn on_this_thread<S: Script>(load: Load, script: S, progress: Progress) -> Result<(S, Report), LoadError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(LoadError::Start)?;
    runtime.block_on(async {
        let crew = LoadDriver::new(load, script, progress)?;
        // A spawned task, although the runtime has no other. Waking the future of `block_on` from its own
        // thread writes to an eventfd; waking a task only pushes to a queue. Unconstrained, because one poll
        // serves all connections and exceeds the budget of one task.
        match tokio::spawn(tokio::task::unconstrained(crew.drive())).await {
            Ok(ended) => ended,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                Err(error) => Err(LoadError::Start(io::Error::other(error))),
            },
        }
    })
}

impl Load {
    /// Returns the address of a connection.
    fn address(&self, connection: usize) -> SocketAddr {
        self.addresses[connection % self.addresses.len()]
    }
}

fn check(load: &Load) -> Result<(), LoadError> {
    if load.addresses.is_empty() {
        return Err(LoadError::Setting("at least one address is required"));
    }
    if load.connections == 0 {
        return Err(LoadError::Setting("connections must be at least 1"));
    }
    if load.request_timeout.is_zero() {
        return Err(LoadError::Setting("request_timeout must be above 0"));
    }
    if load.rate.is_some_and(|rate| !pace::RATES.contains(&rate)) {
        return Err(LoadError::Setting("rate must lie between 0.001 and 10,000,000 requests per second"));
    }
    Ok(())
}
