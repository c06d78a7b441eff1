//! Upgrades: a directory of an earlier version is copied before its schema is migrated, and put back if the
//! migration fails.
//!
//! The copy is beside the mall, in the same directory. Pictures and archived days are hard links there where
//! the file system has them, since neither is ever changed in place. A copy is put back by itself only
//! before the mall has accepted anything: later, that is the operator's decision ([`put_back`]).
//!
//! Reasons and figures: `storage/decisions/0043-upgrades-keep-a-copy.md`.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use mallbox_storage::OpenError;

use crate::backup::{BEFORE_UPGRADE, Exchange, check_movable, names, remove};
use crate::disk::{FREE_BYTES_MIN, free_bytes_at};
use crate::journal::sync_all;
use crate::sqlite::{APPLICATION_ID, NEWEST_SCHEMA};

/// Name of a copy that is being made.
const UNFINISHED: &str = ".before-upgrade";
/// Name of the file in a copy that says of which state it is.
const NOTE: &str = "UPGRADE";
/// Directories whose files are never changed in place.
const UNCHANGING: [&str; 2] = ["uploads", "archive"];
/// A copy of a directory before an upgrade.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BeforeUpgrade {
    /// Where the copy is.
    pub path: PathBuf,
    /// Version of the schema in the copy.
    pub schema: u32,
}

/// A copy that was put back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PutBack {
    /// Version of the schema, which the version of the program before reads.
    pub schema: u32,
    /// Where the upgraded mall is now.
    pub upgraded: Option<PathBuf>,
}

/// Copies the mall in `dir`, whose lock the caller holds, if its schema is older than this program's. Returns
/// the copy; `None` if none is needed or `is_wanted`.
///
/// # Errors
/// [`OpenError::NoRoomForCopy`]; [`OpenError::Io`]: the system refuses an operation. Nothing of the mall was
/// changed.
pub(crate) fn prepare(dir: &Path, is_wanted: bool) -> Result<Option<BeforeUpgrade>, OpenError> {
    let refused = |source| not_copied(dir, source);
    remove(&dir.join(UNFINISHED)).map_err(refused)?;
    let Some(schema) = older_schema(&dir.join("mall.sqlite")) else { return Ok(None) };
    if !is_wanted {
        tracing::warn!(
            before = schema,
            now = NEWEST_SCHEMA,
            "upgrading the mall without a copy of it; only mallbox downgrade or a backup leads back"
        );
        return Ok(None);
    }
    if let Err(error) = names(dir).and_then(|names| check_movable(dir, &names)) {
        tracing::warn!(%error, "the mall is upgraded without a copy, which could not be put back");
        return Ok(None);
    }
    let state = state_of(dir).map_err(refused)?;
    let note = format!("schema {schema}\nstate {state}\n");
    let numbers = copies(dir).map_err(refused)?;
    for copy in numbers.iter().map(|number| path_of(dir, *number)) {
        // Of a start that was killed before the migration reached the file.
        if fs::read_to_string(copy.join(NOTE)).is_ok_and(|found| found == note) {
            return Ok(Some(BeforeUpgrade { path: copy, schema }));
        }
    }
    check_room(dir)?;
    let unfinished = dir.join(UNFINISHED);
    let copied = copy_mall(dir, &unfinished).and_then(|()| {
        let mut file = File::create(unfinished.join(NOTE))?;
        file.write_all(note.as_bytes())?;
        file.sync_all()?;
        sync_all(&unfinished)?;
        let path = path_of(dir, numbers.last().map_or(1, |last| last.saturating_add(1)));
        fs::rename(&unfinished, &path)?;
        sync_all(dir)?;
        Ok(path)
    });
    match copied {
        Ok(path) => {
            tracing::info!(copy = %path.display(), schema, "copied the mall before its upgrade");
            Ok(Some(BeforeUpgrade { path, schema }))
        }
        Err(error) => {
            let _ = remove(&unfinished);
            Err(refused(error))
        }
    }
}

/// Puts the newest copy before an upgrade back into the directory of a stopped mall. The upgraded mall is set
/// aside in the directory. `None` if there is no such copy.
///
/// # Errors
/// [`OpenError::InUse`] if the mall runs; [`OpenError::Io`] if the system refuses an operation. What
/// is in the directory stays then, or the next opening completes the exchange.
pub fn put_back(dir: &Path) -> Result<Option<PutBack>, OpenError> {
    let refused = |source| OpenError::Io { path: dir.to_owned(), what: "cannot put the mall back", source };
    let newest = copies(dir).map_err(refused)?.pop();
    newest.map(|number| put_back_from(dir, &path_of(dir, number))).transpose()
}

/// Puts a copy back after a migration that failed. Neither the copy nor the half-migrated mall is kept: a
/// service that is started again and again would fill the disk.
pub(crate) fn undo(dir: &Path, copy: &Path) -> Result<(), OpenError> {
    let PutBack { upgraded, .. } = put_back_from(dir, copy)?;
    for superfluous in upgraded.iter().map(PathBuf::as_path).chain([copy]) {
        if let Err(error) = remove(superfluous) {
            tracing::warn!(path = %superfluous.display(), %error, "could not remove a failed upgrade");
        }
    }
    Ok(())
}

