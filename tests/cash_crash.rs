//! `kill -9` while drawers are opened, used and closed: every acknowledged Z report is there, numbers have no
//! gaps, and the ledger balances.
//!
//! `MALLBOX_CRASH_CYCLES` sets the number of kills, `MALLBOX_SEED` repeats a plan.

mod common;

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::thread::JoinHandle;

use anyhow::{Context as _, ensure};
use mallbox_storage::CashReport;
use serde_json::{Value, json};

use common::dice::{Dice, number_from};
use common::mall::Size;
use common::server::{self, Server};
use common::{http, mall};

/// Tills at once, each with an operator's calls one after the other.
const TILLS: usize = 6;
/// Time from the first call to the kill, in milliseconds.
const KILL_WITHIN_MS: (u64, u64) = (100, 2_000);
const FLAGS: [&str; 2] = ["--actions-per-minute", "0"];

const PIN: &str = "482913";
/// Price of the vouchers, in cents.
const PRICE: u64 = 100;
/// More than all cycles sell.
const UNITS: u64 = 1_000_000;

/// What the mall was told and said.
#[derive(Default)]
struct Told {
    /// Digests of the Z reports that the mall acknowledged, by number.
    acknowledged: BTreeMap<u64, String>,
    /// Closings without a response: path and body.
    unanswered: Vec<(String, Value)>,
}

impl Told {
    fn take(&mut self, report: &Value) -> anyhow::Result<()> {
        let number = report["number"].as_u64().with_context(|| report.to_string())?;
        let digest = report["digest"].as_str().with_context(|| report.to_string())?;
        let known = self.acknowledged.insert(number, digest.to_owned());
        ensure!(known.is_none(), "Z report {number} was given twice");
        Ok(())
    }

    fn add(&mut self, other: Self) -> anyhow::Result<()> {
        for (number, digest) in other.acknowledged {
            self.take(&json!({ "number": number, "digest": digest }))?;
        }
        self.unanswered.extend(other.unanswered);
        Ok(())
    }
}

/// The people who call, and what they sell.
#[derive(Clone)]
struct Callers {
    operator: String,
    /// Header lines of the person on duty at the counter.
    staff: String,
    voucher: u64,
}

#[test]
fn every_acknowledged_report_is_whole_after_kills_at_any_moment() -> anyhow::Result<()> {
    let cycles = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(6).min(40);
    let mut dice = Dice::from_environment("cash");
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    let people = mall::make(&data, Size { people: 1, sales: 1, units: UNITS })?;
    let operator = mall::appoint_operator(&data, &people)?;
    let server = Server::start_with(&data, &log, &FLAGS)?;
    let key = employ(server.address, &operator)?;
    server.stop()?;
    let (mut told, mut sales) = (Told::default(), 0);
    for cycle in 0..cycles {
        let server = Server::start_with(&data, &log, &FLAGS)?;
        repeat(server.address, &operator, &mut told)?;
        let staff = log_in(server.address, &key)?;
        let callers = Callers { operator: operator.clone(), staff, voucher: people.sales[0].get() };
        let tills: Vec<_> = (0..TILLS).map(|till| work(server.address, till, cycle, &callers)).collect();
        std::thread::sleep(dice.millis(KILL_WITHIN_MS.0, KILL_WITHIN_MS.1));
        server.kill()?;
        for till in tills {
            told.add(till.join().ok().context("a till panicked")?)?;
        }
        server::verify(&data)?;
        sales = check(&data, &told)?;
    }
    let server = Server::start_with(&data, &log, &FLAGS)?;
    repeat(server.address, &operator, &mut told)?;
    server.stop()?;
    check(&data, &told)?;
    let reports = told.acknowledged.len();
    ensure!(reports > 0, "no report was acknowledged: every kill came too early");
    ensure!(sales > 0, "no order was paid in cash");
    println!("cash: {cycles} times kill -9, {reports} reports with {sales} sales, {TILLS} tills");
    Ok(())
}

