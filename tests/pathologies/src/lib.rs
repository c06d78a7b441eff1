//! Five servers that misbehave in known ways, to put a load generator on trial.
//!
//! A [`Pathology`] decides when each request is answered, and needs no clock: tests feed simulated time. A
//! [`Server`] does the same over real connections and records when it sent each response. Shares no code with
//! the load generator.
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail loudly")]

mod pathology;
mod server;

pub use pathology::{Outcome, Pathology, Patient};
pub use server::{Record, Server};
