//! `mallbox audit`: lists the operators' actions and verifies the audit log.

use clap::{Args, Subcommand};
use serde_json::Value;

use super::control_calls;
use super::messages::CommandFailure;
use super::output::print;
use crate::config::PlaceConfig;
use crate::language::{Language, padded, sentence};

/// Subcommands of `audit`.
#[derive(Subcommand)]
pub(super) enum Audit {
    /// Lists the operators' actions, newest first.
    List(List),
    /// Verifies the audit log. Exit code 1 names the first entry that does not fit.
    Verify(Verify),
}

/// Flags of `audit list`.
#[derive(Args)]
pub(super) struct List {
    #[command(flatten)]
    mall: PlaceConfig,
    /// Maximum number of entries.
    #[arg(long, default_value_t = 50, value_name = "ENTRIES")]
    max: u64,
    /// Lists only entries before this number.
    #[arg(long, value_name = "ENTRY")]
    before: Option<u64>,
}

/// Flags of `audit verify`.
#[derive(Args)]
pub(super) struct Verify {
    #[command(flatten)]
    mall: PlaceConfig,
    /// An entry and its hash as printed by an earlier `verify`: detects a log rewritten at or before this
    /// entry.
    #[arg(long, value_name = "ENTRY:HASH", value_parser = noted)]
    noted: Option<KnownEntry>,
}

/// An entry's number and its hash in hexadecimal digits.
#[derive(Clone)]
struct KnownEntry {
    number: u64,
    hash: String,
}

fn noted(text: &str) -> Result<KnownEntry, String> {
    let hash_is_one = |hash: &str| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts = text.split_once(':').filter(|(_, hash)| hash_is_one(hash));
    let noted = parts.and_then(|(number, hash)| {
        Some(KnownEntry {
            number: number.parse().ok().filter(|number| *number > 0)?,
            hash: hash.to_ascii_lowercase(),
        })
    });
    noted.ok_or_else(|| "expected ENTRY:HASH, an entry's number and 64 hexadecimal digits".to_owned())
}

/// Runs the subcommand. Returns false if `verify` finds the log broken.
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
        print(&entries.iter().map(|entry| line(entry, l)).collect::<String>());
        let Some(last) = entries.last().and_then(|entry| entry["number"].as_u64()) else { break };
        before = Some(last);
        left = left.saturating_sub(entries.len() as u64);
    }
    Ok(())
}

/// Returns at most `max` entries below `before`, newest first; fewer where the mall limits the size of a
/// page.
fn page(mall: &PlaceConfig, before: Option<u64>, max: u64, l: Language) -> anyhow::Result<Vec<Value>> {
    let max = max.min(u64::from(u32::MAX));
    let before = before.map_or_else(String::new, |before| format!("&before={before}"));
    let answer = control_calls::request(mall, "GET", &format!("/control/audit?max={max}{before}"), l)?;
    Ok(answer.as_array().cloned().unwrap_or_default())
}

fn line(entry: &Value, l: Language) -> String {
    let text = |name: &str| entry[name].as_str().unwrap_or_default();
    let number = entry["number"].as_u64().unwrap_or_default();
    let who = match (entry["staffName"].as_str(), entry["userId"].as_u64()) {
        (Some(name), _) => sentence!(l, "店员{name}", "staff {name}"),
        (None, Some(user)) => sentence!(l, "用户{user}", "user {user}"),
        (None, None) => sentence!(l, "命令行", "command line"),
    };
    let who = padded(&who, 12);
    let (time, action, subject) = (text("time"), text("action"), text("subject"));
    format!("{number:>6}  {time}  {who}  {action:<14}  {subject:<12}  {}\n", entry["detail"])
}

fn verify(verify: &Verify, l: Language) -> anyhow::Result<bool> {
    let check = control_calls::request(&verify.mall, "GET", "/control/audit/verify", l)?;
    let (Some(entries), Some(head)) = (check["entries"].as_u64(), check["head"].as_str()) else {
        return Err(CommandFailure::NoVerdictOnAudit.into());
    };
    if let Some(fault) = check.get("fault") {
        let text = fault["text"].as_str().ok_or(CommandFailure::NoVerdictOnAudit)?;
        print(&sentence!(
            l,
            "异常：{text}；此前的{entries}条完好\n",
            "BROKEN: {text}; the {entries} entries before are intact\n"
        ));
        return Ok(false);
    }
    if let Some(noted) = &verify.noted
        && !is_still_there(&verify.mall, noted, l)?
    {
        let number = noted.number;
        print(&sentence!(
            l,
            "异常：第{number}条与当初记下的哈希不符：日志被重写过\n",
            "BROKEN: entry {number} does not match the noted hash: the log was rewritten\n"
        ));
        return Ok(false);
    }
    print(&sentence!(
        l,
        "审计日志完好：共{entries}条，最后一条是{entries}:{head}\n",
        "the audit log is intact: {entries} entries; last entry {entries}:{head}\n"
    ));
    Ok(true)
}

fn is_still_there(mall: &PlaceConfig, noted: &KnownEntry, l: Language) -> anyhow::Result<bool> {
    let entries = page(mall, noted.number.checked_add(1), 1, l)?;
    Ok(entries.first().is_some_and(|entry| {
        entry["number"].as_u64() == Some(noted.number) && entry["hash"].as_str() == Some(&noted.hash)
    }))
}
