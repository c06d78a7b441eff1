//! A run of `mallbox export`, and its files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::furnished::Furnished;

/// All files of an export as CSV.
pub const FILES: [&str; 5] = ["orders.csv", "payments.csv", "books.csv", "cash.csv", "summary.json"];

/// A row of a file, by the names of the columns.
pub type Row = BTreeMap<String, String>;

/// A finished run.
pub struct Export {
    pub dir: PathBuf,
    pub code: i32,
    /// Both outputs.
    pub output: String,
    /// The content of `summary.json`; null without the file.
    pub summary: Value,
}

impl Export {
    /// Exports a mall in a directory into `dir`, which is made if missing.
    pub fn of_directory(data: &Path, dir: &Path, flags: &[&str]) -> anyhow::Result<Self> {
        let mut command = command(dir);
        command.arg("--data").arg(data).args(flags);
        Self::run(command, dir)
    }

    /// Exports a mall on servers.
    pub fn of_servers(redis: &str, mysql: &str, dir: &Path, flags: &[&str]) -> anyhow::Result<Self> {
        let mut command = command(dir);
        command.env("MALLBOX_REDIS", redis).env("MALLBOX_MYSQL", mysql).args(flags);
        Self::run(command, dir)
    }

    fn run(mut command: Command, dir: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(dir)?;
        let output = command.output()?;
        let summary = fs::read(dir.join("summary.json")).unwrap_or_else(|_| b"null".to_vec());
        Ok(Self {
            dir: dir.to_owned(),
            code: output.status.code().context("killed")?,
            output: String::from_utf8(output.stdout)? + &String::from_utf8(output.stderr)?,
            summary: serde_json::from_slice(&summary)?,
        })
    }

    pub fn text(&self, name: &str) -> anyhow::Result<String> {
        fs::read_to_string(self.dir.join(name)).with_context(|| format!("{name}; {}", self.output))
    }

    pub fn rows(&self, name: &str) -> anyhow::Result<Vec<Row>> {
        let text = self.text(name)?;
        let mut reader = csv::Reader::from_reader(text.trim_start_matches('\u{feff}').as_bytes());
        Ok(reader.deserialize().collect::<Result<_, _>>()?)
    }

    pub fn is_empty(&self) -> anyhow::Result<bool> {
        Ok(fs::read_dir(&self.dir)?.next().is_none())
    }

    /// Checks an export of yesterday against what was sold.
    pub fn has_all_of_yesterday(&self, furnished: &Furnished) -> anyhow::Result<()> {
        ensure!(self.code == 0, "{}", self.output);
        let yesterday = furnished.yesterday.to_string();
        let head = ["from", "to"].map(|name| self.summary[name].as_str().unwrap_or_default());
        ensure!(head == [&*yesterday; 2] && self.summary["zone"] == "Asia/Shanghai", "{}", self.summary);
        ensure!(self.summary["isOpen"] == false && self.summary["balances"] == true, "{}", self.summary);
        let orders = self.rows("orders.csv")?;
        let mut by_status: BTreeMap<&str, u64> = BTreeMap::new();
        column(&orders, "status").for_each(|status| *by_status.entry(status).or_default() += 1);
        let want = [("cancelled", 2), ("paid", 5), ("refunded", 1), ("unpaid", 1), ("used", 2)];
        ensure!(by_status == BTreeMap::from(want), "{by_status:?}");
        let payments = self.rows("payments.csv")?;
        let mut moved: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for row in &payments {
            ensure!(row["day"] == yesterday && row["time"].starts_with(&yesterday), "{row:?}");
            moved.entry((&*row["kind"], &*row["cause"])).or_default().push(&row["amount"]);
        }
        let want = BTreeMap::from([
            (("paid", "late"), vec!["10.50"]),
            (("paid", "order"), vec!["10.50", "10.50", "10.50", "20.00"]),
            (("refunded", "chargeback"), vec!["-10.50"]),
            (("refunded", "late"), vec!["-10.50"]),
            (("refunded", "order"), vec!["-10.50"]),
        ]);
        ensure!(moved == want, "{moved:?}");
        let reports = self.rows("cash.csv")?;
        ensure!(reports.len() == 1 && reports[0]["number"] == "2", "{reports:?}");
        ensure!(reports[0]["till"] == "'=1" && reports[0]["difference"] == "-0.50", "{reports:?}");
        ensure!(self.summary["cashReports"]["differenceCents"] == -50, "{}", self.summary);
        let books = self.rows("books.csv")?;
        let line = |row: &Row| {
            let names = [
                "kind",
                "claimed",
                "cancelled",
                "sold",
                "used",
                "refunded",
                "dead_letters",
                "revenue",
                "refunds",
                "chargebacks",
                "late",
                "net",
            ];
            names.map(|name| row[name].clone()).join(" ")
        };
        let lines: Vec<String> = books.iter().map(line).collect();
        let want = [
            "sale 5 2 3 1 1 1 31.50 10.50 10.50 10.50 10.50",
            "voucher 2 0 2 0 0 0 20.00 0.00 0.00 0.00 20.00",
        ];
        ensure!(lines == want, "{lines:?}");
        ensure!(cents(&self.summary, "/payments/netCents")? == 3_050, "{}", self.summary);
        ensure!(cents(&self.summary, "/books/netCents")? == 3_050, "{}", self.summary);
        Ok(())
    }

    /// Compares an export of all days with the report of `mallbox verify --json`.
    pub fn agrees_with(&self, report: &Value) -> anyhow::Result<()> {
        ensure!(report["balances"] == true, "{report:#}");
        let payments = ["captured", "refunded", "reversed"]
            .map(|state| cents(report, &format!("/totals/payments/{state}Cents")));
        let [captured, refunded, reversed] = payments;
        let (refunded, reversed) = (refunded?, reversed?);
        let mine = |name: &str| cents(&self.summary, &format!("/payments/{name}Cents"));
        ensure!(mine("paid")? + mine("late")? == captured? + refunded + reversed, "{}", self.summary);
        ensure!(mine("refunded")? + mine("late")? == refunded, "{}", self.summary);
        ensure!(mine("chargeback")? == reversed, "{}", self.summary);
        ensure!(self.summary["orders"]["count"] == report["totals"]["orders"], "{}", self.summary);
        for status in ["unpaid", "paid", "used", "cancelled", "refunding", "refunded"] {
            let count = self.summary["orders"]["byStatus"][status].as_u64().unwrap_or_default();
            ensure!(Some(count) == report["totals"][status].as_u64(), "{status}: {}", self.summary);
        }
        ensure!(self.summary["books"]["deadLetters"] == report["totals"]["deadLetters"], "{}", self.summary);
        Ok(())
    }
}

/// Returns a command that exports into `dir`, in English.
pub fn command(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mallbox"));
    command.env_clear().env("LC_ALL", "C").stdin(Stdio::null());
    command.arg("export").arg(dir);
    command
}

/// Returns the values of a column.
pub fn column<'a>(rows: &'a [Row], name: &'a str) -> impl Iterator<Item = &'a str> + Clone {
    rows.iter().map(move |row| &*row[name])
}

/// Returns the rows with a value in a column.
pub fn rows<'a>(rows: &'a [Row], name: &'a str, value: &'a str) -> impl Iterator<Item = &'a Row> {
    rows.iter().filter(move |row| row[name] == value)
}

/// Returns an amount of a report.
pub fn cents(report: &Value, pointer: &str) -> anyhow::Result<i64> {
    report.pointer(pointer).and_then(Value::as_i64).with_context(|| format!("{pointer} in {report:#}"))
}
