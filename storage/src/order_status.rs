//! Status of an order.

/// Status of an order. The numbers are hm-dianping's; 0 is mallbox's own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum OrderStatus {
    /// Accepted in the order log, not yet in the database.
    Pending = 0,
    /// Waiting for payment.
    Unpaid = 1,
    /// Paid and not yet redeemed.
    Paid = 2,
    /// Redeemed in the shop.
    Used = 3,
    /// Cancelled, by the owner or at the deadline.
    Cancelled = 4,
    /// Refund requested, money not yet returned.
    Refunding = 5,
    /// Money returned to the buyer.
    Refunded = 6,
}

impl OrderStatus {
    /// Returns the status with this number; `None` above 6.
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

    /// Returns whether the order is live: whether it holds a unit, and counts as its buyer's one purchase.
    #[must_use]
    pub fn is_live(self) -> bool {
        !matches!(self, Self::Cancelled | Self::Refunded)
    }
}
