//! `bench queues`: ways to hand orders from the request to a worker, by eight criteria.

mod table;

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressStyle};
use mallbox_bench_ports::ServerAddresses;
use mallbox_bench_queues::{
    Effort, OwnServers, QueueServers, Speed, Stage, Verdict, Way, WayResult, examine, steps,
};
use mallbox_storage::Timestamp;
use serde_json::json;

use super::guarded_dir::GuardedDir;
use super::new_file::check_new;
use super::result::{self, Recording};

/// Hidden command of a producer or a consumer.
pub const STATION: &str = "queues-station";

/// Settings of `bench queues`.
#[derive(Clone, Debug)]
pub struct QueuesBench {
    /// The ways, in the order of the table.
    pub ways: Vec<&'static Way>,
    /// How much is measured.
    pub effort: Effort,
    /// Repetitions of each experiment with a verdict.
    pub repeat: usize,
    /// URLs of the user's Redis and MySQL; `None` = the bench starts servers.
    pub servers: Option<(String, String)>,
    /// File to create with the result as JSON.
    pub json: Option<PathBuf>,
}

/// Runs the bench and prints the table. Returns whether every verdict was the expected one.
///
/// # Errors
/// The result exists; servers that are not empty or cannot be reached; no way is left to compare; an
/// experiment could not be carried out.
pub fn run(bench: &QueuesBench, now: Timestamp) -> anyhow::Result<bool> {
    check_new(bench.json.as_deref())?;
    let dir = GuardedDir::make()?;
    let servers = servers(bench, &dir)?;
    let (ways, mut left_out) = ways(bench, &servers)?;
    if matches!(servers, QueueServers::Given { .. }) {
        left_out.push("the servers are given: no broker is killed, and no limit on memory is set".to_owned());
    }
    left_out.iter().for_each(|sentence| println!("{sentence}"));
    let mut recording = Recording::begin("queues", document_settings(bench, &ways), now);
    left_out.into_iter().for_each(|sentence| recording.warn("left_out", sentence));

    let program = std::env::current_exe().context("cannot find this program")?;
    let station: Vec<OsString> = vec![program.into(), "bench".into(), STATION.into()];
    let stage = Stage::new(bench.effort, dir.path().canonicalize()?, servers, station)?;
    let results = examine_all(&ways, &stage, bench.repeat)?;
    stage.close()?;

    let verdicts: Vec<Verdict> = results.iter().flat_map(|result| result.verdicts.clone()).collect();
    let speeds: Vec<Speed> = results.into_iter().flat_map(|result| result.speeds).collect();
    print!("{}", table::text(&ways, &verdicts, &speeds));
    if let Some(json) = &bench.json {
        let ways: Vec<_> = ways.iter().map(|way| json!({"way": way.name, "about": way.about})).collect();
        recording.queues(json!({"ways": ways, "verdicts": verdicts, "speeds": speeds}));
        recording.write(json)?;
        println!("the result is in {}", json.display());
    }
    Ok(verdicts.iter().all(|verdict| verdict.is_expected))
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

fn examine_all(ways: &[&'static Way], stage: &Stage, repeat: usize) -> anyhow::Result<Vec<WayResult>> {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}, {elapsed} gone");
    let bar = ProgressBar::new((ways.len() * steps(repeat)) as u64);
    let bar = style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style));
    let mut results = Vec::new();
    for way in ways {
        let result = examine(stage, way, repeat, |step| {
            bar.set_message(format!("{}: {step}", way.name));
            bar.inc(1);
        });
        results.push(result?);
    }
    bar.finish_and_clear();
    Ok(results)
}

fn document_settings(bench: &QueuesBench, ways: &[&'static Way]) -> result::Settings {
    let servers = if bench.servers.is_some() { "given" } else { "started by the bench" };
    [
        ("ways", json!(ways.iter().map(|way| way.name).collect::<Vec<_>>())),
        ("quick", json!(bench.effort == Effort::Quick)),
        ("repeat", json!(bench.repeat)),
        ("servers", json!(servers)),
    ]
    .into()
}
