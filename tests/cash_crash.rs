//! `kill -9` while drawers are opened, used and closed: every acknowledged Z report is there, numbers have no
//! gaps, and the ledger balances.
//!
//! `MALLBOX_CRASH_CYCLES` sets the number of kills, `MALLBOX_SEED` repeats a plan.

mod common;

use std::collections::BTreeMap;
use std::net::SocketAddr;
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

/// Digests of the Z reports that the mall acknowledged, by number.
type Acknowledged = BTreeMap<u64, String>;

#[test]
fn every_acknowledged_report_is_whole_after_kills_at_any_moment() -> anyhow::Result<()> {
    let cycles = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(6).min(40);
    let mut dice = Dice::from_environment("cash");
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    let people = mall::make(&data, Size { people: 1, sales: 1, units: 1 })?;
    let operator = mall::appoint_operator(&data, &people)?;
    let mut acknowledged = Acknowledged::new();
    for cycle in 0..cycles {
        let server = Server::start_with(&data, &log, &FLAGS)?;
        let tills: Vec<_> = (0..TILLS).map(|till| work(server.address, till, cycle, &operator)).collect();
        std::thread::sleep(dice.millis(KILL_WITHIN_MS.0, KILL_WITHIN_MS.1));
        server.kill()?;
        for till in tills {
            acknowledged.extend(till.join().ok().context("a till panicked")?);
        }
        server::verify(&data)?;
        check(&data, &acknowledged)?;
    }
    ensure!(!acknowledged.is_empty(), "no report was acknowledged: every kill came too early");
    println!("cash: {cycles} times kill -9, {} reports acknowledged, {TILLS} tills", acknowledged.len());
    Ok(())
}

/// Opens, uses and closes the drawer of a till until the mall is gone. A session left open by a kill is
/// closed first.
fn work(address: SocketAddr, till: usize, cycle: u64, operator: &str) -> JoinHandle<Acknowledged> {
    let (operator, till) = (operator.to_owned(), till.to_string());
    std::thread::spawn(move || {
        let mut acknowledged = Acknowledged::new();
        for round in 0.. {
            let request = format!("{cycle} {round}");
            let report = match round_of(address, &till, &request, &operator) {
                Ok(Some(report)) => report,
                Ok(None) => continue,
                Err(_) => return acknowledged,
            };
            let (number, digest) = (report["number"].as_u64(), report["digest"].as_str());
            let (Some(number), Some(digest)) = (number, digest) else { panic!("{report}") };
            let known = acknowledged.insert(number, digest.to_owned());
            assert_eq!(known, None, "Z report {number} was given twice");
        }
        acknowledged
    })
}

/// Returns the report of a session; `None` if the mall was too busy for one of the calls, and an error once
/// the mall is gone.
fn round_of(address: SocketAddr, till: &str, request: &str, operator: &str) -> anyhow::Result<Option<Value>> {
    let send = |path: &str, body: Value| http::send(address, "POST", path, operator, &body.to_string());
    send("/api/ops/cash", json!({ "till": till, "float": 1_000 }))?;
    let open = http::ask(address, "GET", "/api/ops/cash", operator)?.body;
    let mut sessions = open["data"].as_array().into_iter().flatten();
    let Some(session) = sessions.find(|session| session["till"] == till) else { return Ok(None) };
    let id = &session["id"];
    let moved = json!({ "amount": 5, "reason": "change", "requestId": request });
    let after = send(&format!("/api/ops/cash/{id}/in"), moved)?.body;
    if after["success"] != true {
        return Ok(None);
    }
    let close = json!({ "counted": 1_000, "expected": after["data"]["expected"], "requestId": request });
    let closed = send(&format!("/api/ops/cash/{id}/close"), close)?;
    assert!(closed.body["success"] == true || closed.status >= 500, "{closed:?}");
    Ok((closed.body["success"] == true).then(|| closed.body["data"].clone()))
}

/// Compares the reports with those that the mall acknowledged.
fn check(data: &Path, acknowledged: &Acknowledged) -> anyhow::Result<()> {
    mall::runtime()?.block_on(async {
        let storage = mall::open(data).await?;
        let reports = storage.selling.cash.reports(None, u32::MAX).await?;
        let numbers: Vec<u64> = reports.iter().rev().map(|report| report.number).collect();
        ensure!(numbers == (1..=reports.len() as u64).collect::<Vec<_>>(), "gaps: {numbers:?}");
        for (number, digest) in acknowledged {
            let found = reports.iter().find(|report| report.number == *number);
            let found = found.map(CashReport::digest).map(|digest| mallbox_storage::hex(&digest));
            ensure!(found.as_ref() == Some(digest), "report {number}: {found:?} instead of {digest}");
        }
        Ok(storage.base.upkeep.close().await?)
    })
}
