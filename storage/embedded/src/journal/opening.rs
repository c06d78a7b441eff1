//! What a log is to be opened with.

use mallbox_storage::Durability;

use super::contents::LogEvidence;
use crate::disk::Disk;

/// What a log is to be opened with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening<'a> {
    pub(super) disk: &'a Disk,
    pub(super) witness: &'a LogEvidence,
    pub(super) durability: Durability,
    /// Id of the log, or of a new one.
    pub(super) id: u64,
}
