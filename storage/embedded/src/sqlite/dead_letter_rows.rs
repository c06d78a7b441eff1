//! Dead letters within the order transactions: writes and look-ups.

use mallbox_storage::{Claim, DeadReason, LoggedClaim, OrderId, Timestamp, UserId, VoucherId};
use rusqlite::{Connection, OptionalExtension as _, named_params};

use super::columns::{get_id, id};
use super::outbox;
use super::sale_rows::take;

/// Writes a dead letter. Returns `false`, without any change, if the claim is dead already.
///
/// The claim has taken a unit in memory, so the dead letter takes a unit from the database's stock as well,
/// if available. An oversold claim gets none, and a double leaves an outbox entry for the release of the
/// unit in memory.
pub(super) fn dead_letter(
    conn: &Connection,
    LoggedClaim { claim, attempts, .. }: &LoggedClaim,
    reason: DeadReason,
    detail: &str,
    now: Timestamp,
) -> rusqlite::Result<bool> {
    if is_dead(conn, claim)? {
        return Ok(false);
    }
    let holds_unit = reason.takes_unit() && take(conn, claim.voucher, 1, (claim.order, claim.order))?;
    conn.prepare_cached(
        "INSERT INTO dead_letters (order_id, user_id, voucher_id, claimed_ms, reason, detail, holds_unit, buried_ms,
           attempts)
         VALUES (:order, :user, :voucher, :claimed, :reason, :detail, :holds_unit, :now, :attempts)",
    )?
    .execute(named_params! {
        ":order": id(claim.order.get()),
        ":user": id(claim.user.get()),
        ":voucher": id(claim.voucher.get()),
        ":claimed": claim.at.as_millis(),
        ":reason": reason.code(),
        ":detail": detail,
        ":holds_unit": holds_unit,
        ":now": now.as_millis(),
        // Counted attempts, plus the final one.
        ":attempts": attempts.saturating_add(1),
    })?;
    if reason == DeadReason::Double && is_sale(conn, claim.voucher)? {
        outbox::add_release(conn, claim.voucher, claim.user, claim.order)?;
    }
    Ok(true)
}

/// Returns whether the voucher is a sale. An ordinary voucher has no units to release.
fn is_sale(conn: &Connection, voucher: VoucherId) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT 1 FROM sales WHERE voucher_id = ?1")?.exists([id(voucher.get())])
}

/// Returns whether exactly this claim is a dead letter.
pub(super) fn is_dead(conn: &Connection, claim: &Claim) -> rusqlite::Result<bool> {
    conn.prepare_cached(
        "SELECT 1 FROM dead_letters WHERE order_id = ?1 AND user_id = ?2 AND voucher_id = ?3",
    )?
    .exists([id(claim.order.get()), id(claim.user.get()), id(claim.voucher.get())])
}

/// Returns whether there is any dead letter between the lowest and the highest of `orders`. Hardly ever
/// true, which saves a look-up per claim.
pub(super) fn any_between(
    conn: &Connection,
    orders: impl Iterator<Item = OrderId>,
) -> rusqlite::Result<bool> {
    let span = orders.map(|order| id(order.get())).fold(None, |span, order| match span {
        None => Some((order, order)),
        Some((least, greatest)) => Some((order.min(least), order.max(greatest))),
    });
    let Some(span) = span else { return Ok(false) };
    conn.prepare_cached("SELECT 1 FROM dead_letters WHERE order_id BETWEEN ?1 AND ?2 LIMIT 1")?.exists(span)
}

/// Returns the open dead letter of a user in a sale, preferring a dead letter with a unit.
pub(super) fn holding(
    conn: &Connection,
    voucher: VoucherId,
    user: UserId,
) -> rusqlite::Result<Option<OrderId>> {
    conn.prepare_cached(
        "SELECT order_id FROM dead_letters WHERE voucher_id = ?1 AND user_id = ?2 AND state = 0
         ORDER BY holds_unit DESC, order_id LIMIT 1",
    )?
    .query_row([id(voucher.get()), id(user.get())], |row| get_id(row, 0).map(OrderId::new))
    .optional()
}
