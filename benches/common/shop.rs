//! A mall with one operator and one shop: a `serve` process in a fresh directory or on servers, set up over
//! HTTP, so that any version of mallbox can be measured.

#![allow(dead_code, reason = "each bench uses the part it needs")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, anyhow, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::Client;
use crate::codes::Codes;
use crate::server::Server;

pub const OPERATOR: &str = "13900000001";
pub const PASSWORD: &str = "plum harbour 47 lantern";

/// Codes of a phone that a user tries after one request: others may request codes for the phone meanwhile.
const CODES_TRIED_MAX: usize = 4;

/// A running mall.
pub struct Mall {
    pub server: Server,
    pub codes: Codes,
    /// Standard error of the server.
    pub log: PathBuf,
    program: String,
    /// Flags of the command line that name the place of the data.
    place: Vec<String>,
    /// Removed after the end of the server, which stands first.
    _dir: TempDir,
}

/// Redis and MySQL of a mall, as URLs.
#[derive(Clone, Debug)]
pub struct ServerUrls {
    pub redis: String,
    pub mysql: String,
}

/// The offers of the shop.
#[derive(Clone, Copy, Debug)]
pub struct Goods {
    /// An ordinary voucher.
    pub voucher: u64,
    /// A flash sale.
    pub sale: u64,
}

impl Mall {
    /// Starts `serve` of this program in a directory, with further flags.
    pub fn start(program: &str, flags: &[&str]) -> anyhow::Result<Self> {
        Self::start_in(|dir| Ok(vec!["--data".to_owned(), in_text(&dir.join("mall"))?]), program, flags)
    }

    /// Starts `serve` of this program on servers, with further flags. The mall's data stay there.
    pub fn start_on(servers: &ServerUrls, program: &str, flags: &[&str]) -> anyhow::Result<Self> {
        let place = ["--redis", &servers.redis, "--mysql", &servers.mysql].map(str::to_owned);
        Self::start_in(|_| Ok(place.to_vec()), program, flags)
    }

    fn start_in(
        place: impl FnOnce(&Path) -> anyhow::Result<Vec<String>>,
        program: &str,
        flags: &[&str],
    ) -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        let (place, log) = (place(dir.path())?, dir.path().join("log"));
        let place_flags: Vec<&str> = place.iter().map(String::as_str).collect();
        let arguments = [&["serve", "--listen", "127.0.0.1:0"][..], &place_flags, flags].concat();
        let mut server = Server::start_program(program, &arguments, &log)?;
        let codes = Codes::of(server.take_lines());
        Ok(Self { server, codes, log, program: program.to_owned(), place, _dir: dir })
    }

    /// Returns a client at this address.
    pub fn client(&self, from: [u8; 4]) -> Client {
        Client::new(from, self.server.address)
    }

    /// Makes the user with this phone an operator.
    pub fn appoint(&self, phone: &str) -> anyhow::Result<()> {
        let mut command = Command::new(&self.program);
        mallbox_test_servers::without_settings(&mut command);
        command.args(["user", "grant"]).args(&self.place).arg(phone).stdin(Stdio::null());
        let output = command.output()?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "mallbox user grant: {complaint}");
        Ok(())
    }
}

/// Opens a shop with a voucher and a sale of `units`.
pub fn open_shop(operator: Client, token: &str, units: u64) -> anyhow::Result<Goods> {
    let add = |path: &str, form: Value| {
        let id = accepted(path, operator.data("POST", path, token, &form))?;
        id.as_u64().with_context(|| format!("{path} returned no id"))
    };
    let kind = add("/api/shop-type", json!({ "name": "Bench", "icon": "/types/ms.svg" }))?;
    let shop = add("/api/shop", json!({ "name": "Bench", "typeId": kind, "x": 120.15, "y": 30.33 }))?;
    let voucher = json!({ "shopId": shop, "title": "Bench", "payValue": 4_750, "actualValue": 5_000 });
    let mut sale = voucher.clone();
    sale["stock"] = json!(units);
    sale["beginTime"] = json!("2026-01-01T00:00:00");
    sale["endTime"] = json!("2099-01-01T00:00:00");
    Ok(Goods { voucher: add("/api/voucher", voucher)?, sale: add("/api/voucher/seckill", sale)? })
}

/// Logs in by code and returns the token, or the code of the refusal. With a ticket as the mall's pages do,
/// or without as older versions need.
pub fn log_in_by_code(client: Client, codes: &Codes, phone: &str, ticket: bool) -> Result<String, String> {
    let before = codes.count(phone);
    let query = if ticket { "&ticket=true" } else { "" };
    let path = format!("/api/user/code?phone={phone}{query}");
    let ticket = client.data("POST", &path, "", &Value::Null)?;
    let mut refusal = "code not sent".to_owned();
    for number in before..before + CODES_TRIED_MAX {
        let Some(code) = codes.wait(phone, number) else { break };
        let form = json!({ "phone": phone, "code": code, "ticket": ticket });
        match client.data("POST", "/api/user/login", "", &form) {
            // A code that somebody else requested.
            Err(code) if code == "CODE_WRONG" => refusal = code,
            outcome => return outcome.map(text),
        }
    }
    Err(refusal)
}

/// Logs in by password and returns the token, or the code of the refusal.
pub fn log_in_by_password(client: Client, phone: &str) -> Result<String, String> {
    let form = json!({ "phone": phone, "password": PASSWORD });
    client.data("POST", "/api/user/login", "", &form).map(text)
}

/// Sets [`PASSWORD`], which needs a session begun by a code.
pub fn set_password(client: Client, token: &str) -> Result<Value, String> {
    client.data("PUT", "/api/user/password", token, &json!({ "password": PASSWORD }))
}

/// Names the step of the set-up that was refused.
pub fn accepted<T>(step: &str, outcome: Result<T, String>) -> anyhow::Result<T> {
    outcome.map_err(|code| anyhow!("{step}: {code}"))
}

fn in_text(path: &Path) -> anyhow::Result<String> {
    Ok(path.to_str().context("the directory for temporary files has an odd name")?.to_owned())
}

fn text(token: Value) -> String {
    token.as_str().unwrap_or_default().to_owned()
}
