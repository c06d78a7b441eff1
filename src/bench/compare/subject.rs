//! A system that is up: the mall, the servers behind it, and what they cost together.

use std::time::Duration;

use anyhow::bail;
use indicatif::ProgressBar;
use mallbox_storage::{Timestamp, VoucherId};

use super::own_servers::{self, OwnServers};
use super::settings::{CompareBench, ComparedSystem};
use crate::bench::ceiling::Ceiling;
use crate::bench::claim_cost::{per_order, ratio};
use crate::bench::load::Report;
use crate::bench::people::Size;
use crate::bench::process_usage::ProcessUsage;
use crate::bench::programs::{Program, ProgramUsage};
use crate::bench::result::{Class, Cost, Rates, Run, System};
use crate::bench::run_record::{cost, program_costs};
use crate::bench::running_mall::RunningMall;
use crate::bench::site::BenchTarget;
use crate::bench::watch::{self, MetricsSample};

/// Claims a second that no system reaches, of the flash sale and of the mixed day: the sales are so many that
/// claims never run out, and a fast system has no other work than a slow one.
const CLAIMS_PER_S_MAX: [u64; 2] = [100_000, 10_000];
/// More sales take too long to make; claims may then run out in a long measurement.
const SALES_MAX: usize = 1_000;
/// Time limit for the workers to write the orders of a load.
pub(super) const DRAIN_TIMEOUT: Duration = Duration::from_secs(120);
/// One user in so many gets a unit of the scarce sale.
const SCARCITY: usize = 20;

/// A mall under comparison.
pub(super) struct Subject {
    pub(super) mall: RunningMall,
    ground: BenchTarget,
    /// Number of sales of the flash sale; the last one is for the kill, the others for the mixed day.
    flash_sales: usize,
    /// Dropped after the mall, which removes its data there.
    pub(super) servers: Option<OwnServers>,
}

/// What a load cost.
pub(super) struct Spent {
    /// Since the begin; `None` for servers out of reach.
    usage: Option<ProgramUsage>,
    /// Orders written since the begin.
    persisted: u64,
    /// From the last answer to the last order.
    drained: Duration,
}

impl Subject {
    /// Starts a system with a mall of its own.
    pub(super) fn start(
        bench: &CompareBench,
        system: &ComparedSystem,
        now: Timestamp,
    ) -> anyhow::Result<Option<Self>> {
        let instances = bench.instances;
        let (ground, servers) = match system {
            ComparedSystem::Directory(durability) => {
                (BenchTarget::Directory { durability: *durability, keep: None }, None)
            }
            ComparedSystem::OwnServers(setting) => {
                let servers = OwnServers::start(*setting)?;
                let options = servers.options();
                (BenchTarget::Servers { options, instances, is_temporary: true }, Some(servers))
            }
            ComparedSystem::GivenServers(options) => {
                (BenchTarget::Servers { options: options.clone(), instances, is_temporary: false }, None)
            }
            ComparedSystem::Foreign(_) => return Ok(None),
        };
        let sales = CLAIMS_PER_S_MAX.map(|claims| sales(bench, claims));
        let size = Size {
            users: bench.users,
            sales: sales[0] + sales[1] + 1,
            units: None,
            scarce_units: scarce_units(bench.users),
            has_content: true,
            has_gateway: false,
        };
        let (mall, _lines) = RunningMall::start(false, &ground, size, now)?;
        Ok(Some(Self { mall, ground, flash_sales: sales[0], servers }))
    }

    /// Describes the system for the result document.
    pub(super) fn system(&self, system: &ComparedSystem) -> System {
        let mut described =
            System { id: system.id(), name: system.title(), ..self.mall.system(&self.ground) };
        // Both follow from what the rounds find.
        described.class = Class { one_per_user: None, exactly_once_after_kill: None, ..described.class };
        if self.servers.is_some() {
            described.versions.extend(own_servers::versions());
        }
        described
    }

    /// Whether the bench may kill every process of the system.
    pub(super) fn is_all_own(&self) -> bool {
        self.process_ids().is_some()
    }

    /// Returns the sales of the flash sale.
    pub(super) fn flash_sales(&self) -> &[VoucherId] {
        &self.mall.crowd.sales[..self.flash_sales]
    }

