//! Dead-lettering of claims: the rows that the order transactions write and look up.

use std::collections::HashSet;

use mallbox_storage::{DeadReason, LoggedClaim, OrderId, Timestamp, UserId, VoucherId};
use mysql_async::{Conn, Value};

use super::columns::{Columns, first};
use super::errors::MysqlError;
use super::sale_rows::{self, Lock, UnitsTaken};
use super::{multi_row, order_rows, outbox};

/// A dead letter to be written.
pub(super) struct NewDeadLetter {
    pub(super) logged: LoggedClaim,
    pub(super) reason: DeadReason,
    pub(super) detail: String,
    pub(super) holds_unit: bool,
}

/// Writes a dead letter for a claim, unless the claim is an order or a dead letter already.
///
/// The claim has taken a unit in Redis, so the dead letter takes a unit in the database too, if any is left;
/// an oversold claim finds none.
pub(super) async fn dead_letter(
    conn: &mut Conn,
    logged: &LoggedClaim,
    reason: DeadReason,
    detail: &str,
    now: Timestamp,
) -> Result<(), MysqlError> {
    let claim = &logged.claim;
    // From here on no other transaction can write the claim as an order. An unknown sale has no orders.
    let sale = sale_rows::get(conn, claim.voucher, Lock::Yes).await?;
    // An order that was written although the response was lost must not become a dead letter as well.
    let is_order = order_rows::owner(conn, claim.order).await? == Some((claim.user, claim.voucher));
    let key = (claim.order, claim.user, claim.voucher);
    if is_order || among(conn, &[claim.order]).await?.contains(&key) {
        return Ok(());
    }
    let holds_unit = reason.takes_unit()
        && sale.is_some()
        && sale_rows::take(conn, claim.voucher, UnitsTaken::one(claim.order)).await?;
    insert(conn, &[NewDeadLetter { logged: *logged, reason, detail: detail.to_owned(), holds_unit }], now)
        .await
}

/// Writes dead letters, and the outbox entries that release the units taken in Redis by doubles.
pub(super) async fn insert(
    conn: &mut Conn,
    letters: &[NewDeadLetter],
    now: Timestamp,
) -> Result<(), MysqlError> {
    let head = "INSERT INTO dead_letters
      (order_id, user_id, voucher_id, claimed_ms, reason, detail, holds_unit, buried_ms, attempts)";
    let rows: Vec<[Value; 9]> = letters.iter().map(|letter| row(letter, now)).collect();
    multi_row::insert(conn, head, "(?, ?, ?, ?, ?, ?, ?, ?, ?)", &rows).await?;
    for NewDeadLetter { logged: LoggedClaim { claim, .. }, .. } in
        letters.iter().filter(|dead| dead.reason == DeadReason::Double)
    {
        outbox::insert_release(conn, claim.voucher, claim.user, claim.order).await?;
    }
    Ok(())
}

fn row(letter: &NewDeadLetter, now: Timestamp) -> [Value; 9] {
    let NewDeadLetter { logged: LoggedClaim { claim, attempts, .. }, reason, detail, holds_unit } = letter;
    [
        claim.order.get().into(),
        claim.user.get().into(),
        claim.voucher.get().into(),
        claim.at.as_millis().into(),
        reason.code().into(),
        detail.into(),
        (*holds_unit).into(),
        now.as_millis().into(),
        // Earlier attempts and the fatal one.
        attempts.saturating_add(1).into(),
    ]
}

/// Returns the dead-lettered claims among those with the ids of `orders`.
pub(super) async fn among(
    conn: &mut Conn,
    orders: &[OrderId],
) -> Result<HashSet<(OrderId, UserId, VoucherId)>, MysqlError> {
    let ids: Vec<u64> = orders.iter().map(|order| order.get()).collect();
    let sql = "SELECT order_id, user_id, voucher_id FROM dead_letters WHERE order_id IN ({keys})";
    let found = multi_row::select_by_keys(conn, sql, &[], &ids, |row| {
        Ok((OrderId::new(row.next()?), UserId::new(row.next()?), VoucherId::new(row.next()?)))
    });
    Ok(found.await?.into_iter().collect())
}

/// Whether any dead letter's id lies between the least and the greatest id of `claims`. Hardly ever true, and
/// saves a lookup per claim.
pub(super) async fn any_among(conn: &mut Conn, claims: &[LoggedClaim]) -> Result<bool, MysqlError> {
    let orders = || claims.iter().map(|logged| logged.claim.order.get());
    let Some(span) = orders().min().zip(orders().max()) else { return Ok(false) };
    let sql = "SELECT 1 FROM dead_letters WHERE order_id BETWEEN ? AND ? LIMIT 1";
    Ok(first(conn, sql, span, Columns::next::<i64>).await?.is_some())
}

/// Returns the open dead letter of a user in a sale: preferably one that holds a unit.
pub(super) async fn holding(
    conn: &mut Conn,
    voucher: VoucherId,
    user: UserId,
) -> Result<Option<OrderId>, MysqlError> {
    let sql = "SELECT order_id FROM dead_letters WHERE voucher_id = ? AND user_id = ? AND state = 0
               ORDER BY holds_unit DESC, order_id LIMIT 1";
    Ok(first(conn, sql, (voucher.get(), user.get()), Columns::next::<u64>).await?.map(OrderId::new))
}
