//! Building of the index from the orders: after an import, and in a database written without the index.

use rusqlite::Connection;

use super::super::columns::get_id;
use super::super::meta;
use super::entry::Entry;
use super::runs;
use mallbox_storage::{OrderId, UserId};

/// Entries per run: 32 MiB of memory.
const SLICE: usize = if cfg!(test) { 1_000 } else { 1 << 21 };

/// Setting that requests a rebuild at the next start.
const REQUEST: &str = "orders_by_user.rebuild";

/// Requests a rebuild at the next start.
pub(in super::super) fn request_rebuild(conn: &Connection) -> rusqlite::Result<()> {
    tracing::warn!("the index of orders by user is damaged; the next start rebuilds it");
    meta::put(conn, REQUEST, "requested")
}

/// Rebuilds the index if requested, in a transaction.
pub(in super::super) fn rebuild_if_requested(conn: &Connection) -> rusqlite::Result<()> {
    if meta::get(conn, REQUEST)?.is_none() {
        return Ok(());
    }
    tracing::warn!("rebuilding the index of orders by user");
    let all = conn.unchecked_transaction()?;
    rebuild(&all)?;
    meta::remove(&all, REQUEST)?;
    all.commit()
}

/// Replaces the index by one of all orders, in the caller's transaction.
pub(in super::super) fn rebuild(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch("DELETE FROM order_tail; DELETE FROM order_runs; DELETE FROM order_chunks;")?;
    let mut select = conn.prepare("SELECT user_id, id FROM orders")?;
    let mut rows = select.query([])?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        entries.push(Entry::new(UserId::new(get_id(row, 0)?), OrderId::new(get_id(row, 1)?)));
        if entries.len() == SLICE {
            write(conn, &mut entries)?;
        }
    }
    if entries.is_empty() { Ok(()) } else { write(conn, &mut entries) }
}

/// Writes a run, and leaves `entries` empty.
fn write(conn: &Connection, entries: &mut Vec<Entry>) -> rusqlite::Result<()> {
    entries.sort_unstable();
    runs::write(conn, entries)?;
    entries.clear();
    Ok(())
}
