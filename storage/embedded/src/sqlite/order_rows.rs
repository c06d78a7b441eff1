//! Rows of orders: columns, and the look-ups shared by several ports.

use mallbox_storage::{Cents, Order, OrderId, UserId, VoucherId};
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::columns::{get_id, get_known, get_time, get_time_if_any, id, status};

/// Head of every query for orders; [`order`] reads the columns.
pub(super) const SELECT: &str =
    "SELECT id, voucher_id, user_id, status, pay_value, pay_type, created_ms, deadline_ms, paid_ms,
    used_ms, refunded_ms, payment_mode FROM orders";

/// Returns an order by id.
pub(super) fn by_id(conn: &Connection, which: OrderId) -> rusqlite::Result<Option<Order>> {
    conn.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?.query_row([id(which.get())], order).optional()
}

/// Returns user and voucher of an order.
pub(super) fn owner(conn: &Connection, order: OrderId) -> rusqlite::Result<Option<(UserId, VoucherId)>> {
    conn.prepare_cached("SELECT user_id, voucher_id FROM orders WHERE id = ?1")?
        .query_row([id(order.get())], |row| {
            Ok((UserId::new(get_id(row, 0)?), VoucherId::new(get_id(row, 1)?)))
        })
        .optional()
}

/// Returns the newest live order of a user in a sale. The slots are those of the largest number of units per
/// user; other orders have their id in the column.
pub(super) fn live(conn: &Connection, voucher: VoucherId, user: UserId) -> rusqlite::Result<Option<OrderId>> {
    conn.prepare_cached(
        "SELECT MAX(id) FROM orders WHERE user_id = ?1 AND voucher_id = ?2 AND slot BETWEEN -254 AND 0",
    )?
    .query_row([id(user.get()), id(voucher.get())], |row| row.get::<_, Option<i64>>(0))
    .map(|newest| newest.map(|order| OrderId::new(order.cast_unsigned())))
}

/// Returns the orders (live or dead letters) by which a user holds units of a sale.
pub(super) fn holdings<T: FromIterator<OrderId>>(
    conn: &Connection,
    voucher: VoucherId,
    user: UserId,
) -> rusqlite::Result<T> {
    conn.prepare_cached(
        "SELECT id FROM orders WHERE user_id = ?1 AND voucher_id = ?2 AND slot BETWEEN -254 AND 0 UNION ALL
         SELECT order_id FROM dead_letters WHERE user_id = ?1 AND voucher_id = ?2 AND holds_unit = 1",
    )?
    .query_map([id(user.get()), id(voucher.get())], |row| get_id(row, 0).map(OrderId::new))?
    .collect()
}

/// Reads the columns of [`SELECT`].
pub(super) fn order(row: &Row<'_>) -> rusqlite::Result<Order> {
    Ok(Order {
        id: OrderId::new(get_id(row, 0)?),
        voucher: VoucherId::new(get_id(row, 1)?),
        user: UserId::new(get_id(row, 2)?),
        status: status(row, 3)?,
        pay_value: Cents::new(row.get(4)?),
        pay_type: row.get(5)?,
        created: get_time(row, 6)?,
        deadline: get_time(row, 7)?,
        paid: get_time_if_any(row, 8)?,
        used: get_time_if_any(row, 9)?,
        refunded: get_time_if_any(row, 10)?,
        payment: get_known(row, 11)?,
    })
}
