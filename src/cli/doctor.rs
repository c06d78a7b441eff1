//! `mallbox doctor`: checks whether this machine, a directory or a pair of servers is fit for a mall.

mod directory;
mod machine;
#[cfg(feature = "production")]
mod mysql;
#[cfg(feature = "production")]
mod redis;
#[cfg(feature = "production")]
mod server_words;
#[cfg(feature = "production")]
mod servers;

use std::path::PathBuf;

use clap::Args;

use self::machine::Finding;
use super::messages::UsageError;
use super::output::print;
use crate::config::PlaceConfig;
use crate::language::{Language, both, columns, padded};
use crate::place::Place;

/// The flags of `doctor`.
#[derive(Args)]
pub(super) struct Doctor {
    /// The place of an existing or planned mall; without a flag the current directory.
    #[command(flatten)]
    mall: PlaceConfig,
}

/// Width of the column of names, at least.
const NAME_MIN_COLUMNS: usize = 11;

/// Prints a table. Returns whether every finding is good.
///
/// # Errors
/// One sentence: the flags name no single place, or a URL is invalid.
pub(super) fn run(doctor: &Doctor, l: Language) -> anyhow::Result<bool> {
    let mut findings: Vec<Finding> =
        vec![(both("mallbox", "mallbox"), Ok(env!("CARGO_PKG_VERSION").to_owned()))];
    findings.extend(match place(&doctor.mall)? {
        Place::Embedded(options) => directory::findings(&options.dir, l),
        #[cfg(feature = "production")]
        Place::Production(options) => servers::findings(&options, l)?,
    });
    let width = findings.iter().map(|(name, _)| columns(name.spoken(l))).max().unwrap_or_default();
    let mut table = String::new();
    for (name, found) in &findings {
        let (mark, text) = match found {
            Ok(text) => (both("正常", "ok  "), text),
            Err(text) => (both("异常", "BAD "), text),
        };
        let name = padded(name.spoken(l), width.max(NAME_MIN_COLUMNS));
        table += &format!("{} {name} {text}\n", mark.spoken(l));
    }
    print(&table);
    Ok(findings.iter().all(|(_, found)| found.is_ok()))
}

/// Returns the place that the flags name, or the current directory.
fn place(flags: &PlaceConfig) -> Result<Place, UsageError> {
    let mut flags = flags.clone();
    if !flags.servers.is_any_named() {
        flags.data.get_or_insert_with(|| PathBuf::from("."));
    }
    flags.place().map_err(UsageError::Where)
}
