//! Callbacks of the gateway over HTTP.
//!
//! A callback is signed, but may be old, repeated, or overtaken by another: what it says counts only as far
//! as the rows allow. Success is reported once the effect is durable, so that the gateway repeats otherwise.

use mallbox_storage::{
    OrderStatus, Payment, PaymentMode, PaymentState, StoreError, Timestamp, Transition, TransitionOutcome,
};

use super::Cashier;
use crate::mall::base::detached::detached;
use crate::mall::base::{CallbackError, Failure, Refusal};
use crate::mall::selling::http_gateway::{Notice, NoticeState, SignedCall};

/// Effect of a callback.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallbackOutcome {
    /// The rows say so now, or said so before.
    Recorded,
    /// Money of a paid or used order was taken back against the mall's will.
    Reversed,
}

impl Cashier {
    /// Takes a callback of the gateway. Idempotent: a repeat changes nothing.
    ///
    /// # Errors
    /// [`Refusal::Callback`] with the cause; nothing changed, except after [`CallbackError::NotDurable`]: the
    /// gateway has to repeat the call, as after [`Failure::Store`].
    pub async fn take_callback(
        &self,
        call: SignedCall<'_>,
        now: Timestamp,
    ) -> Result<CallbackOutcome, Failure> {
        let refused = |why| Failure::Refused(Refusal::Callback(why));
        // Without a gateway no signature is right.
        if !self.gateway.hosted().is_some_and(|gateway| gateway.has_signed(&call)) {
            return Err(refused(CallbackError::Signature));
        }
        let notice = Notice::parse(call.body).ok_or(refused(CallbackError::Malformed))?;
        let (order, payment) = notice.names().ok_or(refused(CallbackError::Unknown))?;
        let rows = self.context.storage.selling.payments.of_order(order).await?;
        let row = rows.into_iter().find(|row| row.id == payment && row.gateway == PaymentMode::Webhook);
        let row = row.ok_or(refused(CallbackError::Unknown))?;
        if !notice.is_of(&row) {
            return Err(refused(CallbackError::Differs));
        }
        let cashier = self.clone();
        detached(async move {
            let _mine = cashier.in_hand.hold(row.id);
            cashier.take_notice(&row, notice.state, now).await
        })
        .await
    }

    async fn take_notice(
        &self,
        row: &Payment,
        state: NoticeState,
        now: Timestamp,
    ) -> Result<CallbackOutcome, Failure> {
        match state {
            NoticeState::Pending | NoticeState::Refunding => {}
            NoticeState::Declined => {
                self.context.storage.selling.payments.settle(row.id, PaymentState::Failed, now).await?;
            }
            NoticeState::Captured => self.take_capture(row, now).await?,
            NoticeState::Refunded | NoticeState::Reversed => return self.take_return(row, now).await,
        }
        Ok(CallbackOutcome::Recorded)
    }

    /// Pays the order with the money, or returns the money if the order cannot be paid any more.
    async fn take_capture(&self, row: &Payment, now: Timestamp) -> Result<(), Failure> {
        if !matches!(row.state, PaymentState::Started | PaymentState::Failed) {
            return Ok(());
        }
        match self.captured(row, None, now).await {
            Ok(_) | Err(Failure::Refused(_)) => {}
            // The order has another open payment: a gateway captured a payment that it had declined.
            Err(Failure::Store(StoreError::Refused { .. })) => self.return_money(row, now).await?,
            Err(error) => return Err(error),
        }
        match self.state_of(row).await? {
            Some(PaymentState::Started | PaymentState::Failed) | None => {
                Err(Refusal::Callback(CallbackError::NotDurable).into())
            }
            Some(_) => Ok(()),
        }
    }

    /// Records money that the gateway returned, at the mall's request or against its will.
    async fn take_return(&self, row: &Payment, now: Timestamp) -> Result<CallbackOutcome, Failure> {
        /// An order may be used, or its refund begun, between the read and the step.
        const ATTEMPTS: usize = 3;
        for _ in 0..ATTEMPTS {
            if let Some(outcome) = self.try_return(row, now).await? {
                return Ok(outcome);
            }
        }
        Err(Refusal::Callback(CallbackError::NotDurable).into())
    }

    /// Returns `None` if the order changed meanwhile.
    async fn try_return(&self, row: &Payment, now: Timestamp) -> Result<Option<CallbackOutcome>, Failure> {
        let storage = &self.context.storage;
        let rows = &storage.selling.payments;
        match self.state_of(row).await? {
            Some(PaymentState::Captured) => {}
            Some(PaymentState::Started | PaymentState::Failed) => {
                rows.settle(row.id, PaymentState::Refunded, now).await?;
                return Ok(Some(CallbackOutcome::Recorded));
            }
            Some(PaymentState::Refunded | PaymentState::Reversed) | None => {
                return Ok(Some(CallbackOutcome::Recorded));
            }
        }
        let order = storage.selling.orders.get(row.order).await?.ok_or(Refusal::NotFound("order"))?;
        match order.status {
            OrderStatus::Paid => {
                let step = storage.selling.orders.step(order.id, Transition::StartRefund, now).await?;
                let TransitionOutcome::Done(order) = step else { return Ok(None) };
                log_reversal(row, "refunded the order: the gateway returned its money");
                self.refunds.finish(order.id, now).await?;
                Ok(Some(CallbackOutcome::Reversed))
            }
            OrderStatus::Refunding => {
                self.refunds.finish(order.id, now).await?;
                Ok(Some(CallbackOutcome::Recorded))
            }
            OrderStatus::Used => {
                let is_reversed = rows.settle(row.id, PaymentState::Reversed, now).await?;
                log_reversal(row, "the gateway returned the money of a used order");
                Ok(is_reversed.then_some(CallbackOutcome::Reversed))
            }
            OrderStatus::Pending | OrderStatus::Unpaid | OrderStatus::Cancelled | OrderStatus::Refunded => {
                let is_settled = rows.settle(row.id, PaymentState::Refunded, now).await?;
                Ok(is_settled.then_some(CallbackOutcome::Recorded))
            }
        }
    }

    async fn state_of(&self, row: &Payment) -> Result<Option<PaymentState>, StoreError> {
        let rows = self.context.storage.selling.payments.of_order(row.order).await?;
        Ok(rows.into_iter().find(|now| now.id == row.id).map(|now| now.state))
    }
}

fn log_reversal(row: &Payment, message: &'static str) {
    let (order, payment, amount) = (row.order.get(), row.id.get(), row.amount.get());
    tracing::warn!(order, payment, amount, "{message}");
}
