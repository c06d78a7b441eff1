//! Money for orders: payments, refunds, and completion of payments left half-done.
//!
//! The database and the gateway share no transaction. The database decides. A durable row records the start
//! of a payment before the gateway is called, so no money is taken without the mall's knowledge. A
//! compare-and-set moves the order's status together with the row, so exactly one of payment and expiry wins.
//! Money captured for an order that lost is refunded.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{
    Order, OrderStatus, OutboxEntry, Payment, PaymentId, PaymentMode, PaymentState, StoreError, Timestamp,
    Transition, TransitionOutcome,
};
use parking_lot::Mutex;

use super::counter_till::CounterTill;
use super::payments::{GatewayError, GatewayState, Payments};
use crate::mall::base::sparse_log::SparseLog;
use crate::mall::base::{Context, Failure, Refusal};

/// Timeout of a gateway call: a request to the mall must get its response within 1.5 s.
const GATEWAY_TIMEOUT: Duration = Duration::from_millis(800);
/// Age of a started payment before the background job resolves it. By then the initial caller has given up.
const SETTLE_AFTER: Duration = Duration::from_secs(30);
/// Payments resolved per batch, concurrently.
const SETTLE_BATCH: u32 = 32;

/// A paid order.
pub(in crate::mall) struct PaidOrder {
    pub(in crate::mall) order: Order,
    /// Whether this call paid for the order; of concurrent calls, exactly one does.
    pub(in crate::mall) is_new: bool,
}

/// Executes payments and refunds. Cheap to clone; clones share one state.
#[derive(Clone)]
pub struct Cashier {
    context: Context,
    gateway: Arc<TimedGateway>,
    in_hand: Arc<PaymentsInProgress>,
    stuck: Arc<SparseLog>,
}

impl Cashier {
    /// Creates the cashier for the gateway of all payments but those at the counter.
    #[must_use]
    pub fn new(context: Context, gateway: Arc<dyn Payments>) -> Self {
        let gateway = Arc::new(TimedGateway { gateway, silence: SparseLog::default() });
        Self { context, gateway, in_hand: Arc::default(), stuck: Arc::default() }
    }

    /// Pays for an unpaid order, through the gateway of its mode.
    pub(in crate::mall) async fn pay(&self, order: &Order, now: Timestamp) -> Result<PaidOrder, Failure> {
        let rows = &self.context.storage.selling.payments;
        let payment = rows.start(order.id, order.pay_value, now).await?;
        let _mine = self.in_hand.hold(payment.id);
        match self.gateway.charge(&payment).await {
            Ok(GatewayState::Captured) => self.captured(&payment, now).await,
            Ok(GatewayState::Refunded) => {
                rows.settle(payment.id, PaymentState::Refunded, now).await?;
                self.paid_or_refusal(order).await
            }
            Ok(GatewayState::Declined) => {
                rows.settle(payment.id, PaymentState::Failed, now).await?;
                Err(Refusal::PaymentDeclined.into())
            }
            // The row stays in state started: a repeated call or the background job resolves the doubt.
            Err(_) => Err(Refusal::Busy.into()),
        }
    }

    /// Refunds the payment of a refunding order. Returns the order as refunded, or still refunding if the
    /// gateway is unreachable; the background job retries.
    pub(in crate::mall) async fn refund(&self, order: Order, now: Timestamp) -> Result<Order, Failure> {
        let storage = &self.context.storage;
        // An imported order: orders created by this mall without payment never reach the refunding state.
        if order.payment == PaymentMode::None {
            return self.finish_refund(&order, now).await;
        }
        let rows = storage.selling.payments.of_order(order.id).await?;
        let Some(payment) = rows.iter().find(|row| row.state == PaymentState::Captured) else {
            // Another call may have finished the refund meanwhile.
            return match storage.selling.orders.get(order.id).await? {
                Some(now) if now.status == OrderStatus::Refunded => Ok(now),
                _ => Err(Failure::Bug(format!("order {} is paid without a captured payment", order.id))),
            };
        };
        if self.gateway.refund(payment).await.is_err() {
            return Ok(order);
        }
        self.finish_refund(&order, now).await
    }

