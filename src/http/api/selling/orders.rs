//! Claims and orders, under the path `/voucher-order/…`.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{OrderId, ShopId, Timestamp, VoucherId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{JsonIfAny, Login, LoginSession, Now, Path, Query};
use crate::http::request::guard_headers::Shown;
use crate::http::request::page_query::PageQuery;
use crate::http::response::envelope::{Answer, OrderNumber, Reply};
use crate::http::response::qr::QrAnswer;
use crate::language::both;
use crate::mall::base::wall_time;
use crate::mall::selling::guard::ShownPass;
use crate::mall::selling::order_queries::{AtGateway, OrderView};

/// Longest URL shown as a QR code: a phone reads larger codes badly from a screen.
const PAY_QR_MAX_BYTES: usize = 512;

/// Returns the routes of claims and orders.
pub fn routes() -> Calls {
    Calls::of(both("订单", "Orders"))
        .post("/voucher-order/seckill/{voucherId}", claim, both("抢秒杀券", "Claim a unit of a flash sale"))
        .explained(both(
            "`dataText`是完整精确的订单号。设了防护的秒杀还须带上通行码，否则返回`PASS_REQUIRED`。\
                每人可买多份的秒杀，用`holding`说明已经持有几份，抢的是下一份；已经有下一份的返回`ALREADY_BOUGHT`，\
                买满的返回`LIMIT_REACHED`。",
            "`dataText` has the exact order id. A guarded sale needs a pass, or refuses with `PASS_REQUIRED`. If a \
                sale allows several units per user, `holding` says how many the caller holds, and the claim is \
                for the next: who has it already gets `ALREADY_BOUGHT`, who has all `LIMIT_REACHED`.",
        ))
        .get("/voucher-order/of/me", of_me, both("我的订单，每页10张", "Orders of the caller, 10 a page"))
        // `{id}` is the voucher's id for `POST`, and the order's id for `GET`.
        .post("/voucher-order/{id}", buy, both("买普通券", "Buy an ordinary voucher"))
        .explained(both(
            "`id`是券的编号。用同一个`requestId`重发，返回同一张订单。\
                每分钟最多十单（`--orders-per-minute`），同时最多二十笔未支付（`--unpaid-orders`）。",
            "`id` is the id of the voucher. A repeat with the same `requestId` returns the first \
                order. At most ten orders a minute (`--orders-per-minute`), and twenty unpaid orders \
                at once (`--unpaid-orders`).",
        ))
        .get("/voucher-order/{id}", one, both("我的一张订单", "An order of the caller"))
        .post("/voucher-order/{id}/pay", pay, both("支付", "Pay"))
        .explained(both(
            "`payment`为`webhook`的订单可能仍未支付，并带有`payUrl`：买家在该地址付款；重复调用返回同一笔付款。\
                为`counter`的订单返回`PAY_AT_COUNTER`，须在柜台付款。",
            "An order whose `payment` is `webhook` may come back unpaid with a `payUrl`, where the buyer pays; a \
                repeat returns the same payment. An order whose `payment` is `counter` is refused with \
                `PAY_AT_COUNTER`.",
        ))
        .post("/voucher-order/{id}/cancel", cancel, both("取消未支付的订单", "Cancel an unpaid order"))
        .post("/voucher-order/{id}/refund", refund, both("退款", "Refund a paid order"))
}

/// An order for its buyer.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct OrderAnswer {
    /// The order's id, as text: a browser would round the number.
    #[schemars(example = &"662319245210910723")]
    id: String,
    voucher_id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    shop_id: Option<u64>,
    #[schemars(example = &"50元代金券")]
    title: String,
    /// Price in cents.
    #[schemars(example = 4_750)]
    pay_value: i64,
    pay_type: u8,
    /// Payment mode: `none`, final without a payment; `sandbox`, imaginary money; `counter`, paid there; or
    /// `webhook`, paid through a gateway.
    #[schemars(example = &"sandbox")]
    payment: &'static str,
    /// 0 not yet written to the database, 1 unpaid, 2 paid, 3 used, 4 cancelled, 5 refunding, 6 refunded.
    #[schemars(example = 1)]
    status: u8,
    #[schemars(example = &"2026-11-21T10:09:17")]
    create_time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2026-11-21T10:09:17")]
    pay_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2026-11-21T10:09:17")]
    use_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2026-11-21T10:09:17")]
    refund_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2026-11-21T10:09:17")]
    deadline: Option<String>,
    /// Milliseconds left to pay, by the mall's clock; 0 shortly before the order is cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 899_000)]
    deadline_in_ms: Option<i64>,
    /// The payment at the gateway of an order seen alone: `pending`, to be paid by the buyer; `declined`, to
    /// be tried again; or `reversed`, taken back from the mall after the order was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"pending")]
    payment_state: Option<&'static str>,
    /// Where the buyer pays, in the response to the call to pay: a page, or an address of a wallet to be
    /// shown as a QR code.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"https://pay.example/p/662319245210910723-17")]
    pay_url: Option<String>,
    /// The same as a QR code, unless it is too long for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pay_qr: Option<QrAnswer>,
}

