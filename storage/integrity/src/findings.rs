//! What checks of a running database found.

use std::collections::BTreeSet;

/// Findings since the database was opened.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Findings {
    /// Pages whose content does not match their checksum, and that could not be repaired. Page 1 is the
    /// first.
    pub damaged: BTreeSet<u32>,
    /// Pages of which one flipped bit was repaired.
    pub repaired: BTreeSet<u32>,
    /// Pages that another program changed between two openings, taken as they are.
    pub changed: BTreeSet<u32>,
}
