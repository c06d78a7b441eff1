//! The accounts as rows: of files, of the control API, and of downloads.

use jiff::tz::TimeZone;
use mallbox_storage::{
    CashReport, CashSession, OrderFacts, OrderStatus, PaymentMode, Timestamp, VoucherId, hex,
};
use serde::{Deserialize, Serialize};

use crate::mall::base::wall_time;
use crate::mall::operator::bookkeeping::{
    AccountsPage, AccountsPlace, BookSums, Movement, MovementKind, PaymentCount,
};

/// An order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderRow {
    /// Id of the order.
    pub id: String,
    /// Id of the voucher.
    pub voucher: u64,
    /// Title of the voucher; empty for a missing row.
    pub title: String,
    /// Name of the shop; empty for a missing row.
    pub shop: String,
    /// User id of the buyer.
    pub buyer: u64,
    /// Status: `unpaid`, `paid`, `used`, `cancelled`, `refunding` or `refunded`; an unknown number as it is.
    pub status: String,
    /// Payment mode: `none`, `sandbox`, `counter` or `webhook`; `unknown` for an unknown number.
    pub payment: String,
    /// Price in cents.
    pub price_cents: i64,
    /// Time of the claim or purchase.
    pub claimed: String,
    /// Time of the payment.
    pub paid: Option<String>,
    /// Time of the redemption.
    pub used: Option<String>,
    /// Time of the refund.
    pub refunded: Option<String>,
}

/// A movement of money.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MovementRow {
    /// Day of the movement in the mall's zone.
    pub day: String,
    /// Time of the movement.
    pub at: String,
    /// `paid` or `refunded`.
    pub kind: String,
    /// `order`, `late` or `chargeback`.
    pub cause: String,
    /// Amount in cents; negative for money to the buyer.
    pub amount_cents: i64,
    /// Payment mode, as in [`OrderRow::payment`].
    pub gateway: String,
    /// Id of the payment.
    pub payment: u64,
    /// Id of the order.
    pub order: String,
    /// Id of the voucher.
    pub voucher: u64,
    /// Title of the voucher; empty for a missing row.
    pub title: String,
}

/// Sums of a voucher and a day: [`BookSums`] with amounts in cents.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BookRow {
    /// The day in the mall's zone.
    pub day: String,
    /// Id of the voucher.
    pub voucher: u64,
    /// Title of the voucher; empty for a missing row.
    pub title: String,
    /// Name of the shop; empty for a missing row.
    pub shop: String,
    /// `sale` or `voucher`.
    pub kind: String,
    /// Orders claimed or bought on the day.
    pub claimed: u64,
    /// Of those, the orders cancelled when they were read.
    pub cancelled: u64,
    /// Orders paid on the day; without payments, claimed and not cancelled.
    pub sold: u64,
    /// Orders redeemed on the day.
    pub used: u64,
    /// Orders refunded on the day.
    pub refunded: u64,
    /// Claims of the day among the open dead letters.
    pub dead_letters: u64,
    /// Prices of the orders paid on the day.
    pub revenue_cents: i64,
    /// Prices of the orders refunded on the day.
    pub refunds_cents: i64,
    /// Money that gateways took back on the day.
    pub chargebacks_cents: i64,
    /// Money that came late and was returned on the day.
    pub late_cents: i64,
}

