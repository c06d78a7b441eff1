//! A Redis and a MariaDB of the bench, gone with their value.

use mallbox_bench_servers::{
    Host, MARIADB, MariaDb, REDIS, Redis, RedisCluster, RedisOptions, SentinelRedis, ServerError, version,
};
use mallbox_storage_production::ProductionOptions;

use super::settings::{Appends, ServerSetting, Topology};
use crate::bench::programs::Program;
use crate::bench::result::Version;

/// Enough for the whole database of a bench, as on a real server.
const MARIADB_FLAGS: [&str; 1] = ["--innodb-buffer-pool-size=256M"];
const MASTERS: u32 = 3;

/// The servers.
pub(super) struct OwnServers {
    redis: RunningRedis,
    mariadb: MariaDb,
}

enum RunningRedis {
    Single(Redis),
    Sentinel(Box<SentinelRedis>),
    Cluster(RedisCluster),
}

impl OwnServers {
    /// Starts the servers with their data below the current directory: in /tmp nothing would reach a disk on
    /// many machines.
    pub(super) fn start(setting: ServerSetting) -> anyhow::Result<Self> {
        let host = Host::beside_clients(&std::env::current_dir()?);
        let options = RedisOptions::default().on(host.clone());
        let options = match setting.appends {
            Appends::Never => options,
            Appends::EverySecond => options.with("appendonly", "yes").with("appendfsync", "everysec"),
            Appends::Always => options.with("appendonly", "yes").with("appendfsync", "always"),
        };
        let redis = match setting.topology {
            Topology::Single => RunningRedis::Single(Redis::start_with(options)?),
            Topology::Sentinel => RunningRedis::Sentinel(Box::new(SentinelRedis::start(&options)?)),
            Topology::Cluster => RunningRedis::Cluster(RedisCluster::start_with(MASTERS, options)?),
        };
        Ok(Self { redis, mariadb: MariaDb::start_on(host, &MARIADB_FLAGS)? })
    }

    /// Returns the addresses for a mall.
    pub(super) fn options(&self) -> ProductionOptions {
        let redis = match &self.redis {
            RunningRedis::Single(redis) => redis.url(),
            RunningRedis::Sentinel(redis) => redis.url(),
            RunningRedis::Cluster(redis) => redis.urls().swap_remove(0),
        };
        ProductionOptions::new(redis, self.mariadb.url("mall"))
    }

    /// Returns the programs; a sentinel and replicas count as Redis.
    pub(super) fn programs(&self) -> [Program; 2] {
        let ids: Vec<_> = match &self.redis {
            RunningRedis::Single(redis) => vec![redis.process_id()],
            RunningRedis::Sentinel(redis) => {
                let mut ids: Vec<_> = redis.servers().map(Redis::process_id).into();
                ids.push(redis.sentinel().process_id());
                ids
            }
            RunningRedis::Cluster(redis) => redis.nodes().iter().map(Redis::process_id).collect(),
        };
        [
            Program { name: "Redis", processes: Some(ids.into_iter().flatten().collect()) },
            Program { name: "MySQL", processes: Some(self.mariadb.process_id().into_iter().collect()) },
        ]
    }

    /// Kills every server at once; a sentinel stays.
    pub(super) fn kill(&mut self) {
        std::thread::scope(|scope| {
            scope.spawn(|| self.mariadb.kill());
            for redis in servers(&mut self.redis) {
                scope.spawn(|| redis.kill());
            }
        });
    }

    /// Starts the servers again on their ports with their data.
    pub(super) fn restart(&mut self) -> Result<(), ServerError> {
        servers(&mut self.redis).into_iter().try_for_each(Redis::restart)?;
        self.mariadb.restart()?;
        match &self.redis {
            RunningRedis::Sentinel(redis) => redis.wait_for_agreement().map(drop),
            RunningRedis::Cluster(redis) => redis.wait_until_whole(),
            RunningRedis::Single(_) => Ok(()),
        }
    }
}

fn servers(redis: &mut RunningRedis) -> Vec<&mut Redis> {
    match redis {
        RunningRedis::Single(redis) => vec![redis],
        RunningRedis::Sentinel(redis) => redis.servers_mut().into(),
        RunningRedis::Cluster(redis) => redis.nodes_mut().iter_mut().collect(),
    }
}

/// Returns the programs that are not installed.
pub(super) fn missing() -> Vec<&'static str> {
    [REDIS, MARIADB].into_iter().filter(|program| version(program).is_none()).collect()
}

/// Returns the programs with their versions.
pub(super) fn versions() -> Vec<Version> {
    let of = |program: &str| Version { name: program.to_owned(), version: version(program), settings: None };
    [REDIS, MARIADB].map(of).into()
}
