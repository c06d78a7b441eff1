//! Rows read by the ledger check: each row joined with the rows that depend on it, without validation.

mod checks;

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::{Cents, DeadLetterId, OrderId, PaymentId, PaymentMode, StoreError, Timestamp, UserId, VoucherId};

pub use checks::RowCheck;

/// An order with all related data in the database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderFacts {
    /// Id of the order.
    pub id: OrderId,
    /// The buyer's id.
    pub user: UserId,
    /// The voucher's id.
    pub voucher: VoucherId,
    /// Stored status number, possibly invalid.
    pub status: i64,
    /// Payment mode; `None` if the stored number is invalid.
    pub payment: Option<PaymentMode>,
    /// Price in cents.
    pub pay_value: Cents,
    /// Time of the claim or purchase.
    pub created: Timestamp,
    /// Payment deadline of an unpaid order.
    pub deadline: Timestamp,
    /// Time of the payment.
    pub paid: Option<Timestamp>,
    /// Time of redemption.
    pub used: Option<Timestamp>,
    /// Time of the refund.
    pub refunded: Option<Timestamp>,
    /// Whether the order occupies its user's slot in the sale if and only if it is a live order of a sale.
    pub slot_fits: bool,
    /// Whether the user exists.
    pub has_user: bool,
    /// The voucher's price and time of last change; `None` if the voucher does not exist.
    pub price: Option<(Cents, Timestamp)>,
    /// The sale, if the voucher has one.
    pub sale: Option<SaleFacts>,
    /// Payments of the order, oldest first.
    pub payments: Vec<PaymentFacts>,
}

/// Data that a sale stores about its orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SaleFacts {
    /// Recorded id range of the sale's orders. Every live order and every dead letter with a unit lies
    /// inside; an imported closed order may lie outside.
    pub range: Option<(OrderId, OrderId)>,
}

/// One payment attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PaymentFacts {
    /// Id of the payment.
    pub id: PaymentId,
    /// Id of the order.
    pub order: OrderId,
    /// Amount in cents.
    pub amount: Cents,
    /// Stored state number, possibly invalid.
    pub state: i64,
    /// Gateway of the payment; `None` if the stored number is invalid.
    pub gateway: Option<PaymentMode>,
    /// Time of the last state change.
    pub updated: Timestamp,
    /// Whether the background job that finishes payments selects this row.
    pub needs_look: bool,
}

/// A page of orders by id, with the payments in the same range of order ids.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OrderPage {
    /// Orders of the page.
    pub orders: Vec<OrderFacts>,
    /// Payments whose order does not exist.
    pub strays: Vec<PaymentFacts>,
    /// Id of the last order if more may follow.
    pub more_after: Option<OrderId>,
}

impl OrderPage {
    /// Merge-joins orders and payments, both sorted by order id.
    pub fn join(
        mut orders: Vec<OrderFacts>,
        payments: Vec<PaymentFacts>,
        more_after: Option<OrderId>,
    ) -> Self {
        let mut strays = Vec::new();
        let mut place = 0;
        for payment in payments {
            while orders.get(place).is_some_and(|order| order.id < payment.order) {
                place += 1;
            }
            match orders.get_mut(place).filter(|order| order.id == payment.order) {
                Some(order) => order.payments.push(payment),
                None => strays.push(payment),
            }
        }
        Self { orders, strays, more_after }
    }
}

/// A dead letter with related data in the database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LetterFacts {
    /// Id of the dead letter.
    pub id: DeadLetterId,
    /// Order id of the claim.
    pub order: OrderId,
    /// Voucher id of the sale.
    pub voucher: VoucherId,
    /// Time of the claim.
    pub claimed: Timestamp,
    /// Code of the reason.
    pub reason: String,
    /// Whether the dead letter holds a unit.
    pub holds_unit: bool,
    /// Stored state number, possibly invalid.
    pub state: i64,
    /// Time of the replay or void.
    pub closed: Option<Timestamp>,
    /// Whether the user exists, or is a walk-in customer.
    pub has_user: bool,
    /// Whether the sale exists.
    pub has_sale: bool,
    /// Whether an order with the same id, user and voucher exists.
    pub is_order: bool,
}

/// Rows that violate a [`RowCheck`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Violations {
    /// Number of violating rows.
    pub count: u64,
    /// Ids of the first violating rows.
    pub examples: Vec<String>,
}

