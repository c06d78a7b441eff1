//! `bench sale`: a rush of claims on one sale after another, the ceiling for comparison, and the ledger check
//! at the end.

use std::sync::Arc;

use anyhow::bail;
use mallbox_storage::{Timestamp, VoucherId};

use super::comparison;
use super::drive::{claim_all, drive, print_claims, print_rate};
use super::load::Report;
use super::people::BenchUsers;
use super::round;
use super::rush::ClaimScript;
use super::sale_bench::SaleBench;
use super::server::{Server, cpu_of, cpu_since};
use super::site::BenchTarget;
use crate::mall::Random;

/// Runs the bench, prints the results and checks the ledgers. Returns whether all ledgers balance.
///
/// # Errors
/// A server that cannot be started or reached; a refusal of a request that no server should refuse.
pub fn run(bench: &SaleBench, now: Timestamp) -> anyhow::Result<bool> {
    if bench.users == 0 || bench.sales == 0 || bench.connections == 0 {
        bail!("users, sales and connections must each be at least 1");
    }
    if let Some((address, tokens, sales)) = &bench.server {
        let crowd = BenchUsers { tokens: Arc::new(tokens.clone()), sales: sales.clone(), sold_out: None };
        let (tally, report) = claim_all(bench, &[*address], &crowd)?;
        print_claims(&tally, &report, None);
        return Ok(true);
    }
    let mut outcomes = Vec::new();
    for round in 1..=bench.rounds {
        let mut grounds: Vec<&BenchTarget> = bench.grounds.iter().collect();
        if round % 2 == 0 {
            // The order alternates, because the second ground finds a machine that has just been busy.
            grounds.reverse();
        }
        // Each round measures the ceiling again: on a shared machine the ceiling changes during the bench.
        let ceiling = measure_ceiling(bench)?;
        for ground in grounds {
            if bench.rounds * bench.grounds.len() > 1 {
                println!("\nround {round} of {}, {}", bench.rounds, ground.name());
            }
            outcomes.push(round::run(bench, ground, &ceiling, now)?);
        }
    }
    if outcomes.len() > 1 {
        println!("\n{}", comparison::table(&outcomes));
    }
    Ok(outcomes.iter().all(|outcome| outcome.books_balance))
}

/// Measures a bare handler under equal load.
fn measure_ceiling(bench: &SaleBench) -> anyhow::Result<Report> {
    let (server, _lines) = Server::start(&["bench", "ceiling"].map(str::to_owned), &[])?;
    let servers = [server];
    let cpu = cpu_of(&servers);
    let tokens = Arc::new(vec![Random::system().token(); 1000]);
    let closed = SaleBench { rate: None, ..bench.clone() };
    let script = ClaimScript::new(tokens, &[VoucherId::new(1)], true);
    let (_, report) = drive(&closed, &[servers[0].address], script, Some(bench.span), "ceiling")?;
    print_rate("ceiling", &report, cpu_since(&servers, cpu));
    println!("               a bare axum handler under the same load, {} connections", bench.connections);
    Ok(report)
}
