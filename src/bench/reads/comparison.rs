//! The comparison itself: servers, and the experiments on each way.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::bail;
use mallbox_bench_ports::{OwnServers, ServerAddresses};
use mallbox_bench_reads::{Servers, Stage, Way};
use tokio::runtime::Runtime;

use super::compared::Compared;
use super::settings::ReadsBench;
use super::subject::ReadsSubject;
use super::{caches, feeds};
use crate::bench::guarded_dir::GuardedDir;
use crate::bench::step::{OnStep, Step};

/// Ways on servers that run. Dropping the value ends the servers that the bench started.
pub struct ReadsComparison {
    subject: ReadsSubject,
    ways: Vec<&'static Way>,
    left_out: Option<String>,
    repeat: usize,
    runtime: Runtime,
    stage: Stage,
    _own: Option<OwnServers>,
    // After the servers, which have their data here.
    _dir: GuardedDir,
}

impl ReadsComparison {
    /// Starts servers with their data in a temporary directory below `below`, or uses those of the user.
    ///
    /// # Errors
    /// Servers that are not empty or cannot be reached; an installed one that does not start; no way is left
    /// to compare.
    pub fn open(bench: &ReadsBench, below: &Path) -> anyhow::Result<Self> {
        let dir = GuardedDir::make_below(below)?;
        let runtime = Runtime::new()?;
        let (own, addresses, missing) = match &bench.servers {
            _ if bench.ways.iter().all(|way| !way.needs_servers) => (None, None, None),
            Some((redis, mysql)) => {
                (None, Some(runtime.block_on(ServerAddresses::of_empty(redis, mysql))?), None)
            }
            None => match OwnServers::start(dir.path())? {
                Ok(own) => {
                    let addresses = own.addresses();
                    (Some(own), Some(addresses), None)
                }
                Err(program) => (None, None, Some(program)),
            },
        };
        let (ways, left_out) = installed(&bench.ways, missing)?;
        let servers = addresses.map(|addresses| runtime.block_on(Servers::connect(addresses))).transpose()?;
        let stage = Stage { dir: dir.path().canonicalize()?, servers, effort: bench.effort };
        let (subject, repeat) = (bench.subject, bench.repeat);
        Ok(Self { subject, ways, left_out, repeat, runtime, stage, _own: own, _dir: dir })
    }

    /// Returns the ways that are compared.
    pub fn ways(&self) -> &[&'static Way] {
        &self.ways
    }

    /// Returns a sentence about ways that are not compared.
    pub fn left_out(&self) -> Option<&str> {
        self.left_out.as_deref()
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> usize {
        self.ways.len() * self.subject.steps(self.stage.effort, self.repeat)
    }

    /// Runs every experiment on every way. Returns `None` if `on_step` cancelled.
    ///
    /// # Errors
    /// An experiment could not be carried out.
    pub fn run(self, on_step: &mut OnStep<'_>) -> anyhow::Result<Option<Compared>> {
        let (mut done, total) = (0, self.steps());
        let mut counted = |way: &Way, words: &'static str| -> ControlFlow<()> {
            let next = on_step(Step { way: way.name, words, done, total });
            done += 1;
            next
        };
        let Self { subject, ways, repeat, stage, .. } = &self;
        self.runtime.block_on(async {
            match subject {
                ReadsSubject::Feeds => feeds::compare(stage, ways, *repeat, &mut counted).await,
                ReadsSubject::Caches => caches::compare(stage, ways, *repeat, &mut counted).await,
            }
        })
    }
}

/// Returns the ways whose servers run, and a sentence about the others.
fn installed(
    ways: &[&'static Way],
    missing: Option<&'static str>,
) -> anyhow::Result<(Vec<&'static Way>, Option<String>)> {
    let Some(program) = missing else { return Ok((ways.to_vec(), None)) };
    let (absent, present): (Vec<&Way>, Vec<&Way>) = ways.iter().partition(|way| way.needs_servers);
    let names: Vec<_> = absent.iter().map(|way| way.name).collect();
    let sentence = format!("{program} is not installed: {} left out", names.join(", "));
    if present.is_empty() {
        bail!("{sentence}; install it, or pass --redis URL and --mysql URL");
    }
    Ok((present, Some(sentence)))
}
