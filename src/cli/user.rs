//! `mallbox user`: lists users, grants the operator role, and blocks users.

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use serde_json::Value;

use super::messages::UsageError;
use super::output::print;
use super::running_mall;
use crate::config::PlaceConfig;
use crate::http::control::USERS_PER_PAGE;
use crate::language::{Language, sentence};

/// Subcommands of `user`.
#[derive(Subcommand)]
pub(super) enum User {
    /// Lists the users.
    List(List),
    /// Shows the user with this phone.
    Show(One),
    /// Grants the operator role to the user with this phone; a new phone becomes a user.
    Grant(One),
    /// Revokes the operator role; takes effect on the very next request.
    Revoke(One),
    /// Blocks the user: ends every session, and refuses new log-ins.
    Block {
        /// The user to block.
        #[command(flatten)]
        one: One,
        /// The reason, shown to operators and written to the audit log.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Lets a blocked user log in again.
    Unblock(One),
}

/// Flags of `user list`.
#[derive(Args)]
pub(super) struct List {
    #[command(flatten)]
    mall: PlaceConfig,
    /// Lists operators only.
    #[arg(long)]
    operators: bool,
    /// Lists blocked users only.
    #[arg(long)]
    blocked: bool,
    /// Lists users whose phone number starts with these digits.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "DIGITS")]
    phone: String,
    /// Lists users whose name contains this text.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
    name: String,
}

/// A user of a mall, by phone number.
#[derive(Args)]
pub(super) struct One {
    #[command(flatten)]
    mall: PlaceConfig,
    /// The user's phone number.
    phone: String,
}

/// Runs the subcommand and prints the result.
///
/// # Errors
/// One sentence for the user of the command line.
pub(super) fn run(user: User, l: Language) -> anyhow::Result<()> {
    match user {
        User::List(which) => list(&which, l),
        User::Show(one) => call(&one, "GET", "", l),
        User::Grant(one) => call(&one, "POST", "/grant", l),
        User::Revoke(one) => call(&one, "POST", "/revoke", l),
        User::Block { one, reason } => call(&one, "POST", &format!("/block?reason={}", escaped(&reason)), l),
        User::Unblock(one) => call(&one, "POST", "/unblock", l),
    }
}

fn list(which: &List, l: Language) -> anyhow::Result<()> {
    let List { mall, operators, blocked, phone, name } = which;
    let role = if *operators { "&role=operator" } else { "" };
    let (phone, name) = (escaped(phone), escaped(name));
    for page in 1_u32.. {
        let path = format!("/control/users?current={page}&blocked={blocked}&phone={phone}&name={name}{role}");
        let users = running_mall::request(mall, "GET", &path, l)?;
        let users = users.as_array().map(Vec::as_slice).unwrap_or_default();
        print(&users.iter().map(|user| line(user, l)).collect::<String>());
        if users.len() < USERS_PER_PAGE as usize {
            break;
        }
    }
    Ok(())
}

fn call(one: &One, method: &str, step: &str, l: Language) -> anyhow::Result<()> {
    if !one.phone.bytes().all(|byte| byte.is_ascii_digit()) || one.phone.is_empty() {
        return Err(UsageError::NoPhone(one.phone.clone()).into());
    }
    let user = running_mall::request(&one.mall, method, &format!("/control/users/{}{step}", one.phone), l)?;
    print(&line(&user, l));
    Ok(())
}

fn line(user: &Value, l: Language) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let id = user["id"].as_u64().unwrap_or_default();
    let (phone, role, name) = (text(&user["phone"]), text(&user["role"]), text(&user["nickName"]));
    let mut line = format!("{id:>8}  {phone}  {role:<9}  {name}");
    if let Some(block) = user.get("blocked") {
        let (since, reason) = (text(&block["since"]), text(&block["reason"]));
        line += &sentence!(l, "  （{since}起停用：{reason}）", "  (blocked since {since}: {reason})");
    }
    if let Some(ended) = user["sessionsEnded"].as_u64() {
        line += &sentence!(l, "  已结束{ended}个会话", "  {ended} sessions ended");
    }
    line + "\n"
}

/// Percent-encodes any text as a value in a query string.
fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        // Writing to a String cannot fail.
        let _ = match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' | b'.' | b'~' => {
                write!(out, "{}", char::from(byte))
            }
            _ => write!(out, "%{byte:02X}"),
        };
        out
    })
}
