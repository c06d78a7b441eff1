//! A mall of others among the systems: one rush, on a sale of its own in each round.

use std::sync::Arc;

use anyhow::Context as _;

use crate::bench::drive::{Arrivals, drive};
use crate::bench::evidence::Evidence;
use crate::bench::load_bench::{self, orders, settled};
use crate::bench::load_settings::{LoadBench, UserSource};
use crate::bench::process_usage::ProcessUsage;
use crate::bench::result::{Class, Run, System};
use crate::bench::run_record::cost;
use crate::bench::rush::Claims;

use super::loads::Measured;
use super::settings::{CompareBench, ForeignMall};
use super::workload::Workload;

/// Returns what the sales of a mall allow to measure: a flash sale with a unit for every claim, or the rush
/// on few units.
pub(super) fn workload(mall: &ForeignMall) -> Workload {
    let users = match &mall.load.users {
        UserSource::Tokens(tokens) => tokens.len(),
        UserSource::LogIn { users, .. } => *users,
    };
    let claims = users.saturating_mul(mall.load.claims_per_user) as u64;
    let is_scarce = mall.load.units.is_some_and(|units| units < claims);
    if is_scarce { Workload::SoldOut } else { Workload::FlashSale }
}

/// Describes the mall for the result document.
pub(super) fn system(mall: &ForeignMall) -> System {
    System {
        id: mall.name.clone(),
        name: mall.name.clone(),
        class: Class { durable: mall.durable, one_per_user: None, exactly_once_after_kill: None },
        versions: Vec::new(),
        tuned: false,
    }
}

/// Runs the sale of a round. Returns also what went wrong, a sentence each.
pub(super) fn measure(
    mall: &ForeignMall,
    bench: &CompareBench,
    round: usize,
) -> anyhow::Result<(Measured, Vec<String>)> {
    let workload = workload(mall);
    let sale = mall.load.sales[(round - 1).min(mall.load.sales.len() - 1)];
    let load = LoadBench { sales: vec![sale], generator: bench.generator, ..mall.load.clone() };
    let tokens = Arc::new(load_bench::tokens(&load)?);
    let place = (&*load.target.host, &*load.target.prefix);
    let claims = Claims::in_dialect(&load.dialect, place, tokens, &load.sales).repeated(load.claims_per_user);
    let before = orders(&load)?;
    let used = usage(mall)?;
    let driven =
        drive(&bench.generator, &[load.target.address], &claims, &Arrivals::Closed, workload.name())?;
    let settled = before.map(|before| settled(&load, &before, &driven)).transpose()?;
    let used = usage(mall)?.zip(used).map(|(now, before)| now.since(before));
    let evidence = Evidence { bench: &load, driven: &driven, settled: settled.as_ref() };
    let run = Run {
        system: mall.name.clone(),
        workload: workload.name(),
        round,
        cost: cost(used, &driven.report),
        ..load_bench::record(&evidence)
    };
    let findings = evidence.findings();
    let (report, unknown) = (driven.report, driven.unknown);
    Ok((Measured { run, ceiling: None, report, unknown }, findings))
}

/// Returns what the mall's processes cost so far; `None` if none are named.
pub(super) fn usage(mall: &ForeignMall) -> anyhow::Result<Option<ProcessUsage>> {
    if mall.processes.is_empty() {
        return Ok(None);
    }
    let usage = ProcessUsage::of(mall.processes.iter().copied());
    let missing = || {
        let (name, processes) = (&mall.name, &mall.processes);
        format!("{name}: a process of {processes:?} is gone, or belongs to another user; correct 'processes'")
    };
    usage.with_context(missing).map(Some)
}
