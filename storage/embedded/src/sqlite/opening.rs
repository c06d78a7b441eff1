//! Opening of a database file: identification, checks, migration, or an error for the operator.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{Durability, OpenError, UpgradeState};
use mallbox_storage_integrity::{PageChecksums, beside, vfs_name};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, ffi};

use super::commit_witness::{CommitWitness, WitnessSync, note_closed};
use super::integrity::{self, APPLICATION_ID, Integrity};
use super::{checkpoint, meta, migrations, orders_by_user};
use crate::cache_sizes::CacheSizes;
use crate::disk::Disk;

/// Size limit of the full check in bytes. The check reads every page; a larger file would delay the start
/// by more than about a second.
const CHECK_BELOW_BYTES: u64 = 256 << 20;
/// The mall has a single writer, so waits occur only for the end of a checkpoint and for other processes (a
/// backup, a shell).
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);
const STATEMENTS: usize = 128;

/// Purpose of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    Write,
    Read,
    Checkpoint,
}

/// Location of the WAL index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sharing {
    /// In a file beside the WAL, shared with other processes.
    File,
    /// In memory, for this process alone: used when the disk has no room for the file.
    Memory,
}

impl Sharing {
    /// Returns the name of the VFS, which checks pages.
    fn vfs(self) -> rusqlite::Result<&'static CStr> {
        vfs_name(self == Self::Memory).map_err(|error| super::errors::refuse(error.to_string()))
    }
}

/// A database opened for writing.
pub(super) struct Opened {
    pub(super) writer: Connection,
    pub(super) sharing: Sharing,
    /// Whether the database is marked as running. False if the disk had no room for the mark.
    pub(super) is_marked: bool,
    /// Checksums of the pages; `None` if the disk had no room for their file.
    pub(super) checksums: Option<Arc<PageChecksums>>,
    /// `None` if the disk had no room for the file.
    pub(super) witness: Option<(CommitWitness, WitnessSync)>,
    pub(super) last_stop: LastStop,
}

/// What is the same for all connections of a database.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    pub(super) durability: Durability,
    pub(super) caches: CacheSizes,
    pub(super) sharing: Sharing,
}

/// How the last run left the database, and what the opening did about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LastStop {
    /// Whether the database was closed in order, or is new.
    pub(crate) is_clean: bool,
    /// Whether the quick check read the whole file.
    pub(crate) is_checked: bool,
}

/// Opens or creates the database, migrates the schema, and marks the database as running.
///
/// On a disk with too little free space only indispensable writes happen, so that a database can be read on
/// a full disk. The first write then sets the mark.
///
/// Damage refuses the opening, unless `accepted` is exactly the loss that the error named.
pub(super) fn open(
    path: &Path,
    (durability, caches): (Durability, CacheSizes),
    accepted: Option<u64>,
    disk: &Disk,
) -> Result<Opened, OpenError> {
    open_as_is(path, (durability, caches), accepted, disk).map_err(|error| match (error, disk.shortage()) {
        // SQLite reports missing space for a file as a failure to open or to write.
        (OpenError::Io { path, what, .. }, Some(shortage)) => {
            OpenError::Io { path, what, source: io::Error::new(io::ErrorKind::StorageFull, shortage) }
        }
        (error, _) => error,
    })
}