fn put_back_from(dir: &Path, copy: &Path) -> Result<PutBack, OpenError> {
    let refused = |source| OpenError::Io { path: copy.to_owned(), what: "cannot be put back", source };
    let exchange = Exchange::begin(dir)?;
    let note = fs::read_to_string(copy.join(NOTE)).map_err(refused)?;
    let schema = note.lines().next().and_then(|line| line.strip_prefix("schema ")?.parse().ok());
    let schema = schema.ok_or_else(|| refused(io::Error::other("its file UPGRADE is damaged")))?;
    if let Err(error) = copy_into(copy, exchange.new_mall()) {
        exchange.give_up();
        return Err(refused(error));
    }
    Ok(PutBack { schema, upgraded: exchange.finish()? })
}

/// Reads the version of the schema from the header of the database file. `None` if there is no database of
/// mallbox, or one that needs no upgrade; what is wrong with a file, its opening says.
fn older_schema(database: &Path) -> Option<u32> {
    /// Offsets of `user_version` and `application_id` (SQLite's file format, section 1.3).
    const USER_VERSION: usize = 60;
    const APPLICATION: usize = 68;
    let mut header = [0; 100];
    File::open(database).ok()?.read_exact_at(&mut header, 0).ok()?;
    let number = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let schema = number(USER_VERSION);
    let is_ours = i64::from(number(APPLICATION)) == APPLICATION_ID;
    (is_ours && schema > 0 && i64::from(schema) < NEWEST_SCHEMA).then_some(schema)
}

/// Returns a text that differs once anything was written to the database.
fn state_of(dir: &Path) -> io::Result<String> {
    let file = fs::metadata(dir.join("mall.sqlite"))?;
    Ok(format!("{} {} {}.{:09}", file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
}

/// Returns the numbers of the copies in a directory, ascending.
fn copies(dir: &Path) -> io::Result<Vec<u32>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name();
        numbers.extend(name.to_str().and_then(|name| name.strip_prefix(BEFORE_UPGRADE)?.parse::<u32>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

fn path_of(dir: &Path, number: u32) -> PathBuf {
    dir.join(format!("{BEFORE_UPGRADE}{number}"))
}

/// Refuses a copy that the disk has no room for.
fn check_room(dir: &Path) -> Result<(), OpenError> {
    let mut needed = 0;
    let refused = |source| not_copied(dir, source);
    let takes_links = takes_links(dir).map_err(refused)?;
    for name in names(dir).map_err(refused)? {
        if !takes_links || !is_unchanging(&name) {
            needed += size(&dir.join(name)).map_err(refused)?;
        }
    }
    // With less, the upgraded mall would refuse all claims.
    needed += FREE_BYTES_MIN;
    let free = free_bytes_at(dir).unwrap_or(u64::MAX);
    if needed <= free { Ok(()) } else { Err(OpenError::NoRoomForCopy { path: dir.to_owned(), needed, free }) }
}

fn not_copied(dir: &Path, source: io::Error) -> OpenError {
    OpenError::Io { path: dir.to_owned(), what: "cannot be copied before the upgrade", source }
}

/// Returns whether the file system has hard links.
fn takes_links(dir: &Path) -> io::Result<bool> {
    let link = dir.join(UNFINISHED);
    let is_linked = fs::hard_link(dir.join("mall.sqlite"), &link).is_ok();
    remove(&link)?;
    Ok(is_linked)
}

fn is_unchanging(name: &OsStr) -> bool {
    UNCHANGING.iter().any(|unchanging| name == *unchanging)
}

fn size(path: &Path) -> io::Result<u64> {
    let file = fs::symlink_metadata(path)?;
    if !file.is_dir() {
        return Ok(file.len());
    }
    fs::read_dir(path)?.map(|entry| size(&entry?.path())).sum()
}

fn copy_mall(dir: &Path, to: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(to)?;
    copy_into(dir, to)
}

/// Copies a mall into an empty directory, durably.
fn copy_into(from: &Path, to: &Path) -> io::Result<()> {
    for name in names(from)?.iter().filter(|name| *name != NOTE) {
        copy(&from.join(name), &to.join(name), is_unchanging(name))?;
    }
    sync_all(to)
}

fn copy(from: &Path, to: &Path, is_unchanging: bool) -> io::Result<()> {
    let file = fs::symlink_metadata(from)?;
    if file.is_dir() {
        DirBuilder::new().mode(0o700).create(to)?;
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            copy(&from.join(&name), &to.join(&name), is_unchanging)?;
        }
        return sync_all(to);
    }
    if file.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    if !file.is_file() || is_unchanging && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to)?;
    File::open(to)?.sync_all()
}
