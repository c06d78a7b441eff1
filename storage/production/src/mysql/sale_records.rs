//! Rows of sales as the records of the port.

use mallbox_storage::{SaleRecord, Terms, VoucherId};
use mysql_async::Conn;

use super::columns::{Columns, first};
use super::errors::MysqlError;
use super::sale_rows::Lock;

/// Columns of a sale; [`sale`] reads them, from the second on.
pub(super) const SALE: &str =
    "voucher_id, begin_ms, end_ms, paused, initial, added, stock, pay_within_ms, min_level";

/// Returns the sale of a voucher, by the voucher's id.
pub(super) async fn sale_by_id(
    conn: &mut Conn,
    voucher: VoucherId,
    lock: Lock,
) -> Result<Option<SaleRecord>, MysqlError> {
    let for_update = if lock == Lock::Yes { "FOR UPDATE" } else { "" };
    let sql = format!("SELECT {SALE} FROM sales WHERE voucher_id = ? {for_update}");
    first(conn, sql, (voucher.get(),), |row| sale(VoucherId::new(row.next()?), row)).await
}

/// Reads the columns of [`SALE`] after the voucher.
pub(super) fn sale(voucher: VoucherId, row: &mut Columns) -> Result<SaleRecord, MysqlError> {
    let (begin, end, paused) = (row.time()?, row.time()?, row.next()?);
    let (initial, added): (Option<u64>, i64) = (row.next()?, row.next()?);
    let units = match initial {
        None => None,
        Some(initial) => Some(initial.checked_add_signed(added).ok_or_else(|| row.unreadable_last(added))?),
    };
    let terms = Terms { voucher, begin, end, paused, units };
    let (stock, pay_within, min_level) = (row.next()?, row.span()?, row.next()?);
    Ok(SaleRecord { terms, initial, added, stock, pay_within, min_level })
}
