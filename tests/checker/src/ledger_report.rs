//! The report of `mallbox verify --json`.

use std::collections::BTreeMap;
use std::process::Output;

use anyhow::{Context as _, ensure};
use serde_json::Value;

/// The report, and whether the exit code was a success.
#[derive(Clone, Default, Debug)]
pub struct LedgerReport {
    /// Exit code 0.
    pub balances: bool,
    /// Findings, as reported.
    pub findings: Vec<String>,
    /// Sales without a verdict, because they changed during the check.
    pub unsettled: Vec<u64>,
    /// Counts of each sale, by voucher id.
    pub sales: BTreeMap<u64, SaleLedger>,
}

/// Counts reported for a sale.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SaleLedger {
    /// Claims not yet persisted, and unpaid orders.
    pub open: u64,
    /// Number of paid orders.
    pub paid: u64,
    /// Dead letters holding a unit.
    pub dead_letters: u64,
}

impl LedgerReport {
    /// Parses the output of the program.
    ///
    /// # Errors
    /// The output has no report: the mall could not be read.
    pub fn of(output: &Output) -> anyhow::Result<Self> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (report, complaint) = (text(&output.stdout), text(&output.stderr));
        let status = output.status;
        ensure!(matches!(status.code(), Some(0 | 1)), "verify ended with {status}: {report}{complaint}");
        let json: Value = serde_json::from_str(&report)
            .with_context(|| format!("verify ended with {status} and no report: {report}{complaint}"))?;
        Self::read(&json, status.success()).with_context(|| format!("no report of verify: {report}"))
    }

    /// Parses the JSON document, including its `balances` field.
    ///
    /// # Errors
    /// The document is not such a report.
    pub fn of_document(json: &Value) -> anyhow::Result<Self> {
        let balances = json["balances"].as_bool();
        balances.and_then(|balances| Self::read(json, balances)).with_context(|| format!("no report: {json}"))
    }

    fn read(json: &Value, balances: bool) -> Option<Self> {
        let findings = json["findings"].as_array()?.iter().map(Value::to_string).collect();
        let unsettled =
            json["unsettled"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        let sales = json["sales"].as_array()?.iter().map(SaleLedger::read).collect::<Option<_>>()?;
        Some(Self { balances, findings, unsettled, sales })
    }
}

impl SaleLedger {
    fn read(json: &Value) -> Option<(u64, Self)> {
        let count = |name: &str| json[name].as_u64();
        let open = count("pending")? + count("unpaid")?;
        let sale = Self { open, paid: count("paid")?, dead_letters: count("deadLetters")? };
        Some((count("voucher")?, sale))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_is_read_and_something_else_is_none() {
        let sale = json!({"voucher": 7, "pending": 1, "unpaid": 2, "paid": 3, "used": 0, "refunding": 0, "deadLetters": 4});
        let finding = json!({"term": "stock", "expected": "1", "found": "2"});
        let report = json!({"sales": [sale], "findings": [finding], "unsettled": [9], "pending": 1});
        let read = LedgerReport::read(&report, false).unwrap();
        assert_eq!((read.findings.len(), &read.unsettled[..], read.balances), (1, &[9][..], false));
        assert_eq!(read.sales[&7], SaleLedger { open: 3, paid: 3, dead_letters: 4 });
        assert!(LedgerReport::read(&json!({"error": "no mall"}), true).is_none());
    }
}
