//! Money for orders: paying, giving back, and finishing what was left half-way.
//!
//! Two systems take part that share no transaction: the record and the gateway. The record decides. A row says durably
//! that a payment was started before the gateway hears of it, so no money is ever taken that the mall does not know to
//! look for; and the order's status moves by one compare-and-set together with the row, so of payment and expiry exactly
//! one wins. What the gateway took for an order that lost goes back.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{
    Errand, Order, OrderStatus, Payment, PaymentId, PaymentMode, PaymentState, Step, Stepped, StoreError,
    Timestamp,
};
use parking_lot::Mutex;

use super::payments::{AtGateway, Payments, Unreachable};
use super::sparse_log::SparseLog;
use super::{Context, Failure, Refusal};

/// How long the gateway is waited for: a call to the mall answers within 1.5 s.
const PATIENCE: Duration = Duration::from_millis(800);
/// How old a started payment is when the gateway is asked about it: by then, whoever started it has given up.
const LEFT_ALONE: Duration = Duration::from_secs(30);
/// Payments looked at in one go, all at once.
const AT_ONCE: u32 = 32;

/// Pays and gives back. Cheap to clone; clones are one cashier.
#[derive(Clone)]
pub struct Cashier {
    context: Context,
    gateway: Arc<PatientGateway>,
    in_hand: Arc<InHand>,
    stuck: Arc<SparseLog>,
}

impl Cashier {
    /// A cashier of this gateway.
    #[must_use]
    pub fn new(context: Context, gateway: Arc<dyn Payments>) -> Self {
        let gateway = Arc::new(PatientGateway { gateway, silence: SparseLog::default() });
        Self { context, gateway, in_hand: Arc::default(), stuck: Arc::default() }
    }

    /// Pays for an unpaid order. Answers the paid order.
    pub(super) async fn pay(&self, order: &Order, now: Timestamp) -> Result<Order, Failure> {
        let rows = &self.context.storage.payments;
        let payment = rows.start(order.id, order.pay_value, now).await?;
        let _mine = self.in_hand.hold(payment.id);
        match self.gateway.charge(&payment).await {
            Ok(AtGateway::Captured) => self.captured(&payment, now).await,
            Ok(AtGateway::Refunded) => {
                rows.settle(payment.id, PaymentState::Refunded, now).await?;
                self.stands(order).await
            }
            Ok(AtGateway::Declined) => {
                rows.settle(payment.id, PaymentState::Failed, now).await?;
                Err(Refusal::PaymentDeclined.into())
            }
            // The row stays started: a repeat of the call, or the chore, finds out what became of it.
            Err(_) => Err(Refusal::Busy.into()),
        }
    }

    /// Gives back what a refunding order was paid with. Answers the order as it is then: refunded, or still refunding if
    /// the gateway cannot be reached, in which case the chore goes on.
    pub(super) async fn give_back(&self, order: Order, now: Timestamp) -> Result<Order, Failure> {
        let storage = &self.context.storage;
        // An imported one: those that begin here are never refunding.
        if order.payment == PaymentMode::None {
            return self.finish_refund(&order, now).await;
        }
        let rows = storage.payments.of_order(order.id).await?;
        let Some(payment) = rows.iter().find(|row| row.state == PaymentState::Captured) else {
            // Somebody else may have finished it since.
            return match storage.orders.get(order.id).await? {
                Some(now) if now.status == OrderStatus::Refunded => Ok(now),
                _ => Err(Failure::Bug(format!("order {} was paid, and has no captured payment", order.id))),
            };
        };
        if self.gateway.refund(payment).await.is_err() {
            return Ok(order);
        }
        self.finish_refund(&order, now).await
    }

    /// The money is back: the order is refunded, and its unit goes back too.
    async fn finish_refund(&self, order: &Order, now: Timestamp) -> Result<Order, Failure> {
        match self.context.storage.orders.step(order.id, Step::FinishRefund, now).await? {
            Stepped::Done(order) | Stepped::Stands(order) if order.status == OrderStatus::Refunded => {
                closed(&self.context, &order).await?;
                Ok(order)
            }
            Stepped::Done(order) | Stepped::Stands(order) => {
                Err(Refusal::OrderStands(order.status as u8).into())
            }
            Stepped::Unknown => Err(Refusal::NotFound("order").into()),
        }
    }

