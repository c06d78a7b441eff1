//! The steps of an order's life: each a compare-and-set of the status, with all side effects in one
//! transaction.

use mallbox_storage::backend::{NewEvent, PaymentChange, TransitionPlan};
use mallbox_storage::{Order, OrderId, PaymentId, Timestamp, Transition, TransitionOutcome};
use rusqlite::{Connection, params};

use super::columns::id;
use super::errors::refuse;
use super::order_rows::by_id;
use super::sale_rows::return_unit;
use super::{credits, event_rows, payments};

/// Takes the step in the caller's transaction.
pub(super) fn step(
    conn: &Connection,
    which: OrderId,
    step: Transition,
    now: Timestamp,
) -> rusqlite::Result<TransitionOutcome> {
    let Some(order) = by_id(conn, which)? else { return Ok(TransitionOutcome::Unknown) };
    let TransitionPlan { order, payment, credits: credit_change, returns_unit } = match step.plan(order, now)
    {
        Ok(plan) => plan,
        Err(order) => return Ok(TransitionOutcome::Stands(order)),
    };
    match payment {
        PaymentChange::None => {}
        PaymentChange::Capture(payment) => capture(conn, which, payment, now)?,
        PaymentChange::MarkForReturn => payments::mark_for_return(conn, which)?,
        PaymentChange::Refund => payments::refund(conn, which, now)?,
    }
    write(conn, &order)?;
    credits::change(conn, &order, credit_change, now)?;
    event_rows::write(conn, now, || NewEvent::of_step(&order))?;
    if returns_unit {
        return_unit(conn, order.voucher, order.user, order.id)?;
    }
    Ok(TransitionOutcome::Done(order))
}

fn capture(conn: &Connection, order: OrderId, payment: PaymentId, now: Timestamp) -> rusqlite::Result<()> {
    if payments::capture(conn, order, payment, now)? {
        Ok(())
    } else {
        Err(refuse(format!("{payment} is not an open payment of order {order}")))
    }
}

fn write(conn: &Connection, order: &Order) -> rusqlite::Result<()> {
    // A closed order frees the slot of the user's single live order in the sale.
    let sql = if order.status.is_live() {
        "UPDATE orders SET status = ?2, paid_ms = ?3, used_ms = ?4, refunded_ms = ?5 WHERE id = ?1"
    } else {
        "UPDATE orders SET status = ?2, paid_ms = ?3, used_ms = ?4, refunded_ms = ?5, slot = id WHERE id = ?1"
    };
    let millis = |at: Option<Timestamp>| at.map(Timestamp::as_millis);
    conn.prepare_cached(sql)?
        .execute(params![
            id(order.id.get()),
            order.status as u8,
            millis(order.paid),
            millis(order.used),
            millis(order.refunded)
        ])
        .map(drop)
}
