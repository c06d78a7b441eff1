//! The tail: entries of the newest orders, one row per transaction.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::entry::{self, Entry, Key};
use mallbox_storage::OrderId;

/// Entries at which the tail becomes a run. A look-up reads the whole tail, 128 KiB at most, and ten million
/// orders need four levels of runs.
pub(super) const ENTRIES_MAX: usize = if cfg!(test) { 64 } else { 8_192 };
/// Rows at which the tail becomes a run, for malls that insert single orders: a row takes about as long to
/// read as 100 entries.
pub(super) const ROWS_MAX: i64 = if cfg!(test) { 16 } else { 1_024 };

/// Appends sorted entries as one row. Returns whether the tail is full.
pub(super) fn append(conn: &Connection, entries: &[Entry]) -> rusqlite::Result<bool> {
    let last: Option<(i64, i64)> = conn
        .prepare_cached("SELECT seq, total FROM order_tail ORDER BY seq DESC LIMIT 1")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (seq, before) = last.map_or((1, 0), |(seq, total)| (seq + 1, total));
    let total = before + entries.len() as i64;
    conn.prepare_cached("INSERT INTO order_tail (seq, total, entries) VALUES (?1, ?2, ?3)")?
        .execute(params![seq, total, entry::encode(entries)])?;
    Ok(total >= ENTRIES_MAX as i64 || seq >= ROWS_MAX)
}

/// Removes all rows. Returns their entries, sorted.
pub(super) fn take(conn: &Connection) -> rusqlite::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    each_row(conn, |blob| entries.extend(entry::decode(blob)))?;
    conn.prepare_cached("DELETE FROM order_tail")?.execute([])?;
    // A stable sort merges the sorted rows.
    entries.sort();
    Ok(entries)
}

/// Appends the orders of a user.
pub(super) fn collect_of(conn: &Connection, key: Key, orders: &mut Vec<OrderId>) -> rusqlite::Result<()> {
    each_row(conn, |blob| entry::collect_of(blob, key, orders))
}

/// Calls `each` with the blob of every row, oldest first.
pub(super) fn each_row(conn: &Connection, mut each: impl FnMut(&[u8])) -> rusqlite::Result<()> {
    let mut select = conn.prepare_cached("SELECT entries FROM order_tail ORDER BY seq")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        each(row.get_ref(0)?.as_blob()?);
    }
    Ok(())
}
