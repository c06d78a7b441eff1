//! Units of closed orders, released after the database has closed the orders.

use mallbox_storage::{Order, OrderStatus, OutboxEntry, StoreError};

use crate::mall::base::Context;

/// Releases the unit of an order after the database has closed the order, and clears the deadline. The buyer
/// may buy again. A refund has taken credits back: the buyer's cached profile is invalidated.
///
/// Idempotent. After a failure midway the outbox still releases the unit, and the deadline falls due.
pub(in crate::mall) async fn release_closed(context: &Context, order: &Order) -> Result<(), StoreError> {
    let storage = &context.storage;
    if order.status == OrderStatus::Refunded {
        context.credits_changed(order.user).await;
    }
    // `NotHeld` means an order of an ordinary voucher, or a repeat.
    let _ = storage.selling.sales.release(order.voucher, order.user, order.id).await?;
    storage.selling.deadlines.clear(&[order.id]).await
}

/// Does the work of [`release_closed`] for several orders closed at once, and completes their outbox entries.
/// Leaves the deadlines to the caller.
pub(in crate::mall) async fn closed_all(context: &Context, orders: &[Order]) -> Result<(), StoreError> {
    let storage = &context.storage;
    let units: Vec<_> = orders.iter().map(|order| (order.voucher, order.user, order.id)).collect();
    storage.selling.sales.release_all(&units).await?;
    let entries: Vec<_> =
        units.iter().map(|&(voucher, user, order)| OutboxEntry::Release { voucher, user, order }).collect();
    storage.selling.outbox.done(&entries).await
}
