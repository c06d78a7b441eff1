//! Consistency rules for one order and its payments: pure functions of rows in the database.

use std::time::Duration;

use mallbox_storage::{OrderFacts, OrderStatus, PaymentFacts, PaymentMode, PaymentState, Timestamp};

use super::code::Code;
use super::object::{Kind, Object};
use super::report::Finding;

/// Tolerance for instants in the wrong order, to allow for a corrected clock.
const CLOCK_SLACK: Duration = Duration::from_secs(5 * 60);
/// Tolerance of the import time, because a dump's instants may be in another time zone. Orders created within
/// the tolerance after the import count as imported.
const IMPORT_SLACK: Duration = Duration::from_secs(24 * 3600);

/// Time of the check, and time of the import for an imported mall.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckTimes {
    pub(super) now: Timestamp,
    pub(super) imported: Option<Timestamp>,
}

impl CheckTimes {
    /// Returns whether an order was imported. The instants and the id of an imported order come from the dump
    /// and follow no rule.
    fn is_imported(self, order: &OrderFacts) -> bool {
        self.imported.is_some_and(|at| order.created <= at + IMPORT_SLACK)
    }
}

/// Returns the violations of one order and its payments.
pub(super) fn check(order: &OrderFacts, era: CheckTimes) -> Vec<Finding> {
    let mut check = Check { order, findings: Vec::new() };
    check.references();
    check.price(era);
    let status = u8::try_from(order.status).ok().and_then(OrderStatus::numbered);
    let status = status.filter(|status| *status != OrderStatus::Pending);
    match (status, order.payment) {
        (None, _) => check.find(Code::OrderStatus, "1 to 6", order.status),
        (_, None) => check.find(Code::OrderStatus, "a known payment mode", "another number"),
        (Some(status), Some(mode)) => {
            check.slot(status);
            if !era.is_imported(order) {
                check.id();
                check.instants(status, mode);
            }
            check.payments(status, mode);
        }
    }
    check.findings
}

/// Returns the finding for a payment without an order.
pub(super) fn stray(payment: &PaymentFacts) -> Finding {
    let object = Object::new(Kind::Payment, payment.id);
    Finding::new(Code::PaymentOrder, object, "an existing order", format!("order {}", payment.order))
}

struct Check<'a> {
    order: &'a OrderFacts,
    findings: Vec<Finding>,
}

