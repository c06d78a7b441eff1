//! `mallbox audit`: what operators did, and whether the log of it is whole.

use clap::{Args, Subcommand};
use serde_json::Value;

use super::house;
use super::words::Hindrance;
use crate::config::PlaceConfig;
use crate::language::{Language, padded, sentence};

/// What to do.
#[derive(Subcommand)]
pub(super) enum Audit {
    /// Lists what operators did, the newest first.
    List(List),
    /// Is the log whole? Exit code 1 names the first entry that does not fit.
    Verify(Verify),
}

/// Which entries of which mall.
#[derive(Args)]
pub(super) struct List {
    #[command(flatten)]
    mall: PlaceConfig,
    /// How many at the most.
    #[arg(long, default_value_t = 50, value_name = "ENTRIES")]
    max: u64,
    /// Those before this one.
    #[arg(long, value_name = "ENTRY")]
    before: Option<u64>,
}

/// Which mall's log, and what is known of it.
#[derive(Args)]
pub(super) struct Verify {
    #[command(flatten)]
    mall: PlaceConfig,
    /// An entry and its hash as an earlier `verify` printed them: finds a log that was written anew from there on, or
    /// before.
    #[arg(long, value_name = "ENTRY:HASH", value_parser = noted)]
    noted: Option<Noted>,
}

/// An entry's number and its hash in hexadecimal digits.
#[derive(Clone)]
struct Noted {
    number: u64,
    hash: String,
}

fn noted(text: &str) -> Result<Noted, String> {
    let hash_is_one = |hash: &str| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts = text.split_once(':').filter(|(_, hash)| hash_is_one(hash));
    let noted = parts.and_then(|(number, hash)| {
        Some(Noted {
            number: number.parse().ok().filter(|number| *number > 0)?,
            hash: hash.to_ascii_lowercase(),
        })
    });
    noted.ok_or_else(|| "expected an entry's number, a colon, and the 64 digits of its hash".to_owned())
}

/// Answers whether the log is whole, if that was asked.
///
/// # Errors
/// One sentence: the log cannot be read.
pub(super) fn run(audit: Audit, l: Language) -> anyhow::Result<bool> {
    match audit {
        Audit::List(which) => list(&which, l).map(|()| true),
        Audit::Verify(verify) => self::verify(&verify, l),
    }
}

fn list(which: &List, l: Language) -> anyhow::Result<()> {
    let (mut before, mut left) = (which.before, which.max);
    while left > 0 {
        let entries = page(&which.mall, before, left, l)?;
        super::say(&entries.iter().map(|entry| line(entry, l)).collect::<String>());
        let Some(last) = entries.last().and_then(|entry| entry["number"].as_u64()) else { break };
        before = Some(last);
        left = left.saturating_sub(entries.len() as u64);
    }
    Ok(())
}

/// Entries below `before`, newest first; `max` at the most, and fewer where the mall hands out fewer at once.
fn page(mall: &PlaceConfig, before: Option<u64>, max: u64, l: Language) -> anyhow::Result<Vec<Value>> {
    let max = max.min(u64::from(u32::MAX));
    let before = before.map_or_else(String::new, |before| format!("&before={before}"));
    let answer = house::ask(mall, "GET", &format!("/control/audit?max={max}{before}"), l)?;
    Ok(answer.as_array().cloned().unwrap_or_default())
}

fn line(entry: &Value, l: Language) -> String {
    let text = |name: &str| entry[name].as_str().unwrap_or_default();
    let number = entry["number"].as_u64().unwrap_or_default();
    let who = match entry["userId"].as_u64() {
        Some(user) => sentence!(l, "用户{user}", "user {user}"),
        None => sentence!(l, "命令行", "command line"),
    };
    let who = padded(&who, 12);
    let (time, action, subject) = (text("time"), text("action"), text("subject"));
    format!("{number:>6}  {time}  {who}  {action:<14}  {subject:<12}  {}\n", entry["detail"])
}

fn verify(verify: &Verify, l: Language) -> anyhow::Result<bool> {
    let check = house::ask(&verify.mall, "GET", "/control/audit/verify", l)?;
    let (Some(entries), Some(head)) = (check["entries"].as_u64(), check["head"].as_str()) else {
        return Err(Hindrance::NoVerdictOnAudit.into());
    };
    if let Some(fault) = check.get("fault") {
        let text = fault["text"].as_str().ok_or(Hindrance::NoVerdictOnAudit)?;
        super::say(&sentence!(
            l,
            "有误：{text}；此前的{entries}条完好\n",
            "WRONG: {text}; {entries} entries before it are in order\n"
        ));
        return Ok(false);
    }
    if let Some(noted) = &verify.noted
        && !is_still_there(&verify.mall, noted, l)?
    {
        let number = noted.number;
        super::say(&sentence!(
            l,
            "有误：第{number}条不是当初记下的那一条：日志被重写过\n",
            "WRONG: entry {number} is not the one that was noted: the log was written anew\n"
        ));
        return Ok(false);
    }
    super::say(&sentence!(
        l,
        "审计日志完好：共{entries}条，最后一条是{entries}:{head}\n",
        "the audit log is in order: {entries} entries; the last is {entries}:{head}\n"
    ));
    Ok(true)
}

fn is_still_there(mall: &PlaceConfig, noted: &Noted, l: Language) -> anyhow::Result<bool> {
    let entries = page(mall, noted.number.checked_add(1), 1, l)?;
    Ok(entries.first().is_some_and(|entry| {
        entry["number"].as_u64() == Some(noted.number) && entry["hash"].as_str() == Some(&noted.hash)
    }))
}