impl OrderAnswer {
    pub(in crate::http) fn new(view: OrderView, now: Timestamp, zone: &TimeZone) -> Self {
        let text = |at| wall_time::text(at, zone);
        let deadline = view.deadline();
        let OrderView { order, title, shop, at_gateway } = view;
        let payment_state = at_gateway.as_ref().map(|state| match state {
            AtGateway::Pending(_) => "pending",
            AtGateway::Declined => "declined",
            AtGateway::Reversed => "reversed",
        });
        let pay_url = match at_gateway {
            Some(AtGateway::Pending(url)) => url,
            _ => None,
        };
        Self {
            id: order.id.to_string(),
            voucher_id: order.voucher.get(),
            shop_id: shop.map(ShopId::get),
            title,
            pay_value: order.pay_value.get(),
            pay_type: order.pay_type,
            payment: order.payment.name(),
            status: order.status as u8,
            create_time: text(order.created),
            pay_time: order.paid.map(text),
            use_time: order.used.map(text),
            refund_time: order.refunded.map(text),
            deadline: deadline.map(text),
            deadline_in_ms: deadline.map(|at| at.as_millis().saturating_sub(now.as_millis()).max(0)),
            payment_state,
            pay_qr: pay_url
                .as_deref()
                .filter(|url| url.len() <= PAY_QR_MAX_BYTES)
                .and_then(|url| QrAnswer::of(url).ok()),
            pay_url,
        }
    }
}

fn answer(app: &App, view: OrderView, now: Timestamp) -> Reply<OrderAnswer> {
    Ok(Answer::ok(OrderAnswer::new(view, app.context.expiry_now(now), &app.context.zone)))
}

#[derive(Deserialize, JsonSchema)]
struct ClaimQuery {
    /// The units of the sale that the caller holds already; 0 if absent. The claim is for the next unit, so
    /// that a repeat after a lost response buys nothing more.
    #[schemars(example = 1)]
    holding: Option<u8>,
}

async fn claim(
    State(app): State<App>,
    LoginSession(session): LoginSession,
    Now(now): Now,
    shown: Shown,
    Path(voucher): Path<u64>,
    Query(ClaimQuery { holding }): Query<ClaimQuery>,
) -> Reply<OrderNumber> {
    let (user, voucher) = (session.user(), VoucherId::new(voucher));
    let shown = ShownPass { holding: holding.unwrap_or(0), ..shown.in_session(&session) };
    Ok(Answer::order_id(app.sales.claim_with_pass(user, voucher, shown, now).await?))
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BuyBody {
    /// A name for this purchase, 1 to 64 characters: a repeat under the same name returns the first order and
    /// buys nothing more.
    #[schemars(example = &"5f0c7a1e-6d0a-4b5e-9a55-0f6f6a3c2d11")]
    request_id: Option<String>,
}

async fn buy(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Path(voucher): Path<u64>,
    JsonIfAny(body): JsonIfAny<BuyBody>,
) -> Reply<OrderNumber> {
    Ok(Answer::order_id(app.orders.buy(user, VoucherId::new(voucher), body.request_id, now).await?))
}

async fn of_me(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Query(query): Query<PageQuery>,
) -> Reply<Vec<OrderAnswer>> {
    let views = app.orders.queries().of_user(user, query.number()).await?;
    let (zone, now) = (&app.context.zone, app.context.expiry_now(now));
    Ok(Answer::ok(views.into_iter().map(|view| OrderAnswer::new(view, now, zone)).collect::<Vec<_>>()))
}

async fn one(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Path(order): Path<u64>,
) -> Reply<OrderAnswer> {
    let view = app.orders.queries().get(user, OrderId::new(order)).await?;
    answer(&app, view, now)
}

async fn pay(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Path(order): Path<u64>,
) -> Reply<OrderAnswer> {
    let view = app.orders.pay(user, OrderId::new(order), now).await?;
    answer(&app, view, now)
}

async fn cancel(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Path(order): Path<u64>,
) -> Reply<OrderAnswer> {
    let view = app.orders.cancel(user, OrderId::new(order), now).await?;
    answer(&app, view, now)
}

async fn refund(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Path(order): Path<u64>,
) -> Reply<OrderAnswer> {
    let view = app.orders.refund(user, OrderId::new(order), now).await?;
    answer(&app, view, now)
}

#[cfg(test)]
mod tests {
    use mallbox_storage::{Cents, Order, OrderStatus, PaymentMode, UserId};

    use super::*;

    #[test]
    fn the_time_left_to_pay_is_shown_while_an_order_is_unpaid_and_never_negative() {
        let at = Timestamp::from_millis;
        let left = |status, now| {
            let order = Order {
                id: OrderId::new(1),
                voucher: VoucherId::new(1),
                user: UserId::new(1),
                status,
                pay_value: Cents::new(1),
                pay_type: 1,
                payment: PaymentMode::Sandbox,
                created: at(0),
                deadline: at(1_000),
                paid: None,
                used: None,
                refunded: None,
            };
            let view = OrderView { order, title: String::new(), shop: None, at_gateway: None };
            OrderAnswer::new(view, at(now), &TimeZone::UTC).deadline_in_ms
        };
        assert_eq!(
            [0, 999, 1_000, 1_001].map(|now| left(OrderStatus::Unpaid, now)),
            [Some(1_000), Some(1), Some(0), Some(0)]
        );
        assert_eq!([OrderStatus::Pending, OrderStatus::Paid].map(|status| left(status, 0)), [None, None]);
    }
}
