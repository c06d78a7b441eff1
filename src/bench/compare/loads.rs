//! The workloads on a system, measured.

use std::sync::Arc;

use anyhow::bail;
use mallbox_storage::Timestamp;

use super::settings::CompareBench;
use super::subject::{Subject, scarce_units};
use super::visits::{BROWSE, DAY, FEED, Habit, Request, VisitorScript, Visitors};
use super::workload::Workload;
use crate::bench::ceiling::{self, Ceiling};
use crate::bench::drive::{Arrivals, Driven, ShownProgress, drive, load_of, progress_bar};
use crate::bench::load::{self, Exchanged, Progress, Report};
use crate::bench::numbers::count;
use crate::bench::result::{Books, Ceilings, Cost, Run};
use crate::bench::run_record::{run_record, timeline};
use crate::bench::rush::{ClaimOutcomes, Claims};
use crate::bench::watch::MetricsSampler;

/// Claims of each user in a row on the sale with few units.
const CLICKS: usize = 3;

/// A measured run, with its ceiling where there is one, and an answer that nobody expected.
pub(super) struct Measured {
    pub(super) run: Run,
    pub(super) ceiling: Option<Ceiling>,
    pub(super) report: Report,
    pub(super) unknown: Option<Exchanged>,
}

/// Runs a workload on a system.
pub(super) fn measure(
    bench: &CompareBench,
    subject: &Subject,
    (workload, id, round): (Workload, &str, usize),
    now: Timestamp,
) -> anyhow::Result<Measured> {
    let place = (id.to_owned(), workload.name(), round);
    let habit = match workload {
        Workload::FlashSale => return flash_sale(bench, subject, place),
        Workload::SoldOut => return sold_out(bench, subject, place),
        Workload::Browse => BROWSE,
        Workload::Shop => Habit::Single(Request::Shop),
        Workload::Nearby => Habit::Single(Request::Nearby),
        Workload::HotNotes => Habit::Single(Request::HotNotes),
        Workload::SalePage => Habit::Single(Request::SalePage),
        Workload::Feed => FEED,
        Workload::SignIns => Habit::Morning,
        Workload::MixedDay => DAY,
    };
    let load = || visits(bench, subject, place, habit, now);
    if workload.has_ceiling() {
        let (measured, ceiling) = between_ceilings(bench, load)?;
        Ok(measured.beside(ceiling))
    } else {
        load()
    }
}

impl Measured {
    /// Adds the ceiling, and CPU per operation as a multiple of that of a bare request.
    fn beside(self, ceiling: Ceiling) -> Self {
        let cpu_us = self.run.cost.cpu_us_per_operation;
        let cost = Cost { cpu_ratio: cpu_us.and_then(|cpu_us| ceiling.cpu_ratio(cpu_us)), ..self.run.cost };
        let run = Run {
            ceiling_per_s: Some(Ceilings::rates(ceiling)),
            ceiling_cpu_us: Ceilings::cpu(ceiling),
            cost,
            ..self.run
        };
        Self { run, ceiling: Some(ceiling), ..self }
    }
}

/// Runs a load between two measurements of the ceiling.
fn between_ceilings<T>(
    bench: &CompareBench,
    load: impl FnOnce() -> anyhow::Result<T>,
) -> anyhow::Result<(T, Ceiling)> {
    let before = ceiling::measure(&bench.generator, bench.span)?;
    let done = load()?;
    let after = ceiling::measure(&bench.generator, bench.span)?;
    Ok((done, Ceiling { before, after }))
}

