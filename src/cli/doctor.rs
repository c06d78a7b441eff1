//! `mallbox doctor`: checks whether this machine, a directory or a pair of servers is fit for a mall.

mod directory;
#[cfg(feature = "production")]
mod mysql;
#[cfg(feature = "production")]
mod redis;
#[cfg(feature = "production")]
mod servers;

use std::path::PathBuf;

use clap::Args;
use rustix::process::{Resource, getrlimit};

use super::messages::UsageError;
use super::output::print;
use crate::config::PlaceConfig;
use crate::language::{Bilingual, Language, both, columns, padded, sentence};
use crate::mall::{Clock as _, SystemClock};
use crate::place::Place;

/// The flags of `doctor`.
#[derive(Args)]
pub(super) struct Doctor {
    /// The place of an existing or planned mall; without a flag the current directory.
    #[command(flatten)]
    mall: PlaceConfig,
}

const OPEN_FILES_MIN: u64 = 1_024;
/// Width of the column of names, at least.
const NAME_MIN_COLUMNS: usize = 11;

/// One line of the table. `Err` marks a problem.
type Finding = (Bilingual, Result<String, String>);

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
    if flags.redis.is_none() && flags.mysql.is_none() {
        flags.data.get_or_insert_with(|| PathBuf::from("."));
    }
    flags.place().map_err(UsageError::Where)
}

/// Reports the limit on open files.
fn open_files(l: Language) -> Finding {
    let limit = match getrlimit(Resource::Nofile).maximum {
        None => Ok(sentence!(l, "不限", "no limit")),
        Some(most) if most < OPEN_FILES_MIN => Err(sentence!(
            l,
            "最多{most}个，不够大量客户端使用；请提高`ulimit -Hn`",
            "{most} at most: too few for many clients; raise `ulimit -Hn`"
        )),
        Some(most) => Ok(sentence!(l, "最多{most}个", "{most} at most")),
    };
    (both("打开文件", "open files"), limit)
}

/// Reports the clock of this machine.
fn clock(l: Language) -> Finding {
    let what = both("时钟", "clock");
    let now = SystemClock.now();
    let text =
        jiff::Timestamp::from_millisecond(now.as_millis()).map(|now| now.to_string()).unwrap_or_default();
    // Order ids begin in 2022 and end in 2090.
    if mallbox_storage::OrderId::day(now).is_none() {
        let only =
            sentence!(l, "{text}：商城只支持2022至2090年", "{text}: the mall supports 2022 to 2090 only");
        return (what, Err(only));
    }
    (what, Ok(text))
}
