//! Runs: sorted entries in chunks, and the directory of runs.

use rusqlite::{Connection, params};

use super::entry::{self, Entry, Key, SLOT_BITS};
use super::tail;
use mallbox_storage::OrderId;

/// Runs of one level that are merged into one of the next. Of each level up to seven runs wait for an eighth.
pub(super) const FANOUT: usize = if cfg!(test) { 3 } else { 8 };

/// A run in the directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    pub(super) number: i64,
    pub(super) level: u32,
    /// The run into which the entries are being moved.
    pub(super) merged_into: Option<i64>,
}

/// Returns the directory, by number.
pub(super) fn directory(conn: &Connection) -> rusqlite::Result<Vec<Run>> {
    conn.prepare_cached("SELECT run, level, merged_into FROM order_runs ORDER BY run")?
        .query_map([], |row| Ok(Run { number: row.get(0)?, level: row.get(1)?, merged_into: row.get(2)? }))?
        .collect()
}

/// Adds an empty run. Its number is the lowest that is free: numbers never exceed the greatest number of runs
/// that ever existed at once. Chunks of a run that the directory has lost are removed.
pub(super) fn create(conn: &Connection, level: u32) -> rusqlite::Result<i64> {
    let used: Vec<i64> = directory(conn)?.iter().map(|run| run.number).collect();
    let mut number = 1;
    while used.binary_search(&number).is_ok() {
        number += 1;
    }
    conn.prepare_cached("DELETE FROM order_chunks WHERE place BETWEEN ?1 AND ?2")?
        .execute([place(number, 0), place(number + 1, 0) - 1])?;
    conn.prepare_cached("INSERT INTO order_runs (run, level) VALUES (?1, ?2)")?
        .execute(params![number, level])?;
    Ok(number)
}

/// Writes sorted entries as a run, at the level that merging a run of this size has.
pub(super) fn write(conn: &Connection, entries: &[Entry]) -> rusqlite::Result<()> {
    let run = create(conn, level(entries.len()))?;
    append(conn, run, entries)
}

/// Appends sorted entries to a run. Their slots must lie above all slots of the run.
pub(super) fn append(conn: &Connection, run: i64, entries: &[Entry]) -> rusqlite::Result<()> {
    let mut insert = conn.prepare_cached("INSERT INTO order_chunks (place, entries) VALUES (?1, ?2)")?;
    for chunk in entry::chunks(entries) {
        insert.execute(params![place(run, chunk[0].slot()), entry::encode(chunk)])?;
    }
    Ok(())
}

/// Appends the orders of a user. Reads one chunk per run: the last that begins at or before the user's slot.
pub(super) fn collect_of(conn: &Connection, key: Key, orders: &mut Vec<OrderId>) -> rusqlite::Result<()> {
    let mut select = conn.prepare_cached(
        "SELECT entries FROM order_runs JOIN order_chunks ON place =
           (SELECT MAX(place) FROM order_chunks WHERE place BETWEEN run << 40 AND (run << 40) + ?1)",
    )?;
    let mut rows = select.query([key.slot()])?;
    while let Some(row) = rows.next()? {
        entry::collect_of(row.get_ref(0)?.as_blob()?, key, orders);
    }
    Ok(())
}

/// Returns the place of a chunk.
pub(super) fn place(run: i64, slot: i64) -> i64 {
    run << SLOT_BITS | slot
}

/// Returns whether entries are sorted and belong to a chunk at `place`.
pub(super) fn is_whole(place: i64, entries: &[Entry]) -> bool {
    let begins = |first: &Entry| self::place(place >> SLOT_BITS, first.slot()) == place;
    entries.first().is_some_and(begins) && entries.is_sorted()
}

/// Returns the lowest level at which `entries` fit into a run: up to a full tail at level 0.
fn level(entries: usize) -> u32 {
    let mut level = 0;
    let mut fits = tail::ENTRIES_MAX;
    while fits < entries {
        fits = fits.saturating_mul(FANOUT);
        level += 1;
    }
    level
}
