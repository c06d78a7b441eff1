//! One of the binaries under comparison: a running mall, and the calls that are measured there.

use std::fmt;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use mallbox::bench::load::Report;
use serde_json::{Value, json};

use crate::calls::Calls;
use crate::client::{request, request_of_client};
use crate::shop::{Mall, OPERATOR, PASSWORD, ServerUrls, accepted, log_in_by_code, open_shop};

/// Limits that no call reaches, but that every call checks. A binary gets those it knows.
const LIMITS_UNREACHED: [(&str, &str); 6] = [
    ("--code-gap", "0"),
    ("--claims-per-minute", "1000000000"),
    ("--codes-per-day", "1000000000"),
    ("--codes-per-day-of-phone", "1000000000"),
    ("--codes-per-day-of-mall", "1000000000"),
    ("--codes-per-hour-of-address", "1000000000"),
];
/// Log-ins by password of an account: the limit per phone and address in 10 minutes, without a flag.
const PASSWORDS_PER_ACCOUNT: usize = 5;
/// Sessions that read and claim.
const READERS_MAX: usize = 64;
/// Connections during the set-up: few enough for the turns of the password hash.
const SETUP_CONNECTIONS: usize = 8;
const SUCCESS: &str = r#""success":true"#;

/// Number of calls in a round, by kind.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    pub log_ins: usize,
    pub passwords: usize,
    pub reads: usize,
}

/// Measurements of one kind of call.
pub struct Measured {
    pub what: &'static str,
    /// Values in the order of [`METRICS`].
    pub values: [f64; 4],
}

/// Names of the values, with the number of decimals.
pub const METRICS: [(&str, usize); 4] =
    [("p50 µs", 0), ("p99 µs", 0), ("calls /s", 0), ("CPU µs per call", 1)];

/// Where the mall's data are.
pub enum Place {
    /// A fresh directory.
    Directory { durability: String },
    /// Redis and MySQL.
    Servers(ServerUrls),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory { durability } => write!(f, "--durability {durability}"),
            Self::Servers(_) => f.write_str("on servers"),
        }
    }
}

/// A binary with its mall.
pub struct Side {
    mall: Mall,
    /// A sale that is sold out.
    sale: u64,
    /// Phones with a password.
    accounts: Vec<String>,
    passwords_used: usize,
}

impl Side {
    /// Starts a binary and sets the mall up, with accounts for this number of log-ins by password.
    pub fn start(program: &str, place: &Place, passwords: usize) -> anyhow::Result<Self> {
        let mut flags = vec!["--trusted-proxy", "127.0.0.1"];
        flags.extend(known_limits(program)?);
        let mall = match place {
            Place::Directory { durability } => {
                flags.extend(["--durability", durability]);
                Mall::start(program, &flags)?
            }
            Place::Servers(servers) => Mall::start_on(servers, program, &flags)?,
        };
        mall.appoint(OPERATOR)?;
        let client = mall.client([127, 0, 0, 1]);
        let token = accepted("operator", log_in_by_code(client, &mall.codes, OPERATOR, false))?;
        let sale = open_shop(client, &token, 1)?.sale;
        let path = format!("/api/voucher-order/seckill/{sale}");
        accepted("claim", client.data("POST", &path, &token, &Value::Null))?;
        let accounts = (0..passwords.div_ceil(PASSWORDS_PER_ACCOUNT)).map(|n| format!("16{n:09}")).collect();
        let side = Self { mall, sale, accounts, passwords_used: 0 };
        side.set_passwords()?;
        Ok(side)
    }

    fn set_passwords(&self) -> anyhow::Result<()> {
        if self.accounts.is_empty() {
            return Ok(());
        }
        let (tokens, _) = self.log_in(&self.accounts, SETUP_CONNECTIONS)?;
        let body = json!({ "password": PASSWORD }).to_string();
        let put = |token: &String| request("PUT", "/api/user/password", token, &body);
        let calls = Calls::once(tokens.iter().map(put).collect(), SUCCESS);
        calls.run(self.mall.server.address, SETUP_CONNECTIONS)?;
        Ok(())
    }

