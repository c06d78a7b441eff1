//! The payment gateway as the mall sees it, and one that plays with imaginary money.

use std::sync::atomic::{AtomicU8, Ordering};

use async_trait::async_trait;
use mallbox_storage::{Cents, PaymentId};
use parking_lot::Mutex;

use super::recent::Recent;

/// The gateway did not answer: whether the call took effect is open.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("payment gateway unreachable: {0}")]
pub struct Unreachable(pub String);

/// Where a payment stands at the gateway.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtGateway {
    /// The money was taken.
    Captured,
    /// The money was taken and given back.
    Refunded,
    /// The gateway said no.
    Declined,
    /// The gateway holds no money by this id and never will unless it is charged.
    Unknown,
}

/// A payment gateway.
///
/// - A payment's id is the idempotency key of every call: a repeat changes nothing and answers what the first did.
/// - A call that answers [`Unreachable`] may have taken effect; [`status`](Payments::status) tells.
/// - A payment that was given back is never charged again.
#[async_trait]
pub trait Payments: Send + Sync {
    /// Takes the money. Answers `Captured` or `Declined`; `Refunded` if it was given back before.
    ///
    /// # Errors
    /// [`Unreachable`]: it may have been taken.
    async fn charge(&self, payment: PaymentId, amount: Cents) -> Result<AtGateway, Unreachable>;

    /// Gives all of it back. The caller knows that it was taken.
    ///
    /// # Errors
    /// [`Unreachable`]: it may have been given back; call again.
    async fn refund(&self, payment: PaymentId, amount: Cents) -> Result<(), Unreachable>;

    /// Where a payment stands.
    ///
    /// # Errors
    /// [`Unreachable`]: call again.
    async fn status(&self, payment: PaymentId) -> Result<AtGateway, Unreachable>;
}

/// How the [`Sandbox`] behaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Mood {
    /// Takes every payment.
    Accepts = 0,
    /// Says no to every new payment.
    Declines = 1,
    /// Answers nothing and does nothing.
    Unreachable = 2,
    /// Does what it is asked, and the answer is lost on the way.
    LosesAnswers = 3,
}

/// A gateway in the mall's own process. Its money is imaginary, and lives and dies with it.
///
/// The mall's rows outlive the sandbox, so what it says after a restart must never leave the books wrong:
/// - A payment it has forgotten is `Unknown`: imaginary money that nobody remembers was never taken. A row that was
///   still started then becomes failed, and its order can be paid anew.
/// - A row that says captured was written together with the order's step, so that knowledge is the mall's own. The mall
///   asks for a refund only if it knows of a capture: a refund of a forgotten payment therefore succeeds.
/// - After such a refund the payment is remembered as given back, and a late charge with its id answers so.
///
/// It forgets the oldest when there are very many, which is the same as a restart to them.
#[derive(Debug)]
pub struct Sandbox {
    payments: Mutex<Recent<PaymentId, AtGateway>>,
    mood: AtomicU8,
}

impl Default for Sandbox {
    fn default() -> Self {
        /// Payments remembered at least: some 10 MB.
        const ROOM: usize = 200_000;
        Self { payments: Mutex::new(Recent::new(ROOM)), mood: AtomicU8::new(Mood::Accepts as u8) }
    }
}

impl Sandbox {
    /// Behaves like this from now on.
    pub fn behave(&self, mood: Mood) {
        self.mood.store(mood as u8, Ordering::SeqCst);
    }

    fn mood(&self) -> Mood {
        match self.mood.load(Ordering::SeqCst) {
            1 => Mood::Declines,
            2 => Mood::Unreachable,
            3 => Mood::LosesAnswers,
            _ => Mood::Accepts,
        }
    }

    /// Does a call as the mood has it.
    fn call<T>(&self, work: impl FnOnce(&mut Recent<PaymentId, AtGateway>) -> T) -> Result<T, Unreachable> {
        let lost = || Unreachable("the sandbox was told to be".to_owned());
        match self.mood() {
            Mood::Unreachable => Err(lost()),
            Mood::LosesAnswers => {
                work(&mut self.payments.lock());
                Err(lost())
            }
            Mood::Accepts | Mood::Declines => Ok(work(&mut self.payments.lock())),
        }
    }
}

#[async_trait]
impl Payments for Sandbox {
    async fn charge(&self, payment: PaymentId, _amount: Cents) -> Result<AtGateway, Unreachable> {
        let fresh = if self.mood() == Mood::Declines { AtGateway::Declined } else { AtGateway::Captured };
        self.call(|payments| {
            let state = payments.get(&payment).unwrap_or(fresh);
            payments.insert(payment, state);
            state
        })
    }

    async fn refund(&self, payment: PaymentId, _amount: Cents) -> Result<(), Unreachable> {
        self.call(|payments| payments.insert(payment, AtGateway::Refunded))
    }

    async fn status(&self, payment: PaymentId) -> Result<AtGateway, Unreachable> {
        self.call(|payments| payments.get(&payment).unwrap_or(AtGateway::Unknown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: PaymentId = PaymentId::new(1);
    const PRICE: Cents = Cents::new(4_750);

    #[tokio::test]
    async fn a_repeated_charge_answers_what_the_first_did() {
        let sandbox = Sandbox::default();
        assert_eq!(sandbox.status(ONE).await, Ok(AtGateway::Unknown));
        sandbox.behave(Mood::Declines);
        assert_eq!(sandbox.charge(ONE, PRICE).await, Ok(AtGateway::Declined));
        sandbox.behave(Mood::Accepts);
        assert_eq!(sandbox.charge(ONE, PRICE).await, Ok(AtGateway::Declined));
        assert_eq!(sandbox.charge(PaymentId::new(2), PRICE).await, Ok(AtGateway::Captured));
    }

    #[tokio::test]
    async fn a_lost_answer_took_effect_and_an_unreachable_gateway_did_nothing() {
        let sandbox = Sandbox::default();
        sandbox.behave(Mood::Unreachable);
        assert!(sandbox.charge(ONE, PRICE).await.is_err());
        sandbox.behave(Mood::Accepts);
        assert_eq!(sandbox.status(ONE).await, Ok(AtGateway::Unknown));
        sandbox.behave(Mood::LosesAnswers);
        assert!(sandbox.charge(ONE, PRICE).await.is_err());
        sandbox.behave(Mood::Accepts);
        assert_eq!(sandbox.status(ONE).await, Ok(AtGateway::Captured));
    }

    #[tokio::test]
    async fn what_was_given_back_is_never_charged_again_even_after_a_restart() {
        let restarted = Sandbox::default();
        assert_eq!(restarted.refund(ONE, PRICE).await, Ok(()));
        assert_eq!(restarted.charge(ONE, PRICE).await, Ok(AtGateway::Refunded));
    }
}
