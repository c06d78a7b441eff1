//! Faults of single requests, and failures of a whole load.

use std::io;
use std::net::SocketAddr;

use super::response_error::ResponseError;

/// Reason why a request got no response, or why a connection could not be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The connection could not be opened.
    #[error("cannot connect: {0}")]
    Connect(io::ErrorKind),
    /// No response within [`Load::request_timeout`](super::Load::request_timeout).
    #[error("no response in time")]
    Timeout,
    /// The connection broke before the response was complete.
    #[error("connection broke: {0}")]
    Broken(io::ErrorKind),
    /// Bytes that cannot be read as a response.
    #[error("unreadable response: {0}")]
    Unreadable(ResponseError),
}

/// Reason why a load failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A field of [`Load`](super::Load) out of range.
    #[error("load: {0}")]
    Setting(&'static str),
    /// Nothing but failures: one connection failed eight times in a row without a response on another of its
    /// thread, or the time was over before a connection was opened.
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