/// A Z report of a cash session: [`CashReport`] with amounts in cents.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CashReportRow {
    /// Number of the report.
    pub number: u64,
    /// Name of the till.
    pub till: String,
    /// Id of the session.
    pub session: u64,
    /// Time of the opening.
    pub opened: String,
    /// User who opened the session.
    pub opened_by: u64,
    /// Time of the closing.
    pub closed: String,
    /// User who closed the session.
    pub closed_by: u64,
    /// Cash in the drawer at the opening.
    pub float_cents: i64,
    /// Cash taken for orders.
    pub sales_cents: i64,
    /// Number of sales.
    pub sale_count: u64,
    /// Cash handed back for orders.
    pub refunds_cents: i64,
    /// Number of refunds.
    pub refund_count: u64,
    /// Cash paid in.
    pub paid_in_cents: i64,
    /// Number of times that cash was paid in.
    pub paid_in_count: u64,
    /// Cash paid out.
    pub paid_out_cents: i64,
    /// Number of times that cash was paid out.
    pub paid_out_count: u64,
    /// Time of the first sale or refund.
    pub first_payment: Option<String>,
    /// Time of the last sale or refund.
    pub last_payment: Option<String>,
    /// Cash that the drawer had to hold.
    pub expected_cents: i64,
    /// Cash counted.
    pub counted_cents: i64,
    /// Counted − expected.
    pub difference_cents: i64,
    /// SHA-256 of the report.
    pub digest: String,
}

/// Number and sum of payments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CountRow {
    /// Number of payments.
    pub count: u64,
    /// Sum in cents.
    pub cents: i64,
}

/// A page of the accounts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountsRows {
    /// Orders, by id.
    pub orders: Vec<OrderRow>,
    /// Movements of money.
    pub movements: Vec<MovementRow>,
    /// Contributions of this page to the day books.
    pub books: Vec<BookRow>,
    /// Z reports, newest first.
    #[serde(default)]
    pub cash_reports: Vec<CashReportRow>,
    /// Numbers of Z reports that do not match their digests, of any day.
    #[serde(default)]
    pub unreadable_cash_reports: Vec<u64>,
    /// Money captured for closed orders, to be returned.
    pub held: CountRow,
    /// Payments with an unknown outcome.
    pub in_doubt: CountRow,
    /// Orders read, those of other days included.
    pub read: u64,
    /// Position of the next page; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl BookRow {
    /// Adds the sums of another page for the same voucher and day.
    pub fn add(&mut self, page: &Self) {
        for (sum, more) in [
            (&mut self.claimed, page.claimed),
            (&mut self.cancelled, page.cancelled),
            (&mut self.sold, page.sold),
            (&mut self.used, page.used),
            (&mut self.refunded, page.refunded),
            (&mut self.dead_letters, page.dead_letters),
        ] {
            *sum += more;
        }
        for (sum, more) in [
            (&mut self.revenue_cents, page.revenue_cents),
            (&mut self.refunds_cents, page.refunds_cents),
            (&mut self.chargebacks_cents, page.chargebacks_cents),
            (&mut self.late_cents, page.late_cents),
        ] {
            *sum = sum.saturating_add(more);
        }
    }

    /// Returns what the voucher brought in on the day, in cents: the sum of its movements.
    #[must_use]
    pub fn net_cents(&self) -> i128 {
        i128::from(self.revenue_cents) - i128::from(self.refunds_cents) - i128::from(self.chargebacks_cents)
    }
}

impl CashReportRow {
    fn new(report: &CashReport, zone: &TimeZone) -> Self {
        let time = |at: Timestamp| wall_time::with_offset(at, zone);
        let CashSession { id, till, opened, opened_by, float, totals, first_payment, last_payment, .. } =
            &report.session;
        Self {
            number: report.number,
            till: till.to_string(),
            session: id.get(),
            opened: time(*opened),
            opened_by: opened_by.get(),
            closed: time(report.closed),
            closed_by: report.closed_by.get(),
            float_cents: float.get(),
            sales_cents: totals.sales.get(),
            sale_count: totals.sale_count,
            refunds_cents: totals.refunds.get(),
            refund_count: totals.refund_count,
            paid_in_cents: totals.paid_in.get(),
            paid_in_count: totals.paid_in_count,
            paid_out_cents: totals.paid_out.get(),
            paid_out_count: totals.paid_out_count,
            first_payment: first_payment.map(time),
            last_payment: last_payment.map(time),
            expected_cents: report.expected.get(),
            counted_cents: report.counted.get(),
            difference_cents: report.difference().get(),
            digest: hex(&report.digest()),
        }
    }
}

