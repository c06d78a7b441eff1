//! `mallbox verify`: do the books balance?

use clap::Args;

use super::house;
use super::words::Hindrance;
use crate::config::PlaceConfig;
use crate::language::Language;

/// The flags of `verify`.
#[derive(Args)]
pub(super) struct Verify {
    /// Which mall. One that runs goes on selling.
    #[command(flatten)]
    mall: PlaceConfig,
    /// The whole report as JSON.
    #[arg(long)]
    json: bool,
}

/// Answers whether they do.
///
/// # Errors
/// One sentence: the mall cannot be read.
pub(super) fn run(verify: &Verify, l: Language) -> anyhow::Result<bool> {
    let answer = house::ask(&verify.mall, "GET", "/control/verify", l)?;
    let balances = answer["balances"].as_bool().ok_or(Hindrance::NoVerdict)?;
    if verify.json {
        super::say(&format!("{:#}\n", answer["report"]));
    } else {
        super::say(&format!("{}\n", answer["text"].as_str().unwrap_or_default().trim_end()));
    }
    Ok(balances)
}
