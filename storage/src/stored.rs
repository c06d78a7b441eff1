//! Stored representation of values, common to both database engines.

use std::time::Duration;

use crate::{
    AttemptOutcome, CashKind, DeadState, EventKind, Judgement, OrderCounts, OrderStatus, PaymentMode,
    PaymentState, PictureKind, Role, Visibility, VoteCause, VoucherStatus, WaitingState,
};

/// Value stored as a number.
pub trait Numbered: Copy {
    /// Returns the stored number.
    fn number(self) -> i64;

    /// Returns the value of a stored number; `None` for a number never written.
    fn numbered(number: i64) -> Option<Self>;
}

macro_rules! numbered {
    ($($kind:ident { $($number:literal = $variant:ident),+ $(,)? })+) => {
        $(impl Numbered for $kind {
            fn number(self) -> i64 {
                match self { $(Self::$variant => $number),+ }
            }

            fn numbered(number: i64) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)+
                    _ => None,
                }
            }
        })+
    };
}

numbered! {
    Role { 0 = Customer, 1 = Operator }
    VoucherStatus { 1 = OnShelf, 2 = OffShelf, 3 = Expired }
    DeadState { 0 = Open, 1 = Replayed, 2 = Voided }
    Visibility { 0 = Shown, 1 = Reported, 2 = Hidden, 3 = Deleted }
    PictureKind { 1 = Jpeg, 2 = Webp }
    EventKind {
        1 = OrderAccepted, 2 = PaymentDue, 3 = OrderPaid, 4 = OrderCancelled, 5 = OrderUsed, 6 = OrderRefunded,
        7 = NotePublished, 8 = ReviewWritten, 9 = StockChanged, 10 = WaitingPromoted,
    }
    VoteCause { 0 = Down, 1 = Up, 2 = Closed }
    PaymentMode { 0 = None, 1 = Counter, 2 = Sandbox, 3 = Webhook }
    PaymentState { 0 = Started, 1 = Captured, 2 = Refunded, 3 = Failed, 4 = Reversed }
    CashKind { 1 = Sale, 2 = Refund, 3 = PaidIn, 4 = PaidOut }
    Judgement { 1 = Observe, 2 = Challenge, 3 = Refuse }
    AttemptOutcome {
        1 = Accepted, 2 = AlreadyBought, 3 = SoldOut, 4 = Closed, 5 = NotEligible, 6 = RateLimited,
        7 = NotAdmitted, 8 = PassRequired, 9 = ChallengeAgain, 10 = LooksAutomated, 11 = Failed,
    }
    WaitingState { 0 = Waiting, 1 = Offered, 2 = Promoted, 3 = Left, 4 = Expired, 5 = Dropped }
}

impl OrderStatus {
    /// Returns the order status of a stored number. No row is pending.
    pub fn in_row(number: i64) -> Option<Self> {
        let status = u8::try_from(number).ok().and_then(Self::numbered);
        status.filter(|status| *status != Self::Pending)
    }
}

impl DeadState {
    /// Returns the state stored under `number`; `None` for a number that no mall writes.
    #[must_use]
    pub fn in_row(number: i64) -> Option<Self> {
        Self::numbered(number)
    }
}

impl PaymentState {
    /// Returns the state stored under `number`; `None` for a number that no mall writes.
    #[must_use]
    pub fn in_row(number: i64) -> Option<Self> {
        Self::numbered(number)
    }
}

impl OrderCounts {
    /// Returns the counter for orders of a status; `None` for pending orders, which are not in the database.
    #[must_use]
    pub fn of_status(&mut self, status: OrderStatus) -> Option<&mut u64> {
        Some(match status {
            OrderStatus::Pending => return None,
            OrderStatus::Unpaid => &mut self.unpaid,
            OrderStatus::Paid => &mut self.paid,
            OrderStatus::Used => &mut self.used,
            OrderStatus::Cancelled => &mut self.cancelled,
            OrderStatus::Refunding => &mut self.refunding,
            OrderStatus::Refunded => &mut self.refunded,
        })
    }
}

/// Counts notes and comments whose like count differs from the number of like rows.
pub const MISCOUNTED_LIKES: &str = "SELECT
       (SELECT COUNT(*) FROM notes LEFT JOIN
          (SELECT target_id, COUNT(*) AS liked FROM likes WHERE kind = 0 GROUP BY target_id) AS counted
          ON target_id = id WHERE likes <> COALESCE(counted.liked, 0))
     + (SELECT COUNT(*) FROM note_comments LEFT JOIN
          (SELECT target_id, COUNT(*) AS liked FROM likes WHERE kind = 1 GROUP BY target_id) AS counted
          ON target_id = id WHERE likes <> COALESCE(counted.liked, 0))";

/// Converts a duration to whole milliseconds, saturating.
pub fn span(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

/// Builds a pattern for `LIKE … ESCAPE '!'` that matches texts containing `text`.
pub fn holding(text: &str) -> String {
    format!("%{}%", text.replace('!', "!!").replace('%', "!%").replace('_', "!_"))
}