    /// Measures every kind of call over this number of connections.
    pub fn measure(&mut self, connections: usize, counts: Counts) -> anyhow::Result<Vec<Measured>> {
        // The same phones in each round, so that only the first round makes users.
        let phones: Vec<_> = (0..counts.log_ins).map(|n| format!("15{connections:03}{n:06}")).collect();
        let (tokens, mut all) = self.log_in(&phones, connections)?;
        if counts.passwords > 0 {
            all.push(self.timed("log-in by password", self.passwords(counts.passwords), connections)?);
            self.passwords_used += counts.passwords;
        }
        let readers = &tokens[..tokens.len().min(READERS_MAX)];
        let read = |token: &String| request("GET", "/api/user/me", token, "");
        let path = format!("/api/voucher-order/seckill/{}", self.sale);
        let claim = |token: &String| request("POST", &path, token, "");
        let calls = |requests, expected| Calls { requests, count: counts.reads, expected };
        let reads = calls(readers.iter().map(read).collect(), SUCCESS);
        let claims = calls(readers.iter().map(claim).collect(), r#""code":"SOLD_OUT""#);
        all.push(self.timed("GET /user/me", reads, connections)?);
        all.push(self.timed("claim, sold out", claims, connections)?);
        Ok(all)
    }

    /// Requests a code for each phone, then logs each in. Returns the tokens and the measurements.
    fn log_in(&self, phones: &[String], connections: usize) -> anyhow::Result<(Vec<String>, Vec<Measured>)> {
        let codes = &self.mall.codes;
        let before: Vec<_> = phones.iter().map(|phone| codes.count(phone)).collect();
        let ask = |phone: &String| request("POST", &format!("/api/user/code?phone={phone}"), "", "");
        let asked = Calls::once(phones.iter().map(ask).collect(), SUCCESS);
        let asked = self.timed("request for a code", asked, connections)?;
        let mut requests = Vec::with_capacity(phones.len());
        for (phone, number) in phones.iter().zip(before) {
            let code = codes.wait(phone, number).context("a code was not printed")?;
            let body = json!({ "phone": phone, "code": code }).to_string();
            requests.push(request("POST", "/api/user/login", "", &body));
        }
        let cpu = self.cpu_seconds()?;
        let (bodies, report) = Calls::once(requests, SUCCESS).run(self.mall.server.address, connections)?;
        let logged_in = self.measured("log-in by code", &report, cpu)?;
        let tokens = bodies.iter().map(|body| token_in(body)).collect::<anyhow::Result<_>>()?;
        Ok((tokens, vec![asked, logged_in]))
    }

    /// Returns log-ins by password, each account used as often as its limit allows, and from an address of
    /// its own: an address gets few passwords hashed, without a flag.
    fn passwords(&self, count: usize) -> Calls {
        let numbers = self.passwords_used..self.passwords_used + count;
        let log_in = |number: usize| {
            let account = number / PASSWORDS_PER_ACCOUNT;
            let body = json!({ "phone": self.accounts[account], "password": PASSWORD }).to_string();
            request_of_client(account, "POST", "/api/user/login", &body)
        };
        Calls::once(numbers.map(log_in).collect(), SUCCESS)
    }

    fn timed(&self, what: &'static str, calls: Calls, connections: usize) -> anyhow::Result<Measured> {
        let cpu = self.cpu_seconds()?;
        let (_, report) = calls.run(self.mall.server.address, connections).context(what)?;
        self.measured(what, &report, cpu)
    }

    fn measured(&self, what: &'static str, report: &Report, cpu_before: f64) -> anyhow::Result<Measured> {
        let micros = |span: std::time::Duration| span.as_secs_f64() * 1e6;
        let cpu = (self.cpu_seconds()? - cpu_before) * 1e6 / report.answered.max(1) as f64;
        Ok(Measured { what, values: [micros(report.p50()), micros(report.p99()), report.per_second(), cpu] })
    }

    /// Returns the CPU time of the server so far. Counted in ticks of 10 ms.
    fn cpu_seconds(&self) -> anyhow::Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.mall.server.id()))?;
        // After the name, which may contain anything: utime and stime are the 12th and 13th field.
        let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u32>);
        Ok(f64::from(ticks.sum::<Result<u32, _>>()?) / 100.0)
    }

    pub fn stop(self) -> anyhow::Result<()> {
        self.mall.server.stop()
    }
}

/// Returns the flags of [`LIMITS_UNREACHED`] that a binary knows, with their values.
fn known_limits(program: &str) -> anyhow::Result<Vec<&'static str>> {
    let mut command = Command::new(program);
    mallbox_test_servers::without_settings(&mut command);
    let output = command.args(["serve", "--help"]).stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot run {program}"))?;
    let help = String::from_utf8_lossy(&output.stdout);
    let known = LIMITS_UNREACHED.iter().filter(|(flag, _)| help.contains(&format!("{flag} <")));
    Ok(known.flat_map(|(flag, value)| [*flag, *value]).collect())
}

fn token_in(body: &[u8]) -> anyhow::Result<String> {
    let body: Value = serde_json::from_slice(body)?;
    Ok(body["data"].as_str().context("a log-in returned no token")?.to_owned())
}
