//! Flash sales: units, and who holds one.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{OrderId, StoreError, Timestamp, UserId, VoucherId};

/// One person's attempt to buy in a sale.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Claim {
    /// The id the order will have. Unique for ever; a repeat of the same attempt carries the same one.
    pub order: OrderId,
    /// The sale.
    pub voucher: VoucherId,
    /// Who wants to buy.
    pub user: UserId,
    /// When.
    pub at: Timestamp,
}

/// What became of a claim. Each is an answer, so none of them is an `Err`.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClaimAnswer {
    /// One unit is the user's, and that is durable.
    Accepted,
    /// The user holds one already, by this order; who holds several is told of any. Said even when the sale is sold out.
    AlreadyBought(OrderId),
    /// At some instant of the call no unit was left.
    SoldOut,
    /// The sale has not begun.
    NotOpen,
    /// The sale is over.
    Ended,
    /// The operator holds the sale.
    Paused,
    /// No such sale was [`put`](Sales::put).
    Unknown,
}

/// When a sale may be bought in, and how much there is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Terms {
    /// The sale.
    pub voucher: VoucherId,
    /// First instant at which a claim is taken.
    pub begin: Timestamp,
    /// First instant at which none is taken any more.
    pub end: Timestamp,
    /// Whether the operator holds it.
    pub paused: bool,
    /// Units of the whole sale: initial + added. `None` = unlimited.
    pub units: Option<u64>,
}

/// Why a sale takes no claims at some instant, whoever claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Closed {
    /// Before the window.
    NotOpen,
    /// In the window, and the operator has paused the sale.
    Paused,
    /// After the window.
    Ended,
}

impl From<Closed> for ClaimAnswer {
    fn from(closed: Closed) -> Self {
        match closed {
            Closed::NotOpen => Self::NotOpen,
            Closed::Paused => Self::Paused,
            Closed::Ended => Self::Ended,
        }
    }
}

impl Terms {
    /// Returns why the sale is closed at `now`, or `None` while the sale is open. The window takes precedence over a
    /// pause: a sale that is paused before its begin is [`Closed::NotOpen`].
    #[must_use]
    pub fn closed(&self, now: Timestamp) -> Option<Closed> {
        if now >= self.end {
            Some(Closed::Ended)
        } else if now < self.begin {
            Some(Closed::NotOpen)
        } else if self.paused {
            Some(Closed::Paused)
        } else {
            None
        }
    }
}

/// The units of one sale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Units {
    /// In all. `None` = unlimited.
    pub units: Option<u64>,
    /// In somebody's hands.
    pub taken: u64,
}

impl Units {
    /// Still to be had. `None` = unlimited.
    #[must_use]
    pub fn left(&self) -> Option<u64> {
        self.units.map(|units| units.saturating_sub(self.taken))
    }
}

/// What [`Sales::release`] did.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Release {
    /// The unit is back, and the user may buy again.
    Released,
    /// The user does not hold a unit by that order; nothing changed.
    NotHeld,
    /// The unit went at once to the next in the waiting list, by this new order.
    PassedTo(UserId, OrderId),
}

/// What [`Sales::reserve`] did.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reservation {
    /// One unit more is the user's.
    Taken,
    /// The user holds it already, or the sale is not known and has nothing to take from; nothing changed.
    Held,
    /// No unit was left; nothing changed.
    SoldOut,
}

