//! Sales, orders, payments, workers, chores and books, over a real data directory.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary: a failure is a failed test")]

mod books;
mod claims;
mod orders;
mod payments;
mod workers;
mod world;
