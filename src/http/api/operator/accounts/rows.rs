//! The accounts as rows: of files, of the control API, and of downloads.

use jiff::tz::TimeZone;
use mallbox_storage::{OrderFacts, OrderStatus, PaymentMode, Timestamp, VoucherId};
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

/// Returns the text of a position: `o` or `d`, for orders or dead letters, and the id.
pub(in crate::http) fn place_text(place: AccountsPlace) -> String {
    match place {
        AccountsPlace::Orders(after) => after.map_or_else(|| "o".to_owned(), |after| format!("o{after}")),
        AccountsPlace::Letters(after) => format!("d{after}"),
    }
}
