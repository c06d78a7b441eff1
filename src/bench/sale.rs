//! `bench sale`: a rush of claims on one sale after another, the ceiling for comparison, and the ledger check
//! at the end.

use std::sync::Arc;

use anyhow::bail;
use mallbox_storage::Timestamp;

use super::comparison;
use super::drive::{Arrivals, drive};
use super::round;
use super::rush::Claims;
use super::sale_bench::{BenchMalls, SaleBench};
use super::site::BenchTarget;
use super::summary::count;

/// Runs the bench, prints the results and checks the ledgers. Returns whether all ledgers balance.
///
/// # Errors
/// A server that cannot be started or reached; a refusal of a request that no server should refuse.
pub fn run(bench: &SaleBench, now: Timestamp) -> anyhow::Result<bool> {
    bench.generator.check((bench.malls.users, bench.sales))?;
    check_claims(bench)?;
    if let Some((address, tokens, sales)) = &bench.server {
        let claims = Claims::new(Arc::new(tokens.clone()), sales);
        let arrivals = bench.shape.clone().map_or(Arrivals::Closed, Arrivals::Open);
        let (outcomes, report, _) = drive(&bench.generator, &[*address], &claims, &arrivals, "claims")?;
        round::print_foreign(&outcomes, &report);
        return Ok(true);
    }
    let mut outcomes = Vec::new();
    for (round, ground) in turns(&bench.malls) {
        if bench.malls.rounds * bench.malls.grounds.len() > 1 {
            println!("\nround {round} of {}, {}", bench.malls.rounds, ground.name());
        }
        outcomes.push(round::run(bench, ground, now)?);
    }
    if outcomes.len() > 1 {
        println!("\n{}", comparison::table(&outcomes));
    }
    Ok(outcomes.iter().all(|outcome| outcome.books_balance))
}

/// Checks that the users can make all claims of a shape that ends.
fn check_claims(bench: &SaleBench) -> anyhow::Result<()> {
    let Some((shape, lasts)) = bench.shape.as_ref().and_then(|shape| Some((shape, shape.lasts()?))) else {
        return Ok(());
    };
    let (asked, possible) = (shape.due_by(lasts), bench.malls.users.saturating_mul(bench.sales) as u64);
    if asked > possible {
        let more = if bench.server.is_some() { "tokens or sales" } else { "--users or --sales" };
        let (asked, possible) = (count(asked), count(possible));
        bail!("the shape has {asked} claims, and the users make only {possible}: pass more {more}");
    }
    Ok(())
}

/// Returns the rounds on all grounds. The order of the grounds alternates, because the second one finds a
/// machine that has just been busy.
pub(super) fn turns(malls: &BenchMalls) -> Vec<(usize, &BenchTarget)> {
    let mut turns = Vec::new();
    for round in 1..=malls.rounds {
        let mut grounds: Vec<_> = malls.grounds.iter().map(|ground| (round, ground)).collect();
        if round % 2 == 0 {
            grounds.reverse();
        }
        turns.append(&mut grounds);
    }
    turns
}
