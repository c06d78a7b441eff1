//! From a path to a record that can be worked with, or to words for the operator why not.

use std::ffi::CStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, ffi};

use super::migrations;
use super::{checkpoint, settings};
use crate::embedded::disk::Disk;
use crate::{Durability, OpenError};

/// `mall`: tells a record from another program's SQLite file.
const APPLICATION_ID: i64 = 0x6D61_6C6C;
/// A whole check reads every page; above this size it would delay the start by more than about a second.
const CHECK_BELOW_BYTES: u64 = 256 << 20;
const WRITER_CACHE_KIB: i64 = 64 << 10;
const OTHER_CACHE_KIB: i64 = 16 << 10;
/// The mall has one writer, so only a checkpoint's end and another process (a backup, a shell) are ever waited for.
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);
const STATEMENTS: usize = 128;

/// What a connection is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    Write,
    Read,
    Checkpoint,
}

/// How connections share the index of the WAL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sharing {
    /// In a file beside the WAL, with whoever opens the record.
    File,
    /// In memory, for this process alone: where a disk has no room, and so none for that file.
    Memory,
}

impl Sharing {
    /// SQLite's name for it.
    fn vfs(self) -> &'static CStr {
        match self {
            Self::File => c"unix",
            Self::Memory => c"unix-excl",
        }
    }
}

/// A record that was opened for writing.
pub(super) struct Opened {
    pub(super) writer: Connection,
    pub(super) sharing: Sharing,
    /// It is marked as running: the disk had room for that.
    pub(super) is_marked: bool,
}

/// Opens the record, made if there is none, brings it to this version's form and marks it as running.
///
/// On a disk with too little room nothing is written that does not have to be, so that a record can be read on a disk
/// with none at all; the mark is then for the first write to set.
pub(super) fn open(path: &Path, durability: Durability, disk: &Disk) -> Result<Opened, OpenError> {
    open_as_is(path, durability, disk).map_err(|error| match (error, disk.shortage()) {
        // SQLite reports a file that it had no room for as one that cannot be opened, or as a failed write.
        (OpenError::Io { path, what, .. }, Some(shortage)) => {
            OpenError::Io { path, what, source: io::Error::new(io::ErrorKind::StorageFull, shortage) }
        }
        (error, _) => error,
    })
}

fn open_as_is(path: &Path, durability: Durability, disk: &Disk) -> Result<Opened, OpenError> {
    let sharing = if disk.shortage().is_some() { Sharing::Memory } else { Sharing::File };
    let wal = sibling(path, "-wal");
    if !exists(path)? {
        if exists(&wal)? {
            return Err(damaged(path, "it is missing, though its -wal file is there"));
        }
        create(path, durability)?;
    }
    let had_wal = exists(&wal)? && fs::metadata(&wal).map_err(|error| unreadable(&wal, error))?.len() > 0;
    let writer = bare(path, sharing).map_err(|error| explain(path, error))?;
    identify(&writer, path)?;
    configure(&writer, Purpose::Write, durability).map_err(|error| explain(path, error))?;
    let clean = settings::is_stopped_cleanly(&writer).map_err(|error| explain(path, error))?;
    if !clean && !had_wal {
        return Err(damaged(path, "its -wal file, which holds what was written last, is missing"));
    }
    if !clean {
        tracing::warn!(path = %path.display(), "the record was not closed when it was last used; looking it over");
        check(&writer, path)?;
    }
    migrations::apply(&writer).map_err(|error| explain(path, error))?;
    let is_marked = sharing == Sharing::File;
    if is_marked {
        mark(&writer).map_err(|error| explain(path, error))?;
    }
    Ok(Opened { writer, sharing, is_marked })
}

/// A connection with everything set that its work needs.
pub(super) fn connect(
    path: &Path,
    purpose: Purpose,
    durability: Durability,
    sharing: Sharing,
) -> rusqlite::Result<Connection> {
    let conn = bare(path, sharing)?;
    configure(&conn, purpose, durability)?;
    Ok(conn)
}

/// With nothing touched in the file, which may be another program's.
fn bare(path: &Path, sharing: Sharing) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags_and_vfs(path, flags, sharing.vfs())?;
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(conn)
}

fn configure(conn: &Connection, purpose: Purpose, durability: Durability) -> rusqlite::Result<()> {
    // The last connection would copy and remove the WAL of a record that was not closed: then a missing WAL could not
    // be told from a lost one.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // First: a change of the journal's mode is a write too.
    conn.pragma_update(None, "synchronous", synchronous(durability))?;
    let mode: String = conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(super::trouble::refuse(format!(
            "its journal is in mode {mode} and cannot be put into WAL mode"
        )));
    }
    let cache_kib = if purpose == Purpose::Write { WRITER_CACHE_KIB } else { OTHER_CACHE_KIB };
    conn.pragma_update(None, "cache_size", -cache_kib)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.query_row("PRAGMA wal_autocheckpoint = 0", [], |_| Ok(()))?;
    conn.pragma_update(None, "query_only", purpose == Purpose::Read)
}

