//! `/ops/cash`: cash sessions of tills, X reports and Z reports.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{CashEntry, CashKind, CashSession, CashSessionId, Timestamp, UserId, hex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Path, Query};
// Who may work at a till, and look at it.
use crate::http::request::staff_calls::{PollingStaffOrOperator as Onlooker, StaffOrOperator as Cashier};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::{Language, both};
use crate::mall::base::{By, wall_time};
use crate::mall::operator::cash::{CashMove, DrawerCount, Names, XReport, ZReport};

/// Returns the routes of cash sessions.
pub(super) fn routes() -> Calls {
    Calls::of(both("现金收银", "Cash"))
        .get("/ops/cash", running, both("所有未交班的收银台", "The open sessions of all tills"))
        .explained(both(
            "每个收银台最多一个未交班的班次，各附X报表；只读，不延长登录。",
            "A till has at most one open session; each comes as its X report. Changes nothing, and does not \
                extend the login.",
        ))
        .post("/ops/cash", open, both("开班", "Open the drawer of a till"))
        .explained(both(
            "`float`是备用金（分）；不带`till`即收银台`1`。商城第一次开班以后，没有开班的收银台不收也不退现金。写入审计日志。",
            "`float` is the money in the drawer, in cents; without `till` the till is `1`. After the first session \
                of a mall, a till without an open session neither takes nor returns cash. The audit log records \
                the action.",
        ))
        .get("/ops/cash/{id}", x_report, both("一个班次的X报表", "The X report of a session"))
        .post("/ops/cash/{id}/in", pay_in, both("存入现金", "Pay cash in"))
        .explained(both(
            "需要原因`reason`。同一个`requestId`重复调用不会再次记账；金额或原因不同则拒绝，返回`CASH_KEY_USED`。写入审计日志。",
            "Takes a `reason`. A repeat with the same `requestId` changes nothing; with another amount or reason, it \
                is refused with `CASH_KEY_USED`. The audit log records the action.",
        ))
        .post("/ops/cash/{id}/out", pay_out, both("支出现金", "Pay cash out"))
        .explained(both(
            "同存入现金；金额不能超过钱箱应有的现金。",
            "Like paying in; at most the cash that the drawer has to hold.",
        ))
        .post("/ops/cash/{id}/close", close, both("交班，生成Z报表", "Close a session with a Z report"))
        .explained(both(
            "`counted`是实点现金，`expected`是清点时看到的应有现金；其间又有收支则拒绝，返回`CASH_CHANGED`。同一个\
                `requestId`重复调用返回同一张Z报表。报表不能修改，其摘要写入审计日志。",
            "`counted` is the cash counted, `expected` the expected cash on which the difference was judged: if \
                the drawer changed since, the call is refused with `CASH_CHANGED`. A repeat with the same \
                `requestId` returns the same Z report. A report never changes, and the audit log has its digest.",
        ))
        .post("/ops/cash/{id}/print", print_x, both("打印X报表", "Print an X report"))
        .get("/ops/cash/reports", reports, both("Z报表，新的在前", "The Z reports, newest first"))
        .explained(both(
            "每页20张；下一页的`before`是本页的`nextBefore`。被改过的报表只在`unreadable`里列出编号。",
            "20 a page; `nextBefore` is the `before` of the next page. Of a report that was changed, `unreadable` \
                has the number.",
        ))
        .get("/ops/cash/reports/{number}", z_report, both("一张Z报表", "A Z report"))
        .post("/ops/cash/reports/{number}/print", print_z, both("打印Z报表", "Print a Z report"))
}

/// A session of a till. Amounts are in cents.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CashSessionAnswer {
    #[schemars(example = 7)]
    id: u64,
    #[schemars(example = &"1")]
    till: String,
    #[schemars(example = &"2026-11-21T09:00:00")]
    open_time: String,
    opened_by: CashierAnswer,
    /// Cash in the drawer at the opening.
    #[schemars(example = 30_000)]
    float: i64,
    #[schemars(example = 4_750)]
    sales: i64,
    #[schemars(example = 1)]
    sale_count: u64,
    #[schemars(example = 0)]
    refunds: i64,
    #[schemars(example = 0)]
    refund_count: u64,
    #[schemars(example = 0)]
    paid_in: i64,
    #[schemars(example = 0)]
    paid_in_count: u64,
    #[schemars(example = 1_250)]
    paid_out: i64,
    #[schemars(example = 1)]
    paid_out_count: u64,
    /// Cash that the drawer has to hold.
    #[schemars(example = 33_500)]
    expected: i64,
    /// Time of the first sale or refund.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2026-11-21T10:09:17")]
    first_payment_time: Option<String>,
    /// Time of the last sale or refund.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2026-11-21T20:40:00")]
    last_payment_time: Option<String>,
    /// Cash paid in and out, oldest first.
    moves: Vec<CashMoveAnswer>,
}

/// An X report.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct XReportAnswer {
    #[serde(flatten)]
    session: CashSessionAnswer,
    /// Time of the report.
    #[schemars(example = &"2026-11-21T18:00:00")]
    report_time: String,
}

