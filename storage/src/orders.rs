//! Orders: the record of who bought what.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;

use crate::{
    Cents, DeadReason, Logged, OrderId, Page, PaymentId, PaymentMode, StoreError, Timestamp, UserId,
    VoucherId,
};

/// Where an order stands. The numbers are hm-dianping's; 0 is mallbox's own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum OrderStatus {
    /// Accepted, not in the record yet.
    Pending = 0,
    /// Waits for its payment.
    Unpaid = 1,
    /// Paid.
    Paid = 2,
    /// Redeemed in the shop.
    Used = 3,
    /// Cancelled, by its owner or at its deadline.
    Cancelled = 4,
    /// Its payment is on the way back.
    Refunding = 5,
    /// Its payment has been given back.
    Refunded = 6,
}

impl OrderStatus {
    /// The status with this number.
    #[must_use]
    pub fn numbered(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Pending,
            1 => Self::Unpaid,
            2 => Self::Paid,
            3 => Self::Used,
            4 => Self::Cancelled,
            5 => Self::Refunding,
            6 => Self::Refunded,
            _ => return None,
        })
    }

    /// Whether the order holds its unit, and its buyer's right to one.
    #[must_use]
    pub fn is_live(self) -> bool {
        !matches!(self, Self::Cancelled | Self::Refunded)
    }
}

/// An order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Order {
    /// Which.
    pub id: OrderId,
    /// Of what.
    pub voucher: VoucherId,
    /// Whose.
    pub user: UserId,
    /// Where it stands.
    pub status: OrderStatus,
    /// What it costs, as the voucher said when it was written.
    pub pay_value: Cents,
    /// 1 balance, 2 Alipay, 3 WeChat; as hm-dianping counts.
    pub pay_type: u8,
    /// How it is paid for.
    pub payment: PaymentMode,
    /// When it was claimed.
    pub created: Timestamp,
    /// Until when it can be paid; [`NO_DEADLINE`] for ever. Means nothing in [`PaymentMode::None`].
    pub deadline: Timestamp,
    /// When its payment was captured; never set in [`PaymentMode::None`].
    pub paid: Option<Timestamp>,
    /// When it was redeemed.
    pub used: Option<Timestamp>,
    /// When its money went back.
    pub refunded: Option<Timestamp>,
}

/// What became of a claim in the record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Persisted {
    /// It is an order now.
    Written {
        /// Until when the order can be paid; `None` in [`PaymentMode::None`].
        deadline: Option<Timestamp>,
    },
    /// It already was an order, or a dead letter: the log handed it out twice.
    Repeat,
    /// The record does not allow it; it is a dead letter now.
    DeadLetter(DeadReason),
}

/// A step in an order's life. Each is a compare-and-set of the status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Unpaid → paid, and the payment's row → captured, in one transaction.
    Pay(PaymentId),
    /// Unpaid → cancelled: its owner's wish, or its deadline.
    Cancel,
    /// Paid → used.
    Use,
    /// Paid → refunding; in [`PaymentMode::None`], where no money goes back, paid → refunded at once.
    StartRefund,
    /// Refunding → refunded, and its captured payment's row → refunded, in one transaction.
    FinishRefund,
}

impl Step {
    /// From where it leads, and to where.
    pub(crate) fn change(self, payment: PaymentMode) -> (OrderStatus, OrderStatus) {
        match self {
            Self::StartRefund if payment == PaymentMode::None => (OrderStatus::Paid, OrderStatus::Refunded),
            Self::Pay(_) => (OrderStatus::Unpaid, OrderStatus::Paid),
            Self::Cancel => (OrderStatus::Unpaid, OrderStatus::Cancelled),
            Self::Use => (OrderStatus::Paid, OrderStatus::Used),
            Self::StartRefund => (OrderStatus::Paid, OrderStatus::Refunding),
            Self::FinishRefund => (OrderStatus::Refunding, OrderStatus::Refunded),
        }
    }
}

/// What became of a step.
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stepped {
    /// This call did it. The order as it is now.
    Done(Order),
    /// The order stands elsewhere, and nothing changed. The order as it is.
    Stands(Order),
    /// There is no such order.
    Unknown,
}

