//! `/ops/orders`: finds and voids orders of any user, and records money taken and returned at the counter.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{Cents, OrderId, Timestamp, UserId, VoucherId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::api::selling::orders::OrderAnswer;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, Path, Query};
use crate::http::request::staff_calls::StaffOrOperator;
use crate::http::response::envelope::{Answer, Paged, Reply};
use crate::language::both;
use crate::mall::base::By;
use crate::mall::operator::orders::{CounterMoney, CounterOutcome, FoundOrder, OrderQuery};

/// Returns the routes of orders of any user.
pub(super) fn routes() -> Calls {
    Calls::of(both("订单管理", "All orders"))
        .get("/ops/orders", find, both("查找任何人的订单", "Find orders of any user"))
        .explained(both(
            "按订单号、手机号、用户、券或状态。",
            "By order id, phone number, user, voucher or status.",
        ))
        .post("/ops/orders/{id}/void", void, both("取消或退款一张订单", "Cancel or refund an order"))
        .explained(both(
            "需要原因`reason`。带上看到的`status`时，看到时未支付、之后已支付的订单不会退款。",
            "Takes a `reason`. With the `status` last seen, an order seen unpaid and paid since \
                is not refunded.",
        ))
        .post("/ops/orders/{id}/pay", pay, both("柜台收款", "Record a payment at the counter"))
        .explained(both(
            "金额`amount`（分）须等于订单金额；`method`为`cash`（现金）或`terminal`（自有收款终端）。可重复调用：\
                重复时返回`recordedBefore`，不会重复收款。商城用过现金班次以后，收现金的收银台`till`必须已开班。",
            "The `amount` in cents must be the order's price; `method` is `cash` or `terminal` (a terminal of \
                the shop). A repeat changes nothing and returns `recordedBefore`. Once the mall has used cash \
                sessions, cash needs an open session of its `till`.",
        ))
        .post("/ops/orders/{id}/refund", refund, both("柜台退款", "Record a refund at the counter"))
        .explained(both(
            "用于在柜台付款的订单，需要原因`reason`。可重复调用：重复时返回`recordedBefore`，不要再付钱。",
            "For an order paid at the counter; takes a `reason`. A repeat changes nothing and returns \
                `recordedBefore`: hand out no more money.",
        ))
}

/// An order with its buyer.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FoundAnswer {
    #[serde(flatten)]
    order: OrderAnswer,
    user_id: u64,
    /// The buyer's phone number. Staff see a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<String>,
    /// Whether the buyer is a walk-in customer of the counter, without an account; absent otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[serde(default)]
    walk_in: bool,
}

impl FoundAnswer {
    pub(super) fn new(found: FoundOrder, now: Timestamp, zone: &TimeZone) -> Self {
        let user = found.view.order.user;
        let phone = found.phone.map(|phone| phone.as_str().to_owned());
        let order = OrderAnswer::new(found.view, now, zone);
        Self { order, user_id: user.get(), phone, walk_in: user.is_walk_in() }
    }

    /// Hides the middle of the phone number from staff.
    pub(super) fn seen_by(mut self, caller: StaffOrOperator) -> Self {
        if caller.is_staff() {
            self.phone = self.phone.map(|phone| match (phone.get(..3), phone.get(7..)) {
                (Some(first), Some(last)) => format!("{first}****{last}"),
                _ => String::new(),
            });
        }
        self
    }
}

#[derive(Deserialize, JsonSchema)]
struct FindQuery {
    /// The order's id.
    id: Option<u64>,
    /// The buyer's phone number.
    #[schemars(example = &"13900000002")]
    phone: Option<String>,
    /// The buyer's id.
    user: Option<u64>,
    voucher: Option<u64>,
    /// 1 unpaid, 2 paid, 3 used, 4 cancelled, 5 being refunded, 6 refunded.
    #[schemars(example = 1)]
    status: Option<u8>,
    /// The page, from 1.
    #[schemars(example = 1)]
    current: Option<u32>,
}

