//! Refunds in two segments of the retry queue: money back at the gateway, then the order.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{
    Order, OrderId, OrderStatus, Payment, PaymentState, RetryLimits, StoreError, Timestamp, Transition,
    TransitionOutcome,
};

use super::closed_orders::release_closed;
use super::timed_gateway::TimedGateway;
use crate::mall::base::retry::{Attempt, RetryPolicy, Segment, SegmentOutcome, Submission, Work};
use crate::mall::base::{Context, Failure, Refusal};

/// The kind of work of a refund.
pub(super) const KIND: &str = "refund";

/// Refunds the captured payment of a refunding order. Each step is idempotent.
#[derive(Clone)]
pub(super) struct Refunds {
    pub(super) context: Context,
    pub(super) gateway: Arc<TimedGateway>,
}

impl Refunds {
    /// Returns the work for the retry queue.
    pub(super) fn work(&self) -> Work {
        let policy = RetryPolicy {
            age_max: Duration::from_secs(7 * 24 * 3600),
            limits: RetryLimits { tasks: 20_000, bytes: 1 << 20 },
            concurrency: 16,
            ..RetryPolicy::default()
        };
        Work::new(KIND, vec![Arc::new(AtGateway(self.clone())), Arc::new(Finish(self.clone()))], policy)
    }

    /// Returns the task of an order's refund. An order is refunded once.
    pub(super) fn submission(order: OrderId) -> Submission {
        let text = order.to_string();
        Submission { payload: text.as_bytes().into(), key: text, group: None }
    }

    /// Returns the captured payment of an order.
    pub(super) async fn captured(&self, order: OrderId) -> Result<Option<Payment>, StoreError> {
        let rows = self.context.storage.selling.payments.of_order(order).await?;
        Ok(rows.into_iter().find(|row| row.state == PaymentState::Captured))
    }

    /// Marks the order as refunded after the money has gone back, and releases the unit.
    pub(super) async fn finish(&self, order: OrderId, now: Timestamp) -> Result<Order, Failure> {
        match self.context.storage.selling.orders.step(order, Transition::FinishRefund, now).await? {
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

    /// Returns the money of a refunding order. An order refunded meanwhile needs nothing.
    async fn return_money(&self, order: OrderId) -> Result<(), SegmentOutcome> {
        let failed = |error: StoreError| SegmentOutcome::Failed(error.to_string());
        let payment = self.captured(order).await.map_err(failed)?;
        let status = self.context.storage.selling.orders.get(order).await.map_err(failed)?;
        match (status.map(|order| order.status), payment) {
            (Some(OrderStatus::Refunded), _) => Ok(()),
            (Some(OrderStatus::Refunding), Some(payment)) => {
                let refunded = self.gateway.refund(&payment).await;
                refunded.map_err(|error| SegmentOutcome::Failed(error.to_string()))
            }
            (Some(OrderStatus::Refunding), None) => {
                Err(SegmentOutcome::Hopeless("the order is paid without a captured payment".to_owned()))
            }
            (Some(_), _) => Err(SegmentOutcome::Hopeless("the order is not being refunded".to_owned())),
            (None, _) => Err(SegmentOutcome::Hopeless("the order does not exist".to_owned())),
        }
    }
}

fn order_of(attempt: &Attempt) -> Result<OrderId, SegmentOutcome> {
    let text = str::from_utf8(&attempt.payload).ok();
    let order = text.and_then(|text| text.parse().ok()).map(OrderId::new);
    order.ok_or_else(|| SegmentOutcome::Hopeless("the payload is no order id".to_owned()))
}

struct AtGateway(Refunds);

#[async_trait]
impl Segment for AtGateway {
    fn name(&self) -> &'static str {
        "refund at the gateway"
    }

    async fn run(&self, attempt: &Attempt) -> SegmentOutcome {
        let order = match order_of(attempt) {
            Ok(order) => order,
            Err(outcome) => return outcome,
        };
        self.0.return_money(order).await.err().unwrap_or(SegmentOutcome::Passed(Vec::new()))
    }
}

struct Finish(Refunds);

#[async_trait]
impl Segment for Finish {
    fn name(&self) -> &'static str {
        "finish the refund"
    }

    async fn run(&self, attempt: &Attempt) -> SegmentOutcome {
        let order = match order_of(attempt) {
            Ok(order) => order,
            Err(outcome) => return outcome,
        };
        match self.0.finish(order, self.0.context.now()).await {
            Ok(_) => SegmentOutcome::Passed(Vec::new()),
            Err(Failure::Refused(refusal)) => SegmentOutcome::Hopeless(format!("{refusal:?}")),
            Err(Failure::Store(error)) => SegmentOutcome::Failed(error.to_string()),
            Err(Failure::Bug(error)) => SegmentOutcome::Failed(error),
        }
    }
}
