//! `mallbox import`: dumps of both dialects, refusals, interrupted imports, and a mall that continues from a
//! dump.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

mod afterwards;
mod broken;
mod dialects;
mod given;
mod refused;
mod shapes;
mod small_mall;
mod world;
