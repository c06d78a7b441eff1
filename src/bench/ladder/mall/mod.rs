//! The last rungs: mallbox itself, as separate processes behind their HTTP ports.

mod call;
mod rung;
mod stage;
mod triggers;

use std::time::Duration;

use anyhow::bail;
use mallbox_bench_ladder::{Event, EventKind, Findings, Location, Outcome, Speed, Trigger};

pub(super) use self::rung::MALLS;
pub use self::rung::MallRung;
use self::stage::{MallStage, Plan};
use crate::bench::drive::{Arrivals, load_of, make_claims};
use crate::bench::generator::Generator;
use crate::bench::load::Progress;
use crate::bench::rush::Claims;
use crate::bench::watch;

/// Users and sales of a measurement, and its connections: those of the other rungs.
const USERS: usize = 2_000;
const SALES: usize = 50;
const GENERATOR: Generator = Generator { connections: 64, threads: 1 };
/// Time within which the orders of a measurement are written.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(60);

/// Runs a mall under a trigger, once.
pub(super) fn run(rung: &MallRung, location: &Location, trigger: Trigger) -> anyhow::Result<Outcome> {
    let mut stage = MallStage::open(rung, location, Plan::of(trigger))?;
    triggers::strike(trigger, &mut stage)?;
    let (evidence, events) = stage.end()?;
    if let Some(why) = evidence.unexplained(trigger) {
        bail!("{why}");
    }
    let findings = evidence.judge();
    let mistake = (findings != Findings::default()).then(|| decisive(&events)).flatten();
    Ok(Outcome { findings, story: events, mistake })
}

/// Returns the place of the event from which on the claims are lost.
fn decisive(events: &[Event]) -> Option<usize> {
    let is_decisive =
        |event: &Event| matches!(event.kind, EventKind::FailedOver | EventKind::Killed | EventKind::Stopped);
    events.iter().position(is_decisive)
}

/// Measures claims of users who have none, for `span`.
pub(super) fn measure(rung: &MallRung, location: &Location, span: Duration) -> anyhow::Result<Speed> {
    let stage = MallStage::open(rung, location, Plan::measured(USERS, SALES))?;
    let mall = stage.mall();
    let claims = Claims::new(mall.crowd.tokens.clone(), &mall.crowd.sales);
    let load = load_of(&GENERATOR, &mall.addresses, &Arrivals::ClosedFor(span));
    let before = watch::look(&mall.addresses)?.persisted;
    let driven = make_claims(&load, GENERATOR.threads, &claims, &Progress::default())?;
    let drained = watch::drained(&mall.addresses, DRAIN_TIMEOUT)?;
    let persisted = watch::look(&mall.addresses)?.persisted - before;
    let elapsed = driven.report.elapsed.as_secs_f64();
    Ok(Speed {
        accepted_per_s: driven.outcomes.accepted as f64 / elapsed,
        persisted_per_s: persisted as f64 / (elapsed + drained.as_secs_f64()),
        p99_ms: driven.report.latencies.value_at_quantile(0.99) as f64 / 1_000.0,
    })
}
