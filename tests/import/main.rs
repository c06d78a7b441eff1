//! `mallbox import`: dumps of both dialects, what is refused, what a broken one leaves, and a mall that goes on from one.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

mod afterwards;
mod broken;
mod dialects;
mod given;
mod refused;
mod shapes;
mod small_mall;
mod world;
