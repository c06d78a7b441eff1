//! Random ids.

use std::hash::{BuildHasher, RandomState};

/// Returns an id, unique by the random seed that the standard library draws from the system.
pub(crate) fn random_id() -> u64 {
    RandomState::new().hash_one("id") >> 1
}
