//! A wave: a scheduled release of units, apart from the port that keeps the timetables.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// A scheduled release of units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Wave {
    /// Number among the waves of the sale, ascending in time.
    pub number: u32,
    /// Instant of the release.
    pub at: Timestamp,
    /// Units to release.
    pub units: u64,
}