    /// Marks the order as refunded after the money has gone back, and releases the unit.
    async fn finish_refund(&self, order: &Order, now: Timestamp) -> Result<Order, Failure> {
        match self.context.storage.selling.orders.step(order.id, Transition::FinishRefund, now).await? {
            TransitionOutcome::Done(order) | TransitionOutcome::Stands(order)
                if order.status == OrderStatus::Refunded =>
            {
                release_closed(&self.context, &order).await?;
                Ok(order)
            }
            TransitionOutcome::Done(order) | TransitionOutcome::Stands(order) => {
                Err(Refusal::OrderStands(order.status as u8).into())
            }
            TransitionOutcome::Unknown => Err(Refusal::NotFound("order").into()),
        }
    }

    /// Finishes payments left half-done, until none is left that can be finished now.
    ///
    /// # Errors
    /// [`StoreError`]: the next call continues.
    pub async fn settle(&self, now: Timestamp) -> Result<(), StoreError> {
        let mut before: Vec<PaymentId> = Vec::new();
        loop {
            let rows =
                self.context.storage.selling.payments.unsettled(now - SETTLE_AFTER, SETTLE_BATCH).await?;
            let ids: Vec<PaymentId> = rows.iter().map(|row| row.id).collect();
            // Identical to the last batch: these payments cannot be finished now.
            if ids.is_empty() || ids == before {
                return Ok(());
            }
            before = ids;
            self.finish_all(rows, now).await;
        }
    }

    /// Finishes a batch concurrently. Failures are logged.
    async fn finish_all(&self, rows: Vec<Payment>, now: Timestamp) {
        let mut tasks = tokio::task::JoinSet::new();
        for row in rows.into_iter().filter(|row| !self.in_hand.has(row.id)) {
            let cashier = self.clone();
            tasks.spawn(async move {
                if let Err(error) = cashier.finish(&row, now).await
                    && let Some(times) = cashier.stuck.again()
                {
                    let (order, payment) = (row.order.get(), row.id.get());
                    tracing::warn!(order, payment, %error, times, "could not finish a payment");
                }
            });
        }
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "the completion of a payment panicked");
            }
        }
    }

    /// Marks the order as paid after a capture. Refunds the money if the order cannot be paid any more.
    async fn captured(&self, payment: &Payment, now: Timestamp) -> Result<PaidOrder, Failure> {
        let storage = &self.context.storage;
        match storage.selling.orders.step(payment.order, Transition::Pay(payment.id), now).await? {
            TransitionOutcome::Done(order) => {
                self.context.credits_changed(order.user).await;
                storage.selling.deadlines.clear(&[order.id]).await?;
                Ok(PaidOrder { order, is_new: true })
            }
            TransitionOutcome::Stands(order) => {
                self.captured_elsewhere(payment, now).await?;
                // The step may have been done by a call whose response was lost.
                self.context.credits_changed(order.user).await;
                if order.status == OrderStatus::Paid {
                    return Ok(PaidOrder { order, is_new: false });
                }
                Err(Refusal::OrderStands(order.status as u8).into())
            }
            TransitionOutcome::Unknown => {
                self.return_money(payment, now).await?;
                Err(Refusal::NotFound("order").into())
            }
        }
    }

    /// Refunds a captured payment that did not pay the order in this call. Keeps the money if another call
    /// paid the order with the same payment.
    async fn captured_elsewhere(&self, payment: &Payment, now: Timestamp) -> Result<(), StoreError> {
        let rows = self.context.storage.selling.payments.of_order(payment.order).await?;
        let state = rows.iter().find(|row| row.id == payment.id).map(|row| row.state);
        if matches!(state, Some(PaymentState::Captured | PaymentState::Refunded)) {
            return Ok(());
        }
        self.return_money(payment, now).await
    }

    /// Refunds money that paid for nothing. If the gateway is unreachable, the row stays unchanged for the
    /// background job. At the counter the call fails, and the buyer keeps the money.
    async fn return_money(&self, payment: &Payment, now: Timestamp) -> Result<(), StoreError> {
        if payment.gateway == PaymentMode::Counter {
            let rows = &self.context.storage.selling.payments;
            return rows.settle(payment.id, PaymentState::Failed, now).await.map(drop);
        }
        if self.gateway.refund(payment).await.is_ok() {
            let (order, id) = (payment.order.get(), payment.id.get());
            tracing::info!(order, payment = id, "refunded a late payment");
            self.context.storage.selling.payments.settle(payment.id, PaymentState::Refunded, now).await?;
        }
        Ok(())
    }

    /// Finishes one payment. If the gateway is unreachable, the row stays unchanged.
    async fn finish(&self, row: &Payment, now: Timestamp) -> Result<(), Failure> {
        let storage = &self.context.storage;
        if row.state == PaymentState::Captured {
            return match storage.selling.orders.get(row.order).await? {
                Some(order) if order.status == OrderStatus::Refunding => {
                    self.refund(order, now).await.map(drop)
                }
                Some(order) if order.status != OrderStatus::Cancelled => Ok(()),
                _ => Ok(self.return_money(row, now).await?),
            };
        }
        // Closed, not queried: a charge may still be in flight, and its money would belong to no order.
        let state = match self.gateway.close(row).await {
            Ok(GatewayState::Captured) => {
                return match self.captured(row, now).await {
                    Ok(_) | Err(Failure::Refused(_)) => Ok(()),
                    Err(error) => Err(error),
                };
            }
            Ok(GatewayState::Refunded) => PaymentState::Refunded,
            Ok(GatewayState::Declined) => PaymentState::Failed,
            Err(_) => return Ok(()),
        };
        storage.selling.payments.settle(row.id, state, now).await?;
        Ok(())
    }

    /// Returns the order if another call has paid it, or else the refusal for its status.
    async fn paid_or_refusal(&self, order: &Order) -> Result<PaidOrder, Failure> {
        match self.context.storage.selling.orders.get(order.id).await? {
            Some(order) if order.status == OrderStatus::Paid => Ok(PaidOrder { order, is_new: false }),
            Some(order) => Err(Refusal::OrderStands(order.status as u8).into()),
            None => Err(Refusal::NotFound("order").into()),
        }
    }
}

