//! `mallbox user`: who is there, who is an operator, who is kept out.

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use serde_json::Value;

use super::house;
use super::words::Misuse;
use crate::config::PlaceConfig;
use crate::http::control::USERS_A_PAGE;
use crate::language::{Language, sentence};

/// What to do.
#[derive(Subcommand)]
pub(super) enum User {
    /// Lists the users.
    List(List),
    /// Shows the user with this phone.
    Show(One),
    /// Makes the user with this phone an operator; a new phone becomes a user.
    Grant(One),
    /// Takes the operator's rights away; works at the very next request.
    Revoke(One),
    /// Keeps the user out: ends every session, and refuses the next log-in.
    Block {
        /// Whom.
        #[command(flatten)]
        one: One,
        /// Why: for operators to read, and for the audit log.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Lets the user in again.
    Unblock(One),
}

/// Which users of which mall.
#[derive(Args)]
pub(super) struct List {
    #[command(flatten)]
    mall: PlaceConfig,
    /// Operators alone.
    #[arg(long)]
    operators: bool,
    /// Blocked users alone.
    #[arg(long)]
    blocked: bool,
    /// Those whose phone number begins so.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "DIGITS")]
    phone: String,
    /// Those in whose name this is found.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
    name: String,
}

/// Which user of which mall.
#[derive(Args)]
pub(super) struct One {
    #[command(flatten)]
    mall: PlaceConfig,
    /// The user's phone number.
    phone: String,
}

/// Does it, and says what came of it.
///
/// # Errors
/// One sentence for whoever typed the command.
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
        let users = house::ask(mall, "GET", &path, l)?;
        let users = users.as_array().map(Vec::as_slice).unwrap_or_default();
        super::say(&users.iter().map(|user| line(user, l)).collect::<String>());
        if users.len() < USERS_A_PAGE as usize {
            break;
        }
    }
    Ok(())
}

fn call(one: &One, method: &str, step: &str, l: Language) -> anyhow::Result<()> {
    if !one.phone.bytes().all(|byte| byte.is_ascii_digit()) || one.phone.is_empty() {
        return Err(Misuse::NoPhone(one.phone.clone()).into());
    }
    let user = house::ask(&one.mall, method, &format!("/control/users/{}{step}", one.phone), l)?;
    super::say(&line(&user, l));
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

/// Any text as a value in a query string.
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
