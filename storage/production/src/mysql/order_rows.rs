//! Rows of orders: columns, and the look-ups shared by several ports.

use std::collections::HashMap;

use mallbox_storage::{Cents, Order, OrderId, UserId, VoucherId};
use mysql_async::Conn;

use super::columns::{Columns, first};
use super::errors::MysqlError;
use super::multi_row;

/// Start of every query for orders; read by [`order`].
pub(super) const SELECT: &str =
    "SELECT id, voucher_id, user_id, status, pay_value, pay_type, created_ms, deadline_ms, paid_ms,
    used_ms, refunded_ms, payment_mode FROM orders";

/// Returns an order by id.
pub(super) async fn by_id(conn: &mut Conn, which: OrderId) -> Result<Option<Order>, MysqlError> {
    first(conn, format!("{SELECT} WHERE id = ?"), (which.get(),), order).await
}

/// Returns the user and the voucher of an order.
pub(super) async fn owner(
    conn: &mut Conn,
    order: OrderId,
) -> Result<Option<(UserId, VoucherId)>, MysqlError> {
    let sql = "SELECT id, user_id, voucher_id FROM orders WHERE id = ?";
    Ok(first(conn, sql, (order.get(),), owned).await?.map(|(_, owner)| owner))
}

/// Returns the users and vouchers of those ids that are orders.
pub(super) async fn owners(
    conn: &mut Conn,
    orders: &[OrderId],
) -> Result<HashMap<OrderId, (UserId, VoucherId)>, MysqlError> {
    let ids: Vec<u64> = orders.iter().map(|order| order.get()).collect();
    let sql = "SELECT id, user_id, voucher_id FROM orders WHERE id IN ({keys})";
    Ok(multi_row::select_by_keys(conn, sql, &[], &ids, owned).await?.into_iter().collect())
}

/// Reads the columns of [`SELECT`].
pub(super) fn order(row: &mut Columns) -> Result<Order, MysqlError> {
    Ok(Order {
        id: OrderId::new(row.next()?),
        voucher: VoucherId::new(row.next()?),
        user: UserId::new(row.next()?),
        status: row.status()?,
        pay_value: Cents::new(row.next()?),
        pay_type: row.next()?,
        created: row.time()?,
        deadline: row.time()?,
        paid: row.time_if_any()?,
        used: row.time_if_any()?,
        refunded: row.time_if_any()?,
        payment: row.known()?,
    })
}

fn owned(row: &mut Columns) -> Result<(OrderId, (UserId, VoucherId)), MysqlError> {
    let (order, user, voucher) = (row.next()?, row.next()?, row.next()?);
    Ok((OrderId::new(order), (UserId::new(user), VoucherId::new(voucher))))
}
