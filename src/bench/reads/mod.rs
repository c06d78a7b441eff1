//! `bench feed` and `bench cache`: ways to read what others wrote.

mod caches;
mod compared;
mod feeds;
mod mall_cache;
mod subject;

use std::path::{Path, PathBuf};

use anyhow::bail;
use mallbox_bench_ports::ServerAddresses;
use mallbox_bench_reads::{Effort, Servers, Stage, Way};
use mallbox_storage::Timestamp;
use serde_json::json;

pub use self::subject::ReadsSubject;
use super::drive::step_bar;
use super::location::BenchLocation;
use super::new_file::check_new;
use super::result::{self, Recording};

/// Settings of `bench feed` or `bench cache`.
#[derive(Clone, Debug)]
pub struct ReadsBench {
    /// What is compared.
    pub subject: ReadsSubject,
    /// The ways, in the order of the tables.
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

/// Runs the bench and prints the tables. Returns whether every verdict was the expected one.
///
/// # Errors
/// The result exists; servers that are not empty or cannot be reached; no way is left to compare; an
/// experiment could not be carried out.
pub fn run(bench: &ReadsBench, now: Timestamp) -> anyhow::Result<bool> {
    check_new(bench.json.as_deref())?;
    let needs_servers = bench.ways.iter().any(|way| way.needs_servers);
    let (location, missing) = BenchLocation::find(needs_servers, bench.servers.as_ref())?;
    let (ways, left_out) = installed(&bench.ways, missing)?;
    let mut recording = Recording::begin(bench.subject.name(), document_settings(bench, &ways), now);
    if let Some(sentence) = left_out {
        println!("{sentence}");
        recording.warn("left_out", sentence);
    }
    let bar = step_bar((ways.len() * bench.subject.steps(bench.effort, bench.repeat)) as u64);
    let place = (location.dir(), location.servers());
    let compared = bench.subject.compare(&ways, place, (bench.effort, bench.repeat), &mut |way, step| {
        bar.set_message(format!("{}: {step}", way.name));
        bar.inc(1);
        true
    })?;
    bar.finish_and_clear();
    let Some(compared) = compared else { bail!("the comparison ended early") };
    print!("{}", compared.text);
    if let Some(json) = &bench.json {
        bench.subject.record(&mut recording, compared.section);
        recording.write(json)?;
        println!("the result is in {}", json.display());
    }
    Ok(compared.is_expected)
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

/// Opens the stage of a comparison.
async fn stage((dir, addresses): (&Path, Option<&ServerAddresses>), effort: Effort) -> anyhow::Result<Stage> {
    let servers = match addresses {
        Some(addresses) => Some(Servers::connect(addresses.clone()).await?),
        None => None,
    };
    Ok(Stage { dir: dir.to_owned(), servers, effort })
}

fn document_settings(bench: &ReadsBench, ways: &[&'static Way]) -> result::Settings {
    let servers = if bench.servers.is_some() { "given" } else { "started by the bench" };
    [
        ("ways", json!(ways.iter().map(|way| way.name).collect::<Vec<_>>())),
        ("quick", json!(bench.effort == Effort::Quick)),
        ("repeat", json!(bench.repeat)),
        ("servers", json!(servers)),
    ]
    .into()
}
