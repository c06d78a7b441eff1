//! Points of a stream, applied to an unpacked backup up to an instant.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::Timestamp;
use mallbox_storage::Claim;
use mallbox_storage_embedded::backup::{ChangedPages, apply};

use super::{Source, Until};
use crate::backup::fault::BackupFault;
use crate::backup::manifest::{Header, PAGES, Point};
use crate::backup::reader::{Unpacked, unpack_point};
use crate::backup::stream::{Frame, Position, StreamReader};
use crate::backup::{DATABASE, DIRECTORIES};
use crate::cli::backup::naming::stream_of;
use crate::cli::messages::CommandFailure;

/// Name of the directory in which a point is unpacked.
const POINT_DIR: &str = ".point";

/// What a stream added to a backup.
#[derive(Default)]
pub(super) struct Applied {
    /// Number of points.
    pub(super) points: u64,
    /// The last of them: its time and its pending claims. `None` without points.
    pub(super) last: Option<(String, Vec<Claim>)>,
    /// Bytes at the end of the stream that are no whole point: a crash has cut one off.
    pub(super) torn_bytes: u64,
}

/// Applies the points of the stream beside a backup, which is unpacked in `dir`, up to the last one at or
/// before `until`. Reports the number of points.
pub(super) fn apply_points(
    from: Source<'_>,
    dir: &Path,
    until: Until,
    mut progress: impl FnMut(u64),
) -> anyhow::Result<Applied> {
    let path = stream_of(from.file);
    let mut applied = Applied::default();
    if !path.exists() {
        return Ok(applied);
    }
    let cannot_read = |error| CommandFailure::CannotRead(from.file.to_owned()).with_cause(error);
    let position = Position::behind_backup(from.file).map_err(cannot_read)?;
    let unreadable = |fault: BackupFault| CommandFailure::NotRestored(path.clone()).with_cause(fault);
    let mut reader = StreamReader::open(&path, position).map_err(unreadable)?;
    loop {
        let damaged = |fault: BackupFault| {
            let reached = applied.last.as_ref().map(|(taken, _)| taken.clone());
            CommandFailure::DamagedStream(path.clone(), reached).with_cause(fault)
        };
        let Some(frame) = reader.next_point().map_err(damaged)? else {
            applied.torn_bytes = reader.torn_bytes();
            return Ok(applied);
        };
        let room = dir.join(POINT_DIR);
        let unpacked = unpack(&frame, &room, from);
        let Unpacked { header, claims } = match unpacked {
            Ok(unpacked) => unpacked,
            // What was not synced before a power cut.
            Err(BackupFault::CutOff | BackupFault::Damaged { .. }) if frame.is_last => {
                applied.torn_bytes = frame.archive.len() as u64;
                remove(&room)?;
                return Ok(applied);
            }
            Err(fault) => return Err(damaged(fault)),
        };
        if until.is_before(&header.taken)? {
            remove(&room)?;
            return Ok(applied);
        }
        add(&header, &room, dir)?;
        remove(&room)?;
        let is_reached = until.is_exactly(&header.taken);
        applied.points += 1;
        applied.last = Some((header.taken, claims));
        progress(applied.points);
        if is_reached {
            return Ok(applied);
        }
    }
}

fn unpack(frame: &Frame, room: &Path, from: Source<'_>) -> Result<Unpacked, BackupFault> {
    let refused = |source| BackupFault::Io { path: room.to_owned(), source };
    fs::create_dir(room).map_err(refused)?;
    let damaged = || BackupFault::Damaged { entry: Some(format!("point {}", frame.position.number)) };
    let unpacked = unpack_point(&frame.archive, room, from.credentials);
    let unpacked = unpacked.map_err(|fault| match fault {
        BackupFault::NotABackup => damaged(),
        fault => fault,
    })?;
    let Position { number, previous } = &frame.position;
    let fits = |point: &Point| point.number == *number && point.previous == *previous;
    if unpacked.header.point.as_ref().is_some_and(fits) {
        Ok(unpacked)
    } else {
        Err(BackupFault::Foreign(format!("point {number}")))
    }
}

/// Adds an unpacked point to the mall.
fn add(header: &Header, room: &Path, dir: &Path) -> anyhow::Result<()> {
    let database = dir.join(DATABASE);
    let cannot_write = |path: PathBuf| |error| CommandFailure::CannotWrite(path).with_cause(error);
    let pages = fs::read(room.join(PAGES)).map_err(cannot_write(room.join(PAGES)))?;
    if let Some(changes) = changes(header, &pages)? {
        apply(&database, &changes).map_err(cannot_write(database))?;
    }
    for top in DIRECTORIES {
        move_below(&room.join(top), &dir.join(top)).map_err(cannot_write(dir.join(top)))?;
    }
    Ok(())
}

/// Parses the changed pages of a point. `None` if the database did not change.
fn changes(header: &Header, content: &[u8]) -> anyhow::Result<Option<ChangedPages>> {
    let Some(Point { page_bytes, database_pages, .. }) = header.point.clone() else { return Ok(None) };
    if database_pages == 0 {
        return Ok(None);
    }
    let mut pages = BTreeMap::new();
    for record in content.chunks(4 + usize::try_from(page_bytes)?) {
        let (number, page) = record.split_first_chunk::<4>().context("a page is cut off")?;
        pages.insert(u32::from_be_bytes(*number), page.to_vec());
    }
    Ok(Some(ChangedPages { page_bytes, database_pages, pages }))
}

/// Moves all files below a directory, over files of the same name.
fn move_below(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() { move_below(&path, &target)? } else { fs::rename(path, target)? }
    }
    Ok(())
}

fn remove(room: &Path) -> anyhow::Result<()> {
    fs::remove_dir_all(room).map_err(|error| CommandFailure::CannotWrite(room.to_owned()).with_cause(error))
}

impl Until {
    fn is_exactly(self, taken: &str) -> bool {
        taken.parse().is_ok_and(|taken| self == Self::Instant(taken))
    }

    fn is_before(self, taken: &str) -> anyhow::Result<bool> {
        let taken: Timestamp = taken.parse().context("the time of a point")?;
        Ok(match self {
            Self::Latest => false,
            Self::Instant(until) => until < taken,
        })
    }
}
