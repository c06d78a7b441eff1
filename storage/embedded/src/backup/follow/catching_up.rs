//! One step of a follower: from a position to the last commit.

use std::io;
use std::path::Path;

use mallbox_storage_integrity::wal_frames::WalHeader;
use mallbox_storage_integrity::{page_checksum, stored_checksums};

use super::changed_pages::ChangedPages;
use super::loss_reason::LossReason;
use super::wal::{Position, WalFile};

/// The end of the `-wal` file at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct End {
    pub(super) header: Option<WalHeader>,
    /// Frames up to the last commit. 0 under an old header: the file is just being begun anew.
    pub(super) committed: u32,
    /// Frames copied to the database file.
    pub(super) copied: u32,
}

/// Result of a step.
#[derive(Debug)]
pub(super) enum Step {
    /// The position behind the last commit, and all pages changed up to the position. `None`: the file has no
    /// commit yet.
    Read(Option<Position>, ChangedPages),
    /// The file changed meanwhile.
    Again,
    Lost(LossReason),
}

/// Reads from `position` to `end`. `is_guarded`: a guard was begun when the position or an earlier commit was
/// the last one, and has been held since.
///
/// # Errors
/// The system refuses a call.
pub(super) fn step(
    database: &Path,
    wal: &WalFile,
    position: Option<Position>,
    end: End,
    is_guarded: bool,
) -> io::Result<Step> {
    let Some(position) = position else {
        return match end.header {
            // Any generation may have come and gone.
            _ if !is_guarded => Ok(Step::Lost(LossReason::Overwritten)),
            Some(header) if end.committed > 0 => {
                read(wal, Position::beginning(header), end, ChangedPages::default())
            }
            _ => Ok(Step::Read(None, ChangedPages::default())),
        };
    };
    match end.header {
        Some(header) if header == position.header => match end.committed {
            // No frame of this generation comes after the guard.
            0 if is_guarded => Ok(Step::Read(Some(position), ChangedPages::default())),
            0 => finish_generation(database, wal, position, None),
            committed if committed < position.frames => Ok(Step::Lost(LossReason::Replaced)),
            _ if !position.is_intact(wal)? => Ok(Step::Again),
            _ => read(wal, position, end, ChangedPages::default()),
        },
        // The position was the last commit of its generation, and generations in between were empty: see
        // `Guard`. Their number is unknown if another connection emptied the file.
        Some(header) if is_guarded => read(wal, Position::beginning(header), end, ChangedPages::default()),
        Some(header) if position.is_just_before(&header) => {
            finish_generation(database, wal, position, Some((Position::beginning(header), end)))
        }
        Some(_) => Ok(Step::Lost(LossReason::Overwritten)),
        // Emptied, with all frames copied before.
        None if is_guarded && end.committed == 0 => Ok(Step::Read(Some(position), ChangedPages::default())),
        None => Ok(Step::Lost(LossReason::Overwritten)),
    }
}

/// Reads up to a commit that SQLite knows of.
fn read(wal: &WalFile, from: Position, end: End, mut changes: ChangedPages) -> io::Result<Step> {
    let position = from.read(wal, end.committed, |transaction| changes.add(transaction))?;
    if position.frames < end.committed {
        return Ok(Step::Again);
    }
    Ok(Step::Read(Some(position), changes))
}

/// Reads the rest of a generation that has ended, and then the `next` one.
///
/// The commit of the last transaction in the rest may have failed: SQLite leaves the frames of a failed
/// commit in the file uncounted. Transactions in front of the last one are certain, since the checksums of a
/// commit continue those of a commit. The last one is confirmed by the checksums of the database file, to
/// which SQLite has copied every commit before the restart.
fn finish_generation(
    database: &Path,
    wal: &WalFile,
    position: Position,
    next: Option<(Position, End)>,
) -> io::Result<Step> {
    let (mut changes, mut last) = (ChangedPages::default(), ChangedPages::default());
    let rest = position.read(wal, u32::MAX, |transaction| {
        changes.add(std::mem::replace(&mut last, transaction));
    })?;
    if !position.is_intact(wal)? {
        return Ok(Step::Lost(LossReason::Overwritten));
    }
    let uncertain = uncertain_pages(database, &last)?;
    changes.add(last);
    let step = match next {
        Some((beginning, end)) => read(wal, beginning, end, ChangedPages::default())?,
        None => Step::Read(Some(rest), ChangedPages::default()),
    };
    let Step::Read(position, later) = step else { return Ok(step) };
    if !uncertain.iter().all(|page| later.pages.contains_key(page)) {
        return Ok(Step::Lost(LossReason::Unconfirmed));
    }
    changes.add(later);
    Ok(Step::Read(position, changes))
}

/// Returns the pages of a transaction that the database file does not have for certain, by its checksums.
fn uncertain_pages(database: &Path, transaction: &ChangedPages) -> io::Result<Vec<u32>> {
    if transaction.is_empty() {
        return Ok(Vec::new());
    }
    let sums = stored_checksums(database)?;
    let is_certain = |page: u32, content: &[u8]| sums.get(page as usize - 1) == Some(&page_checksum(content));
    let pages = transaction.pages.iter();
    Ok(pages.filter(|(page, content)| !is_certain(**page, content)).map(|(page, _)| *page).collect())
}