/// Orders of one sale counted row by row, for the books.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OrderCounts {
    /// Status 1.
    pub unpaid: u64,
    /// Status 2.
    pub paid: u64,
    /// Status 3.
    pub used: u64,
    /// Status 4.
    pub cancelled: u64,
    /// Status 5.
    pub refunding: u64,
    /// Status 6.
    pub refunded: u64,
    /// Dead letters that hold a unit.
    pub dead_letters: u64,
    /// Users with more than one live order of this sale: must be 0.
    pub doubles: u64,
}

impl OrderCounts {
    /// Units that orders and dead letters in the record hold.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.unpaid + self.paid + self.used + self.refunding + self.dead_letters
    }
}

/// Which orders a list is to hold: those that agree with every part that is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OrderFilter {
    /// Whose.
    pub user: Option<UserId>,
    /// Of what.
    pub voucher: Option<VoucherId>,
    /// Where they stand. None is [`OrderStatus::Pending`] in the record.
    pub status: Option<OrderStatus>,
}

impl OrderFilter {
    /// Whether an order belongs in the list.
    #[must_use]
    pub fn admits(&self, order: &Order) -> bool {
        self.user.is_none_or(|user| user == order.user)
            && self.voucher.is_none_or(|voucher| voucher == order.voucher)
            && self.status.is_none_or(|status| status == order.status)
    }
}

/// The deadline of an unpaid order that no time cancels. Below 2^53, as every number in JSON has to be.
pub const NO_DEADLINE: Timestamp = Timestamp::from_millis(253_402_300_799_000);

/// A late order leaves its buyer this long to pay, or the sale's whole time to pay where that is shorter.
const LATE_ORDER_MIN_TO_PAY: Duration = Duration::from_secs(5 * 60);

/// Until when the order of a claim can be paid. An order is late if more than half of its time to pay has passed when it is
/// written.
pub(crate) fn deadline(claimed: Timestamp, pay_within: Duration, now: Timestamp) -> Timestamp {
    let deadline = claimed + pay_within;
    let is_late = now > claimed + pay_within / 2;
    if is_late { deadline.max(now + pay_within.min(LATE_ORDER_MIN_TO_PAY)) } else { deadline }
}

impl PaymentMode {
    /// Until when the order of a claim can be paid, if it has to be.
    pub(crate) fn deadline(
        self,
        claimed: Timestamp,
        pay_within: Duration,
        now: Timestamp,
    ) -> Option<Timestamp> {
        match self {
            Self::None => None,
            Self::Sandbox => Some(deadline(claimed, pay_within, now)),
        }
    }
}

/// Orders: their record, and the second lock of every sale.
///
/// - [`persist`](Orders::persist) is one transaction: orders, dead letters, stock, and the mark of what has been
///   taken from the log. It is idempotent by order id.
/// - At most one live order per sale and user; what breaks that, or the stock, becomes a dead letter at once.
/// - Closing an order (cancelled, refunded) gives its unit back to the record's stock in the same transaction, and leaves
///   in the [`Outbox`](crate::Outbox) that it is to be given back to [`Sales`](crate::Sales) too.
/// - Every call is durable when it answers.
#[async_trait]
pub trait Orders: Send + Sync {
    /// Writes claims as orders. Answers one [`Persisted`] a claim, in their order; all are settled by it.
    ///
    /// Orders take the mall's [`PaymentMode`], read in the same transaction. A claim's deadline, where the mode has one, is
    /// its time + the sale's time to pay. One that comes late, after more than half of that time, still has all of it from
    /// `now`, or 5 minutes where it is longer.
    ///
    /// # Errors
    /// Transient: nothing was written, or the answer was lost; call again. [`StoreError::Refused`]: the record
    /// refuses one of them for a reason of its own; nothing was written; halve the batch to find which.
    async fn persist(&self, claims: &[Logged], now: Timestamp) -> Result<Vec<Persisted>, StoreError>;