/// Measures claims on sales with units enough, between two measurements of the ceiling.
fn flash_sale(
    bench: &CompareBench,
    subject: &Subject,
    place: (String, &'static str, usize),
) -> anyhow::Result<Measured> {
    let crowd = &subject.mall.crowd;
    let claims = Claims::new(Arc::clone(&crowd.tokens), subject.flash_sales());
    let arrivals = Arrivals::ClosedFor(bench.span);
    let ((driven, spent, samples), ceiling) = between_ceilings(bench, || {
        let sampler = MetricsSampler::start(subject.mall.addresses.clone());
        let (driven, spent) = subject
            .spend(|| drive(&bench.generator, &subject.mall.addresses, &claims, &arrivals, "flash sale"))?;
        Ok((driven, spent, sampler.stop()))
    })?;
    let Driven { outcomes, report, unknown, .. } = driven;
    check_success(&outcomes, unknown.as_ref())?;
    let run = Run {
        ceiling_per_s: Some(Ceilings::rates(ceiling)),
        ceiling_cpu_us: Ceilings::cpu(ceiling),
        timeline: timeline(report.began, &samples),
        ..spent.add_to_flash_sale(run_record(place, &outcomes, &report), &report, ceiling)
    };
    Ok(Measured { run, ceiling: Some(ceiling), report, unknown })
}

/// Measures a rush on few units, of users who click several times.
fn sold_out(
    bench: &CompareBench,
    subject: &Subject,
    place: (String, &'static str, usize),
) -> anyhow::Result<Measured> {
    let crowd = &subject.mall.crowd;
    let claims = Claims::new(Arc::clone(&crowd.tokens), &[crowd.scarce]).repeated(CLICKS);
    let (driven, spent) = subject
        .spend(|| drive(&bench.generator, &subject.mall.addresses, &claims, &Arrivals::Closed, "sold out"))?;
    let Driven { outcomes, report, unknown, .. } = driven;
    check_success(&outcomes, unknown.as_ref())?;
    let books = Books {
        oversold: Some(outcomes.accepted.saturating_sub(scarce_units(bench.users))),
        bought_twice: Some(outcomes.bought_again),
        ..Books::default()
    };
    let run = Run { books, ..spent.add_to(run_record(place, &outcomes, &report), &report) };
    Ok(Measured { run, ceiling: None, report, unknown })
}

fn visits(
    bench: &CompareBench,
    subject: &Subject,
    place: (String, &'static str, usize),
    habit: Habit,
    now: Timestamp,
) -> anyhow::Result<Measured> {
    let visitors = Visitors::new(subject.mall.crowd.clone(), subject.day_sales().to_vec(), habit, now);
    let visitors = Arc::new(visitors);
    let scripts =
        (0..bench.generator.threads as u64).map(|thread| VisitorScript::new(Arc::clone(&visitors), thread));
    let arrivals = Arrivals::ClosedFor(bench.span);
    let load = load_of(&bench.generator, &subject.mall.addresses, &arrivals);
    let progress = Progress::default();
    let seen = progress.clone();
    let shown = ShownProgress::start(progress_bar(None, place.1), move || seen.answered());
    let ((scripts, report), spent) =
        subject.spend(|| Ok(load::run_on_threads(&load, scripts.collect(), &progress)?))?;
    drop(shown);
    let outcomes: ClaimOutcomes = scripts.iter().map(|script| script.outcomes).sum();
    let unknown = scripts.into_iter().find_map(|script| script.unknown);
    check_success(&outcomes, unknown.as_ref())?;
    let run = spent.add_to(run_record(place, &outcomes, &report), &report);
    Ok(Measured { run, ceiling: None, report, unknown })
}

/// Fails a load with more than one unexpected answer in a hundred: refusals are fast, and would look like a
/// good rate.
fn check_success(outcomes: &ClaimOutcomes, unknown: Option<&Exchanged>) -> anyhow::Result<()> {
    const TOLERATED: u64 = 100;
    let unexpected = outcomes.refused + outcomes.rejected + outcomes.lost;
    if outcomes.accepted == 0 || unexpected * TOLERATED > outcomes.accepted + outcomes.sold_out {
        let answer = unknown.map(|answer| format!("; the first of them: {answer}")).unwrap_or_default();
        bail!("{} requests succeeded, {} did not{answer}", count(outcomes.accepted), count(unexpected));
    }
    Ok(())
}
