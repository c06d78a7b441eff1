//! The day books: what happened to a voucher on a day, summed from orders and dead letters.

use std::collections::BTreeMap;

use mallbox_storage::{
    Cents, Day, DeadState, LetterFacts, OrderFacts, OrderStatus, PaymentMode, Timestamp, VoucherId,
};

use super::movements::{Movement, MovementCause, MovementKind, paid_at, refunded_at, status_of};

/// Sums of a voucher and a day. Amounts are in cents, and end at the limits of their type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BookSums {
    /// Orders claimed or bought on the day.
    pub claimed: u64,
    /// Of those, the orders cancelled when they were read.
    pub cancelled: u64,
    /// Orders paid on the day, by the orders' rows; without payments, orders claimed on the day and not
    /// cancelled.
    pub sold: u64,
    /// Orders redeemed on the day.
    pub used: u64,
    /// Orders refunded on the day.
    pub refunded: u64,
    /// Claims of the day that the database refused, and no operator has decided on.
    pub dead_letters: u64,
    /// Prices of the orders paid on the day, by the orders' rows.
    pub revenue: i64,
    /// Prices of the orders refunded on the day, by the orders' rows.
    pub refunds: i64,
    /// Money that gateways took back on the day.
    pub chargebacks: i64,
    /// Money returned on the day for orders that were closed before the money came: in and out.
    pub late: i64,
}

/// The time of an export.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Window {
    /// The first instant.
    pub(super) from: Timestamp,
    /// The first instant behind.
    pub(super) until: Timestamp,
}

impl Window {
    /// All time.
    pub(super) const ALL: Self =
        Self { from: Timestamp::from_millis(i64::MIN), until: Timestamp::from_millis(i64::MAX) };

    pub(super) fn contains(self, at: Timestamp) -> bool {
        self.from <= at && at < self.until
    }
}

/// Sums being built. `day_of` gives the day of an instant in the mall's zone.
pub(super) struct Books<F> {
    window: Window,
    day_of: F,
    pub(super) lines: BTreeMap<(Day, VoucherId), BookSums>,
}

impl<F: Fn(Timestamp) -> Option<Day>> Books<F> {
    pub(super) fn new(window: Window, day_of: F) -> Self {
        Self { window, day_of, lines: BTreeMap::new() }
    }

    /// Adds an order with its movements. Returns whether anything of the order is within the window.
    pub(super) fn add(&mut self, order: &OrderFacts, movements: &[Movement]) -> bool {
        let (status, voucher, price) = (status_of(order), order.voucher, order.pay_value);
        let is_cancelled = status == Some(OrderStatus::Cancelled);
        let is_free = order.payment == Some(PaymentMode::None);
        let mut is_within = false;
        let mut add = |at: Option<Timestamp>, change: &dyn Fn(&mut BookSums)| {
            is_within |= at.is_some_and(|at| self.change(at, voucher, change));
        };
        add(Some(order.created), &|sums| {
            sums.claimed += 1;
            sums.cancelled += u64::from(is_cancelled);
            sums.sold += u64::from(is_free && !is_cancelled);
        });
        add(paid_at(order), &|sums| {
            sums.sold += 1;
            grow(&mut sums.revenue, price);
        });
        add(order.used, &|sums| sums.used += 1);
        let closed_free = order.refunded.filter(|_| is_free && status == Some(OrderStatus::Refunded));
        add(closed_free, &|sums| sums.refunded += 1);
        add(refunded_at(order), &|sums| {
            sums.refunded += 1;
            grow(&mut sums.refunds, price);
        });
        for movement in movements {
            match (movement.cause, movement.kind) {
                (MovementCause::Chargeback, _) => {
                    add(Some(movement.at), &|sums| grow(&mut sums.chargebacks, movement.amount));
                }
                (MovementCause::Late, MovementKind::Refunded) => {
                    add(Some(movement.at), &|sums| grow(&mut sums.late, movement.amount));
                }
                (MovementCause::Late, MovementKind::Paid) | (MovementCause::Order, _) => {}
            }
        }
        is_within
    }

    /// Adds a dead letter that waits for an operator.
    pub(super) fn add_letter(&mut self, letter: &LetterFacts) {
        if DeadState::in_row(letter.state) == Some(DeadState::Open) {
            self.change(letter.claimed, letter.voucher, &|sums| sums.dead_letters += 1);
        }
    }

    fn change(&mut self, at: Timestamp, voucher: VoucherId, change: &dyn Fn(&mut BookSums)) -> bool {
        let day = if self.window.contains(at) { (self.day_of)(at) } else { None };
        let Some(day) = day else { return false };
        change(self.lines.entry((day, voucher)).or_default());
        true
    }
}

fn grow(sum: &mut i64, amount: Cents) {
    *sum = sum.saturating_add(amount.get());
}
