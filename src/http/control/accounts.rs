//! The mall's accounts, for the command line: what an export covers, and its pages.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use mallbox_storage::{DeadLetterId, OrderFacts, OrderId, OrderStatus, PaymentMode, Timestamp, VoucherId};
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::request::extract::{Now, Query};
use crate::http::response::envelope::{Answer, Reply};
use crate::mall::Refusal;
use crate::mall::base::wall_time;
use crate::mall::operator::bookkeeping::{
    AccountsPage, AccountsPlace, BookSums, Movement, MovementKind, PaymentCount,
};

/// Returns the routes of accounts.
pub(super) fn routes() -> Router<App> {
    Router::new().route("/control/accounts", get(begin)).route("/control/accounts/page", get(page))
}

#[derive(Deserialize)]
struct ScopeQuery {
    from: Option<String>,
    to: Option<String>,
    sale: Option<u64>,
    after: Option<String>,
}

/// What an export covers. Times are in the mall's zone with its offset, as `2026-11-21T10:09:17.123+08:00`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountsHead {
    /// First day; absent for all time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Last day, inclusive; absent for all time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The only sale; absent for all vouchers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale: Option<u64>,
    /// Time of the export by the mall's clock.
    pub exported: String,
    /// The mall's time zone, such as `Asia/Shanghai`.
    pub zone: String,
    /// Whether the last day is not over.
    pub is_open: bool,
    /// Accepted claims of the days that are not yet orders.
    pub pending_claims: u64,
}

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

async fn begin(
    State(app): State<App>,
    Now(now): Now,
    Query(query): Query<ScopeQuery>,
) -> Reply<AccountsHead> {
    let sale = query.sale.map(VoucherId::new);
    let scope = app.bookkeeping.scope(query.from.as_deref(), query.to.as_deref(), sale, now).await?;
    let pending_claims = app.bookkeeping.pending(scope, now).await?;
    let zone = &app.context.zone;
    Ok(Answer::ok(AccountsHead {
        from: scope.days.map(|days| days.first().to_string()),
        to: scope.days.map(|days| days.last().to_string()),
        sale: query.sale,
        exported: wall_time::with_offset(app.context.now(), zone),
        zone: zone.iana_name().unwrap_or("UTC").to_owned(),
        is_open: app.bookkeeping.is_open(scope, now)?,
        pending_claims,
    }))
}

async fn page(State(app): State<App>, Now(now): Now, Query(query): Query<ScopeQuery>) -> Reply<AccountsRows> {
    let sale = query.sale.map(VoucherId::new);
    let scope = app.bookkeeping.scope(query.from.as_deref(), query.to.as_deref(), sale, now).await?;
    let place = parse_place(query.after.as_deref()).ok_or(Refusal::BadValue("accounts place"))?;
    let page = app.bookkeeping.page(scope, place).await?;
    Ok(Answer::ok(AccountsRows::new(&app, page)))
}

impl AccountsRows {
    fn new(app: &App, page: AccountsPage) -> Self {
        let name = |voucher: &VoucherId| page.names.get(voucher).cloned().unwrap_or_default();
        let time = |at: Timestamp| wall_time::with_offset(at, &app.context.zone);
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
            day: wall_time::day(one.at, &app.context.zone),
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
fn place_text(place: AccountsPlace) -> String {
    match place {
        AccountsPlace::Orders(after) => after.map_or_else(|| "o".to_owned(), |after| format!("o{after}")),
        AccountsPlace::Letters(after) => format!("d{after}"),
    }
}

/// Parses the text of a position; `None` begins. Returns `None` for a text that no page returned.
fn parse_place(text: Option<&str>) -> Option<AccountsPlace> {
    let Some(text) = text else { return Some(AccountsPlace::Orders(None)) };
    let (kind, id) = text.split_at_checked(1)?;
    match (kind, id) {
        ("o", "") => Some(AccountsPlace::Orders(None)),
        ("o", id) => Some(AccountsPlace::Orders(Some(OrderId::new(id.parse().ok()?)))),
        ("d", id) => Some(AccountsPlace::Letters(DeadLetterId::new(id.parse().ok()?))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_was_written() {
        for place in [
            AccountsPlace::Orders(None),
            AccountsPlace::Orders(Some(OrderId::new(u64::MAX))),
            AccountsPlace::Letters(DeadLetterId::new(0)),
        ] {
            assert_eq!(parse_place(Some(&place_text(place))), Some(place));
        }
        assert_eq!(parse_place(None), Some(AccountsPlace::Orders(None)));
        for bad in ["", "x1", "d", "o-1", "o1x", "单1", "99999999999999999999"] {
            assert_eq!(parse_place(Some(bad)), None, "{bad:?}");
        }
    }
}
