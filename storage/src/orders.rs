//! Orders in the database.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;

use crate::{
    Cents, DeadReason, LoggedClaim, OrderId, OrderStatus, Page, PaymentId, PaymentMode, StoreError,
    Timestamp, UserId, VoucherId,
};

/// An order of a voucher or flash sale.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Order {
    /// Order id, unique for ever.
    pub id: OrderId,
    /// The voucher bought.
    pub voucher: VoucherId,
    /// The buyer of the order.
    pub user: UserId,
    /// Current status of the order.
    pub status: OrderStatus,
    /// Price in cents, copied from the voucher when the order was written.
    pub pay_value: Cents,
    /// hm-dianping's payment type: 1 balance, 2 Alipay, 3 WeChat.
    pub pay_type: u8,
    /// Payment mode, fixed when the order was written.
    pub payment: PaymentMode,
    /// Time of the claim or purchase.
    pub created: Timestamp,
    /// Payment deadline; [`NO_DEADLINE`] for none. Meaningless in [`PaymentMode::None`].
    pub deadline: Timestamp,
    /// Time at which the payment was captured; always `None` in [`PaymentMode::None`].
    pub paid: Option<Timestamp>,
    /// Time of redemption in the shop.
    pub used: Option<Timestamp>,
    /// Time at which the money was returned.
    pub refunded: Option<Timestamp>,
}

/// Outcome of persisting one claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PersistOutcome {
    /// The claim became an order.
    Written {
        /// Payment deadline of the order; `None` in [`PaymentMode::None`].
        deadline: Option<Timestamp>,
    },
    /// The claim was already an order or a dead letter: the log delivered the claim twice.
    Repeat,
    /// The claim broke a rule of the database and became a dead letter.
    DeadLetter(DeadReason),
}

/// A status transition of an order. Each is a compare-and-set of the status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transition {
    /// Unpaid → paid, and the payment row → captured, in one transaction.
    Pay(PaymentId),
    /// Unpaid → cancelled: at the owner's request, or at the deadline.
    Cancel,
    /// Paid → used.
    Use,
    /// Paid → refunding. Paid → refunded at once in [`PaymentMode::None`], where no money is returned, and in
    /// [`PaymentMode::Counter`], where the till has the money at hand: there the captured payment row becomes
    /// refunded in the same transaction.
    StartRefund,
    /// Refunding → refunded, and the captured payment row → refunded, in one transaction.
    FinishRefund,
}

impl Transition {
    /// Returns the status required before the transition and the status after.
    pub fn change(self, payment: PaymentMode) -> (OrderStatus, OrderStatus) {
        match self {
            Self::StartRefund if matches!(payment, PaymentMode::None | PaymentMode::Counter) => {
                (OrderStatus::Paid, OrderStatus::Refunded)
            }
            Self::Pay(_) => (OrderStatus::Unpaid, OrderStatus::Paid),
            Self::Cancel => (OrderStatus::Unpaid, OrderStatus::Cancelled),
            Self::Use => (OrderStatus::Paid, OrderStatus::Used),
            Self::StartRefund => (OrderStatus::Paid, OrderStatus::Refunding),
            Self::FinishRefund => (OrderStatus::Refunding, OrderStatus::Refunded),
        }
    }
}

/// Outcome of a [`Transition`].
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TransitionOutcome {
    /// This call changed the order; the order after the change.
    Done(Order),
    /// The order has another status than the transition requires; nothing changed. The order as stored.
    Stands(Order),
    /// The order does not exist.
    Unknown,
}

/// Outcome of the purchase of an ordinary voucher.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PurchaseOutcome {
    /// The order is stored: the new order, or the earlier order of the request.
    Bought(OrderId),
    /// The buyer's account is deleted. Nothing was written.
    BuyerDeleted,
    /// The buyer already has the maximum number of unpaid orders. Nothing was written.
    TooManyUnpaid,
}

