//! A mall in a directory, and its disk: what is left of one that syncs nothing, and what troubles do to one.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary: a failure is a failed test")]

mod durable;
mod memory;
mod starts;
mod troubles;
mod world;