fn synchronous(durability: Durability) -> &'static str {
    match durability {
        Durability::Power => "FULL",
        Durability::Process | Durability::Relaxed => "NORMAL",
        Durability::Memory => "OFF",
    }
}

/// Marks the stop as clean, copies the WAL into the file and removes it.
pub(super) fn stop_cleanly(conn: &Connection) -> rusqlite::Result<()> {
    settings::mark_stopped(conn)?;
    if !checkpoint::truncate(conn)? {
        tracing::warn!("the record is still being read; its -wal file stays");
    }
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map(drop)
}

/// Made beside its place and moved there when it is whole, so that a half-made record is never found: an empty file in
/// its place is a damaged one.
fn create(path: &Path, durability: Durability) -> Result<(), OpenError> {
    let new = sibling(path, ".new");
    remove(&new)?;
    let made = Connection::open(&new).and_then(|conn| {
        // Whole or thrown away: until it is moved, nothing in it needs to survive.
        conn.pragma_update(None, "synchronous", "OFF")?;
        conn.pragma_update(None, "application_id", APPLICATION_ID)?;
        migrations::apply(&conn)?;
        settings::mark_stopped(&conn)
    });
    made.map_err(|error| explain(&new, error))?;
    place(&new, path, durability).map_err(|source| OpenError::Io {
        path: path.to_owned(),
        what: "cannot make the record",
        source,
    })
}

fn place(new: &Path, path: &Path, durability: Durability) -> io::Result<()> {
    if durability == Durability::Memory {
        return fs::rename(new, path);
    }
    File::open(new)?.sync_all()?;
    fs::rename(new, path)?;
    File::open(parent(path))?.sync_all()
}

fn identify(conn: &Connection, path: &Path) -> Result<(), OpenError> {
    let number = |pragma| conn.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let found = number("application_id").and_then(|id| Ok((id, number("user_version")?)));
    let not_ours = |detail| Err(OpenError::NotOurs { path: path.to_owned(), detail });
    match found.map_err(|error| explain(path, error))? {
        (APPLICATION_ID, version) if version > migrations::NEWEST => not_ours(format!(
            "the record was written by a newer mallbox (form {version}; this one knows up to {}); use that version",
            migrations::NEWEST
        )),
        (APPLICATION_ID, 1..) => Ok(()),
        (0, 0) if fs::metadata(path).is_ok_and(|file| file.len() == 0) => Err(damaged(path, "it is empty")),
        _ => not_ours("an SQLite file of another program; use another directory".into()),
    }
}

fn check(conn: &Connection, path: &Path) -> Result<(), OpenError> {
    if fs::metadata(path).is_ok_and(|file| file.len() >= CHECK_BELOW_BYTES) {
        return Ok(());
    }
    let found: String = conn
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|error| explain(path, error))?;
    match unread_page(&found) {
        _ if found == "ok" => Ok(()),
        Some(code) => Err(explain(path, Error::SqliteFailure(ffi::Error::new(code), Some(found)))),
        None => Err(damaged(path, found)),
    }
}

/// The code in a finding of `quick_check` that is about a page which could not be read, and not about what is in it.
fn unread_page(found: &str) -> Option<i32> {
    let (_, code) = found.split_once("error code")?;
    let code: i32 = code.trim_start_matches(['=', ' ']).split_whitespace().next()?.parse().ok()?;
    matches!(ffi::Error::new(code).code, ErrorCode::SystemIoFailure | ErrorCode::OutOfMemory).then_some(code)
}

/// The mark goes into the database file itself: were it in the WAL alone, losing the WAL would lose the mark too.
fn mark(conn: &Connection) -> rusqlite::Result<()> {
    settings::mark_running(conn)?;
    checkpoint::passive(conn).map(drop)
}

fn explain(path: &Path, error: Error) -> OpenError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => damaged(path, error.to_string()),
        Some(ErrorCode::DiskFull) => OpenError::Io {
            path: path.to_owned(),
            what: "cannot open the record",
            source: io::Error::new(io::ErrorKind::StorageFull, error),
        },
        _ => OpenError::Io {
            path: path.to_owned(),
            what: "cannot open the record",
            source: io::Error::other(error),
        },
    }
}

fn damaged(path: &Path, detail: impl Into<String>) -> OpenError {
    OpenError::DamagedRecord { path: path.to_owned(), detail: detail.into() }
}

fn exists(path: &Path) -> Result<bool, OpenError> {
    path.try_exists().map_err(|error| unreadable(path, error))
}

fn unreadable(path: &Path, source: io::Error) -> OpenError {
    OpenError::Io { path: path.to_owned(), what: "cannot look for the record", source }
}

fn remove(path: &Path) -> Result<(), OpenError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(OpenError::Io { path: path.to_owned(), what: "cannot remove a half-made record", source })
        }
        _ => Ok(()),
    }
}

fn sibling(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