/// Row source of the ledger check.
///
/// - Each call reads one snapshot of the database: a transaction is seen completely or not at all.
/// - No call locks rows, or keeps a snapshot open beyond its own page.
/// - Invalid stored values are returned unchanged, and are no error.
#[async_trait]
pub trait LedgerRows: Send + Sync {
    /// Returns up to `max` orders with an id above `after`, by id, and all payments in the same range of
    /// order ids.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn orders(&self, after: Option<OrderId>, max: u32) -> Result<OrderPage, StoreError>;

    /// Returns up to `max` dead letters with an id above `after`, by id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn letters(&self, after: DeadLetterId, max: u32) -> Result<Vec<LetterFacts>, StoreError>;

    /// Returns the rows that violate a check, with at most `max` examples. Scans a whole table.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn broken(&self, check: RowCheck, max: u32) -> Result<Violations, StoreError>;

    /// Counts missing rows, by table, in tables from which a mall never deletes: gaps in the ids prove that a
    /// row was lost. Empty if the back end's ids have gaps of their own.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn gone(&self) -> Result<BTreeMap<&'static str, u64>, StoreError>;
}

impl OrderId {
    /// Returns day and count of an id in [`OrderId::compose`]'s form, for an order created at `created`. The
    /// count is returned as written, an [offset](OrderId::with_offset) included. `None` if the id's seconds
    /// are more than a day away from `created`: such an id was imported, and its bits carry no meaning.
    #[must_use]
    pub fn day_and_count(self, created: Timestamp) -> Option<(u64, u64)> {
        let seconds = self.second();
        let own = created.as_millis().saturating_sub(Self::EPOCH.as_millis()) / 1000;
        let is_near = seconds.cast_signed().abs_diff(own) <= 86_400;
        is_near.then_some((seconds / 86_400, self.get() >> 4 & Self::MAX_COUNT))
    }

    /// Returns whether [`OrderId::compose`] produces this id at `created` for `voucher`, whatever the count.
    #[must_use]
    pub fn is_of(self, created: Timestamp, voucher: VoucherId) -> bool {
        Self::compose(created, self.get() >> 4 & Self::MAX_COUNT, voucher) == Some(self)
    }
}

/// Builds the query for [`OrderFacts`] from an id on. `slot_fits` is a condition in the engine's own SQL.
pub fn select_orders(slot_fits: &str) -> String {
    format!(
        "SELECT o.id, o.user_id, o.voucher_id, o.status, o.payment_mode, o.pay_value, o.created_ms, o.deadline_ms,
           o.paid_ms, o.used_ms, o.refunded_ms, {slot_fits}, u.id IS NOT NULL, v.pay_value, v.updated_ms,
           s.voucher_id IS NOT NULL, s.first_order, s.last_order
         FROM orders AS o LEFT JOIN users AS u ON u.id = o.user_id LEFT JOIN vouchers AS v ON v.id = o.voucher_id
           LEFT JOIN sales AS s ON s.voucher_id = o.voucher_id
         WHERE o.id >= ? ORDER BY o.id LIMIT ?"
    )
}

/// Selects [`PaymentFacts`] between two order ids.
pub const SELECT_PAYMENTS: &str =
    "SELECT id, order_id, amount, state, gateway, updated_ms, needs_look FROM payments
    WHERE order_id >= ? AND order_id <= ? ORDER BY order_id, id";

/// Selects [`LetterFacts`] above an id. Walk-in customers have no row among the users; the number is the
/// first of their ids.
pub const SELECT_LETTERS: &str = "SELECT d.entry, d.order_id, d.voucher_id, d.claimed_ms, d.reason, d.holds_unit,
      d.state, d.closed_ms, u.id IS NOT NULL OR d.user_id >= 6755399441055744, s.voucher_id IS NOT NULL, o.id IS NOT NULL
    FROM dead_letters AS d LEFT JOIN users AS u ON u.id = d.user_id LEFT JOIN sales AS s ON s.voucher_id = d.voucher_id
      LEFT JOIN orders AS o ON o.id = d.order_id AND o.user_id = d.user_id AND o.voucher_id = d.voucher_id
    WHERE d.entry > ? ORDER BY d.entry LIMIT ?";
