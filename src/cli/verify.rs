//! `mallbox verify`: do the books balance?

use clap::Args;

use super::house;
use super::words::{Hindrance, Misuse};
use crate::config::{PlaceConfig, PlaceMistake};
use crate::language::Language;

/// The flags of `verify`.
#[derive(Args)]
pub(super) struct Verify {
    /// Which mall. One that runs goes on selling.
    #[command(flatten)]
    mall: PlaceConfig,
    /// The report as JSON, for programs: web/manual/verify.md describes it.
    #[arg(long)]
    json: bool,
    /// Have Redis forget each sale whose books do not balance and load it anew, from MySQL and from what waits in its log; then
    /// look again. A mall in a directory does that at every start.
    #[arg(long)]
    reload: bool,
}

/// Answers whether they do.
///
/// # Errors
/// One sentence: the mall cannot be read.
pub(super) fn run(verify: &Verify, l: Language) -> anyhow::Result<bool> {
    let place = verify.mall.place().map_err(Misuse::Where)?;
    if verify.reload && place.dir().is_some() {
        return Err(Misuse::Where(PlaceMistake::OnlyOnServers("--reload")).into());
    }
    let (method, path) = if verify.reload { ("POST", "/control/reload") } else { ("GET", "/control/verify") };
    let answer = house::ask(&verify.mall, method, path, l)?;
    let balances = answer["balances"].as_bool().ok_or(Hindrance::NoVerdict)?;
    if verify.json {
        super::say(&format!("{:#}\n", answer["report"]));
    } else {
        super::say(&format!("{}\n", answer["text"].as_str().unwrap_or_default().trim_end()));
    }
    Ok(balances)
}
