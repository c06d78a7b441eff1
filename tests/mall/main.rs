//! The mall's services on a real back end, with a clock controlled by the tests.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary: a failure is a failed test")]

mod base;
mod catalogue;
mod operator;
mod people;
mod selling;
