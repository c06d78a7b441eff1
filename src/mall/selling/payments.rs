//! The payment gateway port, and a sandbox gateway with imaginary money.
//!
//! Reasons and figures: `src/decisions/0007-payments.md`.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{Cents, PaymentId};
use parking_lot::Mutex;

use crate::mall::base::recent::Recent;

/// The gateway did not respond: the call is in doubt.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("payment gateway unreachable: {0}")]
pub struct GatewayError(pub String);

/// State of a payment at the gateway.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GatewayState {
    /// The buyer has yet to pay, on a page of the gateway.
    Pending,
    /// Money was taken from the buyer.
    Captured,
    /// Money was taken and refunded, or would have to be. The payment id can never be charged again.
    Refunded,
    /// No money was taken, and none ever will be.
    Declined,
}

/// A payment gateway that captures or declines in the call itself.
///
/// - The payment's id is the idempotency key of every call: a repeat changes nothing and returns the first
///   result.
/// - A call that fails with [`GatewayError`] is in doubt: the effect may have happened, or may still happen
///   after every caller has given up.
/// - A declined, closed or refunded payment is never charged again, however late a call arrives.
#[async_trait]
pub trait Payments: Send + Sync {
    /// Charges the amount. Returns `Captured` or `Declined`, or `Refunded` for a payment already refunded;
    /// never `Pending`.
    ///
    /// # Errors
    /// [`GatewayError`]: the charge is in doubt and may still happen.
    async fn charge(&self, payment: PaymentId, amount: Cents) -> Result<GatewayState, GatewayError>;

    /// Refunds the whole amount. The caller knows that the payment was captured.
    ///
    /// # Errors
    /// [`GatewayError`]: the refund is in doubt; call again.
    async fn refund(&self, payment: PaymentId, amount: Cents) -> Result<(), GatewayError>;

    /// Closes a payment in doubt: money not yet taken can never be taken afterwards. Returns the final
    /// state, never `Pending`.
    ///
    /// # Errors
    /// [`GatewayError`]: call again.
    async fn close(&self, payment: PaymentId) -> Result<GatewayState, GatewayError>;
}

/// Simulated behaviour of the [`Sandbox`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mood {
    /// Captures every payment.
    #[default]
    Accepts,
    /// Declines every new payment.
    Declines,
    /// Does nothing and fails every call.
    Unreachable,
    /// Takes effect, but the response is lost.
    LosesResponses,
    /// Takes effect and responds after this delay in real time, whether or not the caller still waits.
    Slow(Duration),
    /// Executes every call twice, like a network that duplicates requests, and returns the second response.
    DuplicatesRequests,
}

/// An in-process gateway. Its imaginary money exists only as long as the process.
///
/// The mall's rows outlive the sandbox, so calls after a restart must leave the ledger correct:
/// - Closing a forgotten payment returns `Declined`: forgotten imaginary money was never taken. A row still
///   in state started becomes failed, and the order can be paid anew.
/// - A captured row was written together with the order's step, so the mall itself knows of the capture. The
///   mall requests a refund only after a known capture: refunding a forgotten payment therefore succeeds.
/// - After such a refund the payment is remembered as refunded, and a late charge of its id returns
///   `Refunded`.
///
/// The sandbox forgets the oldest payments when there are very many. For them the effect equals a restart.
#[derive(Debug, Default)]
pub struct Sandbox {
    till: Arc<Mutex<SandboxState>>,
    mood: Mutex<Mood>,
}

/// Number of money transfers. A repeated call must not change the counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Transfers {
    /// Captures from buyers.
    pub taken: u64,
    /// Refunds to buyers.
    pub given_back: u64,
}

#[derive(Clone, Debug)]
struct SandboxState {
    payments: Recent<PaymentId, GatewayState>,
    moved: Transfers,
}

impl Default for SandboxState {
    fn default() -> Self {
        /// Minimum number of payments remembered: some 10 MB.
        const ROOM: usize = 200_000;
        Self { payments: Recent::new(ROOM), moved: Transfers::default() }
    }
}

impl SandboxState {
    /// Returns the state of a payment; an unknown payment gets `fresh`.
    fn settle(&mut self, payment: PaymentId, fresh: GatewayState) -> GatewayState {
        if let Some(stands) = self.payments.get(&payment) {
            return stands;
        }
        self.payments.insert(payment, fresh);
        self.moved.taken += u64::from(fresh == GatewayState::Captured);
        fresh
    }

    fn give_back(&mut self, payment: PaymentId) {
        self.moved.given_back += u64::from(self.payments.get(&payment) != Some(GatewayState::Refunded));
        self.payments.insert(payment, GatewayState::Refunded);
    }
}

impl Clone for Sandbox {
    /// Returns an independent sandbox with the same payments and behaviour.
    fn clone(&self) -> Self {
        let till = Arc::new(Mutex::new(self.till.lock().clone()));
        Self { till, mood: Mutex::new(*self.mood.lock()) }
    }
}

impl Sandbox {
    /// Sets the behaviour of future calls.
    pub fn behave(&self, mood: Mood) {
        *self.mood.lock() = mood;
    }

