//! `bench compare`: the flags.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use mallbox_storage::Durability;

use super::arrivals::GeneratorFlags;
use super::foreign_mall::foreign_mall;
use super::on::{count, servers};
use crate::bench::{Appends, CompareBench, ComparedSystem, ServerSetting, Topology, Workload};
use crate::cli::messages::{BenchMisuse, UsageError};
use crate::config::ServerUrl;

/// Users, rounds and seconds by default.
const USUAL: Extent = Extent { users: 20_000, rounds: 5, span: 5 };
/// The same of a first look.
const QUICK: Extent = Extent { users: 2_000, rounds: 1, span: 1 };

struct Extent {
    users: u64,
    rounds: u64,
    span: u64,
}

/// The flags of `bench compare`.
#[derive(Args, Debug)]
pub struct Compare {
    /// The systems; default: directory, redis-always, redis-everysec and redis-no. All of redis-… start a
    /// Redis and a MariaDB of their own, with their data below the current directory.
    #[arg(value_name = "SYSTEM")]
    systems: Vec<SystemName>,
    /// Only these workloads; default: browse, feed, sign-in-morning, mixed-day, flash-sale and sold-out.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    workload: Vec<WorkloadName>,
    /// One round of a second each with few users, for a first look: no interval can be given.
    #[arg(long)]
    quick: bool,
    /// Users of each mall; default: 20,000.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    users: Option<u64>,
    /// Rounds of all systems, in alternating order; default: 5, the fewest that an interval rests on.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    rounds: Option<u64>,
    /// Seconds of each measurement; default: 5.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    span: Option<u64>,
    #[command(flatten)]
    generator: GeneratorFlags,
    /// Server processes of each mall on servers.
    #[arg(long, default_value_t = 1, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=64))]
    instances: u64,
    /// Adds mallbox on this Redis, which must be empty. The bench uses a prefix of its own there and never
    /// kills the server.
    #[arg(long, value_name = "URL", requires = "mysql", requires = "may_destroy_data")]
    redis: Option<ServerUrl>,
    /// The MySQL of that mall; the database that the URL names must be empty or missing.
    #[arg(long, value_name = "URL", requires = "redis")]
    mysql: Option<ServerUrl>,
    /// Confirms that the servers of --redis and --mysql may be loaded, and hold nothing of value.
    #[arg(long)]
    may_destroy_data: bool,
    /// Adds a running mall of others, for one rush a round: a file with its address and its dialect.
    #[arg(long, value_name = "FILE")]
    foreign: Vec<PathBuf>,
    /// Leaves out the kill -9 of every mall in the middle of a sale.
    #[arg(long)]
    no_kill: bool,
    /// Prints the ledger check of every sale.
    #[arg(long)]
    verbose: bool,
    /// Writes the result to a new file, for `bench report`.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A system by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum SystemName {
    /// mallbox in a directory; an answer waits for a sync to the disk.
    Directory,
    /// mallbox in a directory; an answer waits for a write to the operating system.
    DirectoryProcess,
    /// mallbox on Redis with `appendfsync always`, and MariaDB.
    RedisAlways,
    /// mallbox on Redis with `appendfsync everysec`, and MariaDB.
    RedisEverysec,
    /// mallbox on Redis with `appendonly no`, and MariaDB.
    RedisNo,
    /// mallbox on a master with a replica and a sentinel, `appendfsync always`.
    RedisSentinel,
    /// mallbox on a cluster of three masters, `appendfsync always`.
    RedisCluster,
}

/// A workload by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum WorkloadName {
    /// Shops, shops nearby, the most liked notes.
    Browse,
    /// The page of a shop alone, beside a bare handler.
    Shop,
    /// Shops nearby alone, beside a bare handler.
    ShopsNearby,
    /// The most liked notes alone, beside a bare handler.
    HotNotes,
    /// The page of a sale alone, beside a bare handler.
    SalePage,
    /// The notes of followed authors.
    Feed,
    /// Every user signs in and looks at the streak.
    SignInMorning,
    /// Shops, notes, feeds, sign-ins and claims in the proportions of a day.
    MixedDay,
    /// Claims on sales with units enough.
    FlashSale,
    /// A rush on few units, every user clicking three times.
    SoldOut,
}

impl Compare {
    pub(super) fn plan(&self) -> anyhow::Result<CompareBench> {
        let usual = if self.quick { QUICK } else { USUAL };
        let generator = self.generator.plan(None);
        Ok(CompareBench {
            systems: self.all_systems()?,
            workloads: self.workloads(),
            users: count(self.users.unwrap_or(usual.users)),
            span: Duration::from_secs(self.span.unwrap_or(usual.span)),
            rounds: count(self.rounds.unwrap_or(usual.rounds)),
            instances: count(self.instances),
            generator,
            kill: !self.no_kill,
            verbose: self.verbose,
            json: self.json.clone(),
        })
    }

    /// Returns the named systems, and those that further flags add.
    fn all_systems(&self) -> anyhow::Result<Vec<ComparedSystem>> {
        const USUAL: [SystemName; 4] =
            [SystemName::Directory, SystemName::RedisAlways, SystemName::RedisEverysec, SystemName::RedisNo];
        let mut names = Vec::new();
        for name in if self.systems.is_empty() { &USUAL[..] } else { &self.systems } {
            if !names.contains(name) {
                names.push(*name);
            }
        }
        let mut systems: Vec<_> = names.into_iter().map(SystemName::system).collect();
        if self.redis.is_some() {
            let given = servers(self.redis.clone(), self.mysql.clone())?;
            systems.push(ComparedSystem::GivenServers(given));
        }
        for file in &self.foreign {
            let mall = foreign_mall(file)?;
            let id = mall.name.clone();
            if systems.iter().any(|system| system.id() == id) {
                return Err(UsageError::Bench(BenchMisuse::SystemTwice(id)).into());
            }
            systems.push(ComparedSystem::Foreign(Box::new(mall)));
        }
        Ok(systems)
    }

    /// Returns the workloads in the order of a round.
    fn workloads(&self) -> Vec<Workload> {
        let is_asked_for = |workload: &Workload| {
            if self.workload.is_empty() {
                return !workload.is_single_read();
            }
            self.workload.iter().any(|name| name.workload() == *workload)
        };
        Workload::ALL.into_iter().filter(is_asked_for).collect()
    }
}

impl SystemName {
    fn system(self) -> ComparedSystem {
        let own = |topology, appends| ComparedSystem::OwnServers(ServerSetting { topology, appends });
        match self {
            Self::Directory => ComparedSystem::Directory(Durability::Power),
            Self::DirectoryProcess => ComparedSystem::Directory(Durability::Process),
            Self::RedisAlways => own(Topology::Single, Appends::Always),
            Self::RedisEverysec => own(Topology::Single, Appends::EverySecond),
            Self::RedisNo => own(Topology::Single, Appends::Never),
            Self::RedisSentinel => own(Topology::Sentinel, Appends::Always),
            Self::RedisCluster => own(Topology::Cluster, Appends::Always),
        }
    }
}

impl WorkloadName {
    fn workload(self) -> Workload {
        match self {
            Self::Browse => Workload::Browse,
            Self::Shop => Workload::Shop,
            Self::ShopsNearby => Workload::Nearby,
            Self::HotNotes => Workload::HotNotes,
            Self::SalePage => Workload::SalePage,
            Self::Feed => Workload::Feed,
            Self::SignInMorning => Workload::SignIns,
            Self::MixedDay => Workload::MixedDay,
            Self::FlashSale => Workload::FlashSale,
            Self::SoldOut => Workload::SoldOut,
        }
    }
}
