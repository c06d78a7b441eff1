//! Money for orders: payments, refunds, and completion of payments left half-done.
//!
//! The database and the gateway share no transaction. The database decides. A durable row records the start
//! of a payment before the gateway is called, so no money is taken without the mall's knowledge. A
//! compare-and-set moves the order's status together with the row, so exactly one of payment and expiry wins.
//! Money captured for an order that lost is refunded.

mod pending;
mod reports;

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{
    CashDrawer, Order, OrderStatus, Payment, PaymentId, PaymentMode, PaymentState, StoreError, Timestamp,
    Transition, TransitionOutcome,
};

pub use self::reports::CallbackOutcome;
use super::cash_steps;
use super::http_gateway::{Bill, HttpGateway};
use super::payments::{GatewayError, GatewayState, Payments};
use super::payments_in_progress::PaymentsInProgress;
use super::poll_times::PollTimes;
use super::refunds::{self, Refunds};
use super::timed_gateway::TimedGateway;
use crate::mall::base::retry::{FirstTry, RetryQueue, Work};
use crate::mall::base::sparse_log::SparseLog;
use crate::mall::base::{Context, Failure, Refusal};

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

/// Outcome of a call to pay.
pub(in crate::mall) enum PayOutcome {
    /// The order is paid.
    Paid(PaidOrder),
    /// The order is unpaid until the buyer has paid at the gateway, at this URL if there is one.
    Pending(Option<String>),
}

/// Executes payments and refunds. Cheap to clone; clones share one state.
#[derive(Clone)]
pub struct Cashier {
    context: Context,
    gateway: Arc<TimedGateway>,
    in_hand: Arc<PaymentsInProgress>,
    stuck: Arc<SparseLog>,
    polls: Arc<PollTimes>,
    refunds: Refunds,
    /// Retries refunds at a gateway over HTTP. Without the queue, the background job alone retries.
    retries: Option<RetryQueue>,
}

impl Cashier {
    /// Creates the cashier for the gateway of imaginary money. Payments at the counter need no gateway.
    #[must_use]
    pub fn new(context: Context, gateway: Arc<dyn Payments>) -> Self {
        Self::with_http_gateway(context, gateway, None)
    }

    /// Creates the cashier with a gateway for orders in [`PaymentMode::Webhook`]. Without the gateway their
    /// payments and refunds stay in doubt.
    #[must_use]
    pub fn with_http_gateway(
        context: Context,
        gateway: Arc<dyn Payments>,
        http_gateway: Option<HttpGateway>,
    ) -> Self {
        let gateway = Arc::new(TimedGateway::new(gateway, http_gateway));
        let (in_hand, stuck, polls) = (Arc::default(), Arc::default(), Arc::default());
        let refunds = Refunds { context: context.clone(), gateway: Arc::clone(&gateway) };
        Self { context, gateway, in_hand, stuck, polls, refunds, retries: None }
    }

    /// Returns the work of refunds, for the queue given to [`with_retries`](Self::with_retries).
    #[must_use]
    pub fn refund_work(&self) -> Work {
        self.refunds.work()
    }

    /// Retries refunds at a gateway over HTTP in a queue.
    #[must_use]
    pub fn with_retries(self, retries: RetryQueue) -> Self {
        Self { retries: Some(retries), ..self }
    }

    /// Returns whether there is a gateway over HTTP.
    #[must_use]
    pub fn has_http_gateway(&self) -> bool {
        self.gateway.hosted().is_some()
    }

    /// Pays for an unpaid order, through the gateway of its mode. A repeat while the buyer is at the gateway
    /// returns the same payment.
    pub(in crate::mall) async fn pay(&self, order: &Order, now: Timestamp) -> Result<PayOutcome, Failure> {
        self.pay_into(order, None, now).await
    }

    /// Pays for an unpaid order like [`pay`](Self::pay); with a drawer, in cash.
    pub(in crate::mall) async fn pay_into(
        &self,
        order: &Order,
        drawer: Option<&CashDrawer>,
        now: Timestamp,
    ) -> Result<PayOutcome, Failure> {
        let rows = &self.context.storage.selling.payments;
        let bill = self.bill(order).await?;
        let payment = rows.start(order.id, order.pay_value, now).await?;
        let _mine = self.in_hand.hold(payment.id);
        let charged = self.gateway.charge(&payment, &bill).await;
        match charged.map(|charged| (charged.state, charged.pay_url)) {
            Ok((GatewayState::Pending, pay_url)) => Ok(PayOutcome::Pending(pay_url)),
            Ok((GatewayState::Captured, _)) => {
                self.captured(&payment, drawer, now).await.map(PayOutcome::Paid)
            }
            Ok((GatewayState::Refunded, _)) => {
                rows.settle(payment.id, PaymentState::Refunded, now).await?;
                self.paid_or_refusal(order).await.map(PayOutcome::Paid)
            }
            Ok((GatewayState::Declined, _)) => {
                rows.settle(payment.id, PaymentState::Failed, now).await?;
                Err(Refusal::PaymentDeclined.into())
            }
            // The row stays in state started: a repeated call or the background job resolves the doubt.
            Err(_) => Err(Refusal::Busy.into()),
        }
    }

