//! The table of named values: marks of the order log, whether the last stop was clean, settings.

use rusqlite::{Connection, OptionalExtension as _, params};

const STOP: &str = "stop";
const CLEAN: &str = "clean";
const STARTS: &str = "starts";
const LOG_APPLIED: &str = "log_applied";
const LOG_ACKED: &str = "log_acked";
const LOG_CHECKPOINT: &str = "log_checkpoint";

/// Progress of the database through the order log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LogMarks {
    /// Every claim of the commits up to this number is an order or a dead letter.
    pub(crate) applied: u64,
    /// The highest commit with a claim in the database: the log once contained the commit, so its next
    /// commit must be above.
    pub(crate) acked: u64,
}

/// Returns the marks of the order log.
pub(super) fn log_marks(conn: &Connection) -> rusqlite::Result<LogMarks> {
    Ok(LogMarks { applied: mark(conn, LOG_APPLIED)?, acked: mark(conn, LOG_ACKED)? })
}

/// Raises the marks of the order log. A mark is never lowered.
pub(super) fn raise_log_marks(conn: &Connection, marks: LogMarks) -> rusqlite::Result<()> {
    raise(conn, LOG_APPLIED, marks.applied)?;
    raise(conn, LOG_ACKED, marks.acked)
}

/// Returns the last checkpoint of the order log; `None` before the first one.
pub(super) fn log_checkpoint(conn: &Connection) -> rusqlite::Result<Option<u64>> {
    get(conn, LOG_CHECKPOINT)?.map(|text| number(&text)).transpose()
}

/// Notes a checkpoint of the order log, and that every claim of the commits up to `applied` is settled.
pub(super) fn note_log_checkpoint(conn: &Connection, checkpoint: u64, applied: u64) -> rusqlite::Result<()> {
    raise(conn, LOG_APPLIED, applied)?;
    raise(conn, LOG_CHECKPOINT, checkpoint)
}

/// Forgets the checkpoint, for the version before, which has none.
pub(super) fn forget_log_checkpoint(conn: &Connection) -> rusqlite::Result<()> {
    remove(conn, LOG_CHECKPOINT)
}

fn raise(conn: &Connection, name: &str, mark: u64) -> rusqlite::Result<()> {
    let mut raise = conn.prepare_cached(
        "INSERT INTO meta (name, value) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value
         WHERE CAST(excluded.value AS INTEGER) > CAST(meta.value AS INTEGER)",
    )?;
    raise.execute(params![name, mark.to_string()]).map(drop)
}

/// Returns whether the database was closed cleanly.
pub(super) fn is_stopped_cleanly(conn: &Connection) -> rusqlite::Result<bool> {
    Ok(get(conn, STOP)?.as_deref() == Some(CLEAN))
}

/// Marks the database as running: the next opening finds an unclean stop.
pub(super) fn mark_running(conn: &Connection) -> rusqlite::Result<()> {
    put(conn, STOP, "running")
}

/// Returns the number of starts that the database knows of.
pub(super) fn starts(conn: &Connection) -> rusqlite::Result<u64> {
    mark(conn, STARTS)
}

/// Raises the number of starts.
pub(super) fn raise_starts(conn: &Connection, starts: u64) -> rusqlite::Result<()> {
    raise(conn, STARTS, starts)
}

/// Marks the stop as clean.
pub(super) fn mark_stopped(conn: &Connection) -> rusqlite::Result<()> {
    put(conn, STOP, CLEAN)
}

/// Forgets the order log and all starts, as if the mall had been made a moment ago and stopped cleanly: for a
/// copy of a database whose log is not copied.
pub(super) fn forget_log(conn: &Connection) -> rusqlite::Result<()> {
    for name in [LOG_APPLIED, LOG_ACKED, LOG_CHECKPOINT, STARTS] {
        remove(conn, name)?;
    }
    mark_stopped(conn)
}

/// Returns a named value.
pub(super) fn get(conn: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    conn.prepare_cached("SELECT value FROM meta WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()
}

/// Stores a named value, replacing the old one.
pub(super) fn put(conn: &Connection, name: &str, value: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    )?
    .execute([name, value])
    .map(drop)
}

/// Removes a named value.
pub(super) fn remove(conn: &Connection, name: &str) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM meta WHERE name = ?1")?.execute([name]).map(drop)
}

/// Removes all values whose names begin with `beginning`.
pub(super) fn remove_all(conn: &Connection, beginning: &str) -> rusqlite::Result<()> {
    let sql = "DELETE FROM meta WHERE substr(name, 1, length(?1)) = ?1";
    conn.prepare_cached(sql)?.execute([beginning]).map(drop)
}

fn mark(conn: &Connection, name: &str) -> rusqlite::Result<u64> {
    get(conn, name)?.map_or(Ok(0), |text| number(&text))
}

fn number(text: &str) -> rusqlite::Result<u64> {
    text.parse().map_err(|_| super::errors::unreadable(0, text.to_owned()))
}
