//! Flash sales: stock, buyers and the atomic claim of one unit.

use std::num::NonZeroU8;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Fenced, FencingToken, OrderId, Pass, StoreError, Timestamp, UserId, VoucherId};

/// One user's attempt to buy in a flash sale.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Claim {
    /// Id of the future order, unique for ever. A retry of the same attempt carries the same id (idempotency
    /// key).
    pub order: OrderId,
    /// The sale to buy in.
    pub voucher: VoucherId,
    /// The claiming user.
    pub user: UserId,
    /// Time of the attempt; decides whether the sale is open.
    pub at: Timestamp,
}

/// Outcome of a claim. A refusal is an outcome too, not an `Err`.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClaimOutcome {
    /// The user holds one unit, durably.
    Accepted,
    /// The user already holds more units than the claim said, or as many as the sale allows. The order is the
    /// newest of those known, or any in a sale of one unit per user. Takes precedence over
    /// [`SoldOut`](Self::SoldOut).
    AlreadyBought(OrderId),
    /// No unit was left at some instant during the call, or the sale was [waited for](Terms::waiting).
    SoldOut,
    /// The sale has not started.
    NotOpen,
    /// The sale has ended.
    Ended,
    /// An operator has paused the sale.
    Paused,
    /// The sale was never [`put`](Sales::put), or was [forgotten](Sales::forget) since.
    Unknown,
    /// The pass is spent, expired, or of another [epoch](Sales::pass_epoch).
    PassRefused,
}

/// Terms of a flash sale: window, pause and number of units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Terms {
    /// The voucher on sale.
    pub voucher: VoucherId,
    /// First instant at which claims are accepted.
    pub begin: Timestamp,
    /// First instant at which claims are refused again (exclusive end).
    pub end: Timestamp,
    /// Whether an operator has paused the sale.
    pub paused: bool,
    /// Total units of the sale: initial + added. `None` = unlimited.
    pub units: Option<u64>,
    /// Whether users wait for units: claims are refused as sold out, and units are for the waiting list.
    #[serde(default)]
    pub waiting: bool,
    /// Units that a user may hold at the same time. Users who hold more, since it was lowered, keep them.
    #[serde(default = "one_per_user")]
    pub per_user: NonZeroU8,
}

fn one_per_user() -> NonZeroU8 {
    NonZeroU8::MIN
}

/// Reason why a sale refuses every claim at some instant, independent of the user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClosedReason {
    /// Before the window.
    NotOpen,
    /// Inside the window, but paused by an operator.
    Paused,
    /// After the window.
    Ended,
}

impl From<ClosedReason> for ClaimOutcome {
    fn from(closed: ClosedReason) -> Self {
        match closed {
            ClosedReason::NotOpen => Self::NotOpen,
            ClosedReason::Paused => Self::Paused,
            ClosedReason::Ended => Self::Ended,
        }
    }
}

impl Terms {
    /// Returns why the sale is closed at `now`, or `None` while the sale is open.
    ///
    /// The window takes precedence over a pause: a sale paused before its begin is [`ClosedReason::NotOpen`].
    #[must_use]
    pub fn closed(&self, now: Timestamp) -> Option<ClosedReason> {
        if now >= self.end {
            Some(ClosedReason::Ended)
        } else if now < self.begin {
            Some(ClosedReason::NotOpen)
        } else if self.paused {
            Some(ClosedReason::Paused)
        } else {
            None
        }
    }

    /// Returns whether a user with `units` units gets no further unit by a claim that says the user holds
    /// `holding`.
    #[must_use]
    pub fn is_enough(&self, units: u64, holding: u8) -> bool {
        units > u64::from(holding) || units >= u64::from(self.per_user.get())
    }
}

/// Unit counts of one sale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SaleUnits {
    /// Total units; `None` = unlimited.
    pub units: Option<u64>,
    /// Units currently held by users.
    pub taken: u64,
}

impl SaleUnits {
    /// Returns the units still available; `None` = unlimited.
    #[must_use]
    pub fn left(&self) -> Option<u64> {
        self.units.map(|units| units.saturating_sub(self.taken))
    }
}

/// Outcome of [`Sales::release`].
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReleaseOutcome {
    /// The unit returned to the stock, and the user may buy again.
    Released,
    /// The user does not hold a unit under the given order; nothing changed.
    NotHeld,
}

