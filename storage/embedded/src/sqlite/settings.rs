//! Named values: the mall's settings, marks of the log, and whether the last stop was clean.

use std::path::Path;

use mallbox_storage::{PaymentMode, StoreError};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};

use super::Database;
use super::columns::payment_setting;

const STOP: &str = "stop";
const CLEAN: &str = "clean";
const LOG_APPLIED: &str = "log_applied";
const LOG_ACKED: &str = "log_acked";

/// Progress of the database through the order log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LogMarks {
    /// Every claim of the commits up to this number is an order or a dead letter.
    pub(crate) applied: u64,
    /// The highest commit with a claim in the database: the log once contained the commit, so its next
    /// commit must be above.
    pub(crate) acked: u64,
}

impl Database {
    /// Returns a setting; `None` if never stored.
    pub(crate) async fn setting(&self, name: &str) -> Result<Option<String>, StoreError> {
        let name = key(name);
        self.read("setting", move |conn| get(conn, &name)).await
    }

    /// Stores a setting, replacing the old value.
    pub(crate) async fn put_setting(&self, name: &str, value: &str) -> Result<(), StoreError> {
        let (name, value) = (key(name), value.to_owned());
        self.write("put setting", move |conn| put(conn, &name, &value)).await
    }

    /// Inserts a setting if absent. Returns the stored value.
    pub(crate) async fn insert_setting_if_absent(
        &self,
        name: &str,
        value: &str,
    ) -> Result<String, StoreError> {
        let (name, value) = (key(name), value.to_owned());
        let job = move |conn: &Connection| match get(conn, &name)? {
            Some(kept) => Ok(kept),
            None => put(conn, &name, &value).map(|()| value.clone()),
        };
        self.write("keep setting", job).await
    }

    /// Returns a [`setting`](Self::setting) and blocks: for the start, before the runtime can wait
    /// asynchronously.
    pub(crate) fn setting_blocking(&self, name: &str) -> Result<Option<String>, StoreError> {
        let name = key(name);
        self.read_blocking("setting", move |conn| get(conn, &name))
    }

    /// Stores a setting like [`put_setting`](Self::put_setting), and blocks.
    pub(crate) fn put_setting_blocking(&self, name: &str, value: &str) -> Result<(), StoreError> {
        let (name, value) = (key(name), value.to_owned());
        self.write_blocking("put setting", move |conn| put(conn, &name, &value))
    }

    /// Returns the marks of the order log. Blocks.
    pub(crate) fn log_marks(&self) -> Result<LogMarks, StoreError> {
        self.read_blocking("log marks", |conn| {
            Ok(LogMarks { applied: mark(conn, LOG_APPLIED)?, acked: mark(conn, LOG_ACKED)? })
        })
    }
}

/// Returns the payment mode for new orders of the mall in `dir`, running or not. `None` if there is no
/// mall, or none readable by this version. Writes nothing.
#[must_use]
pub fn payment_mode_in(dir: &Path) -> Option<PaymentMode> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(dir.join("mall.sqlite"), flags).ok()?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).ok()?;
    payment_mode(&conn).ok()
}

/// Returns the payment mode for new orders.
pub(super) fn payment_mode(conn: &Connection) -> rusqlite::Result<PaymentMode> {
    let sql = "SELECT (SELECT value FROM meta WHERE name = 'setting.payment')";
    conn.prepare_cached(sql)?.query_row([], |row| payment_setting(row, 0))
}

/// Raises the marks of the order log. A mark is never lowered.
pub(super) fn raise_log_marks(conn: &Connection, marks: LogMarks) -> rusqlite::Result<()> {
    let mut raise = conn.prepare_cached(
        "INSERT INTO meta (name, value) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value
         WHERE CAST(excluded.value AS INTEGER) > CAST(meta.value AS INTEGER)",
    )?;
    raise.execute(params![LOG_APPLIED, marks.applied.to_string()])?;
    raise.execute(params![LOG_ACKED, marks.acked.to_string()])?;
    Ok(())
}

/// Returns whether the database was closed cleanly.
pub(super) fn is_stopped_cleanly(conn: &Connection) -> rusqlite::Result<bool> {
    Ok(get(conn, STOP)?.as_deref() == Some(CLEAN))
}

/// Marks the database as running: the next opening finds an unclean stop.
pub(super) fn mark_running(conn: &Connection) -> rusqlite::Result<()> {
    put(conn, STOP, "running")
}

/// Marks the stop as clean.
pub(super) fn mark_stopped(conn: &Connection) -> rusqlite::Result<()> {
    put(conn, STOP, CLEAN)
}

/// Stores a setting of the mall in the caller's transaction.
pub(super) fn put_setting(conn: &Connection, name: &str, value: &str) -> rusqlite::Result<()> {
    put(conn, &key(name), value)
}

/// Prefixes a setting's name: separates the mall's names from internal ones.
fn key(name: &str) -> String {
    format!("setting.{name}")
}

fn get(conn: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    conn.prepare_cached("SELECT value FROM meta WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()
}

fn put(conn: &Connection, name: &str, value: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    )?
    .execute([name, value])
    .map(drop)
}

fn mark(conn: &Connection, name: &str) -> rusqlite::Result<u64> {
    match get(conn, name)? {
        None => Ok(0),
        Some(text) => text.parse().map_err(|_| super::errors::unreadable(0, text)),
    }
}
