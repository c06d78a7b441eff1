//! Units added to or removed from a sale by an operator.

use mallbox_storage::backend::{NewEvent, StockPlan};
use mallbox_storage::{Fenced, FencingToken, StockChange, StockChangeOutcome, Timestamp, VoucherId};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::columns::id;
use super::errors::refuse;
use super::event_rows;
use super::sale_rows::sale_by_id;
use super::terms_fence;

/// Changes a sale's units in the caller's transaction. Without a token, the change is not fenced.
pub(super) fn change(
    conn: &Connection,
    voucher: VoucherId,
    change: &StockChange,
    token: Option<FencingToken>,
    now: Timestamp,
) -> rusqlite::Result<Fenced<StockChangeOutcome>> {
    let Some(sale) = sale_by_id(conn, voucher)? else {
        return Ok(Fenced::Done(StockChangeOutcome::Unknown));
    };
    let before = match &change.request {
        Some(request) => find(conn, voucher, request)?,
        None => None,
    };
    let (by, changed) = match change.plan(sale, before) {
        StockPlan::Stands(outcome) => return Ok(Fenced::Done(outcome)),
        StockPlan::Apply { by, sale } => (by, sale),
        StockPlan::Refuse(rule) => return Err(refuse(rule)),
    };
    if let Some(token) = token
        && let Some(seen) = terms_fence::refused(conn, voucher, token)?
    {
        return Ok(Fenced::Stale { seen });
    }
    conn.prepare_cached("UPDATE sales SET added = ?2, stock = ?3 WHERE voucher_id = ?1")?.execute([
        id(voucher.get()),
        changed.added,
        id(changed.stock.unwrap_or_default()),
    ])?;
    conn.prepare_cached("UPDATE vouchers SET updated_ms = ?2 WHERE id = ?1")?
        .execute([id(voucher.get()), now.as_millis()])?;
    if let Some(request) = &change.request {
        conn.prepare_cached(
            "INSERT INTO stock_changes (voucher_id, request, asked, applied, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![id(voucher.get()), request, change.asked, by, now.as_millis()])?;
    }
    event_rows::write(conn, now, || [NewEvent::stock_changed(&changed, by)])?;
    Ok(Fenced::Done(StockChangeOutcome::Done(by, changed)))
}

/// Returns the change made by a request with this idempotency key.
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
