//! Credits of users: earned by sign-ins and orders, taken back by refunds; and the level set by an operator.

use async_trait::async_trait;

use crate::{Cents, Day, OrderId, StoreError, Timestamp, UserId};

/// Credits for a sign-in on its day. A day that is made up earns none.
pub const SIGN_IN_CREDITS: i64 = 5;

/// Cents that earn one credit.
const CENTS_PER_CREDIT: i64 = 100;

/// Cause of a line in a user's ledger of credits. A cause has at most one line per user.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CreditCause {
    /// Credits brought along from elsewhere: by an import, or by a mall that kept no ledger yet.
    Imported,
    /// A sign-in on this day.
    SignIn(Day),
    /// This order was paid, or used without a payment.
    Order(OrderId),
    /// This order was refunded: its credits are taken back.
    Refund(OrderId),
}

impl CreditCause {
    /// Returns the stored numbers: the kind, and the day or order.
    #[must_use]
    pub fn in_row(self) -> (i64, u64) {
        match self {
            Self::Imported => (0, 0),
            Self::SignIn(day) => (1, day.digits()),
            Self::Order(order) => (2, order.get()),
            Self::Refund(order) => (3, order.get()),
        }
    }

    /// Returns the cause of stored numbers; `None` for numbers that no mall writes.
    #[must_use]
    pub fn from_row(kind: i64, reference: u64) -> Option<Self> {
        match kind {
            0 => (reference == 0).then_some(Self::Imported),
            1 => Day::from_digits(reference).map(Self::SignIn),
            2 => Some(Self::Order(OrderId::new(reference))),
            3 => Some(Self::Refund(OrderId::new(reference))),
            _ => None,
        }
    }
}

/// A line in a user's ledger of credits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CreditLine {
    /// Number of the line among the user's lines, from 1 without gaps.
    pub number: u64,
    /// Cause of the line.
    pub cause: CreditCause,
    /// Credits earned; negative for credits taken back.
    pub amount: i64,
    /// The user's credits after the line.
    pub sum: u64,
    /// Time of the line.
    pub at: Timestamp,
}

/// Outcome of [`Credits::set_level`].
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetLevelOutcome {
    /// The level is stored.
    Done {
        /// The level set before.
        before: Option<u8>,
    },
    /// The user does not exist, or the account is deleted. Nothing changed.
    NoSuchUser,
}

/// The credits of an order with this price: one per whole yuan, and at least one.
#[must_use]
pub fn credits_of_order(pay_value: Cents) -> i64 {
    (pay_value.get() / CENTS_PER_CREDIT).max(1)
}

/// The ledger of credits, in the database: append-only, with each user's sum stored beside the lines.
///
/// - A line and the new sum ([`Profile::credits`](crate::Profile::credits)) are one transaction, together
///   with the sign-in ([`SignIns::sign`](crate::SignIns::sign)) or the order's transition
///   ([`Orders::step`](crate::Orders::step)) that causes the line.
/// - A cause counts once per user, however often a call is repeated.
/// - An order earns [`credits_of_order`] when paid; an order without a payment, or paid before the mall kept
///   a ledger, when used. A refund takes exactly the order's credits back.
/// - Lines of a deleted account stay. A user who never existed earns nothing.
#[async_trait]
pub trait Credits: Send + Sync {
    /// Returns up to `max` lines of a user with a number below `below`, newest first; `None` begins with the
    /// newest line.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn lines(&self, user: UserId, below: Option<u64>, max: u32) -> Result<Vec<CreditLine>, StoreError>;

    /// Adds credits that a user brings along ([`CreditCause::Imported`]), once per user. Returns whether they
    /// were added: `false` for a repeat, whatever its amount, and for an unknown user.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn bring_along(&self, user: UserId, amount: u32, now: Timestamp) -> Result<bool, StoreError>;

    /// Sets the level of a user, or removes the level set before. The level of an import stays stored
    /// beneath, and holds again after a removal.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn set_level(
        &self,
        user: UserId,
        level: Option<u8>,
        now: Timestamp,
    ) -> Result<SetLevelOutcome, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_earns_a_credit_per_whole_yuan_and_one_at_least() {
        for (cents, credits) in [(0, 1), (1, 1), (99, 1), (100, 1), (199, 1), (200, 2), (4_750, 47)] {
            assert_eq!(credits_of_order(Cents::new(cents)), credits, "{cents}");
        }
    }

    #[test]
    fn a_cause_is_read_as_it_was_written_and_unknown_numbers_are_none() {
        let day = Day::parse("2026-11-21").unwrap();
        let order = OrderId::new(u64::MAX);
        for cause in [
            CreditCause::Imported,
            CreditCause::SignIn(day),
            CreditCause::Order(order),
            CreditCause::Refund(order),
        ] {
            let (kind, reference) = cause.in_row();
            assert_eq!(CreditCause::from_row(kind, reference), Some(cause));
        }
        assert_eq!(CreditCause::SignIn(day).in_row(), (1, 20_261_121));
        for (kind, reference) in [(-1, 0), (0, 1), (1, 0), (1, 20_261_131), (4, 0)] {
            assert_eq!(CreditCause::from_row(kind, reference), None, "{kind} {reference}");
        }
    }
}