    /// Looks at payments that were left half-way, and finishes them, until none is left that can be.
    ///
    /// # Errors
    /// [`StoreError`]: the next call goes on.
    pub async fn settle(&self, now: Timestamp) -> Result<(), StoreError> {
        let mut before: Vec<PaymentId> = Vec::new();
        loop {
            let rows = self.context.storage.payments.unsettled(now - LEFT_ALONE, AT_ONCE).await?;
            let ids: Vec<PaymentId> = rows.iter().map(|row| row.id).collect();
            // The same ones again cannot be finished now.
            if ids.is_empty() || ids == before {
                return Ok(());
            }
            before = ids;
            self.finish_all(rows, now).await;
        }
    }

    /// Finishes these, side by side, as far as it goes.
    async fn finish_all(&self, rows: Vec<Payment>, now: Timestamp) {
        let mut tasks = tokio::task::JoinSet::new();
        for row in rows.into_iter().filter(|row| !self.in_hand.has(row.id)) {
            let cashier = self.clone();
            tasks.spawn(async move {
                if let Err(error) = cashier.finish(&row, now).await
                    && let Some(times) = cashier.stuck.again()
                {
                    let (order, payment) = (row.order.get(), row.id.get());
                    tracing::warn!(order, payment, %error, times, "a payment cannot be finished");
                }
            });
        }
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "finishing a payment broke off");
            }
        }
    }

    /// The gateway has the money: the order is paid, or the money goes back.
    async fn captured(&self, payment: &Payment, now: Timestamp) -> Result<Order, Failure> {
        let storage = &self.context.storage;
        match storage.orders.step(payment.order, Step::Pay(payment.id), now).await? {
            Stepped::Done(order) => {
                storage.deadlines.clear(&[order.id]).await?;
                Ok(order)
            }
            Stepped::Stands(order) => {
                self.captured_elsewhere(payment, now).await?;
                if order.status == OrderStatus::Paid {
                    return Ok(order);
                }
                Err(Refusal::OrderStands(order.status as u8).into())
            }
            Stepped::Unknown => {
                self.return_money(payment, now).await?;
                Err(Refusal::NotFound("order").into())
            }
        }
    }

    /// The gateway has the money, and this call did not pay the order with it. Unless another call did so with this very
    /// payment, it goes back.
    async fn captured_elsewhere(&self, payment: &Payment, now: Timestamp) -> Result<(), StoreError> {
        let rows = self.context.storage.payments.of_order(payment.order).await?;
        let state = rows.iter().find(|row| row.id == payment.id).map(|row| row.state);
        if matches!(state, Some(PaymentState::Captured | PaymentState::Refunded)) {
            return Ok(());
        }
        self.return_money(payment, now).await
    }

    /// Gives money back that paid for nothing. If the gateway cannot be reached the row stays as it is, for the chore.
    async fn return_money(&self, payment: &Payment, now: Timestamp) -> Result<(), StoreError> {
        if self.gateway.refund(payment).await.is_ok() {
            let (order, id) = (payment.order.get(), payment.id.get());
            tracing::info!(order, payment = id, "a payment that came too late was given back");
            self.context.storage.payments.settle(payment.id, PaymentState::Refunded, now).await?;
        }
        Ok(())
    }

    /// Finishes one, unless the gateway cannot be reached: then it stays as it is.
    async fn finish(&self, row: &Payment, now: Timestamp) -> Result<(), Failure> {
        let storage = &self.context.storage;
        if row.state == PaymentState::Captured {
            return match storage.orders.get(row.order).await? {
                Some(order) if order.status == OrderStatus::Refunding => {
                    self.give_back(order, now).await.map(drop)
                }
                Some(order) if order.status != OrderStatus::Cancelled => Ok(()),
                _ => Ok(self.return_money(row, now).await?),
            };
        }
        // Closed rather than asked about: a charge may still be on its way, and its money would be nobody's.
        let state = match self.gateway.close(row).await {
            Ok(AtGateway::Captured) => {
                return match self.captured(row, now).await {
                    Ok(_) | Err(Failure::Refused(_)) => Ok(()),
                    Err(error) => Err(error),
                };
            }
            Ok(AtGateway::Refunded) => PaymentState::Refunded,
            Ok(AtGateway::Declined) => PaymentState::Failed,
            Err(_) => return Ok(()),
        };
        storage.payments.settle(row.id, state, now).await?;
        Ok(())
    }

    /// How an order stands that could not be paid: `Ok` if somebody else has paid it.
    async fn stands(&self, order: &Order) -> Result<Order, Failure> {
        match self.context.storage.orders.get(order.id).await? {
            Some(order) if order.status == OrderStatus::Paid => Ok(order),
            Some(order) => Err(Refusal::OrderStands(order.status as u8).into()),
            None => Err(Refusal::NotFound("order").into()),
        }
    }
}

