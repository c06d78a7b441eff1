//! `/ops/printer`: the receipt printer; `/ops/orders/{id}/print` prints the receipt of an order.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::OrderId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Now, Path};
use crate::http::request::staff_calls::StaffOrOperator;
use crate::http::response::envelope::{Answer, Reply};
use crate::http::response::messages;
use crate::language::{Language, both};
use crate::mall::Refusal;
use crate::mall::base::{By, wall_time};
use crate::mall::operator::printing::{LastJob, Printer};

/// Returns the routes of the receipt printer.
pub(super) fn routes() -> Calls {
    Calls::of(both("小票打印机", "Receipt printer"))
        .get("/ops/printer", state, both("打印机和上一次打印", "The printer and its last job"))
        .explained(both(
            "打印机由启动参数`--printer`设置；`last`从商城启动算起。这个调用不连接打印机。",
            "The flag `--printer` of the start names the printer; `last` is since the start. This call does not \
                connect to the printer.",
        ))
        .post("/ops/printer/test", print_test_page, both("打印测试页", "Print a test page"))
        .explained(both(
            "打印机没有响应时，最迟17秒后返回。",
            "Responds after at most 17 s, also if the printer does not.",
        ))
        .post("/ops/orders/{id}/print", print_receipt, both("打印订单的小票", "Print the receipt of an order"))
        .explained(both(
            "只打印已支付、未使用的订单，语言随请求；重复调用会再打印一张。没有打印时，`code`说明原因，例如\
                `PRINTER_OUT_OF_PAPER`。",
            "For a paid order that is not used, in the language of the request; a repeat prints another copy. If \
                nothing is printed, `code` tells why, such as `PRINTER_OUT_OF_PAPER`.",
        ))
}

/// The receipt printer of a mall.
#[derive(Serialize, JsonSchema)]
struct PrinterAnswer {
    /// Whether the mall has a printer; if not, the other fields are absent.
    #[schemars(example = true)]
    configured: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"tcp://192.168.1.50:9100")]
    address: Option<String>,
    /// Characters per line: 32 or 48.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 32)]
    columns: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<JobAnswer>,
}

/// The last job of a printer.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct JobAnswer {
    #[schemars(example = &"2026-11-21T20:00:00")]
    time: String,
    /// Order of the receipt; absent for another page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"662319245210910723")]
    order_id: Option<String>,
    printed: bool,
    /// Why the job was not printed, or only in part: the code of the refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"PRINTER_OUT_OF_PAPER")]
    code: Option<&'static str>,
    /// The same in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// A printed page.
#[derive(Serialize, JsonSchema)]
struct PrintedAnswer {
    /// Time of printing.
    #[schemars(example = &"2026-11-21T20:00:00")]
    time: String,
}

impl PrinterAnswer {
    fn new(printer: Option<&Printer>, zone: &TimeZone) -> Self {
        let options = printer.map(Printer::options);
        Self {
            configured: printer.is_some(),
            address: options.map(|options| options.address.to_string()),
            columns: options.map(|options| options.columns.count()),
            last: printer.and_then(Printer::last).map(|job| JobAnswer::new(job, zone)),
        }
    }
}

impl JobAnswer {
    fn new(job: LastJob, zone: &TimeZone) -> Self {
        let (code, message) = match job.outcome {
            Ok(()) => (None, None),
            Err(refusal) => {
                let words = messages::of_refusal(&Refusal::Printer(refusal), Language::current());
                let (code, message, _) = words.into_parts();
                (Some(code), Some(message))
            }
        };
        Self {
            time: wall_time::text(job.at, zone),
            order_id: job.order.map(|order| order.to_string()),
            printed: job.outcome.is_ok(),
            code,
            message,
        }
    }
}

async fn state(State(app): State<App>, _: StaffOrOperator) -> Reply<PrinterAnswer> {
    Ok(Answer::ok(PrinterAnswer::new(app.printer_admin.printer(), &app.context.zone)))
}

async fn print_test_page(
    State(app): State<App>,
    StaffOrOperator(user): StaffOrOperator,
    Now(now): Now,
) -> Reply<PrintedAnswer> {
    let by = By::operator(user, now);
    app.printer_admin.print_test_page(by, Language::current()).await?;
    Ok(Answer::ok(PrintedAnswer { time: wall_time::text(now, &app.context.zone) }))
}

async fn print_receipt(
    State(app): State<App>,
    StaffOrOperator(user): StaffOrOperator,
    Now(now): Now,
    Path(order): Path<u64>,
) -> Reply<PrintedAnswer> {
    let by = By::operator(user, now);
    app.printer_admin.print_receipt(by, OrderId::new(order), Language::current()).await?;
    Ok(Answer::ok(PrintedAnswer { time: wall_time::text(now, &app.context.zone) }))
}