fn open_as_is(
    path: &Path,
    (durability, caches): (Durability, CacheSizes),
    accepted: Option<u64>,
    disk: &Disk,
) -> Result<Opened, OpenError> {
    let sharing = if disk.shortage().is_some() { Sharing::Memory } else { Sharing::File };
    let wal = beside(path, "-wal");
    if !exists(path)? {
        if exists(&wal)? {
            return Err(damaged(path, "the file is missing, but its -wal file exists"));
        }
        create(path, durability)?;
    }
    let found = integrity::check(path, durability, accepted, sharing == Sharing::File)?;
    let had_wal = found.is_wal_accepted
        || exists(&wal)? && fs::metadata(&wal).map_err(|error| unreadable(&wal, error))?.len() > 0;
    let mut writer = bare(path, sharing).map_err(|error| explain(path, error))?;
    identify(&writer, path)?;
    configure(&writer, Purpose::Write, Tuning { durability, caches, sharing })
        .map_err(|error| explain(path, error))?;
    let Integrity { checksums, witness, commits, missing_commits, is_suspect, .. } = found;
    let mut starts_seen = 0;
    let mut witness = match witness.filter(|_| sharing == Sharing::File) {
        Some((file, former)) => {
            // Without syncs a power cut may take a start from the database that the witness has kept.
            starts_seen = former.filter(|former| former.is_synced).map_or(0, |former| former.starts);
            let begun = CommitWitness::begin(
                &mut writer,
                path,
                file,
                former,
                commits,
                durability == Durability::Power,
            );
            Some(begun.map_err(|error| unreadable(path, error))?)
        }
        None => None,
    };
    let clean = meta::is_stopped_cleanly(&writer).map_err(|error| explain(path, error))?;
    if !clean && !had_wal {
        if missing_commits.is_none() || accepted != missing_commits {
            return Err(integrity::without_wal(path, missing_commits));
        }
        tracing::warn!(path = %path.display(), missing_commits, "starting without the -wal file, as accepted");
    }
    check_age(&writer, path, starts_seen, accepted)?;
    if let Some((witness, _)) = witness.as_mut().filter(|_| !had_wal) {
        // What it notes of a former file would contradict the file about to be made.
        witness.note_no_wal().map_err(|error| unreadable(path, error))?;
    }
    if !clean {
        tracing::warn!(path = %path.display(), "the database was not closed cleanly; checking the file");
    }
    let is_checked = (!clean || is_suspect) && check(&writer, path)?;
    migrate(&writer, path)?;
    if sharing == Sharing::File {
        orders_by_user::rebuild_if_requested(&writer).map_err(|error| explain(path, error))?;
    }
    let is_marked = sharing == Sharing::File;
    if is_marked {
        let starts = witness.as_ref().map_or(0, |(witness, _)| witness.next_start());
        mark(&writer, starts).map_err(|error| explain(path, error))?;
    }
    if let Some((witness, _)) = &mut witness {
        let frames = checkpoint::frames(&writer).map_err(|error| explain(path, error))?;
        witness.note_start(frames).map_err(|error| unreadable(path, error))?;
    }
    let last_stop = LastStop { is_clean: clean, is_checked };
    Ok(Opened { writer, sharing, is_marked, checksums, witness, last_stop })
}

/// Opens a connection configured for `purpose`.
pub(super) fn connect(path: &Path, purpose: Purpose, tuning: Tuning) -> rusqlite::Result<Connection> {
    let conn = bare(path, tuning.sharing)?;
    configure(&conn, purpose, tuning)?;
    Ok(conn)
}

/// Opens a connection without writing to the file, which may belong to another program.
fn bare(path: &Path, sharing: Sharing) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags_and_vfs(path, flags, sharing.vfs()?)?;
    // By default the last connection would copy and remove the WAL of an unclean database, also of a newer
    // version: then a removed WAL could not be distinguished from a lost one.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(conn)
}

fn configure(conn: &Connection, purpose: Purpose, tuning: Tuning) -> rusqlite::Result<()> {
    let Tuning { durability, caches, sharing: _ } = tuning;
    // First, because changing the journal mode is a write too.
    conn.pragma_update(None, "synchronous", synchronous(durability))?;
    let mode: String = conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(super::errors::refuse(format!(
            "its journal is in mode {mode} and cannot be put into WAL mode"
        )));
    }
    let cache = if purpose == Purpose::Write { caches.writer } else { caches.connection };
    // Negative: KiB instead of pages.
    conn.pragma_update(None, "cache_size", -i64::try_from(cache >> 10).unwrap_or(i64::MAX))?;
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

/// Marks the stop as clean, copies the WAL into the file, and removes the WAL on closing.
pub(super) fn stop_cleanly(conn: &Connection) -> rusqlite::Result<()> {
    meta::mark_stopped(conn)?;
    if !checkpoint::truncate(conn)? {
        tracing::warn!("another process is reading the database; keeping the -wal file");
    }
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map(drop)
}

/// Notes the state of the files after a clean stop, for the next opening.
pub(super) fn stopped_cleanly(path: &Path, durability: Durability) -> io::Result<()> {
    note_closed(path, durability == Durability::Power)
}

