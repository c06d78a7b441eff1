//! `mallbox export`: the mall's accounts as files for a bookkeeper.
//!
//! Reasons and figures: `src/decisions/0085-accounts.md`.

mod files;
mod totals;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mallbox_storage::Day;
use serde::Deserialize as _;
use serde_json::Value;

use self::files::{ExportFiles, RowFormat};
use self::totals::Totals;
use super::control_calls::{self, NextCall};
use super::messages::{CommandFailure, UsageError};
use super::output::{print, warn};
use super::progress::Progress;
use super::room::remove_rooms_on_stop;
use crate::config::PlaceConfig;
use crate::http::api::operator::accounts::csv_form::CsvForm;
use crate::http::api::operator::accounts::rows::AccountsRows;
use crate::http::control::accounts::AccountsHead;
use crate::language::{Language, sentence};

/// The flags of `export`.
#[derive(Args)]
pub(super) struct Export {
    /// An existing directory, into which orders, payments, books, cash and summary.json are written. Existing
    /// files are never overwritten.
    #[arg(value_name = "DIR")]
    to: PathBuf,
    /// The mall. A running mall continues to sell.
    #[command(flatten)]
    mall: PlaceConfig,
    /// First day, such as 2026-11-24, in the mall's time zone; default: the day of --to, or yesterday.
    #[arg(long, value_name = "DAY")]
    from: Option<String>,
    /// Last day, included; default: yesterday, or the day of --from if that is today.
    #[arg(long = "to", value_name = "DAY")]
    to_day: Option<String>,
    /// Exports one sale alone; without days, from its first claim to now.
    #[arg(long, value_name = "ID")]
    sale: Option<u64>,
    /// Format of the rows; json writes an object per line.
    #[arg(long, value_enum, default_value = "csv")]
    format: Format,
    /// Makes the CSV files fit for a double click in Excel: with a byte order mark, and long ids as text.
    #[arg(long)]
    excel: bool,
}

/// Formats of `--format`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Csv,
    Json,
}

/// Writes the files. Returns whether the sums of orders and payments agree, and all claims of days that are
/// over are in the files.
///
/// # Errors
/// One sentence for the user of the command line; no file is left then.
pub(super) fn run(export: Export, l: Language) -> anyhow::Result<bool> {
    for day in [&export.from, &export.to_day].into_iter().flatten() {
        Day::parse(day).ok_or_else(|| UsageError::NoDay(day.clone()))?;
    }
    let format = match (export.format, export.excel) {
        (Format::Csv, is_for_excel) => RowFormat::Csv(CsvForm { is_for_excel }),
        (Format::Json, false) => RowFormat::JsonLines,
        (Format::Json, true) => return Err(UsageError::ExcelIsCsv.into()),
    };
    control_calls::check_place(&export.mall)?;
    remove_rooms_on_stop(false).map_err(|error| CommandFailure::NoThreads.with_cause(error))?;
    let files = ExportFiles::begin(&export.to, format)?;
    let mut run = Run { files, totals: Totals::default(), head: None, progress: Progress::counting(), l };
    let begin = run.begin_path(&export);
    let mut failure = None;
    let polled = control_calls::poll(&export.mall, l, |response| {
        let Some(response) = response else { return NextCall::Now(begin.clone()) };
        run.take(response).unwrap_or_else(|error| {
            failure = Some(error);
            NextCall::End
        })
    });
    run.progress.end();
    polled?;
    match failure {
        Some(error) => Err(error),
        None => run.finish(&export.to),
    }
}

/// An export under way.
struct Run {
    files: ExportFiles,
    totals: Totals,
    head: Option<AccountsHead>,
    progress: Progress,
    l: Language,
}

impl Run {
    fn begin_path(&self, export: &Export) -> String {
        let from = export.from.as_ref().map(|day| format!("from={day}"));
        let to = export.to_day.as_ref().map(|day| format!("to={day}"));
        let sale = export.sale.map(|sale| format!("sale={sale}"));
        path("/control/accounts", [from, to, sale])
    }

    /// Takes a response of the mall: first what the export covers, then the pages.
    fn take(&mut self, response: &Value) -> anyhow::Result<NextCall> {
        let is_bad = |error| CommandFailure::NoAccounts.with_cause(anyhow::Error::from(error));
        let after = if self.head.is_none() {
            self.head = Some(AccountsHead::deserialize(response).map_err(is_bad)?);
            None
        } else {
            let page = AccountsRows::deserialize(response).map_err(is_bad)?;
            self.totals.add(&page);
            self.files.write(&page.orders, &page.movements)?;
            self.show();
            match page.next {
                None => return Ok(NextCall::End),
                next => next,
            }
        };
        Ok(NextCall::Now(self.page_path(after)))
    }

    /// The days of the first response stay those of all pages, also after midnight.
    fn page_path(&self, after: Option<String>) -> String {
        let head = self.head.as_ref();
        let from = head.and_then(|head| head.from.as_ref()).map(|day| format!("from={day}"));
        let to = head.and_then(|head| head.to.as_ref()).map(|day| format!("to={day}"));
        let sale = head.and_then(|head| head.sale).map(|sale| format!("sale={sale}"));
        path("/control/accounts/page", [from, to, sale, after.map(|after| format!("after={after}"))])
    }

    fn show(&mut self) {
        let (l, read, orders) = (self.l, self.totals.read, self.totals.orders());
        let payments = self.totals.payments();
        let text = || {
            sentence!(
                l,
                "已读{read}笔订单，导出{orders}笔订单、{payments}笔收退款",
                "{read} orders read; {orders} orders, {payments} payments and refunds exported"
            )
        };
        self.progress.note(text, text);
    }

    fn finish(self, to: &std::path::Path) -> anyhow::Result<bool> {
        let l = self.l;
        let head = self.head.ok_or(CommandFailure::NoAccounts)?;
        let summary = self.totals.summary(&head);
        self.files.publish(self.totals.books(), self.totals.cash_reports(), &summary)?;
        print(&summary.text(l));
        let (balances, to, pending) = (summary.balances, to.display(), head.pending_claims);
        if head.is_open {
            warn(&sentence!(
                l,
                "今天尚未结束，这些账目还会变化",
                "today is not over, and these accounts will still change"
            ));
        }
        for number in self.totals.unreadable_cash_reports() {
            warn(&sentence!(
                l,
                "Z报表{number}与摘要不符，不在文件里；请运行mallbox verify",
                "Z report {number} does not match its digest, and is not in the files; run mallbox verify"
            ));
        }
        if pending > 0 {
            warn(&sentence!(
                l,
                "有{pending}笔已接受的抢购尚未成为订单，不在文件里；请确认商城在运行，稍后导出到另一个目录",
                "{pending} accepted claims are not yet orders, and not in the files; see that the mall runs, and export \
                 later to another directory"
            ));
        }
        print(&sentence!(l, "已写入{to}\n", "written to {to}\n"));
        Ok(balances && (pending == 0 || head.is_open))
    }
}

fn path<const PARTS: usize>(path: &str, query: [Option<String>; PARTS]) -> String {
    let query: Vec<String> = query.into_iter().flatten().collect();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{}", query.join("&")) }
}