/// A user at a till.
#[derive(Serialize, JsonSchema)]
struct CashierAnswer {
    #[schemars(example = 1)]
    id: u64,
    /// Nickname; empty for a deleted user.
    name: String,
}

/// Cash paid in or out.
#[derive(Serialize, JsonSchema)]
struct CashMoveAnswer {
    /// Number of the entry within its session.
    #[schemars(example = 2)]
    number: u64,
    /// `in` or `out`.
    #[schemars(example = &"out")]
    kind: &'static str,
    /// In cents.
    #[schemars(example = 1_250)]
    amount: i64,
    #[schemars(example = &"买零钱袋")]
    reason: String,
    #[schemars(example = &"2026-11-21T15:00:00")]
    time: String,
    by: CashierAnswer,
}

/// A Z report: a closed session with its count. Amounts are in cents.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ZReportAnswer {
    /// Number of the report, from 1 without a gap.
    #[schemars(example = 12)]
    number: u64,
    #[serde(flatten)]
    session: CashSessionAnswer,
    #[schemars(example = &"2026-11-21T21:00:00")]
    close_time: String,
    closed_by: CashierAnswer,
    /// Cash counted.
    #[schemars(example = 33_450)]
    counted: i64,
    /// Counted − expected: negative if cash is missing.
    #[schemars(example = -50)]
    difference: i64,
    /// SHA-256 of the report; the audit log has it too.
    digest: String,
}

/// A page of Z reports.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ZReportsAnswer {
    /// Newest first.
    reports: Vec<ZReportAnswer>,
    /// Numbers of reports of this page that were changed: they do not match their digests.
    unreadable: Vec<u64>,
    /// `before` of the next page; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 12)]
    next_before: Option<u64>,
}

/// A session after cash was paid in or out.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CashMovedAnswer {
    #[serde(flatten)]
    session: CashSessionAnswer,
    /// Whether a call with the same `requestId` was recorded before; this call then changed nothing.
    recorded_before: bool,
}

/// A closed session.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CashClosedAnswer {
    #[serde(flatten)]
    report: ZReportAnswer,
    /// Whether a call with the same `requestId` wrote the report before.
    recorded_before: bool,
}

/// A printed report.
#[derive(Serialize, JsonSchema)]
struct ReportPrintedAnswer {
    /// Time of printing.
    #[schemars(example = &"2026-11-21T21:00:00")]
    time: String,
}

struct Form<'a> {
    names: &'a Names,
    zone: &'a TimeZone,
}

impl Form<'_> {
    fn time(&self, at: Timestamp) -> String {
        wall_time::text(at, self.zone)
    }

    fn person(&self, user: UserId) -> CashierAnswer {
        CashierAnswer { id: user.get(), name: self.names.get(&user).cloned().unwrap_or_default() }
    }

    fn session(&self, session: &CashSession, moves: &[CashEntry]) -> CashSessionAnswer {
        let totals = session.totals;
        CashSessionAnswer {
            id: session.id.get(),
            till: session.till.to_string(),
            open_time: self.time(session.opened),
            opened_by: self.person(session.opened_by),
            float: session.float.get(),
            sales: totals.sales.get(),
            sale_count: totals.sale_count,
            refunds: totals.refunds.get(),
            refund_count: totals.refund_count,
            paid_in: totals.paid_in.get(),
            paid_in_count: totals.paid_in_count,
            paid_out: totals.paid_out.get(),
            paid_out_count: totals.paid_out_count,
            expected: session.expected().get(),
            first_payment_time: session.first_payment.map(|at| self.time(at)),
            last_payment_time: session.last_payment.map(|at| self.time(at)),
            moves: moves.iter().map(|entry| self.moved(entry)).collect(),
        }
    }

    fn moved(&self, entry: &CashEntry) -> CashMoveAnswer {
        CashMoveAnswer {
            number: entry.number,
            kind: if entry.kind == CashKind::PaidIn { "in" } else { "out" },
            amount: entry.amount.get(),
            reason: entry.reason.clone(),
            time: self.time(entry.at),
            by: self.person(entry.by),
        }
    }
}

impl CashSessionAnswer {
    fn new(x: &XReport, zone: &TimeZone) -> Self {
        Form { names: &x.names, zone }.session(&x.session, &x.moves)
    }
}

impl ZReportAnswer {
    fn new(z: &ZReport, zone: &TimeZone) -> Self {
        let (form, report) = (Form { names: &z.names, zone }, &z.report);
        Self {
            number: report.number,
            session: form.session(&report.session, &z.moves),
            close_time: form.time(report.closed),
            closed_by: form.person(report.closed_by),
            counted: report.counted.get(),
            difference: report.difference().get(),
            digest: hex(&report.digest()),
        }
    }
}

async fn running(State(app): State<App>, _: Onlooker) -> Reply<Vec<CashSessionAnswer>> {
    let running = app.cash_admin.running().await?;
    Ok(Answer::ok(running.iter().map(|x| CashSessionAnswer::new(x, &app.context.zone)).collect()))
}

