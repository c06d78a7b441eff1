//! The [`PaymentRows`] port on SQLite.
//!
//! `needs_look` marks payments for the payment job. The flag depends on payment and order together, and
//! spares the job a scan of all payments. Payments and order steps set the flag in the transaction that
//! makes the condition true.

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::{
    Cents, OrderId, Payment, PaymentContradictions, PaymentId, PaymentMode, PaymentRows, PaymentState,
    StoreError, Timestamp,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::columns::{after as page_after, get_count, get_id, get_known, get_time, id};
use super::errors::refuse;
use super::{Database, order_rows};

pub(crate) struct EmbeddedPayments(Database);

impl EmbeddedPayments {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

/// Head of every query for payments; [`payment`] reads the columns.
const SELECT: &str = "SELECT id, order_id, amount, state, started_ms, gateway FROM payments";

#[async_trait]
impl PaymentRows for EmbeddedPayments {
    async fn start(&self, order: OrderId, amount: Cents, now: Timestamp) -> Result<Payment, StoreError> {
        self.0.write("start payment", move |conn| start(conn, order, amount, now)).await
    }

    async fn settle(
        &self,
        payment: PaymentId,
        state: PaymentState,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.0.write("settle payment", move |conn| settle(conn, payment, state, now)).await
    }

    async fn of_order(&self, order: OrderId) -> Result<Vec<Payment>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(&format!("{SELECT} WHERE order_id = ?1 ORDER BY id"))?
                .query_map([id(order.get())], payment)?
                .collect()
        };
        self.0.read("payments of order", job).await
    }

    async fn unsettled(&self, started_before: Timestamp, max: u32) -> Result<Vec<Payment>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(&format!(
                "{SELECT} WHERE needs_look = 1 AND (started_ms < ?1 AND gateway <> ?3 OR state = 1)
                 ORDER BY started_ms, id LIMIT ?2"
            ))?
            .query_map(params![started_before.as_millis(), max, PaymentMode::Webhook.number()], payment)?
            .collect()
        };
        self.0.read("unsettled payments", job).await
    }

    async fn started(
        &self,
        gateway: PaymentMode,
        after: PaymentId,
        max: u32,
    ) -> Result<Vec<Payment>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(&format!(
                "{SELECT} WHERE needs_look = 1 AND state = 0 AND gateway = ?1 AND id > ?2 ORDER BY id LIMIT ?3"
            ))?
            .query_map(params![gateway.number(), page_after(after.get()), max], payment)?
            .collect()
        };
        self.0.read("started payments", job).await
    }

    async fn faults(&self) -> Result<PaymentContradictions, StoreError> {
        let job = |conn: &Connection| {
            let count = |sql| conn.prepare_cached(sql)?.query_row([], |row| get_count(row, 0));
            Ok(PaymentContradictions {
                paid_without_payment: count(
                    "SELECT COUNT(*) FROM orders WHERE status IN (2, 3, 5) AND payment_mode <> 0
                       AND NOT EXISTS (SELECT 1 FROM payments
                         WHERE order_id = orders.id AND (state = 1 OR state = 4 AND orders.status = 3))",
                )?,
                captured_on_cancelled: count(
                    "SELECT COUNT(*) FROM payments JOIN orders ON orders.id = order_id
                     WHERE state = 1 AND status = 4",
                )?,
            })
        };
        self.0.read("payment faults", job).await
    }
}

/// Moves a payment of the order to captured, even an abandoned payment: the gateway is authoritative.
/// Returns false if the order has no such payment.
pub(super) fn capture(
    conn: &Connection,
    order: OrderId,
    payment: PaymentId,
    now: Timestamp,
) -> rusqlite::Result<bool> {
    conn.prepare_cached(
        "UPDATE payments SET state = 1, needs_look = 0, updated_ms = ?3
         WHERE id = ?1 AND order_id = ?2 AND state IN (0, 1, 3)",
    )?
    .execute(params![id(payment.get()), id(order.get()), now.as_millis()])
    .map(|changed| changed > 0)
}

/// Moves the order's captured payment to refunded.
pub(super) fn refund(conn: &Connection, order: OrderId, now: Timestamp) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "UPDATE payments SET state = 2, needs_look = 0, updated_ms = ?2 WHERE order_id = ?1 AND state = 1",
    )?
    .execute([id(order.get()), now.as_millis()])
    .map(drop)
}

/// Marks a captured payment for the payment job: the order is being cancelled or refunded, so the money
/// must be returned.
pub(super) fn mark_for_return(conn: &Connection, order: OrderId) -> rusqlite::Result<()> {
    conn.prepare_cached("UPDATE payments SET needs_look = 1 WHERE order_id = ?1 AND state = 1")?
        .execute([id(order.get())])
        .map(drop)
}

fn start(conn: &Connection, order: OrderId, amount: Cents, now: Timestamp) -> rusqlite::Result<Payment> {
    let open = conn
        .prepare_cached(&format!("{SELECT} WHERE order_id = ?1 AND state IN (0, 1)"))?
        .query_row([id(order.get())], payment)
        .optional()?;
    if let Some(open) = open {
        return Ok(open);
    }
    let Some(gateway) = order_rows::by_id(conn, order)?.map(|order| order.payment) else {
        return Err(refuse("no such order"));
    };
    conn.prepare_cached(
        "INSERT INTO payments (order_id, amount, state, started_ms, updated_ms, needs_look, gateway)
         VALUES (?1, ?2, 0, ?3, ?3, 1, ?4)",
    )?
    .execute([id(order.get()), amount.get(), now.as_millis(), gateway.number()])?;
    let id = PaymentId::new(conn.last_insert_rowid().cast_unsigned());
    Ok(Payment { id, order, amount, state: PaymentState::Started, started: now, gateway })
}

fn settle(
    conn: &Connection,
    payment: PaymentId,
    state: PaymentState,
    now: Timestamp,
) -> rusqlite::Result<bool> {
    conn.prepare_cached(
        "UPDATE payments SET state = ?2, updated_ms = ?3, needs_look = (?2 = 0 OR (?2 = 1 AND EXISTS
           (SELECT 1 FROM orders WHERE orders.id = order_id AND status IN (4, 5))))
         WHERE id = ?1
           -- Who asked the gateway a moment ago must not undo what was captured since.
           AND (?2 <> 3 OR state IN (0, 3))
           AND (?2 <> 2 OR state NOT IN (1, 4) OR NOT EXISTS
             (SELECT 1 FROM orders WHERE orders.id = order_id AND status IN (2, 3, 5)))
           AND (?2 <> 4 OR state IN (1, 4) AND EXISTS
             (SELECT 1 FROM orders WHERE orders.id = order_id AND status = 3))",
    )?
    .execute([id(payment.get()), state.number(), now.as_millis()])
    .map(|changed| changed > 0)
}

fn payment(row: &Row<'_>) -> rusqlite::Result<Payment> {
    Ok(Payment {
        id: PaymentId::new(get_id(row, 0)?),
        order: OrderId::new(get_id(row, 1)?),
        amount: Cents::new(row.get(2)?),
        state: get_known(row, 3)?,
        started: get_time(row, 4)?,
        gateway: get_known(row, 5)?,
    })
}
