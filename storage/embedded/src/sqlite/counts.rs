//! Counts of orders and dead letters row by row, for the ledger check.

use std::collections::{BTreeMap, HashMap};

use mallbox_storage::{OrderCounts, OrderStatus, VoucherId};
use roaring::RoaringTreemap;
use rusqlite::{Connection, params};

use super::columns::{get_count, get_id, id};

/// The range of all order ids.
pub(super) const ALL: (i64, i64) = (i64::MIN, i64::MAX);

/// Live orders per buyer of a sale.
#[derive(Default)]
struct Buyers {
    all: RoaringTreemap,
    /// Orders of those who have several.
    several: HashMap<u64, u64>,
}

impl Buyers {
    fn add(&mut self, user: u64) {
        if !self.all.insert(user) {
            *self.several.entry(user).or_insert(1) += 1;
        }
    }

    fn with_more_than(&self, orders: u64) -> u64 {
        self.several.values().filter(|count| **count > orders).count() as u64
    }
}

/// Counts the orders of one voucher, or of all, with ids between `first` and `last`, in one scan.
///
/// Grouping in SQLite would sort ten million rows; counting in the order of the rows takes a tenth of the
/// time.
pub(super) fn count(
    conn: &Connection,
    only: Option<VoucherId>,
    (first, last): (i64, i64),
) -> rusqlite::Result<BTreeMap<VoucherId, OrderCounts>> {
    let wanted = only.map(|voucher| id(voucher.get()));
    let slots: HashMap<u64, u64> = conn
        .prepare_cached("SELECT voucher_id, slots FROM sales WHERE ?1 IS NULL OR voucher_id = ?1")?
        .query_map([wanted], |row| Ok((get_id(row, 0)?, get_count(row, 1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut counts: BTreeMap<VoucherId, OrderCounts> = BTreeMap::new();
    let mut buyers: HashMap<u64, Buyers> = HashMap::new();
    // The unary plus keeps SQLite from the index of vouchers, which leads to the rows in the order of users.
    let filter = if only.is_some() { "WHERE +voucher_id = ?1" } else { "WHERE ?1 IS NULL" };
    let mut select = conn.prepare_cached(&format!(
        "SELECT voucher_id, status, user_id FROM orders {filter} AND id BETWEEN ?2 AND ?3"
    ))?;
    let mut rows = select.query(params![wanted, first, last])?;
    while let Some(row) = rows.next()? {
        let voucher = get_id(row, 0)?;
        // A status not written by any mall is for the ledger check to report.
        let Some(status) = OrderStatus::in_row(row.get(1)?) else { continue };
        let of_voucher = counts.entry(VoucherId::new(voucher)).or_default();
        if let Some(count) = of_voucher.of_status(status) {
            *count += 1;
        }
        if status.is_live() && slots.contains_key(&voucher) {
            buyers.entry(voucher).or_default().add(get_id(row, 2)?);
        }
    }
    for (voucher, buyers) in buyers {
        counts.entry(VoucherId::new(voucher)).or_default().doubles = buyers.with_more_than(slots[&voucher]);
    }
    let mut dead = conn.prepare_cached(
        "SELECT voucher_id, COUNT(*) FROM dead_letters WHERE holds_unit = 1 AND (?1 IS NULL OR voucher_id = ?1)
         GROUP BY voucher_id",
    )?;
    let mut rows = dead.query([wanted])?;
    while let Some(row) = rows.next()? {
        counts.entry(VoucherId::new(get_id(row, 0)?)).or_default().dead_letters = get_count(row, 1)?;
    }
    let mut offered = conn.prepare_cached(
        "SELECT voucher_id, COUNT(*) FROM waiting_entries WHERE state = 1 AND (?1 IS NULL OR voucher_id = ?1)
         GROUP BY voucher_id",
    )?;
    let mut rows = offered.query([wanted])?;
    while let Some(row) = rows.next()? {
        counts.entry(VoucherId::new(get_id(row, 0)?)).or_default().offered = get_count(row, 1)?;
    }
    Ok(counts)
}
