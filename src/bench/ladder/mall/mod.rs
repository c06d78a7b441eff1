//! The last rungs: mallbox itself, as separate processes behind their HTTP ports.

mod call;
mod stage;
mod triggers;

use std::time::Duration;

use anyhow::bail;
use mallbox_bench_ladder::{Event, EventKind, Findings, Location, Outcome, Speed, Trigger, Words};
use mallbox_storage_production::ProductionOptions;

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

/// A rung that is a mall.
#[derive(Debug)]
pub struct MallRung {
    /// Number.
    pub id: &'static str,
    /// What the rung is.
    pub title: Words,
    /// Processes that sell at the same time.
    pub instances: u8,
    /// Whether the mall is on Redis and MySQL; otherwise in a directory.
    pub on_servers: bool,
    /// The code that decides about a claim.
    pub source: &'static str,
    /// Its path in the project.
    pub file: &'static str,
}

/// The malls.
pub(super) static MALLS: [MallRung; 2] = [
    MallRung {
        id: "13",
        title: Words { zh: "mallbox，数据在一个目录里", en: "mallbox in a directory" },
        instances: 1,
        on_servers: false,
        source: include_str!("../../../../storage/embedded/src/sales/claiming.rs"),
        file: "storage/embedded/src/sales/claiming.rs",
    },
    MallRung {
        id: "14",
        title: Words { zh: "mallbox，数据在Redis和MySQL里", en: "mallbox on Redis and MySQL" },
        instances: 2,
        on_servers: true,
        source: include_str!("../../../../storage/production/src/redis/lua/claim.lua"),
        file: "storage/production/src/redis/lua/claim.lua",
    },
];

impl MallRung {
    /// Returns whether `trigger` can strike this rung: there are no locks around a claim.
    pub(super) fn has(&self, trigger: Trigger) -> bool {
        match trigger {
            Trigger::ThreeAtOnce | Trigger::Killed | Trigger::Returned => true,
            Trigger::StoppedBeforeWrite | Trigger::FailedOver => self.on_servers,
            Trigger::StoppedBeforeRelease => false,
        }
    }
}

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

/// Returns the servers of the ladder, for a mall of its own there.
fn servers(location: &Location) -> ProductionOptions {
    ProductionOptions::new(location.redis(), location.mysql())
}
