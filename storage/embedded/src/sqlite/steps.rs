//! The steps of an order's life: each a compare-and-set of the status, with all side effects in one
//! transaction.

use mallbox_storage::{
    Order, OrderId, OrderStatus, PaymentId, Timestamp, Transition, TransitionOutcome, UserId, VoucherId,
};
use rusqlite::{Connection, params};

use super::columns::id;
use super::errors::refuse;
use super::orders::by_id;
use super::{outbox, payments};

/// Takes the step in the caller's transaction.
pub(super) fn step(
    conn: &Connection,
    which: OrderId,
    step: Transition,
    now: Timestamp,
) -> rusqlite::Result<TransitionOutcome> {
    let Some(mut order) = by_id(conn, which)? else { return Ok(TransitionOutcome::Unknown) };
    let (from, to) = step.change(order.payment);
    if order.status != from {
        return Ok(TransitionOutcome::Stands(order));
    }
    order.status = to;
    match step {
        Transition::Pay(payment) => {
            capture(conn, which, payment, now)?;
            order.paid = Some(now);
        }
        // Without a payment there is no money to return.
        Transition::StartRefund if to == OrderStatus::Refunded => order.refunded = Some(now),
        Transition::Cancel | Transition::StartRefund => payments::mark_for_return(conn, which)?,
        Transition::Use => order.used = Some(now),
        Transition::FinishRefund => {
            payments::refund(conn, which, now)?;
            order.refunded = Some(now);
        }
    }
    write(conn, &order)?;
    if !to.is_live() {
        return_unit(conn, order.voucher, order.user, order.id)?;
    }
    Ok(TransitionOutcome::Done(order))
}

fn capture(conn: &Connection, order: OrderId, payment: PaymentId, now: Timestamp) -> rusqlite::Result<()> {
    if payments::capture(conn, order, payment, now)? {
        Ok(())
    } else {
        Err(refuse(format!("{payment} is no open payment of order {order}")))
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

/// Returns a unit to the sale's stock, and adds a release to the outbox. No effect for an ordinary voucher.
pub(super) fn return_unit(
    conn: &Connection,
    voucher: VoucherId,
    user: UserId,
    order: OrderId,
) -> rusqlite::Result<()> {
    let sales = conn
        .prepare_cached("UPDATE sales SET stock = stock + 1 WHERE voucher_id = ?1")?
        .execute([id(voucher.get())])?;
    if sales > 0 { outbox::add_release(conn, voucher, user, order) } else { Ok(()) }
}
