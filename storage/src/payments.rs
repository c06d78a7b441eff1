//! The record of payments.

use async_trait::async_trait;

use crate::stored::Numbered as _;
use crate::{Cents, OrderId, OrderStatus, PaymentId, StoreError, Timestamp};

/// How an order is paid for: a setting of the mall, and a property of each order.
///
/// An order takes the mode that the mall has when the order is written, and keeps it for ever: a changed setting touches
/// no existing order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PaymentMode {
    /// No payment: an order is written as [`Paid`](crate::OrderStatus::Paid), without deadline and without payment row.
    None,
    /// Imaginary money: an order is unpaid until a payment is captured or its deadline cancels it. The mode of malls that
    /// were made before modes were stored.
    #[default]
    Sandbox,
}

impl PaymentMode {
    /// The name of the mall's [setting](crate::Upkeep::setting). Without one, new orders are [`PaymentMode::Sandbox`].
    pub const SETTING: &str = "payment";

    /// The value of the setting.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Sandbox => "sandbox",
        }
    }

    /// Parses the value of the setting; `None` for a mode that this version does not know.
    #[must_use]
    pub fn from_setting(value: Option<&str>) -> Option<Self> {
        match value {
            None => Some(Self::default()),
            Some(name) => [Self::None, Self::Sandbox].into_iter().find(|mode| mode.name() == name),
        }
    }

    /// The status of a new order.
    #[must_use]
    pub fn first_status(self) -> OrderStatus {
        match self {
            Self::None => OrderStatus::Paid,
            Self::Sandbox => OrderStatus::Unpaid,
        }
    }
}

/// Where a payment stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaymentState {
    /// Written before the gateway is called; what the gateway did is not known.
    Started,
    /// The gateway took the money.
    Captured,
    /// The gateway gave the money back.
    Refunded,
    /// The gateway did not take the money.
    Failed,
}

impl PaymentState {
    /// The state with this number in a row; `None` for a number that no mall writes.
    #[must_use]
    pub fn in_row(number: i64) -> Option<Self> {
        Self::numbered(number)
    }
}

/// One attempt to pay for an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Payment {
    /// Which; the gateway's idempotency key.
    pub id: PaymentId,
    /// For what.
    pub order: OrderId,
    /// How much.
    pub amount: Cents,
    /// Where it stands.
    pub state: PaymentState,
    /// When it was started.
    pub started: Timestamp,
}

/// What [`PaymentRows`] say does not add up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PaymentFaults {
    /// Paid, used or refunding orders without a captured payment, unless their mode is [`PaymentMode::None`].
    pub paid_without_payment: u64,
    /// Cancelled orders whose payment is captured and not refunded.
    pub captured_on_cancelled: u64,
}

/// Payments: a row is there, durably, before the gateway is called.
///
/// - An order has at most one payment that is started or captured; starting again answers that one.
/// - [`Step::Pay`](crate::Step::Pay) and [`Step::FinishRefund`](crate::Step::FinishRefund) move the row together
///   with the order; [`settle`](PaymentRows::settle) moves it alone.
#[async_trait]
pub trait PaymentRows: Send + Sync {
    /// The order's open payment, made if there is none.
    ///
    /// # Errors
    /// [`StoreError`]: the gateway must not be called; call again. [`StoreError::Refused`]: no such order in the record.
    async fn start(&self, order: OrderId, amount: Cents, now: Timestamp) -> Result<Payment, StoreError>;

    /// Moves a row to another state. `false` if there is no such row, or if that would undo a capture: a captured payment
    /// never becomes failed, and becomes refunded here only on an order that is not paid, used or refunding.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again. [`StoreError::Refused`]: its order has another
    /// payment that is open.
    async fn settle(
        &self,
        payment: PaymentId,
        state: PaymentState,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// An order's payments, oldest first.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn of_order(&self, order: OrderId) -> Result<Vec<Payment>, StoreError>;

    /// Payments that need a look, oldest first, at most `max`: started before an instant and still so, or captured on
    /// an order that is cancelled or refunding.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn unsettled(&self, started_before: Timestamp, max: u32) -> Result<Vec<Payment>, StoreError>;

    /// Counts what does not add up between orders and payments, row by row.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn faults(&self) -> Result<PaymentFaults, StoreError>;
}