async fn find(
    State(app): State<App>,
    _: Operator,
    Now(now): Now,
    Query(query): Query<FindQuery>,
) -> Reply<Paged<FoundAnswer>> {
    let wanted = OrderQuery {
        id: query.id.map(OrderId::new),
        phone: query.phone,
        user: query.user.map(UserId::new),
        voucher: query.voucher.map(VoucherId::new),
        status: query.status,
    };
    let (orders, total) = app.order_admin.find(&wanted, query.current.unwrap_or(1)).await?;
    let zone = &app.context.zone;
    let list: Vec<_> = orders.into_iter().map(|found| FoundAnswer::new(found, now, zone)).collect();
    Ok(Answer::page(&list, total))
}

#[derive(Deserialize, JsonSchema)]
struct VoidBody {
    /// The reason, 1 to 200 characters, for the audit log.
    #[serde(default)]
    reason: String,
    /// The status last seen, 1 to 6: an order seen unpaid is cancelled, but not refunded if paid since.
    #[schemars(example = 1)]
    status: Option<u8>,
}

async fn void(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(order): Path<u64>,
    Json(body): Json<VoidBody>,
) -> Reply<FoundAnswer> {
    let by = By::operator(user, now);
    let voided = app.order_admin.void(by, OrderId::new(order), &body.reason, body.status).await?;
    Ok(Answer::ok(FoundAnswer::new(voided, now, &app.context.zone)))
}

#[derive(Deserialize, JsonSchema)]
struct PayBody {
    /// The money taken, in cents: the order's price.
    #[schemars(example = 4_750)]
    amount: i64,
    /// `cash`, or `terminal`: a terminal of the shop.
    #[schemars(example = &"cash")]
    method: String,
    /// The till whose drawer has the cash; absent for the till `1`.
    #[schemars(example = &"1")]
    till: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct RefundBody {
    /// The money handed back, in cents: the order's price.
    #[schemars(example = 4_750)]
    amount: i64,
    /// `cash`, or `terminal`: a terminal of the shop.
    #[schemars(example = &"cash")]
    method: String,
    /// The till whose drawer has the cash; absent for the till `1`.
    #[schemars(example = &"1")]
    till: Option<String>,
    /// The reason, 1 to 200 characters, for the audit log.
    #[serde(default)]
    reason: String,
}

/// An order paid or refunded at the counter.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RecordedAnswer {
    #[serde(flatten)]
    order: FoundAnswer,
    /// Whether the payment or the refund was recorded before, at `payTime` or `refundTime`; the call then
    /// changed nothing.
    recorded_before: bool,
}

async fn pay(
    State(app): State<App>,
    caller: StaffOrOperator,
    Now(now): Now,
    Path(order): Path<u64>,
    Json(body): Json<PayBody>,
) -> Reply<RecordedAnswer> {
    let money = CounterMoney { amount: Cents::new(body.amount), method: body.method, till: body.till };
    let by = By::operator(caller.0, now);
    let paid = app.order_admin.pay_at_counter(by, OrderId::new(order), &money).await?;
    recorded(&app, paid, caller, now)
}

async fn refund(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(order): Path<u64>,
    Json(body): Json<RefundBody>,
) -> Reply<RecordedAnswer> {
    let money = CounterMoney { amount: Cents::new(body.amount), method: body.method, till: body.till };
    let by = By::operator(user, now);
    let refunded = app.order_admin.refund_at_counter(by, OrderId::new(order), &money, &body.reason).await?;
    recorded(&app, refunded, StaffOrOperator(user), now)
}

fn recorded(
    app: &App,
    outcome: CounterOutcome,
    caller: StaffOrOperator,
    now: Timestamp,
) -> Reply<RecordedAnswer> {
    let order = FoundAnswer::new(outcome.found, now, &app.context.zone).seen_by(caller);
    Ok(Answer::ok(RecordedAnswer { order, recorded_before: outcome.was_recorded }))
}
