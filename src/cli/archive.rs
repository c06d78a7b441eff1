//! `mallbox archive`: moves old days of a ledger out of the database into compressed files, and reads them.

use clap::{ArgGroup, Args, Subcommand};
use mallbox_storage::Day;
use serde_json::Value;

use super::control_calls;
use super::messages::{CommandFailure, UsageError};
use super::output::{print, size_text};
use crate::config::PlaceConfig;
use crate::language::{Language, sentence};

/// Subcommands of `archive`.
#[derive(Subcommand)]
pub(super) enum Archive {
    /// Archives old days of the ledger of votes; may be stopped and repeated at any time.
    Votes(Votes),
    /// Lists the archived days.
    List(List),
    /// Prints the lines of an archived day as JSON, a line each.
    Show(Show),
}

/// Flags of `archive votes`.
#[derive(Args)]
#[command(group(ArgGroup::new("which").required(true).args(["before", "keep_days"])))]
pub(super) struct Votes {
    #[command(flatten)]
    mall: PlaceConfig,
    /// Archives all days before this day, such as 2026-11-24. Days are those of UTC.
    #[arg(long, value_name = "DAY")]
    before: Option<String>,
    /// Archives all days before the last N days and today.
    #[arg(long, value_name = "N")]
    keep_days: Option<u32>,
}

/// Flags of `archive list`.
#[derive(Args)]
pub(super) struct List {
    #[command(flatten)]
    mall: PlaceConfig,
}

/// Flags of `archive show`.
#[derive(Args)]
pub(super) struct Show {
    #[command(flatten)]
    mall: PlaceConfig,
    /// The ledger.
    #[arg(value_parser = ["votes"])]
    ledger: String,
    /// The archived day, such as 2026-11-24.
    day: String,
}

/// Runs the subcommand. Returns false if a file of the archive is damaged.
///
/// # Errors
/// One sentence for the user of the command line.
pub(super) fn run(archive: Archive, l: Language) -> anyhow::Result<bool> {
    match archive {
        Archive::Votes(votes) => self::votes(&votes, l),
        Archive::List(which) => list(&which, l).map(|()| true),
        Archive::Show(which) => show(&which, l).map(|()| true),
    }
}

/// Numbers of a whole run.
#[derive(Default)]
struct Totals {
    days: u64,
    lines: u64,
    text_bytes: u64,
    bytes: u64,
    removed: u64,
}

fn votes(which: &Votes, l: Language) -> anyhow::Result<bool> {
    let what = match (&which.before, which.keep_days) {
        (Some(before), _) => format!("before={}", day(before)?),
        (None, keep) => format!("keep={}", keep.unwrap_or_default()),
    };
    let (mut from, mut totals) = (String::new(), Totals::default());
    loop {
        let path = format!("/control/archive/votes?{what}{from}");
        let run = control_calls::request(&which.mall, "POST", &path, l)?;
        let days = run["days"].as_array().ok_or(CommandFailure::NoArchiveResult)?;
        for day in days {
            if let Some(fault) = day["fault"].as_str() {
                print(&damaged(day, fault, l));
                return Ok(false);
            }
            totals.add(day);
            print(&progress(day, l));
        }
        match run["next"].as_str() {
            Some(next) => from = format!("&from={next}"),
            None => {
                print(&totals.text(run["before"].as_str().unwrap_or_default(), l));
                return Ok(true);
            }
        }
    }
}

impl Totals {
    fn add(&mut self, day: &Value) {
        self.removed += number(day, "removed");
        if day["isNew"] == true {
            self.days += 1;
            self.lines += number(day, "lines");
            self.text_bytes += number(day, "textBytes");
            self.bytes += number(day, "bytes");
        }
    }

    fn text(&self, before: &str, l: Language) -> String {
        let Self { days, lines, removed, .. } = self;
        let (text, file) = (size_text(self.text_bytes), size_text(self.bytes));
        if *days == 0 && *removed == 0 {
            return sentence!(
                l,
                "{before}之前没有需要归档的流水\n",
                "nothing left to archive before {before}\n"
            );
        }
        sentence!(
            l,
            "已归档{before}之前的{days}天：{lines}行，{text}压缩为{file}；{removed}行已移出数据库\n\
             接下来：备份时带上归档；mallbox archive list列出归档日，mallbox verify核对\n",
            "archived {days} days before {before}: {lines} lines, {text} compressed to {file}; {removed} lines left \
             the database\nnext: include the archive in backups; mallbox archive list lists it, mallbox verify \
             checks it\n"
        )
    }
}

fn progress(day: &Value, l: Language) -> String {
    let (name, lines, removed) = (text(day, "day"), number(day, "lines"), number(day, "removed"));
    let (plain, file) = (size_text(number(day, "textBytes")), size_text(number(day, "bytes")));
    if day["isNew"] == true {
        sentence!(
            l,
            "{name}  {lines}行，{plain}压缩为{file}；{removed}行移出数据库\n",
            "{name}  {lines} lines, {plain} compressed to {file}; {removed} left the database\n"
        )
    } else {
        sentence!(
            l,
            "{name}  以前已归档；又有{removed}行移出数据库\n",
            "{name}  archived before; {removed} more lines left the database\n"
        )
    }
}

fn damaged(day: &Value, fault: &str, l: Language) -> String {
    let (name, file) = (text(day, "day"), text(day, "file"));
    sentence!(
        l,
        "异常：{name}的归档文件{file}已损坏（{fault}）；没有移出任何流水。请从备份恢复该文件，再运行一次\n",
        "BROKEN: {file}, the file of {name}, is damaged ({fault}); no line left the database. Restore the file from a \
         backup, and run the command again\n"
    )
}

fn list(which: &List, l: Language) -> anyhow::Result<()> {
    let mut after = String::new();
    loop {
        let path = format!("/control/archive/votes{after}");
        let days = control_calls::request(&which.mall, "GET", &path, l)?;
        let days = days.as_array().ok_or(CommandFailure::NoArchiveResult)?;
        let Some(last) = days.last() else { break };
        after = format!("?after={}", text(last, "day"));
        print(&days.iter().map(|day| entry(day, l)).collect::<String>());
    }
    if after.is_empty() {
        print(&sentence!(l, "还没有归档\n", "nothing is archived yet\n"));
    }
    Ok(())
}

fn entry(day: &Value, l: Language) -> String {
    let (file, lines, bytes) = (text(day, "file"), number(day, "lines"), size_text(number(day, "bytes")));
    let (time, sha256) = (text(day, "time"), text(day, "sha256"));
    sentence!(
        l,
        "{file}  {lines}行  {bytes}  {time}归档  sha256 {sha256}\n",
        "{file}  {lines} lines  {bytes}  archived {time}  sha256 {sha256}\n"
    )
}

fn show(which: &Show, l: Language) -> anyhow::Result<()> {
    let (ledger, day) = (&which.ledger, day(&which.day)?);
    let mut after = String::new();
    loop {
        let path = format!("/control/archive/{ledger}/{day}{after}");
        let page = control_calls::request(&which.mall, "GET", &path, l)?;
        let lines = page["lines"].as_array().ok_or(CommandFailure::NoArchiveResult)?;
        let lines = lines.iter().filter_map(Value::as_str);
        print(&lines.map(|line| format!("{line}\n")).collect::<String>());
        match page["next"].as_str() {
            Some(next) => after = format!("?after={next}"),
            None => return Ok(()),
        }
    }
}

/// Checks the form of a day.
fn day(text: &str) -> Result<Day, UsageError> {
    Day::parse(text).ok_or_else(|| UsageError::NoDay(text.to_owned()))
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_default()
}
