//! Index of orders by user: a log-structured merge tree in three tables.
//!
//! - A transaction that inserts orders appends one row with their entries to the tail.
//! - The transaction that fills the tail sorts the tail into a run, and merges runs of equal level for a
//!   bounded number of entries.
//! - A look-up reads the tail, and one chunk of each run.
//!
//! Invariant: each order has one entry, in the tail or in a run, at every instant. An entry is written,
//! moved and read in the same transactions as its order, so neither a crash nor a rollback can part them,
//! and a transaction sees the orders that it inserted itself. The tail follows the order of insertion: order
//! ids may arrive in any order.
//!
//! Reasons and figures: `storage/decisions/0037-orders-by-user-in-sorted-runs.md`.

mod check;
mod entry;
mod merges;
#[cfg(test)]
mod properties;
mod rebuild;
mod runs;
mod tail;
#[cfg(test)]
mod tests;

use mallbox_storage::{OrderId, UserId};
use rusqlite::Connection;

pub(super) use self::check::disagreements;
use self::entry::{Entry, Key};
pub(super) use self::rebuild::{rebuild, rebuild_if_requested, request_rebuild};

/// Adds orders that the caller's transaction has inserted. Each order must be added once.
pub(super) fn add(
    conn: &Connection,
    orders: impl IntoIterator<Item = (UserId, OrderId)>,
) -> rusqlite::Result<()> {
    let mut entries: Vec<Entry> = orders.into_iter().map(|(user, order)| Entry::new(user, order)).collect();
    if entries.is_empty() {
        return Ok(());
    }
    entries.sort_unstable();
    if tail::append(conn, &entries)? {
        runs::write(conn, &tail::take(conn)?)?;
        merges::advance(conn)?;
    }
    Ok(())
}

/// Returns the orders of a user, newest id first. Reads the whole tail and a chunk per run.
pub(super) fn of_user(conn: &Connection, user: UserId) -> rusqlite::Result<Vec<OrderId>> {
    let (key, mut orders) = (Key::of(user), Vec::new());
    tail::collect_of(conn, key, &mut orders)?;
    runs::collect_of(conn, key, &mut orders)?;
    orders.sort_unstable_by(|a, b| b.cmp(a));
    Ok(orders)
}
