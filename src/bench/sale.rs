//! `bench sale`: a rush of claims on one sale after another, the ceiling for comparison, and the ledger check
//! at the end.

use std::sync::Arc;

use anyhow::bail;
use mallbox_storage::Timestamp;

use super::drive::{Arrivals, drive};
use super::round;
use super::rush::Claims;
use super::sale_bench::SaleBench;
use super::summary::count;
use super::turns::on_all_grounds;

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
    on_all_grounds(&bench.malls, |ground| round::run(bench, ground, now))
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
