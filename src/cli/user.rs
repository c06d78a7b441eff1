//! `mallbox user`: who is an operator.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::Value;

use super::house;
use super::words::Misuse;
use crate::http::control::USERS_A_PAGE;
use crate::language::Language;

/// What to do.
#[derive(Subcommand)]
pub(super) enum User {
    /// Lists the users.
    List {
        /// Where.
        #[command(flatten)]
        mall: Where,
        /// Operators alone.
        #[arg(long)]
        operators: bool,
    },
    /// Makes the user with this phone an operator; a new phone becomes a user.
    Grant(One),
    /// Takes the operator's rights away; works at the very next request.
    Revoke(One),
}

/// Which mall.
#[derive(Args)]
pub(super) struct Where {
    /// The mall's directory; the mall may be running.
    #[arg(long, env = "MALLBOX_DATA", value_name = "DIR")]
    data: PathBuf,
}

/// Which user of which mall.
#[derive(Args)]
pub(super) struct One {
    #[command(flatten)]
    mall: Where,
    /// The user's phone number.
    phone: String,
}

/// Does it, and says what came of it.
///
/// # Errors
/// One sentence for whoever typed the command.
pub(super) fn run(user: User, l: Language) -> anyhow::Result<()> {
    match user {
        User::List { mall, operators } => list(&mall, operators, l),
        User::Grant(one) => step(&one, "grant", l),
        User::Revoke(one) => step(&one, "revoke", l),
    }
}

fn list(mall: &Where, operators: bool, l: Language) -> anyhow::Result<()> {
    for page in 1_u32.. {
        let path = format!("/control/users?operators={operators}&current={page}");
        let users = house::ask(&mall.data, "GET", &path, l)?;
        let users = users.as_array().map(Vec::as_slice).unwrap_or_default();
        super::say(&users.iter().map(line).collect::<String>());
        if users.len() < USERS_A_PAGE as usize {
            break;
        }
    }
    Ok(())
}

fn step(one: &One, step: &str, l: Language) -> anyhow::Result<()> {
    if !one.phone.bytes().all(|byte| byte.is_ascii_digit()) || one.phone.is_empty() {
        return Err(Misuse::NoPhone(one.phone.clone()).into());
    }
    let user = house::ask(&one.mall.data, "POST", &format!("/control/users/{}/{step}", one.phone), l)?;
    super::say(&line(&user));
    Ok(())
}

fn line(user: &Value) -> String {
    let text = |name: &str| user[name].as_str().unwrap_or_default().to_owned();
    let id = user["id"].as_u64().unwrap_or_default();
    format!("{id:>8}  {}  {:<9}  {}\n", text("phone"), text("role"), text("nickName"))
}
