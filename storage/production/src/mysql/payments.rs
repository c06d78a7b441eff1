//! [`PaymentRows`] in MySQL.
//!
//! A transaction that changes an order or a payment of the order locks the order's row first, because
//! `needs_look` depends on both.

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::{
    Cents, OrderId, OrderStatus, Payment, PaymentContradictions, PaymentId, PaymentMode, PaymentRows,
    PaymentState, StoreError, Timestamp,
};
use mysql_async::Conn;

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;

pub(super) struct MysqlPayments(pub(super) Database);

/// Start of every query for payments; read by [`payment`].
const SELECT: &str = "SELECT id, order_id, amount, state, started_ms, gateway FROM payments";

#[async_trait]
impl PaymentRows for MysqlPayments {
    async fn start(&self, order: OrderId, amount: Cents, now: Timestamp) -> Result<Payment, StoreError> {
        self.0
            .write_at_once("start payment", |conn| {
                boxed(async move {
                    if let Some(open) = open_of(conn, order).await? {
                        return Ok(open);
                    }
                    match start(conn, order, amount, now).await {
                        // A concurrent call was quicker.
                        Err(fault) if fault.is_duplicate_key() => {
                            open_of(conn, order).await?.ok_or_else(|| {
                                MysqlError::refused("the order's other payment ended concurrently")
                            })
                        }
                        started => started,
                    }
                })
            })
            .await
    }

    async fn settle(
        &self,
        payment: PaymentId,
        state: PaymentState,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.0
            .write("settle payment", |conn| boxed(async move { settle(conn, payment, state, now).await }))
            .await
    }

    async fn of_order(&self, order: OrderId) -> Result<Vec<Payment>, StoreError> {
        let sql: &str = &format!("{SELECT} WHERE order_id = ? ORDER BY id");
        self.0
            .read("payments of order", |conn| {
                boxed(async move { all(conn, sql, (order.get(),), payment).await })
            })
            .await
    }

    async fn unsettled(&self, started_before: Timestamp, max: u32) -> Result<Vec<Payment>, StoreError> {
        let sql: &str = &format!(
            "{SELECT} WHERE needs_look = 1 AND (started_ms < ? AND gateway <> ? OR state = 1)
             ORDER BY started_ms, id LIMIT ?"
        );
        let params = (started_before.as_millis(), PaymentMode::Webhook.number(), max);
        self.0
            .read("unsettled payments", |conn| boxed(async move { all(conn, sql, params, payment).await }))
            .await
    }

    async fn started(
        &self,
        gateway: PaymentMode,
        after: PaymentId,
        max: u32,
    ) -> Result<Vec<Payment>, StoreError> {
        let sql: &str = &format!(
            "{SELECT} WHERE needs_look = 1 AND state = 0 AND gateway = ? AND id > ? ORDER BY id LIMIT ?"
        );
        let params = (gateway.number(), after.get(), max);
        self.0
            .read("started payments", |conn| boxed(async move { all(conn, sql, params, payment).await }))
            .await
    }

    async fn faults(&self) -> Result<PaymentContradictions, StoreError> {
        self.0
            .look("payment faults", |conn| {
                boxed(async move {
                    let paid_without_payment =
                        "SELECT COUNT(*) FROM orders WHERE status IN (2, 3, 5) AND payment_mode <> 0
                 AND NOT EXISTS (SELECT 1 FROM payments
                   WHERE order_id = orders.id AND (state = 1 OR state = 4 AND orders.status = 3))";
                    let captured_on_cancelled =
                        "SELECT COUNT(*) FROM payments JOIN orders ON orders.id = order_id
                 WHERE state = 1 AND status = 4";
                    Ok(PaymentContradictions {
                        paid_without_payment: count(conn, paid_without_payment).await?,
                        captured_on_cancelled: count(conn, captured_on_cancelled).await?,
                    })
                })
            })
            .await
    }
}

/// Moves a payment of the order to captured, even after the payment was given up: the gateway decides.
/// Returns false if the order has no such payment.
pub(super) async fn capture(
    conn: &mut Conn,
    order: OrderId,
    payment: PaymentId,
    now: Timestamp,
) -> Result<bool, MysqlError> {
    let sql = "UPDATE payments SET state = 1, needs_look = 0, updated_ms = ?
               WHERE id = ? AND order_id = ? AND state IN (0, 1, 3)";
    Ok(execute(conn, sql, (now.as_millis(), payment.get(), order.get())).await? > 0)
}

