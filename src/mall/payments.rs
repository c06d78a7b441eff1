//! The payment gateway as the mall sees it, and one that plays with imaginary money.

use std::sync::Arc;
use std::time::Duration;

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
    /// The money was taken and given back, or would have to be: nothing is taken by this id any more.
    Refunded,
    /// No money was taken, and none will be.
    Declined,
}

/// A payment gateway.
///
/// - A payment's id is the idempotency key of every call: a repeat changes nothing and answers what the first did.
/// - A call that answers [`Unreachable`] may have taken effect, or may do so later, when nobody waits for it any more.
/// - What was declined, closed or given back is never charged again, by however late a call.
#[async_trait]
pub trait Payments: Send + Sync {
    /// Takes the money. Answers `Captured` or `Declined`; `Refunded` if it was given back before.
    ///
    /// # Errors
    /// [`Unreachable`]: it may have been taken, or may still be.
    async fn charge(&self, payment: PaymentId, amount: Cents) -> Result<AtGateway, Unreachable>;

    /// Gives all of it back. The caller knows that it was taken.
    ///
    /// # Errors
    /// [`Unreachable`]: it may have been given back; call again.
    async fn refund(&self, payment: PaymentId, amount: Cents) -> Result<(), Unreachable>;

    /// Ends a payment of which the caller does not know how it went: if the money was not taken, it never will be.
    /// Answers how it ended.
    ///
    /// # Errors
    /// [`Unreachable`]: call again.
    async fn close(&self, payment: PaymentId) -> Result<AtGateway, Unreachable>;
}

/// How the [`Sandbox`] behaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mood {
    /// Takes every payment.
    #[default]
    Accepts,
    /// Says no to every new payment.
    Declines,
    /// Answers nothing and does nothing.
    Unreachable,
    /// Does what it is asked, and the answer is lost on the way.
    LosesAnswers,
    /// Does what it is asked so much later, in real time, and answers then, whether or not anybody still waits.
    Slow(Duration),
    /// Is asked everything twice, as over a network that repeats itself. The second answer is the one that is heard.
    AnswersTwice,
}

/// A gateway in the mall's own process. Its money is imaginary, and lives and dies with it.
///
/// The mall's rows outlive the sandbox, so what it says after a restart must never leave the books wrong:
/// - A payment it has forgotten is closed as `Declined`: imaginary money that nobody remembers was never taken. A row
///   that was still started then becomes failed, and its order can be paid anew.
/// - A row that says captured was written together with the order's step, so that knowledge is the mall's own. The mall
///   asks for a refund only if it knows of a capture: a refund of a forgotten payment therefore succeeds.
/// - After such a refund the payment is remembered as given back, and a late charge with its id answers so.
///
/// It forgets the oldest when there are very many, which is the same as a restart to them.
#[derive(Debug, Default)]
pub struct Sandbox {
    till: Arc<Mutex<Till>>,
    mood: Mutex<Mood>,
}

/// How often money changed hands: what a repeat must never move.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Moved {
    /// From a buyer.
    pub taken: u64,
    /// Back to one.
    pub given_back: u64,
}

#[derive(Clone, Debug)]
struct Till {
    payments: Recent<PaymentId, AtGateway>,
    moved: Moved,
}

impl Default for Till {
    fn default() -> Self {
        /// Payments remembered at least: some 10 MB.
        const ROOM: usize = 200_000;
        Self { payments: Recent::new(ROOM), moved: Moved::default() }
    }
}

impl Till {
    /// How a payment stands; `fresh` if it is not known yet.
    fn settle(&mut self, payment: PaymentId, fresh: AtGateway) -> AtGateway {
        if let Some(stands) = self.payments.get(&payment) {
            return stands;
        }
        self.payments.insert(payment, fresh);
        self.moved.taken += u64::from(fresh == AtGateway::Captured);
        fresh
    }

    fn give_back(&mut self, payment: PaymentId) {
        self.moved.given_back += u64::from(self.payments.get(&payment) != Some(AtGateway::Refunded));
        self.payments.insert(payment, AtGateway::Refunded);
    }
}

impl Clone for Sandbox {
    /// One of its own, with the same payments and the same mood.
    fn clone(&self) -> Self {
        let till = Arc::new(Mutex::new(self.till.lock().clone()));
        Self { till, mood: Mutex::new(*self.mood.lock()) }
    }
}

impl Sandbox {
    /// Behaves like this from now on.
    pub fn behave(&self, mood: Mood) {
        *self.mood.lock() = mood;
    }

    /// How a payment stands here, whatever the mood; `None` if it has never been heard of, or was forgotten.
    #[must_use]
    pub fn stands(&self, payment: PaymentId) -> Option<AtGateway> {
        self.till.lock().payments.get(&payment)
    }

