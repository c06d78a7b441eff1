//! Steps in the lifecycle of an order: each a compare-and-set of the order's status, with all consequences in
//! one transaction.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use mallbox_storage::backend::{NewEvent, PaymentChange, TransitionPlan};
use mallbox_storage::{Order, OrderId, OrderStatus, PaymentId, Timestamp, Transition, TransitionOutcome};
use mysql_async::Conn;

use super::columns::execute;
use super::errors::MysqlError;
use super::event_rows::EventSwitch;
use super::order_rows::{SELECT, order};
use super::{columns, credits, multi_row, payments, sale_rows};

/// Takes the step in the caller's transaction. Locks the order, then its payment, then its sale, then
/// the buyer's card.
pub(super) async fn step(
    conn: &mut Conn,
    which: OrderId,
    step: Transition,
    now: Timestamp,
    events: EventSwitch,
) -> Result<TransitionOutcome, MysqlError> {
    let sql = format!("{SELECT} WHERE id = ? FOR UPDATE");
    let Some(order) = columns::first(conn, sql, (which.get(),), order).await? else {
        return Ok(TransitionOutcome::Unknown);
    };
    let TransitionPlan { order, payment, credits: credit_change, returns_unit } = match step.plan(order, now)
    {
        Ok(plan) => plan,
        Err(order) => return Ok(TransitionOutcome::Stands(order)),
    };
    match payment {
        PaymentChange::None => {}
        PaymentChange::Capture(payment) => capture(conn, which, payment, now).await?,
        PaymentChange::MarkForReturn => payments::mark_for_refund(conn, which).await?,
        PaymentChange::Refund => payments::refund(conn, which, now).await?,
    }
    write(conn, &order).await?;
    events.write(conn, now, || NewEvent::of_step(&order)).await?;
    if returns_unit {
        sale_rows::give_back(conn, order.voucher, order.user, order.id).await?;
    }
    credits::change(conn, &order, credit_change, now).await?;
    Ok(TransitionOutcome::Done(order))
}

/// Cancels the unpaid orders of `which`, with few statements for all. Locks orders, then payments, then
/// sales, each by id.
pub(super) async fn cancel(
    conn: &mut Conn,
    which: &[OrderId],
    now: Timestamp,
    events: EventSwitch,
) -> Result<Vec<TransitionOutcome>, MysqlError> {
    let ids: BTreeSet<u64> = which.iter().map(|order| order.get()).collect();
    let ids: Vec<u64> = ids.into_iter().collect();
    let sql = format!("{SELECT} WHERE id IN ({{keys}}) ORDER BY id FOR UPDATE");
    let found = multi_row::select_by_keys(conn, &sql, &[], &ids, order).await?;
    let mut found: BTreeMap<OrderId, Order> = found.into_iter().map(|order| (order.id, order)).collect();
    let unpaid = found.values().filter(|order| order.status == OrderStatus::Unpaid).cloned();
    let closed: Vec<Order> = unpaid.map(|order| Order { status: OrderStatus::Cancelled, ..order }).collect();
    let closed_ids: Vec<u64> = closed.iter().map(|order| order.id.get()).collect();
    let stray = "UPDATE payments SET needs_look = 1 WHERE state = 1 AND order_id IN ({keys})";
    multi_row::change_by_keys(conn, stray, &[], &closed_ids).await?;
    let cancelled = OrderStatus::Cancelled as u8;
    multi_row::change_by_keys(
        conn,
        "UPDATE orders SET status = ? WHERE id IN ({keys})",
        &[cancelled.into()],
        &closed_ids,
    )
    .await?;
    events.write(conn, now, || closed.iter().filter_map(NewEvent::of_step)).await?;
    sale_rows::give_back_all(conn, &closed).await?;
    let mut done: HashSet<OrderId> = closed.iter().map(|order| order.id).collect();
    let mut stepped = |order: &OrderId| {
        let Some(known) = found.get_mut(order) else { return TransitionOutcome::Unknown };
        if !done.remove(order) {
            return TransitionOutcome::Stands(known.clone());
        }
        known.status = OrderStatus::Cancelled;
        TransitionOutcome::Done(known.clone())
    };
    Ok(which.iter().map(&mut stepped).collect())
}

async fn capture(
    conn: &mut Conn,
    order: OrderId,
    payment: PaymentId,
    now: Timestamp,
) -> Result<(), MysqlError> {
    if payments::capture(conn, order, payment, now).await? {
        Ok(())
    } else {
        Err(MysqlError::refused(format!("{payment} is not an open payment of order {order}")))
    }
}

async fn write(conn: &mut Conn, order: &Order) -> Result<(), MysqlError> {
    let sql = "UPDATE orders SET status = ?, paid_ms = ?, used_ms = ?, refunded_ms = ? WHERE id = ?";
    let millis = |at: Option<Timestamp>| at.map(Timestamp::as_millis);
    let (paid, used, refunded) = (millis(order.paid), millis(order.used), millis(order.refunded));
    execute(conn, sql, (order.status as u8, paid, used, refunded, order.id.get())).await.map(drop)
}