/// Row-by-row order counts of one sale, for the ledger check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OrderCounts {
    /// Orders of status 1.
    pub unpaid: u64,
    /// Orders of status 2.
    pub paid: u64,
    /// Orders of status 3.
    pub used: u64,
    /// Orders of status 4.
    pub cancelled: u64,
    /// Orders of status 5.
    pub refunding: u64,
    /// Orders of status 6.
    pub refunded: u64,
    /// Dead letters that hold a unit.
    pub dead_letters: u64,
    /// Entries of the waiting list that are offered, and may hold a unit in [`Sales`](crate::Sales) already.
    pub offered: u64,
    /// Users with more than one live order of the sale: must be 0.
    pub doubles: u64,
}

impl OrderCounts {
    /// Returns the units held by orders and dead letters in the database.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.unpaid + self.paid + self.used + self.refunding + self.dead_letters
    }
}

/// Filter of an order list: an order must match every field that is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OrderFilter {
    /// Only orders of this user.
    pub user: Option<UserId>,
    /// Only orders of this voucher.
    pub voucher: Option<VoucherId>,
    /// Only orders of this status. [`OrderStatus::Pending`] matches nothing in the database.
    pub status: Option<OrderStatus>,
}

impl OrderFilter {
    /// Returns whether `order` matches the filter.
    #[must_use]
    pub fn admits(&self, order: &Order) -> bool {
        self.user.is_none_or(|user| user == order.user)
            && self.voucher.is_none_or(|voucher| voucher == order.voucher)
            && self.status.is_none_or(|status| status == order.status)
    }
}

/// Deadline of an unpaid order that never times out. Below 2^53, the limit for exact integers in JSON.
pub const NO_DEADLINE: Timestamp = Timestamp::from_millis(253_402_300_799_000);

/// Time to pay at the counter after a sale has ended, or after the order was written if that is later.
const AT_THE_COUNTER_AFTER_SALE: Duration = Duration::from_secs(24 * 3600);

/// Time to pay at the counter for an order of an ordinary voucher, which holds no unit.
const AT_THE_COUNTER_WITHOUT_SALE: Duration = Duration::from_secs(7 * 24 * 3600);

/// Minimum time to pay that a late order leaves its buyer, or the sale's whole time to pay if shorter.
const LATE_ORDER_MIN_TO_PAY: Duration = Duration::from_secs(5 * 60);

/// Time to pay of a walk-in customer, who stands at the counter with the money in hand. Past it, a counter
/// sale that was interrupted leaves nothing behind.
pub const WALK_IN_TIME_TO_PAY: Duration = Duration::from_secs(10 * 60);

/// Returns the payment deadline of a claim. An order is late if more than half of its time to pay has passed
/// when the order is written.
pub fn deadline(claimed: Timestamp, pay_within: Duration, now: Timestamp) -> Timestamp {
    let deadline = claimed + pay_within;
    let is_late = now > claimed + pay_within / 2;
    if is_late { deadline.max(now + pay_within.min(LATE_ORDER_MIN_TO_PAY)) } else { deadline }
}

impl PaymentMode {
    /// Returns the mode of an order of `buyer` in a mall of this mode: walk-in customers pay at the counter,
    /// whatever the mode.
    #[must_use]
    pub fn of_buyer(self, buyer: UserId) -> Self {
        if buyer.is_walk_in() { Self::Counter } else { self }
    }

