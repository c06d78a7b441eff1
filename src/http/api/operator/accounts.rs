//! The accounts of a day as a download for operators: `/ops/accounts/{day}/{file}`.
//!
//! Reasons: `src/decisions/0085-accounts.md`.

pub mod csv_form;
pub mod rows;

use std::collections::BTreeMap;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use self::csv_form::{BOOK_COLUMNS, BYTE_ORDER_MARK, CASH_COLUMNS, CsvForm, ORDER_COLUMNS, PAYMENT_COLUMNS};
use self::rows::{AccountsRows, BookRow, CashReportRow};
use crate::http::App;
use crate::http::describe::{Calls, Operation, Output, Schemas};
use crate::http::request::extract::{Now, Operator, Path};
use crate::http::response::download::{DownloadSender, EndReason};
use crate::http::response::error::ApiError;
use crate::language::both;
use crate::mall::Refusal;
use crate::mall::base::By;
use crate::mall::operator::bookkeeping::{AccountsPlace, AccountsScope};

/// Returns the routes of accounts.
pub(super) fn routes() -> Calls {
    Calls::of(both("账目", "Accounts"))
        .get("/ops/accounts/{day}/{file}", download, both("下载一天的账目", "Download the accounts of a day"))
        .explained(both(
            "适合Excel打开的CSV：`orders`是订单，`payments`是收退款，`books`是日账，`cash`是Z报表。`day`按商城时区，不晚于今天；\
             已结束的日子若还有抢购没有成为订单，下载会中断。写入审计日志。",
            "CSV for Excel: orders, payments, day books or Z reports (`cash`). `day` is in the mall's zone, not after today; the download of \
             a day that is over is cut off while claims of that day are not yet orders. Written to the audit log.",
        ))
}

/// What is downloaded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AccountsFile {
    Orders,
    Payments,
    Books,
    Cash,
}

impl AccountsFile {
    const ALL: [Self; 4] = [Self::Orders, Self::Payments, Self::Books, Self::Cash];

    fn named(name: &str) -> Result<Self, Refusal> {
        let found = Self::ALL.into_iter().find(|file| file.name() == name);
        found.ok_or(Refusal::BadValue("accounts file"))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Orders => "orders",
            Self::Payments => "payments",
            Self::Books => "books",
            Self::Cash => "cash",
        }
    }

    /// Returns where the rows of the file begin.
    fn begin(self) -> AccountsPlace {
        match self {
            Self::Cash => AccountsPlace::CashReports(None),
            Self::Orders | Self::Payments | Self::Books => AccountsPlace::Orders(None),
        }
    }

    /// Returns whether a page at this place can have rows of the file.
    fn needs(self, at: AccountsPlace) -> bool {
        matches!(at, AccountsPlace::CashReports(_)) == (self == Self::Cash)
    }

    fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Orders => ORDER_COLUMNS,
            Self::Payments => PAYMENT_COLUMNS,
            Self::Books => BOOK_COLUMNS,
            Self::Cash => CASH_COLUMNS,
        }
    }
}

/// A CSV file, written while it is read.
struct CsvDownload {
    name: HeaderValue,
    body: Body,
}

impl IntoResponse for CsvDownload {
    fn into_response(self) -> Response {
        let kind = HeaderValue::from_static("text/csv; charset=utf-8");
        ([(CONTENT_TYPE, kind), (CONTENT_DISPOSITION, self.name)], self.body).into_response()
    }
}

impl Output for Result<CsvDownload, ApiError> {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        let response = json!({
            "description": "The rows as a download",
            "content": { "text/csv": { "schema": { "type": "string" } } },
        });
        operation.responds(StatusCode::OK, response);
    }
}

async fn download(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path((day, file)): Path<(String, String)>,
) -> Result<CsvDownload, ApiError> {
    let file = AccountsFile::named(&file)?;
    let scope = app.bookkeeping.begin_download(By::operator(user, now), &day, file.name()).await?;
    let name = format!("attachment; filename=\"{}-{day}.csv\"", file.name());
    let name = HeaderValue::from_str(&name).map_err(|error| ApiError::bug(error.to_string()))?;
    let (sender, body) = DownloadSender::new();
    tokio::spawn(Writer { app, scope, file, sender }.run());
    Ok(CsvDownload { name, body })
}

/// Writes the rows into the body of the response.
struct Writer {
    app: App,
    scope: AccountsScope,
    file: AccountsFile,
    sender: DownloadSender,
}

impl Writer {
    async fn run(mut self) {
        match self.write().await {
            Ok(()) | Err(EndReason::Away) => {}
            Err(EndReason::Failed(cause)) => {
                tracing::warn!(file = self.file.name(), cause, "a download of accounts was cut off");
                self.sender.abort();
            }
        }
    }

    async fn write(&mut self) -> Result<(), EndReason> {
        let (app, form) = (self.app.clone(), CsvForm { is_for_excel: true });
        let now = app.context.now();
        let head = [self.file.columns().iter().map(|column| (*column).to_owned()).collect()];
        let head = [BYTE_ORDER_MARK.as_bytes(), &csv_bytes(head)?].concat();
        self.send(head).await?;
        let pending = app.bookkeeping.pending(self.scope, now).await?;
        if pending > 0 && !app.bookkeeping.is_open(self.scope, now)? {
            return Err(EndReason::Failed(format!("{pending} claims of the day are not yet orders")));
        }
        let mut books: BTreeMap<u64, BookRow> = BTreeMap::new();
        let mut reports: BTreeMap<u64, CashReportRow> = BTreeMap::new();
        let mut place = Some(self.file.begin());
        while let Some(at) = place.filter(|at| self.file.needs(*at)) {
            let page = app.bookkeeping.page(self.scope, at).await?;
            place = page.next;
            let rows = AccountsRows::new(&page, &app.context.zone);
            let bytes = match self.file {
                AccountsFile::Orders => csv_bytes(rows.orders.iter().map(|row| form.order(row)))?,
                AccountsFile::Payments => csv_bytes(rows.movements.iter().map(|row| form.payment(row)))?,
                AccountsFile::Books => {
                    for book in rows.books {
                        books.entry(book.voucher).and_modify(|sums| sums.add(&book)).or_insert(book);
                    }
                    Vec::new()
                }
                AccountsFile::Cash => {
                    for number in rows.unreadable_cash_reports {
                        tracing::warn!(
                            number,
                            "a Z report does not match its digest, and is not in the download"
                        );
                    }
                    reports.extend(rows.cash_reports.into_iter().map(|report| (report.number, report)));
                    Vec::new()
                }
            };
            self.send(bytes).await?;
        }
        let books = csv_bytes(books.values().map(|book| form.book(book)))?;
        self.send(books).await?;
        let reports = csv_bytes(reports.values().map(|report| form.cash_report(report)))?;
        self.send(reports).await
    }

    async fn send(&mut self, bytes: Vec<u8>) -> Result<(), EndReason> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.sender.send(bytes).await
    }
}

/// Returns rows as lines of CSV.
fn csv_bytes(rows: impl IntoIterator<Item = Vec<String>>) -> Result<Vec<u8>, EndReason> {
    let failed = |error: String| EndReason::Failed(error);
    let mut lines = csv::Writer::from_writer(Vec::new());
    for row in rows {
        lines.write_record(row).map_err(|error| failed(error.to_string()))?;
    }
    lines.into_inner().map_err(|error| failed(error.to_string()))
}