    /// Returns the purpose of an order's payment. Only gateways over HTTP show the title.
    async fn bill(&self, order: &Order) -> Result<Bill, Failure> {
        let title = match order.payment {
            PaymentMode::Webhook => {
                let voucher = self.context.storage.catalogue.vouchers.get(order.voucher).await?;
                voucher.map(|voucher| voucher.text.title).unwrap_or_default()
            }
            PaymentMode::None | PaymentMode::Sandbox | PaymentMode::Counter => String::new(),
        };
        Ok(Bill::of(order, title))
    }

    /// Refunds the payment of a refunding order. Returns the order as refunded, or still refunding if the
    /// gateway is unreachable: the retry queue and the background job retry.
    pub(in crate::mall) async fn refund(&self, order: Order, now: Timestamp) -> Result<Order, Failure> {
        if let Some(retries) = self.retries.as_ref().filter(|_| order.payment == PaymentMode::Webhook) {
            match retries.submit(refunds::KIND, Refunds::submission(order.id)).await {
                Ok(FirstTry::Done(_) | FirstTry::Continues) => {
                    return Ok(self.context.storage.selling.orders.get(order.id).await?.unwrap_or(order));
                }
                Ok(FirstTry::Retries(_) | FirstTry::Waits) => return Ok(order),
                // The queue did not run the refund: an earlier one waits or has failed for good, or the queue
                // is full or away.
                Ok(FirstTry::Failed(_) | FirstTry::Repeat { .. } | FirstTry::Full) | Err(_) => {}
            }
        }
        self.refund_now(order, now).await
    }

    /// Refunds like [`refund`](Self::refund), without the retry queue.
    async fn refund_now(&self, order: Order, now: Timestamp) -> Result<Order, Failure> {
        let storage = &self.context.storage;
        // An imported order: orders created by this mall without payment never reach the refunding state.
        if order.payment == PaymentMode::None {
            return self.refunds.finish(order.id, now).await;
        }
        let Some(payment) = self.refunds.captured(order.id).await? else {
            // Another call may have finished the refund meanwhile.
            return match storage.selling.orders.get(order.id).await? {
                Some(now) if now.status == OrderStatus::Refunded => Ok(now),
                _ => Err(Failure::Bug(format!("order {} is paid without a captured payment", order.id))),
            };
        };
        if self.gateway.refund(&payment).await.is_err() {
            return Ok(order);
        }
        self.refunds.finish(order.id, now).await
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

    /// Marks the order as paid after a capture; with a drawer, in cash. Refunds the money if the order cannot
    /// be paid any more.
    async fn captured(
        &self,
        payment: &Payment,
        drawer: Option<&CashDrawer>,
        now: Timestamp,
    ) -> Result<PaidOrder, Failure> {
        let storage = &self.context.storage;
        let pay = Transition::Pay(payment.id);
        let stepped = cash_steps::step(&self.context, payment.order, pay, drawer, now).await;
        if let Err(Failure::Refused(_)) = &stepped {
            // Cash that the till does not take: the buyer keeps the money.
            self.return_money(payment, now).await?;
        }
        match stepped? {
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
        if matches!(state, Some(PaymentState::Captured | PaymentState::Refunded | PaymentState::Reversed)) {
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
                    self.refund_now(order, now).await.map(drop)
                }
                Some(order) if order.status != OrderStatus::Cancelled => Ok(()),
                _ => Ok(self.return_money(row, now).await?),
            };
        }
        // Closed, not queried: a charge may still be in flight, and its money would belong to no order. Not
        // so while a buyer is expected to pay at the gateway.
        let response = match self.awaits_buyer(row, now).await? {
            true => self.gateway.query(row).await,
            false => self.gateway.close(row).await,
        };
        self.take_result(row, response, now).await
    }

    /// Records what the gateway says of a started payment. Without a result the row stays unchanged.
    async fn take_result(
        &self,
        row: &Payment,
        response: Result<GatewayState, GatewayError>,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let state = match response {
            Ok(GatewayState::Pending) => return Ok(()),
            Ok(GatewayState::Captured) => {
                return match self.captured(row, None, now).await {
                    Ok(_) | Err(Failure::Refused(_)) => Ok(()),
                    Err(error) => Err(error),
                };
            }
            Ok(GatewayState::Refunded) => PaymentState::Refunded,
            Ok(GatewayState::Declined) => PaymentState::Failed,
            Err(_) => return Ok(()),
        };
        self.context.storage.selling.payments.settle(row.id, state, now).await?;
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
