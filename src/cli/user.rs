//! `mallbox user`: lists users, grants the operator role, blocks users, and helps users who cannot log in.

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use serde_json::Value;

use super::control_calls;
use super::messages::UsageError;
use super::output::print;
use super::password_input;
use crate::config::PlaceConfig;
use crate::http::control::{ControlCall, USERS_PER_PAGE};
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
    /// Prints a login code for the user with this phone: works from everywhere, whatever the limits.
    Code(One),
    /// Sets the password of the user with this phone, read from standard input.
    SetPassword(One),
    /// Ends every session of the user with this phone.
    EndSessions(One),
    /// Removes the second factor of the user with this phone, and ends every session.
    RemoveSecondFactor(One),
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
        User::Code(one) => code(&one, l),
        User::SetPassword(one) => set_password(&one, l),
        User::EndSessions(one) => call(&one, "POST", "/end-sessions", l),
        User::RemoveSecondFactor(one) => call(&one, "POST", "/remove-second-factor", l),
    }
}

fn list(which: &List, l: Language) -> anyhow::Result<()> {
    let List { mall, operators, blocked, phone, name } = which;
    let role = if *operators { "&role=operator" } else { "" };
    let (phone, name) = (escaped(phone), escaped(name));
    for page in 1_u32.. {
        let path = format!("/control/users?current={page}&blocked={blocked}&phone={phone}&name={name}{role}");
        let users = control_calls::request(mall, "GET", &path, l)?;
        let users = users.as_array().map(Vec::as_slice).unwrap_or_default();
        print(&users.iter().map(|user| line(user, l)).collect::<String>());
        if users.len() < USERS_PER_PAGE as usize {
            break;
        }
    }
    Ok(())
}

fn call(one: &One, method: &'static str, step: &str, l: Language) -> anyhow::Result<()> {
    let user = control_calls::request(&one.mall, method, &path(one, step)?, l)?;
    print(&line(&user, l));
    Ok(())
}

fn path(one: &One, step: &str) -> Result<String, UsageError> {
    if !one.phone.bytes().all(|byte| byte.is_ascii_digit()) || one.phone.is_empty() {
        return Err(UsageError::NoPhone(one.phone.clone()));
    }
    Ok(format!("/control/users/{}{step}", one.phone))
}

fn code(one: &One, l: Language) -> anyhow::Result<()> {
    let path = path(one, "/code")?;
    let call = ControlCall { method: "POST", path: &path, body: "" };
    let made = control_calls::request_to_running(&one.mall, call, l)?;
    let code = made["code"].as_str().unwrap_or_default();
    let minutes = made["validMinutes"].as_u64().unwrap_or_default();
    print(&sentence!(
        l,
        "{code}\n在登录页输入手机号和这个验证码即可登录，不限地址，{minutes}分钟内有效，只能用一次\n",
        "{code}\nEnter phone number and code on the login page; from any address, within {minutes} minutes, once\n"
    ));
    Ok(())
}

fn set_password(one: &One, l: Language) -> anyhow::Result<()> {
    let path = path(one, "/password")?;
    let body = serde_json::json!({ "password": password_input::read(l)? }).to_string();
    let call = ControlCall { method: "POST", path: &path, body: &body };
    let user = control_calls::request_with_body(&one.mall, call, l)?;
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
    if let Some(since) = user["secondFactorTime"].as_str() {
        line += &sentence!(l, "  （{since}起有两步验证）", "  (second factor since {since})");
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
