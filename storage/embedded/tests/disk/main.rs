//! A mall in a directory, on a disk with faults: what survives a crash without syncs, and how the mall
//! behaves during faults.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary: a failure is a failed test")]

mod durable;
mod flipped_bits;
mod left;
mod memory;
mod starts;
mod troubles;
mod upgrades;
mod way_back;
mod world;