/// Gateways with a timeout on every call. Each payment goes through its own gateway.
struct TimedGateway {
    gateway: Arc<dyn Payments>,
    silence: SparseLog,
}

impl TimedGateway {
    fn of(&self, payment: &Payment) -> &dyn Payments {
        match payment.gateway {
            PaymentMode::Counter => &CounterTill,
            PaymentMode::None | PaymentMode::Sandbox => &*self.gateway,
        }
    }

    async fn charge(&self, payment: &Payment) -> Result<GatewayState, GatewayError> {
        self.wait(payment, self.of(payment).charge(payment.id, payment.amount)).await
    }

    async fn refund(&self, payment: &Payment) -> Result<(), GatewayError> {
        self.wait(payment, self.of(payment).refund(payment.id, payment.amount)).await
    }

    async fn close(&self, payment: &Payment) -> Result<GatewayState, GatewayError> {
        self.wait(payment, self.of(payment).close(payment.id)).await
    }

    async fn wait<T>(
        &self,
        payment: &Payment,
        call: impl Future<Output = Result<T, GatewayError>>,
    ) -> Result<T, GatewayError> {
        let in_time = tokio::time::timeout(GATEWAY_TIMEOUT, call).await;
        let too_late = || Err(GatewayError(format!("no response within {} ms", GATEWAY_TIMEOUT.as_millis())));
        let answer = in_time.unwrap_or_else(|_| too_late());
        if let Err(error) = &answer
            && let Some(times) = self.silence.again()
        {
            let (order, payment) = (payment.order.get(), payment.id.get());
            tracing::warn!(order, payment, %error, times, "the payment gateway did not respond; retrying");
        }
        answer
    }
}

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

/// Payments being processed by a call in this process. The background job skips them, however far the clock
/// was moved.
#[derive(Debug, Default)]
struct PaymentsInProgress {
    calls: Mutex<HashMap<PaymentId, usize>>,
}

impl PaymentsInProgress {
    fn hold(self: &Arc<Self>, payment: PaymentId) -> Holding {
        *self.calls.lock().entry(payment).or_default() += 1;
        Holding { in_hand: Arc::clone(self), payment }
    }

    fn has(&self, payment: PaymentId) -> bool {
        self.calls.lock().contains_key(&payment)
    }
}

struct Holding {
    in_hand: Arc<PaymentsInProgress>,
    payment: PaymentId,
}

impl Drop for Holding {
    fn drop(&mut self) {
        let mut calls = self.in_hand.calls.lock();
        if let Some(count) = calls.get_mut(&self.payment) {
            *count -= 1;
            if *count == 0 {
                calls.remove(&self.payment);
            }
        }
    }
}