impl AccountsRows {
    /// Returns the rows of a page, with times in a zone.
    pub(in crate::http) fn new(page: &AccountsPage, zone: &TimeZone) -> Self {
        let name = |voucher: &VoucherId| page.names.get(voucher).cloned().unwrap_or_default();
        let time = |at: Timestamp| wall_time::with_offset(at, zone);
        let order = |order: &OrderFacts| {
            let name = name(&order.voucher);
            OrderRow {
                id: order.id.to_string(),
                voucher: order.voucher.get(),
                title: name.title,
                shop: name.shop,
                buyer: order.user.get(),
                status: status_text(order.status),
                payment: mode_text(order.payment),
                price_cents: order.pay_value.get(),
                claimed: time(order.created),
                paid: order.paid.map(time),
                used: order.used.map(time),
                refunded: order.refunded.map(time),
            }
        };
        let movement = |one: &Movement| MovementRow {
            day: wall_time::day(one.at, zone),
            at: time(one.at),
            kind: one.kind.name().to_owned(),
            cause: one.cause.name().to_owned(),
            amount_cents: match one.kind {
                MovementKind::Paid => one.amount.get(),
                MovementKind::Refunded => one.amount.get().saturating_neg(),
            },
            gateway: mode_text(one.gateway),
            payment: one.payment.get(),
            order: one.order.to_string(),
            voucher: one.voucher.get(),
            title: name(&one.voucher).title,
        };
        let books = page.books.iter().map(|((day, voucher), sums)| {
            let BookSums { claimed, cancelled, sold, used, refunded, dead_letters, .. } = *sums;
            let name = name(voucher);
            BookRow {
                day: day.to_string(),
                voucher: voucher.get(),
                title: name.title,
                shop: name.shop,
                kind: if name.is_sale { "sale" } else { "voucher" }.to_owned(),
                claimed,
                cancelled,
                sold,
                used,
                refunded,
                dead_letters,
                revenue_cents: sums.revenue,
                refunds_cents: sums.refunds,
                chargebacks_cents: sums.chargebacks,
                late_cents: sums.late,
            }
        });
        Self {
            orders: page.orders.iter().map(order).collect(),
            movements: page.movements.iter().map(movement).collect(),
            books: books.collect(),
            cash_reports: page.cash_reports.iter().map(|report| CashReportRow::new(report, zone)).collect(),
            unreadable_cash_reports: page.unreadable_cash_reports.clone(),
            held: CountRow::from(page.held),
            in_doubt: CountRow::from(page.in_doubt),
            read: page.read,
            next: page.next.map(place_text),
        }
    }
}

impl From<PaymentCount> for CountRow {
    fn from(PaymentCount { count, cents }: PaymentCount) -> Self {
        Self { count, cents }
    }
}

fn status_text(number: i64) -> String {
    let name = match u8::try_from(number).ok().and_then(OrderStatus::numbered) {
        Some(OrderStatus::Unpaid) => "unpaid",
        Some(OrderStatus::Paid) => "paid",
        Some(OrderStatus::Used) => "used",
        Some(OrderStatus::Cancelled) => "cancelled",
        Some(OrderStatus::Refunding) => "refunding",
        Some(OrderStatus::Refunded) => "refunded",
        Some(OrderStatus::Pending) | None => return number.to_string(),
    };
    name.to_owned()
}

fn mode_text(mode: Option<PaymentMode>) -> String {
    mode.map_or("unknown", PaymentMode::name).to_owned()
}

/// Returns the text of a position: `o`, `d` or `z`, for orders, dead letters or Z reports, and the id.
pub(in crate::http) fn place_text(place: AccountsPlace) -> String {
    match place {
        AccountsPlace::Orders(after) => after.map_or_else(|| "o".to_owned(), |after| format!("o{after}")),
        AccountsPlace::Letters(after) => format!("d{after}"),
        AccountsPlace::CashReports(before) => {
            before.map_or_else(|| "z".to_owned(), |before| format!("z{before}"))
        }
    }
}
