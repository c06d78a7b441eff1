//! Comparison of the index with the orders, for the ledger check.

use std::collections::BTreeSet;

use mallbox_storage::{OrderId, UserId, Violations};
use rusqlite::Connection;

use super::super::columns::get_id;
use super::entry::{self, Entry, SLOT_BITS};
use super::{runs, tail};

/// Parts of the entries, by the leading bits of the slot, that are compared by sums first.
const PARTS_BITS: u32 = 12;

/// Returns the orders that a look-up by user would miss, and those that it would find without reason or
/// twice.
///
/// Compares sums of both sides, and only where they differ the entries themselves: memory grows with the
/// damage. Scans the orders and the index, twice if damaged.
pub(in super::super) fn disagreements(conn: &Connection, max: u32) -> rusqlite::Result<Violations> {
    let mut sums = vec![0_u64; 1 << PARTS_BITS];
    let mut add = |entry: Entry, change: fn(u64, u64) -> u64| {
        let sum = &mut sums[part(entry)];
        *sum = change(*sum, entry.digest());
    };
    each_order(conn, |entry| add(entry, u64::wrapping_add))?;
    each_indexed(conn, |entry| add(entry, u64::wrapping_sub))?;
    let mut violations = Violations::default();
    if sums.iter().all(|sum| *sum == 0) {
        return Ok(violations);
    }
    let mut sides: Vec<(Entry, i64)> = Vec::new();
    let mut collect = |entry, side| {
        if sums[part(entry)] != 0 {
            sides.push((entry, side));
        }
    };
    each_order(conn, |entry| collect(entry, 1))?;
    each_indexed(conn, |entry| collect(entry, -1))?;
    sides.sort_unstable();
    let of_entry = sides.chunk_by(|(a, _), (b, _)| a == b);
    let differs = |both: &&[(Entry, i64)]| both.iter().map(|(_, side)| side).sum::<i64>() != 0;
    let wrong: BTreeSet<OrderId> = of_entry.filter(differs).map(|both| both[0].0.order()).collect();
    violations.count = wrong.len() as u64;
    violations.examples = wrong.iter().take(max as usize).map(ToString::to_string).collect();
    Ok(violations)
}

fn part(entry: Entry) -> usize {
    usize::try_from(entry.slot() >> (SLOT_BITS - PARTS_BITS)).expect("a slot is not negative")
}

fn each_order(conn: &Connection, mut each: impl FnMut(Entry)) -> rusqlite::Result<()> {
    let mut select = conn.prepare_cached("SELECT user_id, id FROM orders")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        each(Entry::new(UserId::new(get_id(row, 0)?), OrderId::new(get_id(row, 1)?)));
    }
    Ok(())
}

/// Calls `each` with the entries that a look-up finds. Left out are chunks out of place, of an unknown run,
/// or with unsorted entries, and entries beyond the begin of the next chunk.
fn each_indexed(conn: &Connection, mut each: impl FnMut(Entry)) -> rusqlite::Result<()> {
    tail::each_row(conn, |blob| {
        if entry::decode(blob).is_sorted() {
            entry::decode(blob).for_each(&mut each);
        }
    })?;
    let runs: Vec<i64> = runs::directory(conn)?.iter().map(|run| run.number).collect();
    let mut select = conn.prepare_cached("SELECT place, entries FROM order_chunks ORDER BY place DESC")?;
    let mut rows = select.query([])?;
    let mut next_place = i64::MAX;
    while let Some(row) = rows.next()? {
        let (place, entries): (i64, Vec<Entry>) =
            (row.get(0)?, entry::decode(row.get_ref(1)?.as_blob()?).collect());
        let run = place >> SLOT_BITS;
        if runs::is_whole(place, &entries) && runs.binary_search(&run).is_ok() {
            entries
                .into_iter()
                .filter(|entry| runs::place(run, entry.slot()) < next_place)
                .for_each(&mut each);
        }
        next_place = place;
    }
    Ok(())
}
