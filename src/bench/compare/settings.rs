//! Settings of `bench compare`.

use std::path::PathBuf;
use std::time::Duration;

use mallbox_storage::Durability;
use mallbox_storage_production::ProductionOptions;
use serde_json::json;

use super::workload::Workload;
use crate::bench::generator::Generator;
use crate::bench::load_settings::LoadBench;
use crate::bench::result::Settings;

/// A run of `bench compare`.
#[derive(Clone, Debug)]
pub struct CompareBench {
    /// The systems, in the order of odd rounds; even rounds run backwards.
    pub systems: Vec<ComparedSystem>,
    /// The workloads, in any order.
    pub workloads: Vec<Workload>,
    /// Users of each mall.
    pub users: usize,
    /// Duration of each measurement.
    pub span: Duration,
    /// Rounds of all systems.
    pub rounds: usize,
    /// Server processes of a mall on servers.
    pub instances: usize,
    /// The load generator.
    pub generator: Generator,
    /// Whether each mall is killed in the middle of a sale.
    pub kill: bool,
    /// Whether the ledger check prints every sale.
    pub verbose: bool,
    /// File to create with the result as JSON.
    pub json: Option<PathBuf>,
}

/// A system.
#[derive(Clone, Debug)]
pub enum ComparedSystem {
    /// mallbox in a directory.
    Directory(Durability),
    /// mallbox on a Redis and a MariaDB that the bench starts.
    OwnServers(ServerSetting),
    /// mallbox on empty servers of the user, beside whatever else they serve.
    GivenServers(ProductionOptions),
    /// A mall of others that is running.
    Foreign(Box<ForeignMall>),
}

/// A running mall of others.
#[derive(Clone, Debug)]
pub struct ForeignMall {
    /// Name in reports.
    pub name: String,
    /// The mall and its users; one sale for each round.
    pub load: LoadBench,
    /// Ids of all its server processes, if they run on this machine.
    pub processes: Vec<u32>,
    /// What an accepted claim survives, as its owner says: `power`, `process`, `memory` or `unknown`.
    pub durable: &'static str,
}

/// A Redis to start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServerSetting {
    /// Number and roles of the servers.
    pub topology: Topology,
    /// When Redis writes.
    pub appends: Appends,
}

/// Number and roles of Redis servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Topology {
    /// One server.
    Single,
    /// A master and a replica, watched by a sentinel.
    Sentinel,
    /// Three masters that share the keys.
    Cluster,
}

/// When Redis writes its append-only file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Appends {
    /// Never: `appendonly no`.
    Never,
    /// With a sync every second: `appendfsync everysec`.
    EverySecond,
    /// With a sync before every answer: `appendfsync always`.
    Always,
}

impl CompareBench {
    /// Returns the settings for the result document.
    pub(super) fn settings(&self) -> Settings {
        let mut settings = self.generator.settings();
        settings.extend([
            ("systems", json!(self.systems.iter().map(ComparedSystem::id).collect::<Vec<_>>())),
            ("workloads", json!(self.workloads.iter().map(|one| one.name()).collect::<Vec<_>>())),
            ("users", json!(self.users)),
            ("span_s", json!(self.span.as_secs_f64())),
            ("rounds", json!(self.rounds)),
            ("instances", json!(self.instances)),
            ("kill", json!(self.kill)),
        ]);
        settings
    }

    pub(super) fn has(&self, workload: Workload) -> bool {
        self.workloads.contains(&workload)
    }
}

impl ComparedSystem {
    /// Returns the word on the command line, which names the system in results.
    #[must_use]
    pub fn id(&self) -> String {
        match self {
            Self::Directory(Durability::Power) => "directory".to_owned(),
            Self::Directory(durability) => format!("directory-{}", durability.name()),
            Self::OwnServers(setting) => setting.id().to_owned(),
            Self::GivenServers(_) => "servers".to_owned(),
            Self::Foreign(mall) => mall.name.clone(),
        }
    }

    /// Returns the name in reports.
    pub(super) fn title(&self) -> String {
        match self {
            Self::Directory(Durability::Power) => "mallbox in a directory".to_owned(),
            Self::Directory(durability) => {
                format!("mallbox in a directory, durability {}", durability.name())
            }
            Self::OwnServers(setting) => setting.title(),
            Self::GivenServers(_) => "mallbox on given Redis and MySQL".to_owned(),
            Self::Foreign(mall) => mall.name.clone(),
        }
    }
}

impl ServerSetting {
    fn id(self) -> &'static str {
        match (self.topology, self.appends) {
            (Topology::Sentinel, _) => "redis-sentinel",
            (Topology::Cluster, _) => "redis-cluster",
            (Topology::Single, Appends::Never) => "redis-no",
            (Topology::Single, Appends::EverySecond) => "redis-everysec",
            (Topology::Single, Appends::Always) => "redis-always",
        }
    }

    fn title(self) -> String {
        let topology = match self.topology {
            Topology::Single => "Redis",
            Topology::Sentinel => "Redis with a sentinel",
            Topology::Cluster => "a Redis cluster",
        };
        let appends = match self.appends {
            Appends::Never => "appendonly no",
            Appends::EverySecond => "appendfsync everysec",
            Appends::Always => "appendfsync always",
        };
        format!("mallbox on {topology} ({appends}) and MariaDB")
    }
}
