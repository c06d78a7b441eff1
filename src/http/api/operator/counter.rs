//! `/staff`: log-in of staff by PIN, counter sales, and the orders of the day.

use axum::extract::State;
use mallbox_storage::{Cents, OrderId, VoucherId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::orders::FoundAnswer;
use crate::http::App;
use crate::http::api::selling::receipts::ReceiptAnswer;
use crate::http::describe::Calls;
use crate::http::request::attempt::{self, Act};
use crate::http::request::client::FromClient;
use crate::http::request::extract::{Json, Now, Path, Query};
use crate::http::request::guard_headers::KioskKey;
use crate::http::request::page_query::PageQuery;
use crate::http::request::staff_calls::{OnlyStaff, StaffOrOperator};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::base::By;
use crate::mall::base::staff_list::StaffMember;
use crate::mall::operator::counter_sales::CounterSaleForm;
use crate::mall::operator::orders::CounterMoney;

/// Returns the routes of the counter.
pub(super) fn routes() -> Calls {
    Calls::of(both("柜台", "Counter"))
        .post("/staff/login", log_in, both("店员凭PIN登录", "Log in as staff by PIN"))
        .explained(both(
            "只能在受信任的自助终端上使用：请求头`x-kiosk-key`必须是终端的密钥（否则`KIOSK_UNKNOWN`）。PIN错误时为\
                `PIN_WRONG`；累计输错5次后须等待，时间逐次翻倍，最长一小时（`RATE_LIMITED`）。令牌用于`/staff`和少数其他\
                调用，几分钟不用即失效。写入审计日志。",
            "Works at a trusted kiosk only: the header `x-kiosk-key` must be the kiosk's key (`KIOSK_UNKNOWN` \
                otherwise). A wrong PIN is `PIN_WRONG`; after some, each doubles the wait before the next attempt, \
                up to an hour (`RATE_LIMITED`). The token is for `/staff` and a few other calls, and expires after \
                some minutes without a call. The audit log records the log-in.",
        ))
        .get("/staff/me", me, both("当前店员", "The person who is logged in"))
        .post("/staff/log-in-codes", make_code, both("为柜台前的顾客生成登录码", "Make a login code for a customer"))
        .explained(both(
            "收不到短信时用：把12位登录码念给顾客，顾客在登录页输入手机号和登录码。10分钟内有效，只能用一次，任何设备都能用；\
                新的登录码取代旧的。手机号没有账号时，登录即注册。启动时没有`--counter-codes`则为`COUNTER_CODES_OFF`；\
                管理员的手机号为`OPERATOR_PHONE`；每人每小时最多30个（`RATE_LIMITED`）。这样开始的会话不能更换手机号，\
                也不能免旧密码设置密码。写入审计日志。",
            "For a customer who gets no text message: read the 12 digits to the customer, who enters phone number and code \
                on the login page. Valid for 10 minutes and one log-in, on any device; a new code replaces the last \
                one. A phone without an account gets one by the log-in. `COUNTER_CODES_OFF` if the mall was started without \
                `--counter-codes`, `OPERATOR_PHONE` for an operator's phone; at most 30 an hour per person \
                (`RATE_LIMITED`). A session that begins so cannot change the phone number, nor set a password without the \
                old one. The audit log records the call.",
        ))
        .post("/staff/sales", sell, both("柜台售券", "Sell a voucher at the counter"))
        .explained(both(
            "卖一张券给没有账号的散客，并登记收款；秒杀券与抢购一样扣库存。同一店员、同一张券的`requestId`相同时，\
                重复调用不会再卖一张：中断的继续完成，已完成的返回原订单和`soldBefore`，金额不同时为\
                `REQUEST_ID_REUSED`。请每笔用新的随机值，永不重复使用。结果不明时（`NOT_YET`、`BUSY`或没有响应）请用\
                同一个`requestId`重试；不再重试时，先查`GET /staff/orders`：已付款就交付券，否则订单10分钟后自动取消。",
            "Sells one unit to a walk-in customer, who has no account, and records the payment; the unit of a flash \
                sale is taken as by a claim. A repeat with the same `requestId` for the same voucher by the same person \
                sells no second one: it continues an interrupted sale, and returns a completed one with `soldBefore`, or \
                `REQUEST_ID_REUSED` if the amount differs. Use a new random value for each sale, and never one again. \
                While the outcome is unknown (`NOT_YET`, `BUSY`, no response), repeat with the same `requestId`. To give \
                up, look at `GET /staff/orders` first: if the order is paid there, hand over the voucher; otherwise it is \
                cancelled after 10 minutes.",
        ))
        .get("/staff/orders", today, both("今天的订单，新的在前，每页20张", "Orders of today, newest first, 20 a page"))
        .explained(both("手机号只显示首尾几位。", "Phone numbers are shown in part."))
        .get("/staff/orders/{id}", one, both("按订单号查找订单", "An order by its number"))
        .explained(both("手机号只显示首尾几位。", "Phone numbers are shown in part."))
}

#[derive(Deserialize, JsonSchema)]
struct PinLoginBody {
    /// The PIN of the person: 6 to 12 digits.
    #[schemars(example = &"482913")]
    #[serde(default)]
    pin: String,
}

/// A staff member who is logged in.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OnDutyAnswer {
    #[schemars(example = 1)]
    id: u32,
    #[schemars(example = &"小安")]
    name: String,
    /// Seconds without a call after which the session expires; up to a minute earlier.
    #[schemars(example = 300)]
    idle_seconds: u64,
    /// Whether `POST /staff/log-in-codes` is on.
    counter_codes: bool,
}