    /// Returns the payment deadline of a claim of `buyer` in a sale until `end` with `pay_within` to pay, if
    /// the order is written `now`. `None` if the mode requires no payment.
    ///
    /// At the counter the deadline is 24 hours after the sale's end, or later: 24 hours after a late order,
    /// or at the end of a longer `pay_within`. A walk-in customer has [`WALK_IN_TIME_TO_PAY`].
    pub fn deadline(
        self,
        buyer: UserId,
        claimed: Timestamp,
        pay_within: Duration,
        end: Timestamp,
        now: Timestamp,
    ) -> Option<Timestamp> {
        if buyer.is_walk_in() {
            return Some(deadline(claimed, WALK_IN_TIME_TO_PAY, now));
        }
        match self {
            Self::None => None,
            Self::Sandbox | Self::Webhook => Some(deadline(claimed, pay_within, now)),
            Self::Counter => Some((claimed + pay_within).max(end.max(now) + AT_THE_COUNTER_AFTER_SALE)),
        }
    }

    /// Returns the time to pay for an order of an ordinary voucher: `usual`, but at the counter seven days or
    /// more.
    #[must_use]
    pub fn time_to_pay(self, usual: Duration) -> Duration {
        match self {
            Self::None | Self::Sandbox | Self::Webhook => usual,
            Self::Counter => usual.max(AT_THE_COUNTER_WITHOUT_SALE),
        }
    }
}

/// Orders in the database, the second lock of every sale (after [`Sales`](crate::Sales)).
///
/// - [`persist`](Orders::persist) is one transaction: orders, dead letters, stock and the log position
///   reached. Idempotent by order id.
/// - At most one live order per sale and user. A claim that would break this rule or the stock becomes a dead
///   letter at once.
/// - Closing an order (cancelled, refunded) returns its unit to the database's stock in the same transaction,
///   and writes an [`Outbox`](crate::Outbox) entry that releases the unit in [`Sales`](crate::Sales).
/// - A [`step`](Orders::step) also writes the buyer's [`Credits`](crate::Credits), in the same transaction.
/// - Every call is durable when it returns.
#[async_trait]
pub trait Orders: Send + Sync {
    /// Writes a batch of claims as orders. Returns one [`PersistOutcome`] per claim, in the order of
    /// `claims`; every claim is then settled.
    ///
    /// Orders take the mall's [`PaymentMode`], read in the same transaction, and those of walk-in customers
    /// [`PaymentMode::Counter`]. A claim's deadline, if the mode
    /// has deadlines, is its time + the sale's time to pay. A claim that arrives late, after more than half
    /// of that period, leaves its buyer at least the whole period from `now`, or 5 minutes if the period is
    /// longer. [`PaymentMode::deadline`] has the longer times at the counter.
    ///
    /// # Errors
    /// - Transient: nothing was written, or the response was lost; call again.
    /// - [`StoreError::Refused`]: the database refuses one claim for a reason of its own, and nothing was
    ///   written. Bisect the batch to find the claim.
    async fn persist(
        &self,
        claims: &[LoggedClaim],
        now: Timestamp,
    ) -> Result<Vec<PersistOutcome>, StoreError>;

    /// Returns the target duration of one [`persist`](Orders::persist). Callers size batches to fit, since
    /// other work waits for the end of the transaction.
    fn batch_takes(&self) -> Duration;

    /// Makes a [dead letter](crate::DeadLetters) of a claim that the database keeps refusing. Idempotent by
    /// order id.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing was written, or the response was lost; call again.
    async fn insert_dead_letter(
        &self,
        claim: &LoggedClaim,
        reason: DeadReason,
        detail: &str,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Inserts the order of an ordinary voucher as given: unpaid, or paid in [`PaymentMode::None`]. Such
    /// orders are not limited to one per user. Idempotent by order id.
    ///
    /// `unpaid_max` limits the unpaid orders that the buyer has at once, orders of flash sales included. The
    /// limit holds under concurrent purchases of a buyer, too; but in MySQL only for existing users, whose
    /// row serves as the lock. A repeat, and an order that is not unpaid, are never refused by the limit.
    /// Cost of the limit: reads all orders of the buyer.
    ///
    /// `request` is an idempotency key per user and voucher. If the user already used the key for the
    /// voucher, nothing is written, and the id of the earlier order is returned, whatever its status. The key
    /// is stored in the order's transaction: of two concurrent calls, one inserts. A refusal uses up no key.
    ///
    /// # Errors
    /// - [`StoreError::Refused`]: the voucher is unknown or a flash sale, or another order has the same id.
    /// - Any other [`StoreError`]: nothing was written, or the response was lost; call again.
    async fn insert(
        &self,
        order: &Order,
        request: Option<&str>,
        unpaid_max: Option<u32>,
    ) -> Result<PurchaseOutcome, StoreError>;

    /// Returns the order that a user bought of an ordinary voucher under an idempotency key; `None` if the
    /// key was never used.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn requested(
        &self,
        user: UserId,
        voucher: VoucherId,
        request: &str,
    ) -> Result<Option<OrderId>, StoreError>;