/// Units of flash sales, at most one per user and sale.
///
/// - Invariant: units left + units taken = units put, at every instant and under any interleaving;
///   a unit is granted once, and a user is granted at most one per sale. (Who holds two all the same, because the
///   buyers were lost in the middle of a sale, gives back one at a time.)
/// - [`claim`](Sales::claim) takes one unit, remembers the buyer and appends to the
///   [`OrderLog`](crate::OrderLog) in one atomic step, and answers when that is durable.
///   Dropping the returned future undoes nothing.
/// - `SoldOut` is said only if at some instant of the call no unit was left.
/// - Nothing that is not durable is shown: a refusal rests on durable claims only, and [`units`](Sales::units) counts no
///   others. A call whose answer depends on a claim that is being written waits for its group commit; after a failed one it
///   is [`StoreError::Unavailable`] at once. `SoldOut` waits only while the last claim of its sale is not durable. What an
///   operator changes (terms, a [reservation](Sales::reserve)) counts from the call on, before its caller has told the
///   record. On servers, durable is what their configuration promises (Redis: `appendfsync`, replicas).
/// - A refusal changes nothing.
/// - Repeating a claim with the same order id is `Accepted` again, once it is durable, and takes no second unit.
/// - A sale is known after [`put`](Sales::put) until [`forget`](Sales::forget). `put` finds the buyers of
///   a sale by itself: in the order log, and in the record.
/// - Refusals are decided in the order: unknown, already bought, ended, paused, not open, sold out.
#[async_trait]
pub trait Sales: Send + Sync {
    /// Takes one unit for the user.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] leaves it open whether the unit was taken. Call again: the answer is then
    /// `Accepted` or `AlreadyBought` if it was. [`StoreError::Full`]: it was not taken.
    async fn claim(&self, claim: Claim) -> Result<ClaimAnswer, StoreError>;

    /// Returns the order of a user who holds a unit, as [`claim`](Sales::claim) would, for a claim that is refused for a
    /// reason of its caller's. Takes nothing; one step, of the cost of a refused claim. `None` for a sale that is not known.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn held(&self, voucher: VoucherId, user: UserId) -> Result<Option<OrderId>, StoreError>;

    /// Sets a sale's window, pause and units, all absolute, so that a repeat changes nothing.
    ///
    /// Units cannot fall below what is taken: the answer says what is in force.
    ///
    /// # Errors
    /// [`StoreError`] if the buyers of a sale that was not known could not be read.
    async fn put(&self, terms: Terms) -> Result<Units, StoreError>;

    /// Gives back the unit that the user held by this order. Does nothing unless the user holds more units here than
    /// other pending claims, live orders and dead letters account for; so a repeat gives nothing back. (A unit for which
    /// nothing stands any more, since its claim died and holds none in the record, may come back by any order of its user's.)
    ///
    /// Call it after the record has closed the order, or voided its dead letter: what a user holds is looked up there.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn release(&self, voucher: VoucherId, user: UserId, order: OrderId) -> Result<Release, StoreError>;

    /// Gives back the units of several closed orders, each as [`release`](Sales::release) does.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: some may be back; call again.
    async fn release_all(&self, closed: &[(VoucherId, UserId, OrderId)]) -> Result<(), StoreError>;

    /// Sees to it that the user holds a unit for this order, which is not in the record yet: a dead letter that holds
    /// none and is to be replayed. Takes one, unless the user holds it already; so a repeat takes nothing.
    ///
    /// [`release`](Sales::release) undoes it, should the record refuse the order.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn reserve(
        &self,
        voucher: VoucherId,
        user: UserId,
        order: OrderId,
    ) -> Result<Reservation, StoreError>;

    /// The units of a sale; `None` if it is not known. Waits for claims being written; leaves out those of a failed group
    /// commit, whose units are in nobody's hands for certain.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn units(&self, voucher: VoucherId) -> Result<Option<Units>, StoreError>;

    /// Returns those of `users` who hold no unit of a sale. Means nothing for a sale that is not known.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn without_unit(&self, voucher: VoucherId, users: &[UserId]) -> Result<Vec<UserId>, StoreError>;

    /// Drops a sale from memory: one that is over, or one that the next [`put`](Sales::put) is to load anew, from the record
    /// and from what waits in the log. Its orders stay in the record.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn forget(&self, voucher: VoucherId) -> Result<(), StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_takes_precedence_over_a_pause() {
        let terms = |paused| Terms {
            voucher: VoucherId::new(1),
            begin: Timestamp::from_millis(100),
            end: Timestamp::from_millis(200),
            paused,
            units: None,
        };
        let rows = [
            (99, false, Some(Closed::NotOpen)),
            (100, false, None),
            (199, false, None),
            (200, false, Some(Closed::Ended)),
            (99, true, Some(Closed::NotOpen)),
            (100, true, Some(Closed::Paused)),
            (200, true, Some(Closed::Ended)),
        ];
        for (at, paused, expected) in rows {
            assert_eq!(terms(paused).closed(Timestamp::from_millis(at)), expected, "at {at}, {paused}");
        }
    }
}