fn post(address: SocketAddr, path: &str, headers: &str, body: &Value) -> anyhow::Result<http::Reply> {
    let body = body.to_string();
    let request = format!(
        "POST /api{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    http::read(&http::exchange(TcpStream::connect(address)?, request.as_bytes())?)
}

/// Adds a counter and a person. Returns the counter's key.
fn employ(address: SocketAddr, operator: &str) -> anyhow::Result<String> {
    let headers = format!("authorization: {operator}\r\n");
    let kiosk = post(address, "/ops/kiosks", &headers, &json!({ "name": "till" }))?;
    let person = post(address, "/ops/staff", &headers, &json!({ "name": "Anne", "pin": PIN }))?;
    ensure!(person.body["success"] == true, "{person:?}");
    Ok(kiosk.body["data"]["key"].as_str().with_context(|| format!("{kiosk:?}"))?.to_owned())
}

/// Returns the header lines of a person who logs in at the counter.
fn log_in(address: SocketAddr, key: &str) -> anyhow::Result<String> {
    let begun = post(address, "/staff/login", &format!("x-kiosk-key: {key}\r\n"), &json!({ "pin": PIN }))?;
    let token = begun.body["data"]["token"].as_str().with_context(|| format!("{begun:?}"))?;
    Ok(format!("authorization: {token}\r\n"))
}

/// Repeats the closings that were not answered: each session is closed once, with one report.
fn repeat(address: SocketAddr, operator: &str, told: &mut Told) -> anyhow::Result<()> {
    for (path, body) in std::mem::take(&mut told.unanswered) {
        let closed = http::send(address, "POST", &path, operator, &body.to_string())?;
        ensure!(closed.body["success"] == true, "{path} {body}: {closed:?}");
        told.take(&closed.body["data"])?;
    }
    Ok(())
}

/// Opens, uses and closes the drawer of a till until the mall is gone. A session left open by a kill is
/// closed first.
fn work(address: SocketAddr, till: usize, cycle: u64, callers: &Callers) -> JoinHandle<Told> {
    let (callers, till) = (callers.clone(), till.to_string());
    std::thread::spawn(move || {
        let mut told = Told::default();
        for round in 0.. {
            let request = format!("{cycle} {till} {round}");
            if round_of(address, &till, &request, &callers, &mut told).is_err() {
                break;
            }
        }
        told
    })
}

/// Returns an error once the mall is gone. Panics if the running mall refuses or fails.
fn round_of(
    address: SocketAddr,
    till: &str,
    request: &str,
    callers: &Callers,
    told: &mut Told,
) -> anyhow::Result<()> {
    let operator = &callers.operator;
    let send = |path: &str, body: &Value| http::send(address, "POST", path, operator, &body.to_string());
    let opened = send("/api/ops/cash", &json!({ "till": till, "float": 1_000 }))?;
    assert!(["", "CASH_SESSION_OPEN"].contains(&opened.code()) && opened.status < 500, "{opened:?}");
    let open = http::ask(address, "GET", "/api/ops/cash", operator)?.body;
    let mut sessions = open["data"].as_array().into_iter().flatten();
    let session = sessions.find(|session| session["till"] == till);
    let id = &session.unwrap_or_else(|| panic!("{till}: {open}"))["id"];
    let sale = json!({ "voucherId": callers.voucher, "amount": PRICE, "method": "cash", "till": till, "requestId": request });
    let sold = post(address, "/staff/sales", &callers.staff, &sale)?;
    assert!(sold.status < 500, "{sold:?}");
    let moved = json!({ "amount": 5, "reason": "change", "requestId": request });
    let after = send(&format!("/api/ops/cash/{id}/in"), &moved)?;
    assert!(after.body["success"] == true, "{after:?}");
    let expected = &after.body["data"]["expected"];
    let close = json!({ "counted": 1_000, "expected": expected, "requestId": request });
    let path = format!("/api/ops/cash/{id}/close");
    let closed = send(&path, &close).inspect_err(|_| told.unanswered.push((path.clone(), close.clone())))?;
    assert!(closed.body["success"] == true, "{closed:?}");
    let taken = told.take(&closed.body["data"]);
    assert!(taken.is_ok(), "{taken:?}");
    Ok(())
}

/// Compares the reports with those that the mall acknowledged. Returns the number of sales in all reports.
fn check(data: &Path, told: &Told) -> anyhow::Result<u64> {
    mall::runtime()?.block_on(async {
        let storage = mall::open(data).await?;
        let reports = storage.selling.cash.reports(None, u32::MAX).await?;
        let reports = reports.into_iter().collect::<Result<Vec<_>, _>>()?;
        let numbers: Vec<u64> = reports.iter().rev().map(|report| report.number).collect();
        ensure!(numbers == (1..=reports.len() as u64).collect::<Vec<_>>(), "gaps: {numbers:?}");
        for (number, digest) in &told.acknowledged {
            let found = reports.iter().find(|report| report.number == *number);
            let found = found.map(CashReport::digest).map(|digest| mallbox_storage::hex(&digest));
            ensure!(found.as_ref() == Some(digest), "report {number}: {found:?} instead of {digest}");
        }
        storage.base.upkeep.close().await?;
        Ok(reports.iter().map(|report| report.session.totals.sale_count).sum())
    })
}