    /// How long one [`persist`](Orders::persist) should take, since others wait for its end: batches are made to fit.
    fn batch_takes(&self) -> Duration;

    /// Makes a [dead letter](crate::DeadLetters) of a claim that the record keeps refusing. Idempotent by order id.
    ///
    /// # Errors
    /// [`StoreError`]: nothing was written, or the answer was lost; call again.
    async fn bury(
        &self,
        claim: &Logged,
        reason: DeadReason,
        detail: &str,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Writes the order of an ordinary voucher, as it is given: unpaid, or paid in [`PaymentMode::None`]. Such orders are not limited to one a user. A repeat changes
    /// nothing. Answers the order that there is now.
    ///
    /// Under the name of a request that the user made for this voucher before, nothing is written, and the answer is the
    /// order of that time, whatever became of it. The name is written in the order's own transaction: of two calls at once
    /// one writes.
    ///
    /// # Errors
    /// [`StoreError`]: nothing was written, or the answer was lost; call again. [`StoreError::Refused`]: the voucher is
    /// not known or is a sale, or another order has this id.
    async fn insert(&self, order: &Order, request: Option<&str>) -> Result<OrderId, StoreError>;

    /// The order that a user bought of an ordinary voucher by a request of this name; `None` if there was none.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn requested(
        &self,
        user: UserId,
        voucher: VoucherId,
        request: &str,
    ) -> Result<Option<OrderId>, StoreError>;

    /// An order by id.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn get(&self, order: OrderId) -> Result<Option<Order>, StoreError>;

    /// A user's orders, newest first.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn of_user(&self, user: UserId, page: Page) -> Result<Vec<Order>, StoreError>;

    /// A page of the orders that a filter admits, newest first, and how many it admits in all.
    ///
    /// Without a user it looks at every order there is, or at all between the sale's first and last.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn find(&self, filter: OrderFilter, page: Page) -> Result<(Vec<Order>, u64), StoreError>;

    /// The live order of a user in a sale, else the open dead letter that stands for one.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn holding(&self, voucher: VoucherId, user: UserId) -> Result<Option<OrderId>, StoreError>;

    /// The orders, live or dead, by which a user holds units of a sale: at most one is live, and hardly ever is there a
    /// dead letter.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn holdings(&self, voucher: VoucherId, user: UserId) -> Result<Vec<OrderId>, StoreError>;

    /// Takes a step. Exactly one of two steps that exclude each other is `Done`.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again. [`StoreError::Refused`]: the payment named by
    /// [`Step::Pay`] is no open payment of this order.
    async fn step(&self, order: OrderId, step: Step, now: Timestamp) -> Result<Stepped, StoreError>;

    /// Cancels those of these orders that are unpaid, each as [`Step::Cancel`] does, all in one transaction. Returns one
    /// [`Stepped`] an order, in their order; an order named twice is `Done` once.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn cancel(&self, orders: &[OrderId], now: Timestamp) -> Result<Vec<Stepped>, StoreError>;

    /// Unpaid orders above `after` by id, at most `max`, with their deadlines.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn unpaid(&self, after: OrderId, max: u32) -> Result<Vec<(OrderId, Timestamp)>, StoreError>;

    /// Counts the orders and dead letters of a sale row by row.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn count(&self, voucher: VoucherId) -> Result<OrderCounts, StoreError>;

    /// The same, for showing: may rest on what the sale says of itself about where its orders are, and need not look at
    /// others.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn tally(&self, voucher: VoucherId) -> Result<OrderCounts, StoreError>;

    /// [`count`](Orders::count) for every voucher that has orders or dead letters, in one look at all rows.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn count_all(&self) -> Result<BTreeMap<VoucherId, OrderCounts>, StoreError>;

    /// For each [`OrderId::day`] that has orders or dead letters: the highest count in their ids, by day; for the
    /// books. Looks at every row, but for those that moved in with ids of another form.
    /// An id is taken for one of [`OrderId::compose`]'s form if its second is within a day of the order's.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn highest_counts(&self) -> Result<Vec<(u64, u64)>, StoreError>;
}
