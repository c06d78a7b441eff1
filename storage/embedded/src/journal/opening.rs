//! What a log is to be opened with.

use super::contents::LogEvidence;
use super::store::StoreOptions;
use crate::disk::Disk;

/// What a log is to be opened with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening<'a> {
    pub(super) disk: &'a Disk,
    pub(super) witness: &'a LogEvidence,
    pub(super) store: StoreOptions,
    /// Id of the log, or of a new one.
    pub(super) id: u64,
}
