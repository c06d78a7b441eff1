//! The mall's settings, and the marks of the order log.

use std::path::Path;

use mallbox_storage::{PaymentMode, StoreError};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::Database;
use super::columns::payment_setting;
use super::meta::{
    self, LogMarks, forget_log_checkpoint, get, log_checkpoint, log_marks, note_log_checkpoint, put,
};
use super::migrations::undo_to_former;

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

    /// Removes the settings whose names begin with one of `beginnings`. Blocks.
    pub(crate) fn forget_settings_blocking(&self, beginnings: &[&str]) -> Result<(), StoreError> {
        let beginnings: Vec<String> = beginnings.iter().map(|beginning| key(beginning)).collect();
        self.write_blocking("forget settings", move |conn| {
            for beginning in &beginnings {
                meta::remove_all(conn, beginning)?;
            }
            Ok(())
        })
    }

    /// Returns the marks of the order log. Blocks.
    pub(crate) fn log_marks(&self) -> Result<LogMarks, StoreError> {
        self.read_blocking("log marks", log_marks)
    }

    /// Returns the last checkpoint of the order log; `None` before the first one. Blocks.
    pub(crate) fn log_checkpoint(&self) -> Result<Option<u64>, StoreError> {
        self.read_blocking("log checkpoint", log_checkpoint)
    }

    /// Notes that the order log's store has all changes up to `checkpoint`, and that every claim of the
    /// commits up to `applied` is settled. Blocks until the note is durable, also in a relaxed mall.
    pub(crate) fn note_log_checkpoint(&self, checkpoint: u64, applied: u64) -> Result<(), StoreError> {
        let job = move |conn: &Connection| note_log_checkpoint(conn, checkpoint, applied);
        self.write_blocking("note log checkpoint", job)?;
        self.sync_relaxed()
    }
}

impl Database {
    /// Changes the schema to that of the version before. Blocks. Nothing else may be called afterwards but
    /// [`close`](Self::close).
    pub(crate) fn to_former_schema(&self) -> Result<(), StoreError> {
        self.write_blocking("former schema", |conn| {
            forget_log_checkpoint(conn)?;
            undo_to_former(conn)
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

/// Stores a setting of the mall in the caller's transaction.
pub(super) fn put_setting(conn: &Connection, name: &str, value: &str) -> rusqlite::Result<()> {
    put(conn, &key(name), value)
}

/// Makes a copy of the database one of a mall without an order log, with the settings of the log forgotten.
pub(crate) fn forget_log(conn: &Connection, settings: &[&str]) -> rusqlite::Result<()> {
    let change = conn.unchecked_transaction()?;
    meta::forget_log(&change)?;
    for name in settings {
        meta::remove(&change, &key(name))?;
    }
    change.commit()
}

/// Prefixes a setting's name: separates the mall's names from internal ones.
fn key(name: &str) -> String {
    format!("setting.{name}")
}