    /// Returns the state of a payment, regardless of the behaviour. `None` for an unknown or forgotten
    /// payment.
    #[must_use]
    pub fn stands(&self, payment: PaymentId) -> Option<GatewayState> {
        self.till.lock().payments.get(&payment)
    }

    /// Returns the number of money transfers so far.
    #[must_use]
    pub fn moved(&self) -> Transfers {
        self.till.lock().moved
    }

    /// Executes a call according to the behaviour.
    async fn call<T: Send + 'static>(
        &self,
        mood: Mood,
        work: impl Fn(&mut SandboxState) -> T + Send + 'static,
    ) -> Result<T, GatewayError> {
        let lost = || GatewayError("the sandbox was told to be".to_owned());
        match mood {
            Mood::Accepts | Mood::Declines => Ok(work(&mut self.till.lock())),
            Mood::Unreachable => Err(lost()),
            Mood::LosesResponses => {
                work(&mut self.till.lock());
                Err(lost())
            }
            Mood::Slow(span) => {
                let till = Arc::clone(&self.till);
                // A separate task: a caller that gives up does not cancel the effect.
                let late = tokio::spawn(async move {
                    tokio::time::sleep(span).await;
                    work(&mut till.lock())
                });
                late.await.map_err(|_| lost())
            }
            Mood::DuplicatesRequests => {
                let mut till = self.till.lock();
                work(&mut till);
                Ok(work(&mut till))
            }
        }
    }
}

#[async_trait]
impl Payments for Sandbox {
    async fn charge(&self, payment: PaymentId, _amount: Cents) -> Result<GatewayState, GatewayError> {
        let mood = *self.mood.lock();
        let fresh = if mood == Mood::Declines { GatewayState::Declined } else { GatewayState::Captured };
        self.call(mood, move |till| till.settle(payment, fresh)).await
    }

    async fn refund(&self, payment: PaymentId, _amount: Cents) -> Result<(), GatewayError> {
        let mood = *self.mood.lock();
        self.call(mood, move |till| till.give_back(payment)).await
    }

    async fn close(&self, payment: PaymentId) -> Result<GatewayState, GatewayError> {
        let mood = *self.mood.lock();
        self.call(mood, move |till| till.settle(payment, GatewayState::Declined)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: PaymentId = PaymentId::new(1);
    const TWO: PaymentId = PaymentId::new(2);
    const PRICE: Cents = Cents::new(4_750);

    #[tokio::test]
    async fn a_repeated_charge_answers_what_the_first_did() {
        let sandbox = Sandbox::default();
        assert_eq!(sandbox.stands(ONE), None);
        sandbox.behave(Mood::Declines);
        assert_eq!(sandbox.charge(ONE, PRICE).await, Ok(GatewayState::Declined));
        sandbox.behave(Mood::Accepts);
        assert_eq!(sandbox.charge(ONE, PRICE).await, Ok(GatewayState::Declined));
        assert_eq!(sandbox.charge(TWO, PRICE).await, Ok(GatewayState::Captured));
        sandbox.behave(Mood::DuplicatesRequests);
        assert_eq!(sandbox.charge(TWO, PRICE).await, Ok(GatewayState::Captured));
        assert_eq!(sandbox.moved(), Transfers { taken: 1, given_back: 0 });
        assert_eq!(sandbox.refund(TWO, PRICE).await, Ok(()));
        assert_eq!(sandbox.moved(), Transfers { taken: 1, given_back: 1 });
    }

    #[tokio::test]
    async fn a_lost_answer_took_effect_and_an_unreachable_gateway_did_nothing() {
        let sandbox = Sandbox::default();
        sandbox.behave(Mood::Unreachable);
        assert!(sandbox.charge(ONE, PRICE).await.is_err());
        assert_eq!(sandbox.stands(ONE), None);
        sandbox.behave(Mood::LosesResponses);
        assert!(sandbox.charge(ONE, PRICE).await.is_err());
        assert_eq!(sandbox.stands(ONE), Some(GatewayState::Captured));
    }

    #[tokio::test]
    async fn a_slow_call_takes_effect_though_nobody_waits() {
        let sandbox = Sandbox::default();
        sandbox.behave(Mood::Slow(Duration::from_millis(30)));
        let given_up = tokio::time::timeout(Duration::ZERO, sandbox.charge(ONE, PRICE)).await;
        assert!(given_up.is_err() && sandbox.stands(ONE).is_none());
        assert_eq!(sandbox.charge(TWO, PRICE).await, Ok(GatewayState::Captured));
        assert_eq!(sandbox.stands(ONE), Some(GatewayState::Captured));
    }

    #[tokio::test]
    async fn what_was_closed_or_given_back_is_never_charged_again_even_after_a_restart() {
        let restarted = Sandbox::default();
        assert_eq!(restarted.refund(ONE, PRICE).await, Ok(()));
        assert_eq!(restarted.charge(ONE, PRICE).await, Ok(GatewayState::Refunded));
        assert_eq!(restarted.close(ONE).await, Ok(GatewayState::Refunded));
        assert_eq!(restarted.close(TWO).await, Ok(GatewayState::Declined));
        assert_eq!(restarted.charge(TWO, PRICE).await, Ok(GatewayState::Declined));
        assert_eq!(restarted.moved().taken, 0);
    }
}
