//! Rows of sales: columns, terms and stock.

use std::num::NonZeroU32;

use mallbox_storage::backend::{SaleSetting, sale_columns};
use mallbox_storage::{OrderId, SaleRecord, Terms, UserId, VoucherId, Wave};
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::columns::{get_count, get_id, get_known, get_span, get_time, id};
use super::errors::unreadable;
use super::outbox;

/// [`sale_columns`] as text.
pub(super) const SALE: &str = sale_columns!();
/// Number of columns of [`SALE`].
pub(super) const SALE_COLUMNS: usize = 20;

/// Returns a sale by its voucher's id.
pub(super) fn sale_by_id(conn: &Connection, voucher: VoucherId) -> rusqlite::Result<Option<SaleRecord>> {
    conn.prepare_cached(&format!("SELECT {SALE} FROM sales WHERE voucher_id = ?1"))?
        .query_row([id(voucher.get())], sale)
        .optional()
}

/// Takes `units` from a sale's stock for orders between `first` and `last`. Returns false if the stock is
/// too small.
pub(super) fn take(
    conn: &Connection,
    voucher: VoucherId,
    units: u64,
    (first, last): (OrderId, OrderId),
) -> rusqlite::Result<bool> {
    conn.prepare_cached(
        "UPDATE sales SET stock = stock - ?2,
           first_order = MIN(COALESCE(first_order, ?3), ?3), last_order = MAX(COALESCE(last_order, ?4), ?4)
         WHERE voucher_id = ?1 AND (stock IS NULL OR stock >= ?2)",
    )?
    .execute([id(voucher.get()), id(units), id(first.get()), id(last.get())])
    .map(|changed| changed > 0)
}

/// Returns a unit to the sale's stock, and adds a release to the outbox. No effect for an ordinary voucher.
pub(super) fn return_unit(
    conn: &Connection,
    voucher: VoucherId,
    user: UserId,
    order: OrderId,
) -> rusqlite::Result<()> {
    let sales = conn
        .prepare_cached("UPDATE sales SET stock = stock + 1 WHERE voucher_id = ?1")?
        .execute([id(voucher.get())])?;
    if sales > 0 { outbox::add_release(conn, voucher, user, order) } else { Ok(()) }
}

fn setting<S: SaleSetting>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<S>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| S::in_row(&text).ok_or_else(|| unreadable(column, text))).transpose()
}

/// Reads the columns of [`sale_columns`], from column 0 on.
pub(super) fn sale(row: &Row<'_>) -> rusqlite::Result<SaleRecord> {
    let count = |column| match row.get::<_, Option<i64>>(column)? {
        None => Ok(None),
        Some(_) => get_count(row, column).map(Some),
    };
    let (initial, added) = (count(4)?, row.get(5)?);
    let units = match initial {
        None => None,
        Some(initial) => Some(initial.checked_add_signed(added).ok_or_else(|| unreadable(5, added))?),
    };
    let terms = Terms {
        voucher: VoucherId::new(get_id(row, 0)?),
        begin: get_time(row, 1)?,
        end: get_time(row, 2)?,
        paused: row.get(3)?,
        units,
        waiting: row.get(10)?,
        per_user: row.get(16)?,
    };
    let next_wave = match row.get(17)? {
        None => None,
        Some(number) => Some(Wave { number, at: get_time(row, 18)?, units: get_count(row, 19)? }),
    };
    let guard = setting(row, 9)?;
    let (stock, pay_within, min_level) = (count(6)?, get_span(row, 7)?, row.get(8)?);
    let waiting_max = row.get(11)?;
    let room = setting(row, 12)?;
    let claims_per_second = row.get::<_, Option<u32>>(13)?.and_then(NonZeroU32::new);
    let thresholds = setting(row, 14)?;
    let judgement = match row.get::<_, Option<i64>>(15)? {
        None => None,
        Some(_) => Some(get_known(row, 15)?),
    };
    Ok(SaleRecord {
        terms,
        initial,
        added,
        stock,
        pay_within,
        min_level,
        next_wave,
        guard,
        waiting_max,
        room,
        claims_per_second,
        thresholds,
        judgement,
    })
}
