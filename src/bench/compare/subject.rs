//! A system that is up: the mall, the servers behind it, and what they cost together.

use anyhow::bail;
use mallbox_storage::{Timestamp, VoucherId};

use super::own_servers::{self, OwnServers};
use super::settings::{CompareBench, ComparedSystem};
use crate::bench::load::Report;
use crate::bench::people::Size;
use crate::bench::process_usage::ProcessUsage;
use crate::bench::result::{Cost, System};
use crate::bench::round::DRAIN_TIMEOUT;
use crate::bench::running_mall::RunningMall;
use crate::bench::sale_bench::BenchMalls;
use crate::bench::server::Server;
use crate::bench::site::BenchTarget;
use crate::bench::summary::micros_per_response;
use crate::bench::watch::{self, MetricsSample};

/// Sales with units enough: ten for the flash sale, one for the mixed day, one for the kill.
const SALES: usize = 12;
/// One user in so many gets a unit of the scarce sale.
const SCARCITY: usize = 20;

/// A mall under comparison.
pub(super) struct Subject {
    pub(super) mall: RunningMall,
    ground: BenchTarget,
    /// Dropped after the mall, which removes its data there.
    pub(super) servers: Option<OwnServers>,
}

/// What a load cost.
pub(super) struct Spent {
    /// Since the begin, all processes together; `None` for servers out of reach.
    usage: Option<ProcessUsage>,
    /// Orders written since the begin.
    pub(super) persisted: u64,
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
        let malls = BenchMalls {
            users: bench.users,
            limits: false,
            grounds: Vec::new(),
            rounds: 1,
            verbose: bench.verbose,
            json: None,
        };
        let size = Size {
            users: bench.users,
            sales: SALES,
            units: None,
            scarce_units: scarce_units(bench.users),
            has_content: true,
        };
        let (mall, _lines) = RunningMall::start(&malls, &ground, size, now)?;
        Ok(Some(Self { mall, ground, servers }))
    }

    /// Describes the system for the result document.
    pub(super) fn system(&self, system: &ComparedSystem) -> System {
        let mut described =
            System { id: system.id(), name: system.title(), ..self.mall.system(&self.ground) };
        if self.servers.is_some() {
            described.versions.extend(own_servers::versions());
        }
        described
    }

    /// Returns the sales of the flash sale.
    pub(super) fn flash_sales(&self) -> &[VoucherId] {
        &self.mall.crowd.sales[..SALES - 2]
    }

    /// Returns the sale of the mixed day.
    pub(super) fn day_sale(&self) -> VoucherId {
        self.mall.crowd.sales[SALES - 2]
    }

    /// Returns the sale in which the mall is killed.
    pub(super) fn last_sale(&self) -> VoucherId {
        self.mall.crowd.sales[SALES - 1]
    }

    /// Runs a load, waits for its orders, and returns also what they cost together.
    pub(super) fn spend<T>(&self, load: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, Spent)> {
        let addresses = &self.mall.addresses;
        let (usage, seen) = (self.usage(), watch::look(addresses)?);
        let done = load()?;
        watch::drained(addresses, DRAIN_TIMEOUT)?;
        let MetricsSample { persisted, .. } = watch::look(addresses)?;
        let used = self.usage();
        if usage.is_some() && used.is_none() {
            bail!("a process of the system ended during the load");
        }
        let usage = used.zip(usage).map(|(now, before)| now.since(before));
        Ok((done, Spent { usage, persisted: persisted.saturating_sub(seen.persisted) }))
    }

    /// Returns which of some users hold a unit of a sale, and the number of all orders that hold one. The
    /// processes must be stopped.
    pub(super) fn holdings(&self, sale: VoucherId, users: &[usize]) -> anyhow::Result<(Vec<bool>, u64)> {
        let mall = &self.mall;
        mall.site.runtime.block_on(async {
            let storage = mall.site.place().open().await?;
            let mut holders = Vec::with_capacity(users.len());
            for user in users {
                let holding = storage.selling.orders.holding(sale, mall.crowd.ids[*user]).await?;
                holders.push(holding.is_some());
            }
            let orders = storage.selling.orders.count(sale).await?.held();
            storage.base.upkeep.close().await?;
            Ok((holders, orders))
        })
    }

    /// Returns what all processes cost so far; `None` for servers out of reach.
    fn usage(&self) -> Option<ProcessUsage> {
        let servers = match (&self.ground, &self.servers) {
            (BenchTarget::Servers { .. }, None) => return None,
            (_, servers) => servers.as_ref().map(OwnServers::process_ids).unwrap_or_default(),
        };
        ProcessUsage::of(self.mall.servers.iter().map(Server::id).chain(servers))
    }
}

/// Returns the units of the scarce sale.
pub(super) fn scarce_units(users: usize) -> u64 {
    (users / SCARCITY).max(1) as u64
}

impl Spent {
    /// Returns the cost of each answer.
    pub(super) fn cost(&self, report: &Report) -> Cost {
        let answered = report.answered.max(1) as f64;
        Cost {
            cpu_us_per_operation: self.usage.map(|usage| micros_per_response(report, usage.cpu)),
            memory_bytes: self.usage.map(|usage| usage.memory),
            written_bytes_per_operation: self.usage.map(|usage| usage.written as f64 / answered),
        }
    }
}
