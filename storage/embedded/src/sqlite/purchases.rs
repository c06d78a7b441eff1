//! Orders of ordinary vouchers, and the idempotency keys of their requests.

use mallbox_storage::backend::{AcceptedOrder, Numbered as _};
use mallbox_storage::{Order, OrderId, OrderStatus, PurchaseOutcome, Timestamp, UserId, VoucherId};
use rusqlite::{Connection, OptionalExtension as _, named_params, params};

use super::columns::{get_id, id};
use super::errors::refuse;
use super::{event_rows, order_lists, order_rows, orders_by_user};

/// Inserts an order in the caller's transaction, unless the request was made before or the buyer has
/// `unpaid_max` unpaid orders.
pub(super) fn insert(
    conn: &Connection,
    order: &Order,
    request: Option<&str>,
    unpaid_max: Option<u32>,
) -> rusqlite::Result<PurchaseOutcome> {
    if let Some(request) = request
        && let Some(before) = find(conn, order.user, order.voucher, request)?
    {
        return Ok(PurchaseOutcome::Bought(before));
    }
    if is_deleted(conn, order.user)? {
        return Ok(PurchaseOutcome::BuyerDeleted);
    }
    if let Some(max) = unpaid_max
        && order.status == OrderStatus::Unpaid
        && order_rows::owner(conn, order.id)?.is_none()
        && order_lists::count_of_user(conn, order.user, OrderStatus::Unpaid)? >= u64::from(max)
    {
        return Ok(PurchaseOutcome::TooManyUnpaid);
    }
    if let Some(request) = request {
        conn.prepare_cached(
            "INSERT INTO purchases (user_id, voucher_id, request, order_id) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![
            id(order.user.get()),
            id(order.voucher.get()),
            request,
            id(order.id.get())
        ])?;
    }
    write(conn, order)?;
    Ok(PurchaseOutcome::Bought(order.id))
}

fn is_deleted(conn: &Connection, user: UserId) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT 1 FROM users WHERE id = ?1 AND deleted_ms IS NOT NULL")?
        .exists([id(user.get())])
}

/// Returns the order bought by a request with the given idempotency key.
pub(super) fn find(
    conn: &Connection,
    user: UserId,
    voucher: VoucherId,
    request: &str,
) -> rusqlite::Result<Option<OrderId>> {
    conn.prepare_cached(
        "SELECT order_id FROM purchases WHERE user_id = ?1 AND voucher_id = ?2 AND request = ?3",
    )?
    .query_row(params![id(user.get()), id(voucher.get()), request], |row| get_id(row, 0).map(OrderId::new))
    .optional()
}

fn write(conn: &Connection, order: &Order) -> rusqlite::Result<()> {
    let kind: Option<bool> = conn
        .prepare_cached(
            "SELECT voucher_id IS NOT NULL FROM vouchers LEFT JOIN sales ON voucher_id = id WHERE id = ?1",
        )?
        .query_row([id(order.voucher.get())], |row| row.get(0))
        .optional()?;
    match kind {
        Some(false) => {}
        Some(true) => return Err(refuse("the voucher is a flash sale: units are sold by claims only")),
        None => return Err(refuse("no such voucher")),
    }
    match order_rows::owner(conn, order.id)? {
        None => {}
        // A repeated call after a lost response.
        Some(owner) if owner == (order.user, order.voucher) => return Ok(()),
        Some(_) => return Err(refuse("another order has this id")),
    }
    conn.prepare_cached(
        "INSERT INTO orders (id, user_id, voucher_id, slot, status, pay_value, pay_type, created_ms, deadline_ms,
           paid_ms, used_ms, refunded_ms, payment_mode)
         VALUES (:id, :user, :voucher, :id, :status, :pay_value, :pay_type, :created, :deadline, :paid, :used,
           :refunded, :payment)",
    )?
    .execute(named_params! {
        ":id": id(order.id.get()),
        ":user": id(order.user.get()),
        ":voucher": id(order.voucher.get()),
        ":status": order.status as u8,
        ":pay_value": order.pay_value.get(),
        ":pay_type": order.pay_type,
        ":created": order.created.as_millis(),
        ":deadline": order.deadline.as_millis(),
        ":paid": order.paid.map(Timestamp::as_millis),
        ":used": order.used.map(Timestamp::as_millis),
        ":refunded": order.refunded.map(Timestamp::as_millis),
        ":payment": order.payment.number(),
    })?;
    orders_by_user::add(conn, [(order.user, order.id)])?;
    event_rows::write(conn, order.created, || AcceptedOrder::of(order).events(order.created))
}
