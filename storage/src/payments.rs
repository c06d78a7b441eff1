//! Payments in the database.

use async_trait::async_trait;

use crate::{Cents, OrderId, OrderStatus, PaymentId, StoreError, Timestamp};

/// Payment mode: a setting of the mall, and a property of each order.
///
/// An order takes the mode in force when the order is written, and keeps that mode for ever. Changing the
/// setting touches no existing order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PaymentMode {
    /// No payment: orders are written as [`Paid`](crate::OrderStatus::Paid), without deadline and without
    /// payment row.
    None,
    /// Simulated money: an order is unpaid until a payment is captured or its deadline cancels the order. The
    /// mode of malls created before modes were stored.
    #[default]
    Sandbox,
    /// Money taken and returned at the counter, as recorded by an operator. An order is unpaid until then, or
    /// until its deadline, which is after the end of its sale.
    Counter,
    /// Money of a payment gateway over HTTP. The buyer may pay on a page of the gateway, so a payment stays
    /// started for minutes. An order is unpaid until a payment is captured or its deadline cancels the order.
    Webhook,
}

impl PaymentMode {
    /// Name of the mall's [setting](crate::Upkeep::setting). Without the setting, new orders are
    /// [`PaymentMode::Sandbox`].
    pub const SETTING: &str = "payment";

    /// All modes.
    pub const ALL: [Self; 4] = [Self::None, Self::Sandbox, Self::Counter, Self::Webhook];

    /// Returns the stored value of the setting.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Sandbox => "sandbox",
            Self::Counter => "counter",
            Self::Webhook => "webhook",
        }
    }

    /// Parses the stored value of the setting; `None` for a mode unknown to this version.
    #[must_use]
    pub fn from_setting(value: Option<&str>) -> Option<Self> {
        match value {
            None => Some(Self::default()),
            Some(name) => Self::ALL.into_iter().find(|mode| mode.name() == name),
        }
    }

    /// Returns the status of a new order.
    #[must_use]
    pub fn first_status(self) -> OrderStatus {
        match self {
            Self::None => OrderStatus::Paid,
            Self::Sandbox | Self::Counter | Self::Webhook => OrderStatus::Unpaid,
        }
    }
}

/// State of a payment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaymentState {
    /// Written before the gateway is called; the gateway's outcome is in doubt.
    Started,
    /// The gateway took the money.
    Captured,
    /// The gateway returned the money.
    Refunded,
    /// The gateway did not take the money.
    Failed,
    /// The gateway returned the money against the mall's will (a chargeback), after the order was used. The
    /// order stays used.
    Reversed,
}

/// One attempt to pay for an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Payment {
    /// Id of the payment; also the idempotency key for the gateway.
    pub id: PaymentId,
    /// The order to pay for.
    pub order: OrderId,
    /// Amount to pay, in cents.
    pub amount: Cents,
    /// Current state of the payment.
    pub state: PaymentState,
    /// Time at which the payment was started.
    pub started: Timestamp,
    /// Gateway of the payment: the mode of its order. A refund goes through the same gateway.
    pub gateway: PaymentMode,
}

/// Contradictions between orders and payments found by [`PaymentRows::faults`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PaymentContradictions {
    /// Number of paid, used or refunding orders without a captured payment, except orders in
    /// [`PaymentMode::None`]. A reversed payment counts as captured for a used order.
    pub paid_without_payment: u64,
    /// Number of cancelled orders whose payment is captured and not refunded.
    pub captured_on_cancelled: u64,
}

/// Payment rows. A row exists durably before the gateway is called.
///
/// - An order has at most one started or captured payment; starting again returns the existing payment.
/// - A payment in [`PaymentMode::Webhook`] may rightly stay started until its order's deadline, and is listed
///   by [`started`](PaymentRows::started) instead of [`unsettled`](PaymentRows::unsettled).
/// - [`Transition::Pay`](crate::Transition::Pay),
///   [`Transition::FinishRefund`](crate::Transition::FinishRefund), and in [`PaymentMode::Counter`]
///   [`Transition::StartRefund`](crate::Transition::StartRefund), change the row together with the order;
///   [`settle`](PaymentRows::settle) changes the row alone.
#[async_trait]
pub trait PaymentRows: Send + Sync {
    /// Returns the order's open payment, inserting a started one, through the gateway of the order's mode, if
    /// there is none.
    ///
    /// # Errors
    /// - [`StoreError::Refused`]: the order is not in the database.
    /// - Any other [`StoreError`]: the gateway must not be called; call again.
    async fn start(&self, order: OrderId, amount: Cents, now: Timestamp) -> Result<Payment, StoreError>;

    /// Changes the state of a payment row. Returns `false` if the row does not exist, or if the change would
    /// undo a capture: a captured payment never becomes failed, and becomes refunded here only if its order
    /// is not paid, used or refunding. A captured payment becomes reversed only if its order is used. A
    /// reversed payment becomes neither failed nor refunded.
    ///
    /// # Errors
    /// - [`StoreError::Refused`]: the order has another open payment.
    /// - Any other [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn settle(
        &self,
        payment: PaymentId,
        state: PaymentState,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Returns the payments of an order, oldest first.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn of_order(&self, order: OrderId) -> Result<Vec<Payment>, StoreError>;

    /// Returns up to `max` payments that need reconciliation, oldest first: payments started before
    /// `started_before` and still in that state, except in [`PaymentMode::Webhook`], and captured payments of
    /// a cancelled or refunding order.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn unsettled(&self, started_before: Timestamp, max: u32) -> Result<Vec<Payment>, StoreError>;

    /// Returns up to `max` payments through `gateway` that are still started, with an id above `after`, by
    /// id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn started(
        &self,
        gateway: PaymentMode,
        after: PaymentId,
        max: u32,
    ) -> Result<Vec<Payment>, StoreError>;

    /// Counts contradictions between orders and payments, row by row.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn faults(&self) -> Result<PaymentContradictions, StoreError>;
}