/// Outcome of [`Sales::reserve`].
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReserveOutcome {
    /// The user holds one more unit.
    Taken,
    /// Nothing changed: the user already holds the unit, or the sale is unknown and has no stock to take
    /// from.
    Held,
    /// No unit was left; nothing changed.
    SoldOut,
}

/// Stock of flash sales, at most [`Terms::per_user`] units per user and sale.
///
/// - **Conservation.** Units left + units taken = units put, at every instant and under any interleaving. A
///   unit is granted once, and a user is granted no more than the sale allows. (If the set of buyers was lost
///   in the middle of a sale, a user can hold more; [`release`](Sales::release) then returns one at a time.)
/// - **Each unit is claimed by its number.** A claim says how many units its user holds already, and is
///   granted only if the user holds no more: a claim repeated under another order id takes no second unit.
/// - **Atomic claim.** [`claim`](Sales::claim) takes one unit, records the buyer and appends to the
///   [`OrderLog`](crate::OrderLog) in one atomic step, and returns once the step is durable. Dropping the
///   returned future undoes nothing.
/// - **`SoldOut`** is returned only if no unit was left, or the sale was [waited for](Terms::waiting), at
///   some instant during the call. While a sale is waited for, only [`reserve`](Sales::reserve) takes units.
/// - **Only durable state is visible.** A refusal rests on durable claims only, and [`units`](Sales::units)
///   counts no others. A call whose outcome depends on a claim still being written waits for the group commit
///   of the claim; after a failed group commit the call returns [`StoreError::Unavailable`] at once.
///   `SoldOut` waits only while the last claim of the sale is not durable. On servers, durable means whatever
///   their configuration promises (Redis: `appendfsync`, replicas).
/// - **Operator changes** (terms, a [reservation](Sales::reserve)) take effect with the call, before the
///   caller has written them to the database.
/// - **A refusal changes nothing.**
/// - **Idempotent by order id.** A repeated claim is `Accepted` again, once durable, and takes no second
///   unit.
/// - A sale is known from [`put`](Sales::put) to [`forget`](Sales::forget). `put` loads the buyers of the
///   sale itself, from the order log and the database.
/// - Refusals are decided in this order: unknown, already bought, ended, paused, not open, sold out, pass
///   refused.
/// - **Terms are fenced.** [`put`](Sales::put) carries the [`FencingToken`] of the lock over terms. All
///   callers draw their tokens from one lock. A holder stopped past the end of its lease therefore cannot
///   put old terms over newer ones, whether the sale is known or [forgotten](Sales::forget).
/// - **A pass is spent once.** Of any number of claims with one pass, in one [epoch](Sales::pass_epoch), one
///   order is accepted, whatever becomes of the order afterwards.
#[async_trait]
pub trait Sales: Send + Sync {
    /// Claims one unit for the user.
    ///
    /// # Errors
    /// - [`StoreError::Unavailable`]: the claim is in doubt, and the unit may have been taken. Call again: if
    ///   the unit was taken, the retry returns `Accepted` or `AlreadyBought`.
    /// - [`StoreError::Full`]: no unit was taken.
    async fn claim(&self, claim: Claim) -> Result<ClaimOutcome, StoreError>;

    /// Claims one unit as [`claim`](Sales::claim) does, and spends `pass` in the same atomic step. Only a
    /// claim that takes a unit spends the pass; a claim in doubt may have done so.
    ///
    /// The caller has verified that the pass belongs to the user and the sale.
    ///
    /// # Errors
    /// As [`claim`](Sales::claim).
    async fn claim_with_pass(&self, claim: Claim, pass: Pass) -> Result<ClaimOutcome, StoreError>;

    /// Claims one unit for a user who says to hold `holding` units already, and spends `pass`, if any, as
    /// [`claim_with_pass`](Sales::claim_with_pass) does. With 0 and no pass, this is [`claim`](Sales::claim).
    ///
    /// # Errors
    /// As [`claim`](Sales::claim).
    async fn claim_further(
        &self,
        claim: Claim,
        holding: u8,
        pass: Option<Pass>,
    ) -> Result<ClaimOutcome, StoreError>;

    /// Returns the epoch of passes for a sale, known or not. A new epoch begins whenever spent passes may
    /// have been forgotten: at a start of an embedded mall, and with the loss of a server's data.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn pass_epoch(&self, voucher: VoucherId) -> Result<u64, StoreError>;