/// Creates a database under a temporary name and renames the complete file, so that a partial database is
/// never found: an empty file at `path` counts as damaged.
fn create(path: &Path, durability: Durability) -> Result<(), OpenError> {
    let new = beside(path, ".new");
    for ending in ["", "-journal", "-wal", "-shm"] {
        remove(&beside(&new, ending))?;
    }
    let made = Connection::open(&new).and_then(|conn| {
        // Completed or discarded: before the rename, nothing in the file needs to survive a crash.
        conn.pragma_update(None, "synchronous", "OFF")?;
        conn.pragma_update(None, "application_id", APPLICATION_ID)?;
        migrations::apply(&conn)?;
        meta::mark_stopped(&conn)?;
        // Before the opening, which has checksums of pages: checksums keep up with a WAL, and not with the
        // rollback journal by which the mode would change then.
        conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))
    });
    made.map_err(|error| explain(&new, error))?;
    place(&new, path, durability).map_err(|source| OpenError::Io {
        path: path.to_owned(),
        what: "cannot create the database",
        source,
    })
}

fn place(new: &Path, path: &Path, durability: Durability) -> io::Result<()> {
    if durability == Durability::Memory {
        return fs::rename(new, path);
    }
    File::open(new)?.sync_all()?;
    fs::rename(new, path)?;
    File::open(parent(path))?.sync_all()?;
    sync_names_of(parent(path));
    Ok(())
}

/// Makes the names of a directory and of its parents durable, which may all be new. Parents that cannot be
/// read are left to the system.
fn sync_names_of(dir: &Path) {
    let whole = dir.canonicalize();
    for parent in whole.iter().flat_map(|whole| whole.ancestors().skip(1)) {
        if let Err(error) = File::open(parent).and_then(|parent| parent.sync_all()) {
            tracing::debug!(path = %parent.display(), %error, "could not sync a parent of the data directory");
        }
    }
}

fn identify(conn: &Connection, path: &Path) -> Result<(), OpenError> {
    let number = |pragma| conn.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let found = number("application_id").and_then(|id| Ok((id, number("user_version")?)));
    let not_ours = |detail| Err(OpenError::NotOurs { path: path.to_owned(), detail });
    match found.map_err(|error| explain(path, error))? {
        (APPLICATION_ID, version) if version > migrations::NEWEST => not_ours(format!(
            "the database was written by a newer mallbox (schema {version}; this version supports up to \
             {}); use that version",
            migrations::NEWEST
        )),
        (APPLICATION_ID, 1..) => Ok(()),
        (0, 0) if fs::metadata(path).is_ok_and(|file| file.len() == 0) => {
            Err(damaged(path, "the file is empty"))
        }
        _ => not_ours("an SQLite file of another program; use another directory".into()),
    }
}

/// Reads the whole file and checks its structure. Returns false for a file too large to be read.
fn check(conn: &Connection, path: &Path) -> Result<bool, OpenError> {
    if fs::metadata(path).is_ok_and(|file| file.len() >= CHECK_BELOW_BYTES) {
        return Ok(false);
    }
    let found: String = conn
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|error| explain(path, error))?;
    match unread_page(&found) {
        _ if found == "ok" => Ok(true),
        Some(code) => Err(explain(path, Error::SqliteFailure(ffi::Error::new(code), Some(found)))),
        None => Err(damaged(path, found)),
    }
}

/// Refuses a database that an older copy replaced: the witness has seen more starts than the database.
fn check_age(conn: &Connection, path: &Path, seen: u64, accepted: Option<u64>) -> Result<(), OpenError> {
    let starts = meta::starts(conn).map_err(|error| explain(path, error))?;
    let missing = seen.saturating_sub(starts);
    if missing == 0 || accepted == Some(missing) {
        return Ok(());
    }
    let detail =
        format!("it is an older copy, from start {starts} of the mall, which was started {seen} times");
    Err(OpenError::DamagedRecord { path: path.to_owned(), detail, accept: Some(missing) })
}

