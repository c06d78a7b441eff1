//! A load generator: HTTP/1.1 over kept-alive connections, all of them on one thread.
//!
//! It exists to be cheap. On a machine whose cores it shares with the server, each microsecond it
//! spends on a request is missing from the figure it reports. A request costs one write, one read
//! and a share of an `epoll_wait`; buffers are kept, so nothing is allocated once they have grown.
//!
//! - Closed loop (`rate: None`): a connection sends its next request when the last is answered.
//! - Paced (`rate: Some(..)`): requests fall due at fixed instants whatever the server does, and a
//!   latency runs from the instant the request was due. A server that stalls cannot hide the
//!   requests that would have come meanwhile.
//!
//! One request is in flight per connection. Answers need a `content-length`; chunked ones are
//! refused and counted as unreadable. HEAD and CONNECT are not spoken.

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

pub use answer::Unreadable;
pub use report::{Errors, Fault, Report};
pub use request::{get, post};

use crew::Crew;

/// What to send next and what to make of the answer.
///
/// Called on the load's own thread, never by two at once. What it does is paid for by every
/// request, so it should neither block nor allocate.
pub trait Script: Send + 'static {
    /// Appends the whole next request of `connection` to the empty `buffer` and says true;
    /// false ends this connection's work.
    ///
    /// `connection` is below [`Load::connections`] and stays the same over a re-dial.
    ///
    /// # Panics
    /// The load panics if this says true and appends nothing.
    fn request(&mut self, connection: usize, buffer: &mut Vec<u8>) -> bool;

    /// The answer to the last request of `connection`.
    fn answer(&mut self, connection: usize, answer: Answer<'_>);

    /// The last request of `connection` got no readable answer. It may have taken effect all the
    /// same. A connection that could not be dialled is no lost request and is not told here.
    fn lost(&mut self, connection: usize, fault: Fault) {
        let _ = (connection, fault);
    }
}

/// One answer.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The status code, 200 to 999; interim answers (1xx) are skipped.
    pub status: u16,
    /// The body, complete.
    pub body: &'a [u8],
    /// From just before the write, or, paced, from the instant the request was due.
    pub took: Duration,
}

/// What to drive, and how hard.
#[derive(Clone, Debug)]
pub struct Load {
    /// Where the server listens; the connections are dealt to several in turn. At least 1.
    pub addresses: Vec<SocketAddr>,
    /// Connections kept open, at least 1. All dial before the first request goes out.
    pub connections: usize,
    /// No request starts at or after this instant; those in flight are waited for.
    /// None: until the script ends every connection, or [`Progress::stop`].
    pub stop_at: Option<Instant>,
    /// How long to wait for an answer, and for a connection. Checked every twentieth of it, and
    /// every 50 ms at most, so an answer may be late by that much and still count.
    pub request_timeout: Duration,
    /// Requests per second over all connections, 0.001 to 10,000,000; None is a closed loop.
    pub rate: Option<f64>,
}

/// Figures of a load under way, for another thread to read; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    answered: AtomicU64,
    errors: AtomicU64,
    stop: AtomicBool,
}

impl Progress {
    /// Requests answered so far, whatever the status.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.0.answered.load(Ordering::Relaxed)
    }

    /// Errors of every kind so far.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.0.errors.load(Ordering::Relaxed)
    }

    /// Asks the load to start no more requests. It notices within 50 ms.
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

/// Why a load came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A field of [`Load`] out of its range.
    #[error("load: {0}")]
    Setting(&'static str),
    /// Nothing but failures: one connection failed eight times in a row while no other was answered
    /// either, or the time was over before any could be opened.
    #[error("no answer from {address} in {tries} tries; the last: {fault}")]
    NoAnswer {
        /// The server dialled.
        address: SocketAddr,
        /// Failures since anything was answered.
        tries: u32,
        /// The last of them.
        fault: Fault,
    },
    /// The machine gave no thread, runtime or histogram.
    #[error("load: cannot start its thread")]
    Start(#[source] io::Error),
}

/// Runs the load on a thread of its own and returns when it is over: the script, with whatever it
/// has counted, and the report. Blocks: call it from a plain thread or `spawn_blocking`.
///
/// # Errors
/// [`LoadError::NoAnswer`] if the server is down or answers nothing readable; faults that pass are
/// counted in [`Report::errors`] instead.
///
/// # Panics
/// A panic of the script is passed on.
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
        let crew = Crew::new(load, script, progress)?;
        // Spawned although it is all there is: waking the future of `block_on` from its own thread
        // writes to an eventfd, waking a task only pushes it on a queue. Unconstrained because one
        // poll serves all connections, which is more than the budget of one task allows for.
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
    /// Where a connection leads.
    fn address(&self, connection: usize) -> SocketAddr {
        self.addresses[connection % self.addresses.len()]
    }
}

fn check(load: &Load) -> Result<(), LoadError> {
    if load.addresses.is_empty() {
        return Err(LoadError::Setting("there must be an address at least"));
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