impl Check<'_> {
    fn find(&mut self, code: Code, expected: impl std::fmt::Display, found: impl std::fmt::Display) {
        self.findings.push(Finding::new(code, Object::new(Kind::Order, self.order.id), expected, found));
    }

    fn require(&mut self, holds: bool, code: Code, expected: &str, found: impl std::fmt::Display) {
        if !holds {
            self.find(code, expected, found);
        }
    }

    fn references(&mut self) {
        let OrderFacts { user, voucher, has_user, price, .. } = *self.order;
        self.require(
            has_user || user.is_walk_in(),
            Code::OrderUser,
            "an existing user",
            format!("user {user}"),
        );
        self.require(
            price.is_some(),
            Code::OrderVoucher,
            "an existing voucher",
            format!("voucher {voucher}"),
        );
    }

    /// Checks the price. A voucher's price may change later, so only an order younger than the voucher's last
    /// change must match the voucher's price.
    fn price(&mut self, era: CheckTimes) {
        let OrderFacts { pay_value, created, price, .. } = *self.order;
        let Some((price, changed)) = price else { return };
        let is_current = changed < created && created <= era.now;
        let fits = if is_current { pay_value == price } else { pay_value.get() >= 0 };
        self.require(fits, Code::OrderPrice, &price.get().to_string(), pay_value.get());
    }

    fn slot(&mut self, status: OrderStatus) {
        let OrderFacts { id, slot_fits, sale, .. } = *self.order;
        match sale {
            None => self.require(
                slot_fits,
                Code::OrderSale,
                "an existing sale",
                "an order of a sale that is not there",
            ),
            Some(sale) => {
                self.require(
                    slot_fits,
                    Code::OrderSlot,
                    "its user's one place in the sale, if live",
                    "another",
                );
                let is_within = sale.range.is_some_and(|(first, last)| first <= id && id <= last);
                let range = sale
                    .range
                    .map_or_else(|| "no order".into(), |(first, last)| format!("{first} to {last}"));
                self.require(
                    is_within || !status.is_live(),
                    Code::OrderRange,
                    "within the sale's first and last order",
                    range,
                );
            }
        }
    }

    fn id(&mut self) {
        let OrderFacts { id, created, voucher, .. } = *self.order;
        let found = format!("created at {} for voucher {voucher}", created.as_millis());
        self.require(id.is_of(created, voucher), Code::OrderId, "the id of its second and voucher", found);
    }

    /// Checks the presence and order of the instants.
    fn instants(&mut self, status: OrderStatus, mode: PaymentMode) {
        use OrderStatus::{Paid, Refunded, Refunding, Unpaid, Used};
        let OrderFacts { created, deadline, paid, used, refunded, .. } = *self.order;
        let was_paid = mode != PaymentMode::None && matches!(status, Paid | Used | Refunding | Refunded);
        let wanted = [was_paid, status == Used, status == Refunded];
        let there = [paid.is_some(), used.is_some(), refunded.is_some()];
        self.require(wanted == there, Code::OrderInstants, &instants_text(wanted), instants_text(there));
        let mut last = created;
        for at in [paid, used, refunded].into_iter().flatten() {
            let is_later = at + CLOCK_SLACK >= last;
            self.require(
                is_later,
                Code::OrderInstants,
                "created, paid, used, refunded in this order",
                at.as_millis(),
            );
            last = last.max(at);
        }
        let is_payable = status != Unpaid || deadline >= created;
        self.require(is_payable, Code::OrderDeadline, "a deadline after the order", deadline.as_millis());
    }

    /// Checks the payments against the order's status and payment mode.
    fn payments(&mut self, status: OrderStatus, mode: PaymentMode) {
        use OrderStatus::{Cancelled, Paid, Pending, Refunded, Refunding, Unpaid, Used};
        let payments = &self.order.payments;
        if mode == PaymentMode::None {
            let none = payments.is_empty();
            return self.require(none, Code::PaymentUnasked, "no payment", payments.len());
        }
        let of = |state| payments.iter().filter(move |payment| state_of(payment) == Some(state));
        let (captured, refunds) = (of(PaymentState::Captured).count(), of(PaymentState::Refunded).count());
        let open = of(PaymentState::Started).count() + captured;
        let amount =
            payments.iter().filter(|payment| captured_or_more(payment)).map(|payment| payment.amount);
        let wrong_amount = amount.into_iter().find(|amount| *amount != self.order.pay_value);
        let unknown =
            payments.iter().find(|payment| state_of(payment).is_none()).map(|payment| payment.state);
        let unwatched = payments.iter().any(|payment| payment.needs_look != needs_look(payment, status));

        let foreign = payments.iter().find(|payment| payment.gateway != Some(mode));

        if let Some(foreign) = foreign {
            let found = foreign.gateway.map_or("another number", PaymentMode::name);
            self.find(Code::PaymentGateway, mode.name(), found);
        }
        self.require(unknown.is_none(), Code::PaymentState, "0 to 4", unknown.unwrap_or_default());
        self.require(open <= 1, Code::PaymentTwice, "at most one open payment", open);
        if let Some(amount) = wrong_amount {
            self.find(Code::PaymentAmount, self.order.pay_value.get(), amount.get());
        }
        self.require(!unwatched, Code::PaymentUnwatched, "watched while its money is under way", "not so");
        match status {
            Unpaid => self.require(captured == 0, Code::PaymentOnUnpaid, "no captured payment", captured),
            Cancelled => {
                self.require(captured == 0, Code::PaymentOnCancelled, "no captured payment", captured)
            }
            Paid | Used | Refunding => {
                // Money taken back by a chargeback was captured before; the order was used and stays so.
                let is_reversed = status == Used && of(PaymentState::Reversed).count() > 0;
                self.require(captured > 0 || is_reversed, Code::PaymentMissing, "a captured payment", "none");
                self.check_payment_instant(PaymentState::Captured, self.order.paid);
            }
            Refunded => {
                self.require(captured == 0, Code::PaymentOnRefunded, "no captured payment", captured);
                self.require(refunds > 0, Code::RefundMissing, "a payment that was given back", "none");
                self.check_payment_instant(PaymentState::Refunded, self.order.refunded);
            }
            Pending => {}
        }
    }

    /// Checks a payment for a change in the same transaction as the order. An imported payment has the last
    /// instant of its order.
    fn check_payment_instant(&mut self, state: PaymentState, at: Option<Timestamp>) {
        let OrderFacts { created, paid, refunded, ref payments, .. } = *self.order;
        let latest = refunded.or(paid).unwrap_or(created);
        let mut moved =
            payments.iter().filter(|one| state_of(one) == Some(state)).map(|one| one.updated).peekable();
        let Some(first) = moved.peek().copied() else { return };
        let fits = moved.any(|moved| Some(moved) == at || moved == latest);
        let found = at.map_or_else(|| "none".to_owned(), |at| at.as_millis().to_string());
        self.require(fits, Code::PaymentInstant, &first.as_millis().to_string(), found);
    }
}

fn state_of(payment: &PaymentFacts) -> Option<PaymentState> {
    PaymentState::in_row(payment.state)
}

/// Returns whether money was moved, or may have been.
fn captured_or_more(payment: &PaymentFacts) -> bool {
    state_of(payment).is_some_and(|state| state != PaymentState::Failed)
}

/// Returns whether the background job must watch a payment of an order with this status.
fn needs_look(payment: &PaymentFacts, status: OrderStatus) -> bool {
    match state_of(payment) {
        Some(PaymentState::Started) => true,
        // The money of an imported refund at the counter waits for an operator, not for the job.
        Some(PaymentState::Captured) if payment.gateway == Some(PaymentMode::Counter) => false,
        Some(PaymentState::Captured) => matches!(status, OrderStatus::Cancelled | OrderStatus::Refunding),
        Some(PaymentState::Refunded | PaymentState::Failed | PaymentState::Reversed) => false,
        None => payment.needs_look,
    }
}

fn instants_text(there: [bool; 3]) -> String {
    let names = ["paid", "used", "refunded"].into_iter().zip(there).filter(|(_, there)| *there);
    let names: Vec<_> = names.map(|(name, _)| name).collect();
    if names.is_empty() { "no instants".to_owned() } else { names.join(" and ") }
}