/// Migrates an older schema, and checks that the result is whole: the file is valid, and no row of the main
/// tables is lost.
fn migrate(conn: &Connection, path: &Path) -> Result<(), OpenError> {
    let explained = |error| explain(path, error);
    let schema: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(explained)?;
    if schema == migrations::NEWEST {
        return Ok(());
    }
    let failed =
        |detail| OpenError::UpgradeFailed { path: path.to_owned(), detail, state: UpgradeState::Unknown };
    let before = main_rows(conn).map_err(explained)?;
    migrations::apply(conn)
        .map_err(|error| if is_of_system(&error) { explained(error) } else { failed(error.to_string()) })?;
    let valid: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(explained)?;
    if valid != "ok" {
        return Err(failed(valid));
    }
    let after = main_rows(conn).map_err(explained)?;
    let lost = before.iter().find(|(table, rows)| after.get(*table) != Some(rows));
    lost.map_or(Ok(()), |(table, rows)| {
        Err(failed(format!("{rows} rows of {table} became {:?}", after.get(table))))
    })
}

/// Counts the rows of tables whose rows no migration may change in number.
fn main_rows(conn: &Connection) -> rusqlite::Result<BTreeMap<&'static str, i64>> {
    let mut rows = BTreeMap::new();
    for table in ["orders", "users", "vouchers", "shops", "notes"] {
        if conn.table_exists(None, table)? {
            rows.insert(
                table,
                conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?,
            );
        }
    }
    Ok(rows)
}

/// Returns whether an error says nothing of the migration: the disk, the memory, another process, or damage
/// from before.
fn is_of_system(error: &Error) -> bool {
    !matches!(
        error.sqlite_error_code(),
        None | Some(
            ErrorCode::Unknown | ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig
        )
    )
}

/// Parses the error code from a finding of `quick_check` about an unreadable page, as opposed to invalid
/// contents.
fn unread_page(found: &str) -> Option<i32> {
    let (_, code) = found.split_once("error code")?;
    let code: i32 = code.trim_start_matches(['=', ' ']).split_whitespace().next()?.parse().ok()?;
    matches!(ffi::Error::new(code).code, ErrorCode::SystemIoFailure | ErrorCode::OutOfMemory).then_some(code)
}

/// Marks the database as running, in the database file itself: a mark in the WAL alone would be lost with
/// the WAL.
fn mark(conn: &Connection, starts: u64) -> rusqlite::Result<()> {
    meta::mark_running(conn)?;
    meta::raise_starts(conn, starts)?;
    checkpoint::passive(conn).map(drop)
}

fn explain(path: &Path, error: Error) -> OpenError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => damaged(path, error.to_string()),
        Some(ErrorCode::DiskFull) => OpenError::Io {
            path: path.to_owned(),
            what: "cannot open the database",
            source: io::Error::new(io::ErrorKind::StorageFull, error),
        },
        _ => OpenError::Io {
            path: path.to_owned(),
            what: "cannot open the database",
            source: io::Error::other(error),
        },
    }
}

fn damaged(path: &Path, detail: impl Into<String>) -> OpenError {
    OpenError::DamagedRecord { path: path.to_owned(), detail: detail.into(), accept: None }
}

fn exists(path: &Path) -> Result<bool, OpenError> {
    path.try_exists().map_err(|error| unreadable(path, error))
}

fn unreadable(path: &Path, source: io::Error) -> OpenError {
    OpenError::Io { path: path.to_owned(), what: "cannot check for the database", source }
}

fn remove(path: &Path) -> Result<(), OpenError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(OpenError::Io { path: path.to_owned(), what: "cannot remove an incomplete database", source })
        }
        _ => Ok(()),
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A power cut between the sync of a page's checksum and the sync of the page left a database that looked
    /// damaged: of the first start, which changed the journal mode.
    #[test]
    fn new_database_needs_no_rollback_journal() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("mall.sqlite");
        for left in ["mall.sqlite.new", "mall.sqlite.new-journal", "mall.sqlite.new-wal"] {
            fs::write(dir.path().join(left), "of a start that was killed").unwrap();
        }
        create(&path, Durability::Power).unwrap();
        assert_eq!(fs::read(&path).unwrap()[18..20], [2, 2], "the versions of a file in WAL mode");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "SQLite left a file");
    }
}
