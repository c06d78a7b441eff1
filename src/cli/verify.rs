//! `mallbox verify`: the ledger check.

use std::path::Path;

use clap::Args;
use serde_json::Value;

use super::control_calls;
use super::messages::{CommandFailure, UsageError};
use super::output::print;
use crate::config::{LocationError, PlaceConfig, ServersConfig};
use crate::language::Language;

/// The flags of `verify`.
#[derive(Args)]
pub(super) struct Verify {
    /// The mall to check. A running mall continues to sell.
    #[command(flatten)]
    mall: PlaceConfig,
    /// Prints the report as JSON, for programs: web/manual/verify.md describes the format.
    #[arg(long)]
    json: bool,
    /// Makes Redis drop each sale with a mismatch and reload it from MySQL and from the unprocessed entries
    /// of the sale's log; then checks again. A mall in a directory does the same at every start.
    #[arg(long)]
    reload: bool,
}

/// Runs the check. Returns whether the ledger balances.
///
/// # Errors
/// One sentence: the mall cannot be read.
pub(super) fn run(verify: &Verify, l: Language) -> anyhow::Result<bool> {
    let place = verify.mall.place().map_err(UsageError::Where)?;
    if verify.reload && place.dir().is_some() {
        return Err(UsageError::Where(LocationError::OnlyOnServers("--reload")).into());
    }
    let call = if verify.reload { ("POST", "/control/reload") } else { CHECK };
    let checked = check(&verify.mall, call, l)?;
    if verify.json {
        print(&format!("{:#}\n", checked.report));
    } else {
        print(&checked.text);
    }
    Ok(checked.balances)
}

/// The result of a ledger check.
pub(super) struct CheckedLedger {
    pub(super) balances: bool,
    /// What a person reads, with a line break at the end.
    pub(super) text: String,
    report: Value,
}

/// Checks the ledger of the mall in a directory.
///
/// # Errors
/// One sentence: the mall cannot be read.
pub(super) fn check_directory(dir: &Path, l: Language) -> anyhow::Result<CheckedLedger> {
    check_place(&PlaceConfig { data: Some(dir.to_owned()), servers: ServersConfig::default() }, l)
}

/// Checks the ledger of a mall.
///
/// # Errors
/// One sentence: the mall cannot be read.
pub(super) fn check_place(mall: &PlaceConfig, l: Language) -> anyhow::Result<CheckedLedger> {
    check(mall, CHECK, l)
}

/// Method and path of the ledger check.
const CHECK: (&str, &str) = ("GET", "/control/verify");

fn check(
    mall: &PlaceConfig,
    (method, path): (&'static str, &str),
    l: Language,
) -> anyhow::Result<CheckedLedger> {
    let mut answer = control_calls::request(mall, method, path, l)?;
    let balances = answer["balances"].as_bool().ok_or(CommandFailure::NoLedgerResult)?;
    let text = format!("{}\n", answer["text"].as_str().unwrap_or_default().trim_end());
    Ok(CheckedLedger { balances, text, report: answer["report"].take() })
}