    /// Returns the sales of the mixed day.
    pub(super) fn day_sales(&self) -> &[VoucherId] {
        &self.mall.crowd.sales[self.flash_sales..self.mall.crowd.sales.len() - 1]
    }

    /// Returns the sale in which the mall is killed.
    pub(super) fn last_sale(&self) -> VoucherId {
        self.mall.crowd.sales[self.mall.crowd.sales.len() - 1]
    }

    /// Runs a load, waits for its orders, and returns also what they cost together.
    pub(super) fn spend<T>(&self, load: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, Spent)> {
        let addresses = &self.mall.addresses;
        ProcessUsage::forget_peaks(self.process_ids().into_iter().flatten());
        let (usage, seen) = (self.usage(), watch::look(addresses)?);
        let done = load()?;
        let bar = ProgressBar::new_spinner().with_message("waiting for the order workers");
        bar.enable_steady_tick(Duration::from_millis(100));
        let drained = watch::drained(addresses, DRAIN_TIMEOUT)?;
        bar.finish_and_clear();
        let MetricsSample { persisted, .. } = watch::look(addresses)?;
        let used = self.usage();
        if usage.is_some() && used.is_none() {
            bail!("a process of the system ended during the load");
        }
        let usage = used.zip(usage).map(|(now, before)| now.since(&before));
        Ok((done, Spent { usage, persisted: persisted.saturating_sub(seen.persisted), drained }))
    }

    /// Returns what each program cost so far; `None` for servers out of reach, and once a process ended.
    fn usage(&self) -> Option<ProgramUsage> {
        let usage = ProgramUsage::of(&self.programs()?);
        usage.total().is_some().then_some(usage)
    }

    /// Returns the ids of all processes; `None` for servers out of reach.
    fn process_ids(&self) -> Option<Vec<u32>> {
        Some(self.programs()?.into_iter().flat_map(|program| program.processes).flatten().collect())
    }

    /// Returns mallbox and the servers of the bench; `None` for servers out of reach.
    fn programs(&self) -> Option<Vec<Program>> {
        let servers = match (&self.ground, &self.servers) {
            (BenchTarget::Servers { .. }, None) => return None,
            (_, servers) => servers.as_ref().map(OwnServers::programs),
        };
        Some(std::iter::once(self.mall.program()).chain(servers.into_iter().flatten()).collect())
    }
}

/// Returns the number of sales in which the users can make so many claims a second.
fn sales(bench: &CompareBench, claims_per_s: u64) -> usize {
    let claims = claims_per_s.saturating_mul(bench.span.as_secs());
    usize::try_from(claims.div_ceil(bench.users as u64)).unwrap_or(usize::MAX).clamp(1, SALES_MAX)
}

/// Returns the units of the scarce sale.
pub(super) fn scarce_units(users: usize) -> u64 {
    (users / SCARCITY).max(1) as u64
}

impl Spent {
    /// Adds to a run what it cost, and the orders per second until the last one.
    pub(super) fn add_to(&self, run: Run, report: &Report) -> Run {
        let took = (report.elapsed + self.drained).as_secs_f64();
        let persisted_per_s = (self.persisted > 0 && took > 0.0).then(|| self.persisted as f64 / took);
        let programs = self.usage.as_ref().map(|usage| program_costs(usage, report)).unwrap_or_default();
        let cost = Cost { programs, ..cost(self.total(), report) };
        Run { cost, rates: Rates { persisted_per_s, ..run.rates }, ..run }
    }

    /// Adds to a flash sale also its CPU beside that of a bare request, and the bytes written per order.
    pub(super) fn add_to_flash_sale(&self, run: Run, report: &Report, ceiling: Ceiling) -> Run {
        let run = self.add_to(run, report);
        let cost = Cost {
            cpu_ratio_persisted: ratio(self.total(), report, ceiling),
            written_bytes_per_order: self.total().and_then(|usage| per_order(usage, self.persisted)),
            ..run.cost
        };
        Run { cost, ..run }
    }

    fn total(&self) -> Option<ProcessUsage> {
        self.usage.as_ref()?.total()
    }
}
