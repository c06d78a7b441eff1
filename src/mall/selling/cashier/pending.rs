//! Payments that wait for a buyer at a gateway over HTTP: queried while the order can be paid, and closed
//! before the order is cancelled.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use mallbox_storage::{
    OrderId, OrderStatus, Payment, PaymentId, PaymentMode, PaymentState, StoreError, Timestamp,
};

use super::Cashier;
use crate::mall::base::Failure;

/// Payments read per page.
const PAGE: u32 = 500;
/// Calls to the gateway at once, of one background job.
const CALLS_AT_ONCE: usize = 32;
/// Time after the deadline for which an order stays unpaid if the gateway does not say whether the buyer has
/// paid. Afterwards the order is cancelled, and money turning up later goes back.
const CLOSE_GRACE: Duration = Duration::from_secs(5 * 60);

impl Cashier {
    /// Queries payments that wait for a buyer, each in its own interval; closes payments whose orders are
    /// cancelled. Ends early while the gateway does not respond.
    ///
    /// # Errors
    /// [`StoreError`]: the next call continues.
    pub(in crate::mall) async fn poll(&self, now: Timestamp) -> Result<(), StoreError> {
        let rows = self.started_payments(|_| true).await?;
        let open: HashSet<PaymentId> = rows.iter().map(|row| row.id).collect();
        self.polls.retain(|payment| open.contains(&payment));
        let due: Vec<Payment> = rows.into_iter().filter(|row| self.polls.is_due(row, now)).collect();
        self.finish_in_batches(&due, now).await;
        Ok(())
    }

    /// Finishes payments, some at once. Ends early while the gateway does not respond.
    async fn finish_in_batches(&self, rows: &[Payment], now: Timestamp) {
        for batch in rows.chunks(CALLS_AT_ONCE) {
            let before = self.gateway.failures();
            self.finish_all(batch.to_vec(), now).await;
            if self.gateway.failures() - before >= batch.len() as u64 {
                return;
            }
        }
    }

    /// Returns whether a started payment waits for its buyer: at a gateway over HTTP, before the deadline of
    /// an unpaid order.
    pub(super) async fn awaits_buyer(&self, row: &Payment, now: Timestamp) -> Result<bool, StoreError> {
        if row.gateway != PaymentMode::Webhook {
            return Ok(false);
        }
        let order = self.context.storage.selling.orders.get(row.order).await?;
        let is_open = |deadline: Timestamp| deadline > self.context.expiry_now(now);
        Ok(order.is_some_and(|order| order.status == OrderStatus::Unpaid && is_open(order.deadline)))
    }

    /// Closes the payments of overdue orders at the gateway, so that no buyer pays for a cancelled order.
    /// Returns the orders to cancel; an order paid in the last moment is among them, and stays paid. Orders
    /// whose payment the gateway did not close wait for the next call, until the grace is over.
    ///
    /// # Errors
    /// [`StoreError`]: some payments may be closed; call again.
    pub(in crate::mall) async fn close_overdue(
        &self,
        due: Vec<OrderId>,
        now: Timestamp,
    ) -> Result<Vec<OrderId>, StoreError> {
        if self.gateway.hosted().is_none() {
            return Ok(due);
        }
        let all: HashSet<OrderId> = due.iter().copied().collect();
        let rows = self.started_payments(|row| all.contains(&row.order)).await?;
        let mut in_doubt: HashMap<PaymentId, OrderId> = rows.iter().map(|row| (row.id, row.order)).collect();
        self.finish_in_batches(&rows, now).await;
        for row in &rows {
            if !self.is_started(row).await? || self.is_grace_over(row.order, now).await? {
                in_doubt.remove(&row.id);
            }
        }
        let waiting: HashSet<OrderId> = in_doubt.into_values().collect();
        Ok(due.into_iter().filter(|order| !waiting.contains(order)).collect())
    }

    /// Closes the open payment of an order that its buyer or an operator is about to cancel. If the buyer has
    /// paid, the order is paid afterwards. If the gateway does not respond, the background job closes the
    /// payment later, and money goes back.
    ///
    /// # Errors
    /// [`Failure::Store`]: call again.
    pub(in crate::mall) async fn close_for_cancel(
        &self,
        order: OrderId,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let rows = self.context.storage.selling.payments.of_order(order).await?;
        let is_open =
            |row: &&Payment| row.state == PaymentState::Started && row.gateway == PaymentMode::Webhook;
        let Some(row) = rows.iter().find(is_open) else { return Ok(()) };
        let _mine = self.in_hand.hold(row.id);
        let response = self.gateway.close(row).await;
        self.take_result(row, response, now).await
    }

    async fn is_started(&self, row: &Payment) -> Result<bool, StoreError> {
        let rows = self.context.storage.selling.payments.of_order(row.order).await?;
        Ok(rows.iter().any(|now| now.id == row.id && now.state == PaymentState::Started))
    }

    async fn is_grace_over(&self, order: OrderId, now: Timestamp) -> Result<bool, StoreError> {
        let order = self.context.storage.selling.orders.get(order).await?;
        let now = self.context.expiry_now(now);
        Ok(order
            .is_none_or(|order| order.status != OrderStatus::Unpaid || order.deadline + CLOSE_GRACE <= now))
    }

    /// Returns the started payments at the gateway over HTTP that `is_wanted`.
    async fn started_payments(
        &self,
        is_wanted: impl Fn(&Payment) -> bool + Send,
    ) -> Result<Vec<Payment>, StoreError> {
        let (mut found, mut after) = (Vec::new(), PaymentId::new(0));
        loop {
            let payments = &self.context.storage.selling.payments;
            let page = payments.started(PaymentMode::Webhook, after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(found) };
            after = last.id;
            found.extend(page.into_iter().filter(|row| is_wanted(row)));
        }
    }
}
