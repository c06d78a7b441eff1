//! Claims from other machines: an agent makes them, and `bench load --agents FILE` leads.
//!
//! The leader sends each agent a job (`POST /job`), then starts all of them (`POST /run`). An agent answers
//! with a line of JSON every half second, and with the result in the last line. Either side notices a silent
//! peer: the leader after ten seconds without a line, the agent at the next line.

mod leader;
mod protocol;
mod server;

pub(super) use leader::lead;
pub use protocol::AgentAddress;
pub(super) use protocol::Job;
pub use server::{AgentBench, serve};
