//! What goes into a backup, before it is written, and what its trial finds.

use jiff::Timestamp;
use serde::Serialize;

use super::plain_files::PlainFile;
use crate::backup::manifest::Header;
use crate::cli::verify::CheckedLedger;
use crate::mall::{Clock as _, SystemClock};

/// A trial: the ledger of the restored mall, or why there is none.
pub(super) type Trial = anyhow::Result<CheckedLedger>;

/// What goes into a backup.
pub(super) struct Contents {
    /// The header, without the size.
    pub(super) header: Header,
    /// Copies made for the backup. Each is removed as soon as it is written.
    pub(super) copies: Vec<PlainFile>,
    /// The pending claims, a line each.
    pub(super) claims: Vec<u8>,
    /// Files of the mall itself.
    pub(super) files: Vec<PlainFile>,
}

impl Contents {
    /// Returns the size of all entries, but for header and list of contents.
    pub(super) fn bytes(&self) -> u64 {
        let files: u64 = self.copies.iter().chain(&self.files).map(|file| file.bytes).sum();
        files + self.claims.len() as u64
    }
}

/// Returns claims as JSON, a line each.
pub(super) fn claim_lines<T: Serialize>(claims: &[T]) -> serde_json::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for claim in claims {
        serde_json::to_writer(&mut lines, claim)?;
        lines.push(b'\n');
    }
    Ok(lines)
}

/// Returns the time of a backup.
pub(super) fn now() -> Result<Timestamp, jiff::Error> {
    Timestamp::from_millisecond(SystemClock.now().as_millis())
}
