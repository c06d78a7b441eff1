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

mod connection;
mod driver;
mod error;
mod pace;
mod ready_set;
mod report;
mod request;
mod response;
mod script;
mod tally;
#[cfg(test)]
mod tests;

use std::io;
use std::panic::resume_unwind;

pub use self::response::ResponseError;
pub use error::{Fault, LoadError};
pub use report::{Errors, Report};
pub use request::{get, post};
pub use script::{Answer, Load, Progress, Script};

use self::driver::LoadDriver;

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