    /// Returns an order by id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn get(&self, order: OrderId) -> Result<Option<Order>, StoreError>;

    /// Returns a page of a user's orders, newest first.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn of_user(&self, user: UserId, page: Page) -> Result<Vec<Order>, StoreError>;

    /// Returns a page of the orders that match `filter`, newest first, and the total number of matches.
    ///
    /// Cost: without a user in the filter, a scan of all orders; for a flash sale, of all orders in the
    /// sale's recorded id range.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn find(&self, filter: OrderFilter, page: Page) -> Result<(Vec<Order>, u64), StoreError>;

    /// Returns the user's live order in a sale, or else the open dead letter in place of an order.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn holding(&self, voucher: VoucherId, user: UserId) -> Result<Option<OrderId>, StoreError>;

    /// Returns the orders and open dead letters under which a user holds units of a sale. At most one is a
    /// live order; dead letters are rare.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn holdings(&self, voucher: VoucherId, user: UserId) -> Result<Vec<OrderId>, StoreError>;

    /// Performs a status transition (compare-and-set). Of two mutually exclusive transitions, exactly one is
    /// `Done`.
    ///
    /// # Errors
    /// - [`StoreError::Refused`]: the payment named by [`Transition::Pay`] is not an open payment of the
    ///   order.
    /// - Any other [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn step(
        &self,
        order: OrderId,
        step: Transition,
        now: Timestamp,
    ) -> Result<TransitionOutcome, StoreError>;

    /// Cancels the unpaid orders among `orders`, each as [`Transition::Cancel`] does, in one transaction.
    /// Returns one [`TransitionOutcome`] per order, in the order of `orders`; an order listed twice is
    /// `Done` once.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn cancel(&self, orders: &[OrderId], now: Timestamp) -> Result<Vec<TransitionOutcome>, StoreError>;

    /// Returns up to `max` unpaid orders with an id above `after`, by id, with their deadlines.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn unpaid(&self, after: OrderId, max: u32) -> Result<Vec<(OrderId, Timestamp)>, StoreError>;

    /// Counts the orders and dead letters of a sale row by row.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn count(&self, voucher: VoucherId) -> Result<OrderCounts, StoreError>;

    /// Counts like [`count`](Orders::count), but for display: may rely on the id range recorded by the sale,
    /// and skip all other rows.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn tally(&self, voucher: VoucherId) -> Result<OrderCounts, StoreError>;

    /// Counts like [`count`](Orders::count) for every voucher with orders or dead letters, in one scan of all
    /// rows.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn count_all(&self) -> Result<BTreeMap<VoucherId, OrderCounts>, StoreError>;

    /// Returns, for the ledger check, the highest sequence number in the ids of each [`OrderId::day`] with
    /// orders or dead letters, by day. Numbers are returned as written: where the mall has
    /// [added an offset](OrderId::with_offset), the highest number says nothing of the day's count.
    ///
    /// Scans every row, but skips rows imported with ids of another form. An id counts as made by
    /// [`OrderId::compose`] if its seconds are within a day of the order's time.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn highest_counts(&self) -> Result<Vec<(u64, u64)>, StoreError>;
}
