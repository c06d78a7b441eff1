//! What the ledger check reads: rows beside the rows that depend on them, as raw as they stand.

mod checks;

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::{Cents, DeadLetterId, OrderId, PaymentId, PaymentMode, StoreError, Timestamp, UserId, VoucherId};

pub use checks::RowCheck;

/// One order, with everything in the database that says something about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderFacts {
    /// The order's id.
    pub id: OrderId,
    /// Its user.
    pub user: UserId,
    /// Its voucher.
    pub voucher: VoucherId,
    /// Its status as a number, possibly one that no mall writes.
    pub status: i64,
    /// How it is paid for; `None` if the number stored is one that no mall writes.
    pub payment: Option<PaymentMode>,
    /// What it costs.
    pub pay_value: Cents,
    /// When it was claimed.
    pub created: Timestamp,
    /// Until when it can be paid.
    pub deadline: Timestamp,
    /// When it was paid.
    pub paid: Option<Timestamp>,
    /// When it was redeemed.
    pub used: Option<Timestamp>,
    /// When its money went back.
    pub refunded: Option<Timestamp>,
    /// Whether it occupies its user's one place in the sale exactly if it is a live order of a sale.
    pub slot_fits: bool,
    /// Whether its user exists.
    pub has_user: bool,
    /// Its voucher's price and when the voucher was last changed; `None` if the voucher does not exist.
    pub price: Option<(Cents, Timestamp)>,
    /// Its sale, if the voucher is one.
    pub sale: Option<SaleFacts>,
    /// Its payments, oldest first.
    pub payments: Vec<PaymentFacts>,
}

/// What an order's sale says about its orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SaleFacts {
    /// The smallest and the largest id among its live orders.
    pub range: Option<(OrderId, OrderId)>,
}

/// One attempt to pay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PaymentFacts {
    /// The payment's id.
    pub id: PaymentId,
    /// Its order.
    pub order: OrderId,
    /// How much.
    pub amount: Cents,
    /// Its state as a number, possibly one that no mall writes.
    pub state: i64,
    /// When it moved to this state.
    pub updated: Timestamp,
    /// Whether the background job that finishes payments finds it.
    pub needs_look: bool,
}

/// Orders by id, and the payments of that range of order ids.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OrderPage {
    /// The orders.
    pub orders: Vec<OrderFacts>,
    /// Payments whose order does not exist.
    pub strays: Vec<PaymentFacts>,
    /// The last order's id, if there may be more behind it.
    pub more_after: Option<OrderId>,
}

impl OrderPage {
    /// Joins orders and payments, both ordered by the order's id.
    pub(crate) fn join(
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

/// One dead letter, with what the database says about its claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LetterFacts {
    /// The dead letter's id.
    pub id: DeadLetterId,
    /// The id its order would have had.
    pub order: OrderId,
    /// Its sale.
    pub voucher: VoucherId,
    /// When it was claimed.
    pub claimed: Timestamp,
    /// Why it did not become an order.
    pub reason: String,
    /// Whether it holds a unit.
    pub holds_unit: bool,
    /// Its state as a number, possibly one that no mall writes.
    pub state: i64,
    /// When it was replayed or voided.
    pub closed: Option<Timestamp>,
    /// Whether its user exists.
    pub has_user: bool,
    /// Whether its sale exists.
    pub has_sale: bool,
    /// Whether there is an order of this id, user and voucher.
    pub is_order: bool,
}

/// Rows that fail a [`RowCheck`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Broken {
    /// How many.
    pub count: u64,
    /// The first of their ids.
    pub examples: Vec<String>,
}

/// Rows for the ledger check.
///
/// - One answer shows one state of the database: a transaction is seen whole or not at all.
/// - Nothing is locked, and no call keeps a state open for longer than its own page.
/// - A value that no mall writes is returned as it stands, and is no error.
#[async_trait]
pub trait LedgerRows: Send + Sync {
    /// Returns up to `max` orders above `after` by id, and all payments of that range of order ids.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn orders(&self, after: Option<OrderId>, max: u32) -> Result<OrderPage, StoreError>;

    /// Returns up to `max` dead letters above `after` by id.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn letters(&self, after: DeadLetterId, max: u32) -> Result<Vec<LetterFacts>, StoreError>;

    /// Returns the rows that fail a check, with at most `max` examples. Reads every row of a table.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn broken(&self, check: RowCheck, max: u32) -> Result<Broken, StoreError>;

    /// Counts the rows that were written and are gone, of tables from which a mall deletes nothing. Empty where a back end
    /// leaves gaps between ids by itself.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn gone(&self) -> Result<BTreeMap<&'static str, u64>, StoreError>;
}

impl OrderId {
    /// Day and count of an id of [`OrderId::compose`]'s form, for an order created at `created`. `None` if the id's second is
    /// more than a day away from it: such an id moved in from elsewhere, and its bits say nothing.
    #[must_use]
    pub fn day_and_count(self, created: Timestamp) -> Option<(u64, u64)> {
        let seconds = self.get() >> 32;
        let own = created.as_millis().saturating_sub(Self::EPOCH.as_millis()) / 1000;
        let is_near = seconds.cast_signed().abs_diff(own) <= 86_400;
        is_near.then_some((seconds / 86_400, self.get() >> 4 & Self::MAX_COUNT))
    }

    /// Whether [`OrderId::compose`] makes this id at `created` for `voucher`.
    #[must_use]
    pub fn is_of(self, created: Timestamp, voucher: VoucherId) -> bool {
        Self::compose(created, self.get() >> 4 & Self::MAX_COUNT, voucher) == Some(self)
    }
}

/// Selects [`OrderFacts`] between two ids. `slot_fits` is the engine's own condition.
pub(crate) fn select_orders(slot_fits: &str) -> String {
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
pub(crate) const SELECT_PAYMENTS: &str =
    "SELECT id, order_id, amount, state, updated_ms, needs_look FROM payments
    WHERE order_id >= ? AND order_id <= ? ORDER BY order_id, id";

/// Selects [`LetterFacts`] above an id.
pub(crate) const SELECT_LETTERS: &str = "SELECT d.entry, d.order_id, d.voucher_id, d.claimed_ms, d.reason, d.holds_unit,
      d.state, d.closed_ms, u.id IS NOT NULL, s.voucher_id IS NOT NULL, o.id IS NOT NULL
    FROM dead_letters AS d LEFT JOIN users AS u ON u.id = d.user_id LEFT JOIN sales AS s ON s.voucher_id = d.voucher_id
      LEFT JOIN orders AS o ON o.id = d.order_id AND o.user_id = d.user_id AND o.voucher_id = d.voucher_id
    WHERE d.entry > ? ORDER BY d.entry LIMIT ?";