impl OnDutyAnswer {
    fn new(member: StaffMember, app: &App) -> Self {
        let idle_seconds = app.context.settings.staff_session_ttl.as_secs();
        let counter_codes = app.context.settings.counter_codes;
        Self { id: member.id, name: member.name, idle_seconds, counter_codes }
    }
}

/// The session of a staff member.
#[derive(Serialize, JsonSchema)]
struct PinLoginAnswer {
    /// To be sent as the header `Authorization`.
    token: String,
    #[serde(flatten)]
    person: OnDutyAnswer,
}

async fn log_in(
    State(app): State<App>,
    Now(now): Now,
    KioskKey(key): KioskKey,
    FromClient(client): FromClient,
    Json(body): Json<PinLoginBody>,
) -> Reply<PinLoginAnswer> {
    attempt::note_act(Act::LogInByPin);
    let begun = app.staff.log_in(key.as_deref(), &body.pin, client, now).await?;
    attempt::note_user(begun.member.user());
    Ok(Answer::ok(PinLoginAnswer { token: begun.token, person: OnDutyAnswer::new(begun.member, &app) }))
}

async fn me(State(app): State<App>, OnlyStaff(member): OnlyStaff) -> Reply<OnDutyAnswer> {
    Ok(Answer::ok(OnDutyAnswer::new(member, &app)))
}

#[derive(Deserialize, JsonSchema)]
struct CounterCodeBody {
    /// The customer's phone number.
    #[schemars(example = &"13900000002")]
    #[serde(default)]
    phone: String,
}

/// A login code, for the customer to type.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CounterCodeAnswer {
    /// 12 digits. Never shown again.
    #[schemars(example = &"482913570264")]
    code: String,
    #[schemars(example = 600)]
    valid_seconds: u64,
    /// Whether the log-in will make an account: the phone has none.
    is_new: bool,
}

async fn make_code(
    State(app): State<App>,
    StaffOrOperator(user): StaffOrOperator,
    Now(now): Now,
    Json(body): Json<CounterCodeBody>,
) -> Reply<CounterCodeAnswer> {
    let made = app.counter_codes.make(&app.accounts, By::operator(user, now), &body.phone).await?;
    let valid_seconds = made.ttl.as_secs();
    Ok(Answer::ok(CounterCodeAnswer { code: made.code, valid_seconds, is_new: made.is_new }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SellBody {
    #[schemars(example = 1)]
    voucher_id: u64,
    /// The money taken, in cents: the voucher's price.
    #[schemars(example = 4_750)]
    amount: i64,
    /// `cash`, or `terminal`: a terminal of the shop.
    #[schemars(example = &"cash")]
    method: String,
    /// The till that takes the cash; absent for the till `1`.
    #[schemars(example = &"1")]
    till: Option<String>,
    /// A random name for this sale, 1 to 64 characters, chosen by the caller and never used again: a repeat
    /// of the call with the same name sells nothing more.
    #[schemars(example = &"0f6e2b1c9d")]
    request_id: String,
}

/// A completed counter sale.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SoldAnswer {
    order: FoundAnswer,
    receipt: ReceiptAnswer,
    /// Whether an earlier call with the same `requestId` had completed the sale; the call then changed
    /// nothing.
    sold_before: bool,
}

async fn sell(
    State(app): State<App>,
    StaffOrOperator(user): StaffOrOperator,
    Now(now): Now,
    Json(body): Json<SellBody>,
) -> Reply<SoldAnswer> {
    let form = CounterSaleForm {
        voucher: VoucherId::new(body.voucher_id),
        money: CounterMoney { amount: Cents::new(body.amount), method: body.method, till: body.till },
        request: body.request_id,
    };
    let sale = app.counter_sales.sell(By::operator(user, now), form).await?;
    let zone = &app.context.zone;
    Ok(Answer::ok(SoldAnswer {
        order: FoundAnswer::new(sale.found, now, zone),
        receipt: ReceiptAnswer::new(sale.receipt, zone)?,
        sold_before: sale.was_sold,
    }))
}

async fn today(
    State(app): State<App>,
    caller: StaffOrOperator,
    Now(now): Now,
    Query(query): Query<PageQuery>,
) -> Reply<Vec<FoundAnswer>> {
    let orders = app.order_admin.of_today(query.number(), now).await?;
    let zone = &app.context.zone;
    let found = |order| FoundAnswer::new(order, now, zone).seen_by(caller);
    Ok(Answer::ok(orders.into_iter().map(found).collect()))
}

async fn one(
    State(app): State<App>,
    caller: StaffOrOperator,
    Now(now): Now,
    Path(order): Path<u64>,
) -> Reply<FoundAnswer> {
    let found = app.order_admin.one(OrderId::new(order)).await?;
    Ok(Answer::ok(FoundAnswer::new(found, now, &app.context.zone).seen_by(caller)))
}