    /// Returns the order that [`claim_further`](Sales::claim_further) would return to a user who already
    /// holds enough units, without taking one. For claims that the caller refuses for its own reasons. Costs
    /// one step, like a refused claim. `None` if the user could claim, or the sale is unknown.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn held(
        &self,
        voucher: VoucherId,
        user: UserId,
        holding: u8,
    ) -> Result<Option<OrderId>, StoreError>;

    /// Sets the window, pause and units of a sale. All values are absolute, so a repeated call changes
    /// nothing.
    ///
    /// SaleUnits never fall below the number taken; the returned [`SaleUnits`] are those in force.
    ///
    /// [`Fenced::Stale`], without any change, if the sale was put under a greater token than `token`. The
    /// greatest token outlives [`forget`](Sales::forget). A server that lost its data accepts any token.
    ///
    /// # Errors
    /// Any [`StoreError`] if the sale was unknown and its buyers could not be loaded.
    async fn put(&self, terms: Terms, token: FencingToken) -> Result<Fenced<SaleUnits>, StoreError>;

    /// Releases the unit that the user held under this order. Changes nothing unless the user holds more
    /// units than other pending claims, live orders and dead letters account for; a repeated call therefore
    /// releases nothing. (A unit that nothing accounts for any more, because its claim became a dead letter
    /// without a unit in the database, may be released under any order of its user.)
    ///
    /// Call after the database has closed the order or voided its dead letter: the user's holdings are looked
    /// up in the database.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn release(
        &self,
        voucher: VoucherId,
        user: UserId,
        order: OrderId,
    ) -> Result<ReleaseOutcome, StoreError>;

    /// Releases the units of several closed orders, each as [`release`](Sales::release) does. Not atomic
    /// across orders.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: some units may have been released; call again.
    async fn release_all(&self, closed: &[(VoucherId, UserId, OrderId)]) -> Result<(), StoreError>;

    /// Reserves a unit for an order that is not in the database yet: a dead letter without a unit, about to
    /// be replayed, or an offer to a user of the waiting list. Idempotent: takes nothing if the user already
    /// holds the unit.
    ///
    /// [`release`](Sales::release) undoes the reservation if the database then refuses the order.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn reserve(
        &self,
        voucher: VoucherId,
        user: UserId,
        order: OrderId,
    ) -> Result<ReserveOutcome, StoreError>;

    /// Returns the units of a sale; `None` if the sale is unknown. Waits for claims being written. Leaves out
    /// claims of a failed group commit, whose units are in doubt.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn units(&self, voucher: VoucherId) -> Result<Option<SaleUnits>, StoreError>;

    /// Returns the subset of `users` who hold no unit of the sale. The result is meaningless for an unknown
    /// sale.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn without_unit(&self, voucher: VoucherId, users: &[UserId]) -> Result<Vec<UserId>, StoreError>;

    /// Evicts a sale from memory: either an ended sale, or one to be reloaded by the next [`put`](Sales::put)
    /// from the database and the pending claims of the log. Orders in the database are not touched.
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
            waiting: false,
            per_user: NonZeroU8::MIN,
        };
        let rows = [
            (99, false, Some(ClosedReason::NotOpen)),
            (100, false, None),
            (199, false, None),
            (200, false, Some(ClosedReason::Ended)),
            (99, true, Some(ClosedReason::NotOpen)),
            (100, true, Some(ClosedReason::Paused)),
            (200, true, Some(ClosedReason::Ended)),
        ];
        for (at, paused, expected) in rows {
            assert_eq!(terms(paused).closed(Timestamp::from_millis(at)), expected, "at {at}, {paused}");
        }
    }

    #[test]
    fn a_user_gets_a_unit_more_than_the_claim_says_and_no_more_than_the_sale_allows() {
        let stored = r#"{"voucher":1,"begin":0,"end":9,"paused":false,"units":null}"#;
        let older: Terms = serde_json::from_str(stored).unwrap();
        assert_eq!((older.per_user, older.waiting), (NonZeroU8::MIN, false), "stored by an older mall");
        let three = Terms { per_user: NonZeroU8::new(3).unwrap(), ..older };
        let rows = [(older, 1), (three, 3)];
        for (terms, most) in rows {
            for units in 0..5 {
                for holding in [0, 1, 2, 3, 4, u8::MAX] {
                    let gets = units <= u64::from(holding) && units < most;
                    assert_eq!(terms.is_enough(units, holding), !gets, "{units} {holding} of {most}");
                }
            }
        }
    }
}