#[derive(Deserialize, JsonSchema)]
struct CashOpeningBody {
    /// The till, 1 to 20 characters; absent for the till `1`.
    #[schemars(example = &"1")]
    till: Option<String>,
    /// Money in the drawer, in cents.
    #[schemars(example = 30_000)]
    float: i64,
}

async fn open(
    State(app): State<App>,
    Cashier(user): Cashier,
    Now(now): Now,
    Json(body): Json<CashOpeningBody>,
) -> Reply<CashSessionAnswer> {
    let x = app.cash_admin.open(By::operator(user, now), body.till.as_deref(), body.float).await?;
    Ok(Answer::ok(CashSessionAnswer::new(&x, &app.context.zone)))
}

async fn x_report(
    State(app): State<App>,
    _: Cashier,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply<XReportAnswer> {
    let x = app.cash_admin.x(CashSessionId::new(id)).await?;
    let (session, zone) = (CashSessionAnswer::new(&x, &app.context.zone), &app.context.zone);
    Ok(Answer::ok(XReportAnswer { session, report_time: wall_time::text(now, zone) }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CashMoveBody {
    /// In cents, 1 or more.
    #[schemars(example = 1_250)]
    amount: i64,
    /// Why, 1 to 200 characters.
    #[serde(default)]
    reason: String,
    /// Idempotency key: 1 to 64 characters.
    request_id: String,
}

async fn pay_in(
    State(app): State<App>,
    Cashier(user): Cashier,
    Now(now): Now,
    Path(id): Path<u64>,
    Json(body): Json<CashMoveBody>,
) -> Reply<CashMovedAnswer> {
    moved(&app, By::operator(user, now), id, body, true).await
}

async fn pay_out(
    State(app): State<App>,
    Cashier(user): Cashier,
    Now(now): Now,
    Path(id): Path<u64>,
    Json(body): Json<CashMoveBody>,
) -> Reply<CashMovedAnswer> {
    moved(&app, By::operator(user, now), id, body, false).await
}

async fn moved(app: &App, by: By, id: u64, body: CashMoveBody, is_in: bool) -> Reply<CashMovedAnswer> {
    let CashMoveBody { amount, reason, request_id: request } = body;
    let cash_move = CashMove { is_in, amount, reason, request };
    let (x, recorded_before) = app.cash_admin.pay_in_or_out(by, CashSessionId::new(id), cash_move).await?;
    let session = CashSessionAnswer::new(&x, &app.context.zone);
    Ok(Answer::ok(CashMovedAnswer { session, recorded_before }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CashCountBody {
    /// Cash counted, in cents.
    #[schemars(example = 33_450)]
    counted: i64,
    /// The expected cash on which the difference was judged, in cents.
    #[schemars(example = 33_500)]
    expected: i64,
    /// Idempotency key: 1 to 64 characters.
    request_id: String,
}

async fn close(
    State(app): State<App>,
    Cashier(user): Cashier,
    Now(now): Now,
    Path(id): Path<u64>,
    Json(body): Json<CashCountBody>,
) -> Reply<CashClosedAnswer> {
    let CashCountBody { counted, expected, request_id: request } = body;
    let count = DrawerCount { counted, expected, request };
    let by = By::operator(user, now);
    let (z, recorded_before) = app.cash_admin.close(by, CashSessionId::new(id), count).await?;
    let report = ZReportAnswer::new(&z, &app.context.zone);
    Ok(Answer::ok(CashClosedAnswer { report, recorded_before }))
}

async fn print_x(
    State(app): State<App>,
    Cashier(user): Cashier,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply<ReportPrintedAnswer> {
    let x = app.cash_admin.x(CashSessionId::new(id)).await?;
    app.printer_admin.print_x(By::operator(user, now), &x, Language::current()).await?;
    Ok(Answer::ok(ReportPrintedAnswer { time: wall_time::text(now, &app.context.zone) }))
}

#[derive(Deserialize, JsonSchema)]
struct ReportsQuery {
    /// Only reports with a lower number.
    #[schemars(example = 12)]
    before: Option<u64>,
}

async fn reports(
    State(app): State<App>,
    _: Cashier,
    Query(query): Query<ReportsQuery>,
) -> Reply<ZReportsAnswer> {
    let page = app.cash_admin.reports(query.before).await?;
    let reports = page.reports.iter().map(|z| ZReportAnswer::new(z, &app.context.zone)).collect();
    Ok(Answer::ok(ZReportsAnswer { reports, unreadable: page.unreadable, next_before: page.next_before }))
}

async fn z_report(State(app): State<App>, _: Cashier, Path(number): Path<u64>) -> Reply<ZReportAnswer> {
    let z = app.cash_admin.report(number).await?;
    Ok(Answer::ok(ZReportAnswer::new(&z, &app.context.zone)))
}

async fn print_z(
    State(app): State<App>,
    Cashier(user): Cashier,
    Now(now): Now,
    Path(number): Path<u64>,
) -> Reply<ReportPrintedAnswer> {
    let z = app.cash_admin.report(number).await?;
    app.printer_admin.print_z(By::operator(user, now), &z, Language::current()).await?;
    Ok(Answer::ok(ReportPrintedAnswer { time: wall_time::text(now, &app.context.zone) }))
}
