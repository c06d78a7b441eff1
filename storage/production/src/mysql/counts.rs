//! Row-by-row counts of orders and dead letters, for the ledger check.

use std::collections::BTreeMap;

use mallbox_storage::{OrderCounts, OrderId, OrderStatus, VoucherId};
use mysql_async::{Conn, Params, params};

use super::columns::{Columns, all};
use super::errors::MysqlError;

/// The range of all ids.
pub(super) const ALL: (u64, u64) = (u64::MIN, u64::MAX);

/// Counts orders with ids from `first` to `last`, and dead letters, of one voucher or of all. The caller's
/// transaction is a consistent snapshot.
pub(super) async fn count(
    conn: &mut Conn,
    only: Option<VoucherId>,
    (first, last): (u64, u64),
) -> Result<BTreeMap<VoucherId, OrderCounts>, MysqlError> {
    let filter = if only.is_some() { "voucher_id = :only" } else { ":only IS NULL" };
    let mut counts: BTreeMap<VoucherId, OrderCounts> = BTreeMap::new();
    let sql = format!(
        "SELECT voucher_id, status, COUNT(*) FROM orders WHERE {filter} AND id BETWEEN :first AND :last
         GROUP BY voucher_id, status"
    );
    let of_status =
        |row: &mut Columns| Ok((VoucherId::new(row.next()?), OrderStatus::in_row(row.next()?), row.count()?));
    let only = only.map(VoucherId::get);
    let params = params! { "only" => only, "first" => first, "last" => last };
    for (voucher, status, found) in all(conn, sql, params.clone(), of_status).await? {
        let counts = counts.entry(voucher).or_default();
        // A status that no mall writes is reported by the ledger check.
        if let Some(count) = status.and_then(|status| counts.of_status(status)) {
            *count += found;
        }
    }
    let doubles = format!(
        "SELECT voucher_id, COUNT(*) FROM
           (SELECT voucher_id, user_id FROM orders WHERE is_live IS NOT NULL AND {filter} AND id BETWEEN :first AND :last
            GROUP BY user_id, voucher_id HAVING COUNT(*) >
              (SELECT slots FROM sales WHERE sales.voucher_id = orders.voucher_id)) AS doubled
         GROUP BY voucher_id"
    );
    for (voucher, found) in by_voucher(conn, &doubles, params.clone()).await? {
        counts.entry(voucher).or_default().doubles = found;
    }
    let dead = format!(
        "SELECT voucher_id, COUNT(*) FROM dead_letters WHERE holds_unit = 1 AND {filter} GROUP BY voucher_id"
    );
    for (voucher, found) in by_voucher(conn, &dead, params.clone()).await? {
        counts.entry(voucher).or_default().dead_letters = found;
    }
    let offered = format!(
        "SELECT voucher_id, COUNT(*) FROM waiting_entries WHERE state = 1 AND {filter} GROUP BY voucher_id"
    );
    for (voucher, found) in by_voucher(conn, &offered, params).await? {
        counts.entry(voucher).or_default().offered = found;
    }
    Ok(counts)
}

/// Returns the highest count per day, read from the ids of [`OrderId::compose`]. An imported order may have
/// an id of another form, whose bits mean nothing: such an id's time differs from the order's time by more
/// than a day.
pub(super) async fn highest(conn: &mut Conn) -> Result<Vec<(u64, u64)>, MysqlError> {
    let mut highest: BTreeMap<u64, u64> = BTreeMap::new();
    for sql in [
        "SELECT (id >> 32) DIV 86400 AS day, MAX((id >> 4) & ?) FROM orders
         WHERE ABS(CAST(id >> 32 AS SIGNED) - (created_ms - ?) DIV 1000) <= 86400 GROUP BY day",
        "SELECT (order_id >> 32) DIV 86400 AS day, MAX((order_id >> 4) & ?) FROM dead_letters
         WHERE ABS(CAST(order_id >> 32 AS SIGNED) - (claimed_ms - ?) DIV 1000) <= 86400 GROUP BY day",
    ] {
        let values = (OrderId::MAX_COUNT, OrderId::EPOCH.as_millis());
        for (day, count) in all(conn, sql, values, |row| Ok((row.next()?, row.next()?))).await? {
            let known = highest.entry(day).or_default();
            *known = (*known).max(count);
        }
    }
    Ok(highest.into_iter().collect())
}

async fn by_voucher(conn: &mut Conn, sql: &str, params: Params) -> Result<Vec<(VoucherId, u64)>, MysqlError> {
    all(conn, sql, params, |row| Ok((VoucherId::new(row.next()?), row.count()?))).await
}
