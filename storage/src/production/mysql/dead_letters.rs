//! Claims that did not become orders.

use std::collections::HashSet;

use mysql_async::{Conn, Value};

use super::columns::{Columns, all, first};
use super::sale_rows::{self, Lock, Taking};
use super::trouble::Fault;
use super::{many, persist};
use crate::{Claim, DeadLetter, DeadReason, Logged, OrderId, Timestamp, UserId, VoucherId};

/// Makes a dead letter of a claim that is neither that nor an order.
///
/// The claim has taken a unit in Redis, so it takes one here too if there is one; none is left for an oversold one.
pub(super) async fn bury(
    conn: &mut Conn,
    claim: &Claim,
    reason: DeadReason,
    detail: &str,
    now: Timestamp,
) -> Result<(), Fault> {
    // From here on nobody writes it as an order. A sale that is not known has no orders.
    let sale = sale_rows::get(conn, claim.voucher, Lock::Yes).await?;
    // An order that was written although its answer was lost must not die as well.
    let is_order = persist::owner(conn, claim.order).await? == Some((claim.user, claim.voucher));
    let key = (claim.order, claim.user, claim.voucher);
    if is_order || among(conn, &[claim.order]).await?.contains(&key) {
        return Ok(());
    }
    let mut taking = Taking::default();
    taking.add(claim.order);
    let holds_unit = reason != DeadReason::Oversold
        && sale.is_some()
        && sale_rows::take(conn, claim.voucher, taking).await?;
    insert(conn, &[(*claim, reason, detail.to_owned(), holds_unit)], now).await
}

/// Writes dead letters: why, in words, and whether they hold a unit.
pub(super) async fn insert(
    conn: &mut Conn,
    letters: &[(Claim, DeadReason, String, bool)],
    now: Timestamp,
) -> Result<(), Fault> {
    let head = "INSERT INTO dead_letters (order_id, user_id, voucher_id, claimed_ms, reason, detail, holds_unit, buried_ms)";
    let rows: Vec<[Value; 8]> = letters
        .iter()
        .map(|(claim, reason, detail, holds_unit)| {
            [
                claim.order.get().into(),
                claim.user.get().into(),
                claim.voucher.get().into(),
                claim.at.as_millis().into(),
                reason.code().into(),
                detail.into(),
                (*holds_unit).into(),
                now.as_millis().into(),
            ]
        })
        .collect();
    many::insert(conn, head, "(?, ?, ?, ?, ?, ?, ?, ?)", &rows).await
}

/// Which claims with one of these orders' ids have died.
pub(super) async fn among(
    conn: &mut Conn,
    orders: &[OrderId],
) -> Result<HashSet<(OrderId, UserId, VoucherId)>, Fault> {
    let ids: Vec<u64> = orders.iter().map(|order| order.get()).collect();
    let sql = "SELECT order_id, user_id, voucher_id FROM dead_letters WHERE order_id IN ({keys})";
    let found = many::look(conn, sql, &[], &ids, |row| {
        Ok((OrderId::new(row.next()?), UserId::new(row.next()?), VoucherId::new(row.next()?)))
    });
    Ok(found.await?.into_iter().collect())
}

/// Whether any claim died whose id lies between the least and the greatest of these: hardly ever, which saves a look for
/// each.
pub(super) async fn any_among(conn: &mut Conn, claims: &[Logged]) -> Result<bool, Fault> {
    let orders = || claims.iter().map(|logged| logged.claim.order.get());
    let Some(span) = orders().min().zip(orders().max()) else { return Ok(false) };
    let sql = "SELECT 1 FROM dead_letters WHERE order_id BETWEEN ? AND ? LIMIT 1";
    Ok(first(conn, sql, span, Columns::next::<i64>).await?.is_some())
}

/// The dead letter that stands for a user in a sale: one that holds a unit, if there is one.
pub(super) async fn holding(
    conn: &mut Conn,
    voucher: VoucherId,
    user: UserId,
) -> Result<Option<OrderId>, Fault> {
    let sql = "SELECT order_id FROM dead_letters WHERE voucher_id = ? AND user_id = ?
               ORDER BY holds_unit DESC, order_id LIMIT 1";
    Ok(first(conn, sql, (voucher.get(), user.get()), Columns::next::<u64>).await?.map(OrderId::new))
}

/// Those above `after`. More than `max` only when several have the last one's order id, which a page must not divide:
/// the next one goes on after that id.
pub(super) async fn list(conn: &mut Conn, after: OrderId, max: u32) -> Result<Vec<DeadLetter>, Fault> {
    let sql = "SELECT order_id, voucher_id, user_id, claimed_ms, reason, detail, holds_unit, buried_ms FROM dead_letters
               WHERE order_id > ? AND order_id <= (SELECT MAX(order_id) FROM
                 (SELECT order_id FROM dead_letters WHERE order_id > ? ORDER BY order_id LIMIT ?) AS page)
               ORDER BY order_id, entry";
    all(conn, sql, (after.get(), after.get(), max), dead_letter).await
}

fn dead_letter(row: &mut Columns) -> Result<DeadLetter, Fault> {
    Ok(DeadLetter {
        order: OrderId::new(row.next()?),
        voucher: VoucherId::new(row.next()?),
        user: UserId::new(row.next()?),
        claimed: row.time()?,
        reason: row.next()?,
        detail: row.next()?,
        holds_unit: row.next()?,
        buried: row.time()?,
    })
}
