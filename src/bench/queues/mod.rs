//! `bench queues`: ways to hand orders from the request to a worker, by eight criteria.

mod comparison;
mod settings;
mod table;

use std::ops::ControlFlow;

use indicatif::{ProgressBar, ProgressStyle};
use mallbox_bench_queues::{Effort, Way};
use mallbox_storage::Timestamp;
use serde_json::json;

pub use self::comparison::{QueuesComparison, QueuesSection};
pub use self::settings::{QueuesBench, STATION};
use super::new_file::check_new;
use super::result::{self, Recording};

/// Runs the bench and prints the table. Returns whether every verdict was the expected one.
///
/// # Errors
/// The result exists; servers that are not empty or cannot be reached; no way is left to compare; an
/// experiment could not be carried out.
pub fn run(bench: &QueuesBench, now: Timestamp) -> anyhow::Result<bool> {
    check_new(bench.json.as_deref())?;
    let comparison = QueuesComparison::open(bench, &std::env::current_dir()?)?;
    comparison.left_out().iter().for_each(|sentence| println!("{sentence}"));
    let ways = comparison.ways().to_vec();
    let mut recording = Recording::begin("queues", document_settings(bench, &ways), now);
    comparison.left_out().iter().for_each(|sentence| recording.warn("left_out", sentence.clone()));
    let Some(section) = with_bar(comparison)? else { return Ok(false) };
    print!("{}", table::text(&ways, &section.verdicts, &section.speeds));
    if let Some(json) = &bench.json {
        recording.queues(json!(section));
        recording.write(json)?;
        println!("the result is in {}", json.display());
    }
    Ok(section.verdicts.iter().all(|verdict| verdict.is_expected))
}

fn with_bar(comparison: QueuesComparison) -> anyhow::Result<Option<QueuesSection>> {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}, {elapsed} gone");
    let bar = ProgressBar::new(comparison.steps() as u64);
    let bar = style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style));
    let section = comparison.run(&mut |step| {
        bar.set_message(format!("{}: {}", step.way, step.words));
        bar.inc(1);
        ControlFlow::Continue(())
    })?;
    bar.finish_and_clear();
    Ok(section)
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
