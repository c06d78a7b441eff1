//! Challenges with pictures: characters to be typed, and a piece to be moved to its gap.
//!
//! Everything drawn follows from the random numbers passed in, so that a challenge can be drawn and judged
//! without being stored. Pictures are PNG.

mod faces;
mod mask;
mod outline;
mod paint;
pub(super) mod picture;
pub(super) mod slider;
mod track;