/// Moves the order's captured payment to refunded.
pub(super) async fn refund(conn: &mut Conn, order: OrderId, now: Timestamp) -> Result<(), MysqlError> {
    let sql =
        "UPDATE payments SET state = 2, needs_look = 0, updated_ms = ? WHERE order_id = ? AND state = 1";
    execute(conn, sql, (now.as_millis(), order.get())).await.map(drop)
}

/// Marks the captured payment of an order that is being cancelled or refunded: the money must go back.
pub(super) async fn mark_for_refund(conn: &mut Conn, order: OrderId) -> Result<(), MysqlError> {
    let sql = "UPDATE payments SET needs_look = 1 WHERE order_id = ? AND state = 1";
    execute(conn, sql, (order.get(),)).await.map(drop)
}

async fn open_of(conn: &mut Conn, order: OrderId) -> Result<Option<Payment>, MysqlError> {
    first(conn, format!("{SELECT} WHERE order_id = ? AND is_open = 1"), (order.get(),), payment).await
}

async fn start(
    conn: &mut Conn,
    order: OrderId,
    amount: Cents,
    now: Timestamp,
) -> Result<Payment, MysqlError> {
    // Committed orders stay, so an order found here still exists when the payment is inserted.
    let sql = "SELECT payment_mode FROM orders WHERE id = ?";
    let Some(gateway) = first(conn, sql, (order.get(),), Columns::known::<PaymentMode>).await? else {
        return Err(MysqlError::refused("no such order"));
    };
    let sql = "INSERT INTO payments (order_id, amount, state, started_ms, updated_ms, needs_look, gateway)
               VALUES (?, ?, 0, ?, ?, 1, ?)";
    let params = (order.get(), amount.get(), now.as_millis(), now.as_millis(), gateway.number());
    execute(conn, sql, params).await?;
    let id = PaymentId::new(conn.last_insert_id().unwrap_or_default());
    Ok(Payment { id, order, amount, state: PaymentState::Started, started: now, gateway })
}

async fn settle(
    conn: &mut Conn,
    which: PaymentId,
    state: PaymentState,
    now: Timestamp,
) -> Result<bool, MysqlError> {
    let sql = "SELECT order_id FROM payments WHERE id = ?";
    let Some(order) = first(conn, sql, (which.get(),), Columns::next::<u64>).await? else {
        return Ok(false);
    };
    let sql = "SELECT status FROM orders WHERE id = ? FOR UPDATE";
    let status = first(conn, sql, (order,), Columns::status).await?;
    let sql: &str = &format!("{SELECT} WHERE id = ? FOR UPDATE");
    let Some(before) = first(conn, sql, (which.get(),), payment).await? else { return Ok(false) };
    if contradicts(before.state, state, status) {
        return Ok(false);
    }
    let is_stray = matches!(status, Some(OrderStatus::Cancelled | OrderStatus::Refunding));
    let needs_look = state == PaymentState::Started || state == PaymentState::Captured && is_stray;
    let sql = "UPDATE payments SET state = ?, updated_ms = ?, needs_look = ? WHERE id = ?";
    let params = (state.number(), now.as_millis(), needs_look, which.get());
    Ok(execute(conn, sql, params).await? > 0)
}

/// Returns whether a result from the gateway is stale, since a result must not undo a later capture, or
/// reverses a payment that paid for no used order.
fn contradicts(from: PaymentState, to: PaymentState, order: Option<OrderStatus>) -> bool {
    let is_paid_for = matches!(order, Some(OrderStatus::Paid | OrderStatus::Used | OrderStatus::Refunding));
    match to {
        PaymentState::Failed => !matches!(from, PaymentState::Started | PaymentState::Failed),
        PaymentState::Refunded => {
            matches!(from, PaymentState::Captured | PaymentState::Reversed) && is_paid_for
        }
        PaymentState::Reversed => {
            let was_captured = matches!(from, PaymentState::Captured | PaymentState::Reversed);
            !was_captured || order != Some(OrderStatus::Used)
        }
        PaymentState::Started | PaymentState::Captured => false,
    }
}

async fn count(conn: &mut Conn, sql: &str) -> Result<u64, MysqlError> {
    Ok(first(conn, sql, (), Columns::count).await?.unwrap_or_default())
}

fn payment(row: &mut Columns) -> Result<Payment, MysqlError> {
    Ok(Payment {
        id: PaymentId::new(row.next()?),
        order: OrderId::new(row.next()?),
        amount: Cents::new(row.next()?),
        state: row.known()?,
        started: row.time()?,
        gateway: row.known()?,
    })
}
