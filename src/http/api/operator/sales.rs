//! `/ops/sales`: lists sales; changes window, units, pause and end.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::VoucherId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::api::catalogue::vouchers::{optional_time, shelf_number};
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, Path, PollingOperator, Query};
use crate::http::request::page_query::PageQuery;
use crate::http::response::envelope::{Answer, Paged, Reply};
use crate::language::{Language, both};
use crate::mall::Refusal;
use crate::mall::base::{By, wall_time};
use crate::mall::operator::ledger::{Code, Finding, SaleTerms};
use crate::mall::operator::sales::{RestockOutcome, SaleAccount, SaleView, StockForm, WindowForm};

/// Returns the routes of sales.
pub(super) fn routes() -> Calls {
    Calls::of(both("秒杀管理", "Running sales"))
        .get("/ops/sales", page, both("所有秒杀", "All flash sales"))
        .get("/ops/sales/{id}", one, both("一场秒杀及其账目", "A sale and the ledger of the sale"))
        .put("/ops/sales/{id}", put_window, both("修改起止时间", "Change begin or end"))
        .explained(both(
            "把结束时间改晚，已结束的秒杀会重新开放。",
            "A sale that has ended opens again with a later end.",
        ))
        .post("/ops/sales/{id}/stock", restock, both("增减库存", "Add or remove units"))
        .explained(both(
            "为负时只减去没有人占用的库存，`by`是实际数量。带`requestId`时可安全重发。",
            "A negative number removes only units nobody holds; `by` is the actual number. A \
                repeat with the same `requestId` changes nothing.",
        ))
        .post("/ops/sales/{id}/pause", pause, both("暂停", "Pause a sale"))
        .post("/ops/sales/{id}/resume", resume, both("恢复", "Resume a paused sale"))
        .post("/ops/sales/{id}/end", end, both("立即结束", "End a sale immediately"))
}

/// A sale for its operator.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SaleAnswer {
    voucher_id: u64,
    shop_id: u64,
    /// Absent if the shop no longer exists.
    #[schemars(example = &"103茶餐厅")]
    #[serde(skip_serializing_if = "Option::is_none")]
    shop_name: Option<String>,
    title: String,
    /// Status of the voucher: 1 on the shelf, 2 off the shelf, 3 expired.
    status: u8,
    #[serde(flatten)]
    terms: TermsAnswer,
}

/// The terms and progress of a sale. Without `initial` and `left` the sale is unlimited.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TermsAnswer {
    /// `NOT_OPEN`, `OPEN`, `PAUSED`, `SOLD_OUT` or `ENDED`.
    #[schemars(example = &"OPEN")]
    state: &'static str,
    #[schemars(example = &"2026-11-21T10:09:17")]
    begin_time: String,
    #[schemars(example = &"2026-11-21T10:09:17")]
    end_time: String,
    paused: bool,
    pay_within_seconds: u64,
    min_level: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    initial: Option<u64>,
    added: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<u64>,
    taken: u64,
    pending: u64,
}

impl SaleAnswer {
    fn new(view: SaleView, zone: &TimeZone) -> Self {
        let terms = TermsAnswer::new(&view, zone);
        let text = view.voucher.text;
        Self {
            voucher_id: view.voucher.id.get(),
            shop_id: text.shop.get(),
            shop_name: view.shop_name,
            status: shelf_number(text.status),
            title: text.title,
            terms,
        }
    }
}

impl TermsAnswer {
    pub(super) fn new(view: &SaleView, zone: &TimeZone) -> Self {
        let SaleView { sale, state, left, taken, pending, .. } = view;
        Self {
            state: state.name(),
            begin_time: wall_time::text(sale.terms.begin, zone),
            end_time: wall_time::text(sale.terms.end, zone),
            paused: sale.terms.paused,
            pay_within_seconds: sale.pay_within.as_secs(),
            min_level: sale.min_level,
            initial: sale.initial,
            added: sale.added,
            left: *left,
            taken: *taken,
            pending: *pending,
        }
    }
}

fn answer(app: &App, view: SaleView) -> Reply<SaleAnswer> {
    Ok(Answer::ok(SaleAnswer::new(view, &app.context.zone)))
}

