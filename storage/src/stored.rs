//! How things stand in a record, whichever engine keeps it.

use std::time::Duration;

use crate::{
    DeadState, OrderCounts, OrderStatus, PaymentMode, PaymentState, PictureKind, Role, Visibility,
    VoucherStatus,
};

/// What is stored as a number.
pub(crate) trait Numbered: Copy {
    /// Its number.
    fn number(self) -> i64;

    /// What has this number; `None` for one that nothing writes.
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
    // 1 and 3 are kept for payments at the counter and through a webhook.
    PaymentMode { 0 = None, 2 = Sandbox }
    PaymentState { 0 = Started, 1 = Captured, 2 = Refunded, 3 = Failed }
}

impl OrderStatus {
    /// The status of an order in a row with this number. No row is pending.
    pub(crate) fn in_row(number: i64) -> Option<Self> {
        let status = u8::try_from(number).ok().and_then(Self::numbered);
        status.filter(|status| *status != Self::Pending)
    }
}

impl OrderCounts {
    /// Where orders of this status are counted; `None` for pending ones, which are in no record.
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

/// Counts notes and comments whose likes are not the rows there are.
pub(crate) const MISCOUNTED_LIKES: &str = "SELECT
       (SELECT COUNT(*) FROM notes LEFT JOIN
          (SELECT target_id, COUNT(*) AS liked FROM likes WHERE kind = 0 GROUP BY target_id) AS counted
          ON target_id = id WHERE likes <> COALESCE(counted.liked, 0))
     + (SELECT COUNT(*) FROM note_comments LEFT JOIN
          (SELECT target_id, COUNT(*) AS liked FROM likes WHERE kind = 1 GROUP BY target_id) AS counted
          ON target_id = id WHERE likes <> COALESCE(counted.liked, 0))";

/// A span in whole milliseconds, as much as fits.
pub(crate) fn span(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

/// The pattern of texts that hold this one, for `LIKE … ESCAPE '!'`.
pub(crate) fn holding(text: &str) -> String {
    format!("%{}%", text.replace('!', "!!").replace('%', "!%").replace('_', "!_"))
}
