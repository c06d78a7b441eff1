//! Operators' changes of a sale's stock.

use mallbox_storage::backend::{NewEvent, StockPlan};
use mallbox_storage::{Fenced, FencingToken, StockChange, StockChangeOutcome, Timestamp, VoucherId};
use mysql_async::Conn;

use super::columns::{execute, first};
use super::errors::MysqlError;
use super::event_rows::EventSwitch;
use super::sale_records::sale_by_id;
use super::sale_rows::Lock;
use super::terms_fence;

/// Changes a sale's units in the caller's transaction. Without a token, the change is not fenced.
pub(super) async fn change(
    conn: &mut Conn,
    voucher: VoucherId,
    change: &StockChange,
    token: Option<FencingToken>,
    now: Timestamp,
    events: EventSwitch,
) -> Result<Fenced<StockChangeOutcome>, MysqlError> {
    // Locked before the lookup of the request, so that two requests with one name run one after the other.
    let Some(sale) = sale_by_id(conn, voucher, Lock::Yes).await? else {
        return Ok(Fenced::Done(StockChangeOutcome::Unknown));
    };
    let before = match &change.request {
        Some(request) => find(conn, voucher, request).await?,
        None => None,
    };
    let (by, changed) = match change.plan(sale, before) {
        StockPlan::Stands(outcome) => return Ok(Fenced::Done(outcome)),
        StockPlan::Apply { by, sale } => (by, sale),
        StockPlan::Refuse(rule) => return Err(MysqlError::refused(rule)),
    };
    if let Some(token) = token
        && let Some(seen) = terms_fence::refused(conn, voucher, token).await?
    {
        return Ok(Fenced::Stale { seen });
    }
    let sql = "UPDATE sales SET added = ?, stock = ? WHERE voucher_id = ?";
    execute(conn, sql, (changed.added, changed.stock, voucher.get())).await?;
    let sql = "UPDATE vouchers SET updated_ms = ? WHERE id = ?";
    execute(conn, sql, (now.as_millis(), voucher.get())).await?;
    if let Some(request) = &change.request {
        let sql =
            "INSERT INTO stock_changes (voucher_id, request, asked, applied, at_ms) VALUES (?, ?, ?, ?, ?)";
        let row = (voucher.get(), request.as_bytes(), change.asked, by, now.as_millis());
        execute(conn, sql, row).await?;
    }
    events.write(conn, now, || [NewEvent::stock_changed(&changed, by)]).await?;
    Ok(Fenced::Done(StockChangeOutcome::Done(by, changed)))
}

/// Returns the change of an earlier request with this name.
pub(super) async fn find(
    conn: &mut Conn,
    voucher: VoucherId,
    request: &str,
) -> Result<Option<StockChange>, MysqlError> {
    let sql = "SELECT asked, applied FROM stock_changes WHERE voucher_id = ? AND request = ?";
    first(conn, sql, (voucher.get(), request.as_bytes()), |row| {
        Ok(StockChange { asked: row.next()?, by: row.next()?, request: Some(request.to_owned()) })
    })
    .await
}