async fn page(
    State(app): State<App>,
    _: Operator,
    Now(now): Now,
    Query(query): Query<PageQuery>,
) -> Reply<Paged<SaleAnswer>> {
    let (views, total) = app.sale_admin.page(query.number(), now).await?;
    let zone = &app.context.zone;
    let list: Vec<_> = views.into_iter().map(|view| SaleAnswer::new(view, zone)).collect();
    Ok(Answer::page(&list, total))
}

/// A sale with its ledger. Without `balances` the sale changed during every attempt to read a consistent
/// state.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AccountAnswer {
    #[serde(flatten)]
    sale: SaleAnswer,
    books: SaleTerms,
    #[serde(skip_serializing_if = "Option::is_none")]
    balances: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<FindingAnswer>,
}

/// A mismatch in a sale's ledger.
#[derive(Serialize, JsonSchema)]
struct FindingAnswer {
    /// Stable name of the kind of finding.
    code: Code,
    /// The mismatched term, in the language of the request.
    #[schemars(example = &"内存中已占用的库存")]
    term: &'static str,
    expected: String,
    found: String,
}

impl From<Finding> for FindingAnswer {
    fn from(finding: Finding) -> Self {
        let Finding { code, expected, found, .. } = finding;
        Self { code, term: code.term().spoken(Language::current()), expected, found }
    }
}

async fn one(
    State(app): State<App>,
    _: PollingOperator,
    Now(now): Now,
    Path(voucher): Path<u64>,
) -> Reply<AccountAnswer> {
    let SaleAccount { view, books, findings } = app.sale_admin.account(VoucherId::new(voucher), now).await?;
    let answer = AccountAnswer {
        sale: SaleAnswer::new(view, &app.context.zone),
        books,
        balances: findings.as_ref().map(Vec::is_empty),
        findings: findings.unwrap_or_default().into_iter().map(FindingAnswer::from).collect(),
    };
    Ok(Answer::ok(answer))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WindowBody {
    #[schemars(example = &"2026-11-21T10:09:17")]
    begin_time: Option<String>,
    #[schemars(example = &"2026-11-21T10:09:17")]
    end_time: Option<String>,
}

async fn put_window(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(voucher): Path<u64>,
    Json(body): Json<WindowBody>,
) -> Reply<SaleAnswer> {
    let zone = &app.context.zone;
    let form = WindowForm {
        begin: optional_time(body.begin_time, zone, Refusal::BadValue("beginTime"))?,
        end: optional_time(body.end_time, zone, Refusal::BadValue("endTime"))?,
    };
    let view = app.sale_admin.put_window(By::operator(user, now), VoucherId::new(voucher), form).await?;
    answer(&app, view)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StockBody {
    /// Units to add; a negative number removes at most the units that nobody holds.
    #[schemars(example = 100)]
    add: Option<i64>,
    /// A name for this change, 1 to 64 characters: a repeat under the same name changes nothing.
    #[schemars(example = &"truck 7")]
    request_id: Option<String>,
}

/// The sale after the change, and the actual change in units.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RestockedAnswer {
    by: i64,
    #[serde(flatten)]
    sale: SaleAnswer,
}

async fn restock(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(voucher): Path<u64>,
    Json(body): Json<StockBody>,
) -> Reply<RestockedAnswer> {
    let form = StockForm { add: body.add, request: body.request_id };
    let RestockOutcome { by, view } =
        app.sale_admin.restock(By::operator(user, now), VoucherId::new(voucher), form).await?;
    let sale = SaleAnswer::new(view, &app.context.zone);
    Ok(Answer::ok(RestockedAnswer { by, sale }))
}

async fn pause(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(voucher): Path<u64>,
) -> Reply<SaleAnswer> {
    let view = app.sale_admin.pause(By::operator(user, now), VoucherId::new(voucher)).await?;
    answer(&app, view)
}

async fn resume(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(voucher): Path<u64>,
) -> Reply<SaleAnswer> {
    let view = app.sale_admin.resume(By::operator(user, now), VoucherId::new(voucher)).await?;
    answer(&app, view)
}

async fn end(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(voucher): Path<u64>,
) -> Reply<SaleAnswer> {
    let view = app.sale_admin.end(By::operator(user, now), VoucherId::new(voucher)).await?;
    answer(&app, view)
}
