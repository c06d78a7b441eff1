//! Random numbers for names and for jitter.

use std::hash::{BuildHasher as _, RandomState};

/// Returns a random number that is practically unique, from the system's entropy through the standard
/// library.
pub(crate) fn random() -> u64 {
    RandomState::new().hash_one("redis")
}

/// Returns a random number between 0 and 1, to keep instances from acting in step.
pub(crate) fn share() -> f64 {
    f64::from(u32::try_from(random() >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}