/// The gateway, waited for no longer than a call can.
struct PatientGateway {
    gateway: Arc<dyn Payments>,
    silence: SparseLog,
}

impl PatientGateway {
    async fn charge(&self, payment: &Payment) -> Result<AtGateway, Unreachable> {
        self.wait(payment, self.gateway.charge(payment.id, payment.amount)).await
    }

    async fn refund(&self, payment: &Payment) -> Result<(), Unreachable> {
        self.wait(payment, self.gateway.refund(payment.id, payment.amount)).await
    }

    async fn close(&self, payment: &Payment) -> Result<AtGateway, Unreachable> {
        self.wait(payment, self.gateway.close(payment.id)).await
    }

    async fn wait<T>(
        &self,
        payment: &Payment,
        call: impl Future<Output = Result<T, Unreachable>>,
    ) -> Result<T, Unreachable> {
        let in_time = tokio::time::timeout(PATIENCE, call).await;
        let too_late = || Err(Unreachable(format!("no answer within {} ms", PATIENCE.as_millis())));
        let answer = in_time.unwrap_or_else(|_| too_late());
        if let Err(error) = &answer
            && let Some(times) = self.silence.again()
        {
            let (order, payment) = (payment.order.get(), payment.id.get());
            tracing::warn!(order, payment, %error, times, "the payment gateway did not answer; it is asked again");
        }
        answer
    }
}

/// After the record has closed an order: its unit and its buyer's right to one go back, its deadline goes.
///
/// Safe to repeat. Whoever stops half-way leaves the unit to the outbox, and the deadline to fall due.
pub(super) async fn closed(context: &Context, order: &Order) -> Result<(), StoreError> {
    let storage = &context.storage;
    // `NotHeld` is an order of an ordinary voucher, or a repeat.
    let _ = storage.sales.release(order.voucher, order.user, order.id).await?;
    storage.deadlines.clear(&[order.id]).await
}

/// After the database has closed several orders at once: as [`closed`] for each, and their outbox entries are done.
pub(super) async fn closed_all(context: &Context, orders: &[Order]) -> Result<(), StoreError> {
    let storage = &context.storage;
    let units: Vec<_> = orders.iter().map(|order| (order.voucher, order.user, order.id)).collect();
    storage.sales.release_all(&units).await?;
    let entries: Vec<_> =
        units.iter().map(|&(voucher, user, order)| Errand::Release { voucher, user, order }).collect();
    storage.outbox.done(&entries).await
}

/// Payments that a call of this mall has in hand: the chore leaves them alone, however far the clock was moved.
#[derive(Debug, Default)]
struct InHand {
    calls: Mutex<HashMap<PaymentId, usize>>,
}

impl InHand {
    fn hold(self: &Arc<Self>, payment: PaymentId) -> Holding {
        *self.calls.lock().entry(payment).or_default() += 1;
        Holding { in_hand: Arc::clone(self), payment }
    }

    fn has(&self, payment: PaymentId) -> bool {
        self.calls.lock().contains_key(&payment)
    }
}

struct Holding {
    in_hand: Arc<InHand>,
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