    /// How often money changed hands.
    #[must_use]
    pub fn moved(&self) -> Moved {
        self.till.lock().moved
    }

    /// Does a call as the mood has it.
    async fn call<T: Send + 'static>(
        &self,
        mood: Mood,
        work: impl Fn(&mut Till) -> T + Send + 'static,
    ) -> Result<T, Unreachable> {
        let lost = || Unreachable("the sandbox was told to be".to_owned());
        match mood {
            Mood::Accepts | Mood::Declines => Ok(work(&mut self.till.lock())),
            Mood::Unreachable => Err(lost()),
            Mood::LosesAnswers => {
                work(&mut self.till.lock());
                Err(lost())
            }
            Mood::Slow(span) => {
                let till = Arc::clone(&self.till);
                // A task of its own: a caller that gives up calls nothing back.
                let late = tokio::spawn(async move {
                    tokio::time::sleep(span).await;
                    work(&mut till.lock())
                });
                late.await.map_err(|_| lost())
            }
            Mood::AnswersTwice => {
                let mut till = self.till.lock();
                work(&mut till);
                Ok(work(&mut till))
            }
        }
    }
}

#[async_trait]
impl Payments for Sandbox {
    async fn charge(&self, payment: PaymentId, _amount: Cents) -> Result<AtGateway, Unreachable> {
        let mood = *self.mood.lock();
        let fresh = if mood == Mood::Declines { AtGateway::Declined } else { AtGateway::Captured };
        self.call(mood, move |till| till.settle(payment, fresh)).await
    }

    async fn refund(&self, payment: PaymentId, _amount: Cents) -> Result<(), Unreachable> {
        let mood = *self.mood.lock();
        self.call(mood, move |till| till.give_back(payment)).await
    }

    async fn close(&self, payment: PaymentId) -> Result<AtGateway, Unreachable> {
        let mood = *self.mood.lock();
        self.call(mood, move |till| till.settle(payment, AtGateway::Declined)).await
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
        assert_eq!(sandbox.charge(ONE, PRICE).await, Ok(AtGateway::Declined));
        sandbox.behave(Mood::Accepts);
        assert_eq!(sandbox.charge(ONE, PRICE).await, Ok(AtGateway::Declined));
        assert_eq!(sandbox.charge(TWO, PRICE).await, Ok(AtGateway::Captured));
        sandbox.behave(Mood::AnswersTwice);
        assert_eq!(sandbox.charge(TWO, PRICE).await, Ok(AtGateway::Captured));
        assert_eq!(sandbox.moved(), Moved { taken: 1, given_back: 0 });
        assert_eq!(sandbox.refund(TWO, PRICE).await, Ok(()));
        assert_eq!(sandbox.moved(), Moved { taken: 1, given_back: 1 });
    }

    #[tokio::test]
    async fn a_lost_answer_took_effect_and_an_unreachable_gateway_did_nothing() {
        let sandbox = Sandbox::default();
        sandbox.behave(Mood::Unreachable);
        assert!(sandbox.charge(ONE, PRICE).await.is_err());
        assert_eq!(sandbox.stands(ONE), None);
        sandbox.behave(Mood::LosesAnswers);
        assert!(sandbox.charge(ONE, PRICE).await.is_err());
        assert_eq!(sandbox.stands(ONE), Some(AtGateway::Captured));
    }

    #[tokio::test]
    async fn a_slow_call_takes_effect_though_nobody_waits() {
        let sandbox = Sandbox::default();
        sandbox.behave(Mood::Slow(Duration::from_millis(30)));
        let given_up = tokio::time::timeout(Duration::ZERO, sandbox.charge(ONE, PRICE)).await;
        assert!(given_up.is_err() && sandbox.stands(ONE).is_none());
        assert_eq!(sandbox.charge(TWO, PRICE).await, Ok(AtGateway::Captured));
        assert_eq!(sandbox.stands(ONE), Some(AtGateway::Captured));
    }

    #[tokio::test]
    async fn what_was_closed_or_given_back_is_never_charged_again_even_after_a_restart() {
        let restarted = Sandbox::default();
        assert_eq!(restarted.refund(ONE, PRICE).await, Ok(()));
        assert_eq!(restarted.charge(ONE, PRICE).await, Ok(AtGateway::Refunded));
        assert_eq!(restarted.close(ONE).await, Ok(AtGateway::Refunded));
        assert_eq!(restarted.close(TWO).await, Ok(AtGateway::Declined));
        assert_eq!(restarted.charge(TWO, PRICE).await, Ok(AtGateway::Declined));
        assert_eq!(restarted.moved().taken, 0);
    }
}
