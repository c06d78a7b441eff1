//! A copy of the database, made while the mall runs in this process or another.

use std::path::Path;
use std::time::Duration;
use std::{fs, io, thread};

use mallbox_storage::OpenError;
use mallbox_storage_integrity::beside;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::evidence::LOG_ID;
use crate::lock::DirLock;
use crate::sqlite::forget_log;
use crate::upkeep::STOP;

/// What is reported of a file that cannot be copied.
const NOT_COPIED: &str = "cannot be copied";

/// Pages copied at once. Between two steps the progress is reported.
const PAGES_PER_STEP: std::ffi::c_int = 1_024;

/// Pause after a step that met a lock.
const BUSY_PAUSE: Duration = Duration::from_millis(20);
/// Longest wait for a lock on the database.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Progress of a copy, in pages of 4 KiB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CopiedPages {
    /// Pages copied so far.
    pub done: u64,
    /// Pages of the database.
    pub all: u64,
}

/// Copies the database of the mall in `dir` to the new file `to`: one state of it, page by page. The mall may
/// be running, in another process; its writes go on, and do not change the copy.
///
/// The copy knows of no order log. [`make_log`](super::make_log) makes one, with the claims that were pending
/// before the copy began.
///
/// # Errors
/// [`OpenError`]: the database cannot be read, or the copy cannot be written.
pub fn copy_database(dir: &Path, to: &Path, progress: impl FnMut(CopiedPages)) -> Result<(), OpenError> {
    copy_base(dir, to, progress)?;
    finish_copy(to)
}

/// Copies the database as [`copy_database`] does, with every page as in the mall: a base for
/// [`apply`](super::apply). [`finish_copy`] makes the copy one of a stopped mall, after the last changes.
///
/// Page 1 of the copy has its own values in fields that mean nothing beyond the file: the change counter, the
/// number of the schema, the version of SQLite.
///
/// # Errors
/// [`OpenError`]: the database cannot be read, or the copy cannot be written.
pub fn copy_base(dir: &Path, to: &Path, progress: impl FnMut(CopiedPages)) -> Result<(), OpenError> {
    let path = dir.join("mall.sqlite");
    // A stopped mall must not start in the middle, and nothing may change beside its database: the next start
    // would take that for the work of another program.
    let lock = match DirLock::take(dir) {
        Ok(lock) => Some(lock),
        Err(OpenError::InUse { .. }) => None,
        Err(error) => return Err(error),
    };
    if lock.is_some() && fs::metadata(beside(&path, "-wal")).is_ok_and(|wal| wal.len() > 0) {
        let detail = "the mall was not stopped cleanly; start and stop it, then copy it again".to_owned();
        return Err(OpenError::NotOurs { path: dir.to_owned(), detail });
    }
    let from = source(&path, lock.is_some()).map_err(|error| explained(&path, NOT_COPIED, error))?;
    copy(&from, to, progress).map_err(|error| explained(to, NOT_COPIED, error))
}

/// Makes a [base](copy_base) with all its changes a copy as of [`copy_database`]: without an order log, and
/// without a `-wal` file. Writes and syncs the file. A copy that is finished takes no further changes.
///
/// # Errors
/// [`OpenError`]: the copy cannot be read or written.
pub fn finish_copy(copy: &Path) -> Result<(), OpenError> {
    finish(copy).map_err(|error| explained(copy, "cannot be finished as a copy", error))
}

/// Opens the database for reading. Of a stopped mall, nothing beside the file is read or made.
pub(super) fn source(path: &Path, is_stopped: bool) -> rusqlite::Result<Connection> {
    let path = path.as_os_str().as_encoded_bytes().iter();
    let escaped: String = path
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                char::from(*byte).to_string()
            }
            byte => format!("%{byte:02x}"),
        })
        .collect();
    let parameters = if is_stopped { "?immutable=1" } else { "" };
    let flags = if is_stopped { OpenFlags::SQLITE_OPEN_READ_ONLY } else { OpenFlags::SQLITE_OPEN_READ_WRITE };
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let from = Connection::open_with_flags(format!("file:{escaped}{parameters}"), flags)?;
    // If the mall is killed meanwhile, this is the last connection: its next start reads the WAL itself.
    from.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    from.busy_timeout(BUSY_TIMEOUT)?;
    from.pragma_update(None, "query_only", "on")?;
    Ok(from)
}

/// Names the file that could not be read or written, and `what` failed.
pub(super) fn explained(path: &Path, what: &'static str, error: rusqlite::Error) -> OpenError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            OpenError::DamagedRecord { path, detail: error.to_string(), accept: None }
        }
        Some(ErrorCode::DiskFull) => {
            let source = io::Error::new(io::ErrorKind::StorageFull, error);
            OpenError::Io { path, what, source }
        }
        _ => OpenError::Io { path, what, source: io::Error::other(error) },
    }
}

fn copy(from: &Connection, to: &Path, mut progress: impl FnMut(CopiedPages)) -> rusqlite::Result<()> {
    // Held to the end: all steps read one state.
    let snapshot = from.unchecked_transaction()?;
    snapshot.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut copy = Connection::open_with_flags(to, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // Without a file for the index of its WAL.
    copy.pragma_update(None, "locking_mode", "exclusive")?;
    {
        let backup = Backup::new(&snapshot, &mut copy)?;
        loop {
            let step = backup.step(PAGES_PER_STEP)?;
            let pages = backup.progress();
            let [all, left] =
                [pages.pagecount, pages.remaining].map(|pages| u64::try_from(pages).unwrap_or(0));
            progress(CopiedPages { done: all.saturating_sub(left), all });
            match step {
                StepResult::Done => break,
                StepResult::More => {}
                _ => thread::sleep(BUSY_PAUSE),
            }
        }
    }
    copy.close().map_err(|(_, error)| error)
}

fn finish(path: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let copy = Connection::open_with_flags(path, flags)?;
    copy.pragma_update(None, "locking_mode", "exclusive")?;
    // A file of its own, with nothing beside it.
    copy.pragma_update(None, "journal_mode", "delete")?;
    forget_log(&copy, &[LOG_ID, STOP])?;
    copy.close().map_err(|(_, error)| error)
}
