//! Points of a stream, applied to an unpacked backup up to an instant.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use mallbox_storage::Claim;
use mallbox_storage_embedded::backup::{ChangedPages, apply};

use super::source::{Source, Until};
use crate::backup::fault::BackupFault;
use crate::backup::keys;
use crate::backup::manifest::{Header, PAGES, Point};
use crate::backup::reader::{Credentials, Unpacked, unpack_point};
use crate::backup::stream::{Frame, PointReader, Position};
use crate::backup::{DATABASE, DIRECTORIES};
use crate::cli::backup::naming::stream_of;
use crate::cli::messages::CommandFailure;

/// Name of the directory in which a point is unpacked.
const POINT_DIR: &str = ".point";

/// What a stream added to a backup.
#[derive(Default)]
pub(in crate::cli) struct Applied {
    /// Number of points.
    pub(in crate::cli) points: u64,
    /// The last of them: its time and its pending claims. `None` without points.
    pub(super) last: Option<(String, Vec<Claim>)>,
    /// Bytes at the end of the stream that are no whole point: a crash has cut one off.
    pub(in crate::cli) torn_bytes: u64,
}

/// Applies the points of the stream beside a backup, which is unpacked in `dir`, up to the last one at or
/// before `until`.
pub(super) fn apply_points(
    from: Source<'_>,
    base: &Header,
    dir: &Path,
    until: Until,
) -> anyhow::Result<Applied> {
    let path = stream_of(from.file);
    let mut applied = Applied::default();
    let cannot_read = |error| CommandFailure::CannotRead(from.file.to_owned()).with_cause(error);
    if !path.try_exists().map_err(cannot_read)? {
        return Ok(applied);
    }
    // A signed backup has signed points.
    let signer = base.signer.as_ref().and_then(|name| keys::key_of(name));
    let credentials = Credentials { identities: from.credentials.identities.clone(), signer };
    let position = Position::behind_backup(from.file).map_err(cannot_read)?;
    let unreadable = |fault: BackupFault| CommandFailure::NotRestored(path.clone()).with_cause(fault);
    let mut reader = PointReader::open(&path, position).map_err(unreadable)?;
    loop {
        let damaged = |fault: BackupFault| {
            let reached = applied.last.as_ref().map(|(taken, _)| taken.clone());
            CommandFailure::DamagedStream(path.clone(), reached).with_cause(fault)
        };
        let Some(frame) = reader.next_point().map_err(damaged)? else {
            applied.torn_bytes = reader.torn_bytes();
            return Ok(applied);
        };
        if until.is_before(frame.taken) {
            return Ok(applied);
        }
        let room = dir.join(POINT_DIR);
        let unpacked = unpack(&frame, &room, &credentials);
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
        add(&header, &room, dir)?;
        remove(&room)?;
        applied.points += 1;
        applied.last = Some((header.taken, claims));
    }
}

fn unpack(frame: &Frame, room: &Path, credentials: &Credentials) -> Result<Unpacked, BackupFault> {
    let refused = |source| BackupFault::Io { path: room.to_owned(), source };
    fs::create_dir(room).map_err(refused)?;
    let damaged = || BackupFault::Damaged { entry: Some(format!("point {}", frame.position.number)) };
    let unpacked = unpack_point(&frame.archive, room, credentials);
    let unpacked = unpacked.map_err(|fault| match fault {
        BackupFault::NotABackup => damaged(),
        fault => fault,
    })?;
    let Position { number, previous } = &frame.position;
    let fits = |point: &Point| point.number == *number && point.previous == *previous;
    if unpacked.header.point.as_ref().is_some_and(fits) {
        Ok(unpacked)
    } else {
        Err(BackupFault::OutOfOrder(*number))
    }
}

/// Adds an unpacked point to the mall.
fn add(header: &Header, room: &Path, dir: &Path) -> anyhow::Result<()> {
    let cannot_write = |path: PathBuf| |error| CommandFailure::CannotWrite(path).with_cause(error);
    if let Some(point) = header.point.as_ref().filter(|point| point.database_pages > 0) {
        let (database, pages) = (dir.join(DATABASE), room.join(PAGES));
        let added = File::open(&pages).and_then(|pages| add_pages(point, pages, &database));
        added.map_err(cannot_write(database.clone()))?;
    }
    for top in DIRECTORIES {
        move_below(&room.join(top), &dir.join(top)).map_err(cannot_write(dir.join(top)))?;
    }
    Ok(())
}

/// Applies the changed pages of a point, some at a time.
fn add_pages(point: &Point, from: File, database: &Path) -> io::Result<()> {
    const PAGES_AT_ONCE: usize = 1_024;
    let Point { page_bytes, database_pages, .. } = *point;
    if !(512..=65_536).contains(&page_bytes) {
        return Err(io::Error::new(ErrorKind::InvalidData, format!("pages of {page_bytes} bytes")));
    }
    let count = from.metadata()?.len() / (4 + u64::from(page_bytes));
    let mut from = BufReader::with_capacity(1 << 16, from);
    let mut changes = ChangedPages { page_bytes, database_pages, pages: BTreeMap::new() };
    for _ in 0..count {
        let (mut number, mut page) = ([0; 4], vec![0; page_bytes as usize]);
        from.read_exact(&mut number)?;
        from.read_exact(&mut page)?;
        changes.pages.insert(u32::from_be_bytes(number), page);
        if changes.pages.len() == PAGES_AT_ONCE {
            apply(database, &changes)?;
            changes.pages.clear();
        }
    }
    apply(database, &changes)
}

/// Moves all files below a directory, over files of the same name.
fn move_below(from: &Path, to: &Path) -> io::Result<()> {
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
