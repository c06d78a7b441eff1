//! The comparison itself: servers, experiments on each way, and the section of the result.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context as _, bail};
use mallbox_bench_ports::ServerAddresses;
use mallbox_bench_queues::{OwnServers, QueueServers, Speed, Stage, Verdict, Way, examine, steps};
use serde::Serialize;

use super::settings::{QueuesBench, STATION};
use crate::bench::about_way::AboutWay;
use crate::bench::guarded_dir::GuardedDir;
use crate::bench::step::{OnStep, Step};

/// Ways on servers that run. Dropping the value ends the servers that the bench started.
pub struct QueuesComparison {
    ways: Vec<&'static Way>,
    left_out: Vec<String>,
    repeat: usize,
    stage: Stage,
    // After the stage, whose servers have their data here.
    _dir: GuardedDir,
}

/// The section of the result. Names of fields are those of the published file.
#[derive(Serialize)]
pub struct QueuesSection {
    /// The ways.
    pub ways: Vec<AboutWay>,
    /// Verdicts of the experiments.
    pub verdicts: Vec<Verdict>,
    /// Throughput and latency.
    pub speeds: Vec<Speed>,
}

impl QueuesComparison {
    /// Starts servers with their data in a temporary directory below `below`, or uses those of the user.
    ///
    /// # Errors
    /// Servers that are not empty or cannot be reached; an installed one that does not start; no way is left
    /// to compare.
    pub fn open(bench: &QueuesBench, below: &Path) -> anyhow::Result<Self> {
        let dir = GuardedDir::make_below(below)?;
        let servers = servers(bench, &dir)?;
        let (ways, mut left_out) = ways(bench, &servers)?;
        if matches!(servers, QueueServers::Given { .. }) {
            let sentence = "the servers are given: no broker is killed, and no limit on memory is set";
            left_out.push(sentence.to_owned());
        }
        let program = std::env::current_exe().context("cannot find this program")?;
        let station: Vec<OsString> = vec![program.into(), "bench".into(), STATION.into()];
        let stage = Stage::new(bench.effort, dir.path().canonicalize()?, servers, station)?;
        Ok(Self { ways, left_out, repeat: bench.repeat, stage, _dir: dir })
    }

    /// Returns the ways that are compared.
    pub fn ways(&self) -> &[&'static Way] {
        &self.ways
    }

    /// Returns sentences about what is not measured.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> usize {
        self.ways.len() * steps(self.repeat)
    }

    /// Runs every experiment on every way. Returns `None` if `on_step` cancelled. What the experiments stored
    /// on servers of the user is gone in any case.
    ///
    /// # Errors
    /// An experiment could not be carried out, or the user's servers could not be cleared.
    pub fn run(self, on_step: &mut OnStep<'_>) -> anyhow::Result<Option<QueuesSection>> {
        let section = self.examine(on_step);
        let closed = self.stage.close();
        let section = section?;
        closed?;
        Ok(section)
    }

    fn examine(&self, on_step: &mut OnStep<'_>) -> anyhow::Result<Option<QueuesSection>> {
        let ways = self.ways.iter().map(|way| AboutWay::from(*way)).collect();
        let mut section = QueuesSection { ways, verdicts: Vec::new(), speeds: Vec::new() };
        let (mut done, total) = (0, self.steps());
        for way in &self.ways {
            let result = examine(&self.stage, way, self.repeat, |words| {
                let next = on_step(Step { way: way.name, words, done, total });
                done += 1;
                next
            })?;
            let Some(result) = result else { return Ok(None) };
            section.verdicts.extend(result.verdicts);
            section.speeds.extend(result.speeds);
        }
        Ok(Some(section))
    }
}

/// Checks the user's servers, or starts those that the ways need.
fn servers(bench: &QueuesBench, dir: &GuardedDir) -> anyhow::Result<QueueServers> {
    let Some((redis, mysql)) = &bench.servers else {
        let needs_redis = bench.ways.iter().any(|way| way.component.has_redis());
        let needs_mysql = bench.ways.iter().any(|way| way.component.has_mysql());
        return Ok(QueueServers::Own(OwnServers::start(dir.path(), needs_redis, needs_mysql)?));
    };
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(ServerAddresses::of_empty(redis, mysql))?;
    Ok(QueueServers::Given { redis: redis.clone(), mysql: mysql.clone() })
}

/// Returns the ways whose servers run, and sentences about the others.
fn ways(bench: &QueuesBench, servers: &QueueServers) -> anyhow::Result<(Vec<&'static Way>, Vec<String>)> {
    let QueueServers::Own(own) = servers else { return Ok((bench.ways.clone(), Vec::new())) };
    let missing = |way: &Way| match way.component {
        component if component.has_redis() && !own.has_redis() => Some("redis-server"),
        component if component.has_mysql() && !own.has_mysql() => Some("mariadbd"),
        _ => None,
    };
    let (present, absent): (Vec<&Way>, Vec<&Way>) = bench.ways.iter().partition(|way| missing(way).is_none());
    let mut sentences = Vec::new();
    for program in ["redis-server", "mariadbd"] {
        let without: Vec<_> =
            absent.iter().filter(|way| missing(way) == Some(program)).map(|way| way.name).collect();
        if !without.is_empty() {
            sentences.push(format!("{program} is not installed: {} left out", without.join(", ")));
        }
    }
    if present.is_empty() {
        bail!("{}; install it, or pass --redis URL and --mysql URL", sentences.join("; "));
    }
    Ok((present, sentences))
}
