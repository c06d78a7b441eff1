//! Units that an operator adds to a sale, or takes away.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::columns::id;
use super::trouble::refuse;
use super::vouchers::sale_by_id;
use crate::{StockChange, StockChanged, Timestamp, VoucherId};

/// Changes a sale's units in the caller's transaction.
pub(super) fn change(
    conn: &Connection,
    voucher: VoucherId,
    change: &StockChange,
    now: Timestamp,
) -> rusqlite::Result<StockChanged> {
    let Some(mut sale) = sale_by_id(conn, voucher)? else { return Ok(StockChanged::Unknown) };
    let (Some(initial), Some(stock)) = (sale.initial, sale.stock) else { return Ok(StockChanged::Unlimited) };
    if let Some(request) = &change.request
        && let Some(before) = find(conn, voucher, request)?
    {
        return Ok(StockChanged::Before(before, sale));
    }
    let too_many = || refuse(format!("sale {voucher} would have more units than can be counted"));
    let by = change.by.max(-i64::try_from(stock).map_err(|_| too_many())?);
    let added = sale.added.checked_add(by).ok_or_else(too_many)?;
    let countable = |units: Option<u64>| units.filter(|units| i64::try_from(*units).is_ok());
    let units = countable(initial.checked_add_signed(added)).ok_or_else(too_many)?;
    let stock = countable(stock.checked_add_signed(by)).ok_or_else(too_many)?;
    conn.prepare_cached("UPDATE sales SET added = ?2, stock = ?3 WHERE voucher_id = ?1")?.execute([
        id(voucher.get()),
        added,
        id(stock),
    ])?;
    conn.prepare_cached("UPDATE vouchers SET updated_ms = ?2 WHERE id = ?1")?
        .execute([id(voucher.get()), now.as_millis()])?;
    if let Some(request) = &change.request {
        conn.prepare_cached(
            "INSERT INTO stock_changes (voucher_id, request, asked, applied, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![id(voucher.get()), request, change.asked, by, now.as_millis()])?;
    }
    (sale.added, sale.stock, sale.terms.units) = (added, Some(stock), Some(units));
    Ok(StockChanged::Done(by, sale))
}

/// What was done under a request of this name.
pub(super) fn find(
    conn: &Connection,
    voucher: VoucherId,
    request: &str,
) -> rusqlite::Result<Option<StockChange>> {
    conn.prepare_cached("SELECT asked, applied FROM stock_changes WHERE voucher_id = ?1 AND request = ?2")?
        .query_row(params![id(voucher.get()), request], |row| {
            Ok(StockChange { asked: row.get(0)?, by: row.get(1)?, request: Some(request.to_owned()) })
        })
        .optional()
}
