//! `mallbox verify`: the ledger check.

use clap::Args;

use super::control_calls;
use super::messages::{CommandFailure, UsageError};
use super::output::print;
use crate::config::{LocationError, PlaceConfig};
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
    let (method, path) = if verify.reload { ("POST", "/control/reload") } else { ("GET", "/control/verify") };
    let answer = control_calls::request(&verify.mall, method, path, l)?;
    let balances = answer["balances"].as_bool().ok_or(CommandFailure::NoLedgerResult)?;
    if verify.json {
        print(&format!("{:#}\n", answer["report"]));
    } else {
        print(&format!("{}\n", answer["text"].as_str().unwrap_or_default().trim_end()));
    }
    Ok(balances)
}
