//! `bench feed` and `bench cache`: ways to read what others wrote.

mod caches;
mod compared;
mod comparison;
mod feeds;
mod mall_cache;
mod settings;
mod subject;

use std::ops::ControlFlow;

use mallbox_bench_reads::{Effort, Way};
use mallbox_storage::Timestamp;
use serde_json::json;

pub use self::comparison::ReadsComparison;
pub use self::settings::ReadsBench;
pub use self::subject::ReadsSubject;
use super::drive::step_bar;
use super::new_file::check_new;
use super::result::{self, Recording};

/// Runs the bench and prints the tables. Returns whether every verdict was the expected one.
///
/// # Errors
/// The result exists; servers that are not empty or cannot be reached; no way is left to compare; an
/// experiment could not be carried out.
pub fn run(bench: &ReadsBench, now: Timestamp) -> anyhow::Result<bool> {
    check_new(bench.json.as_deref())?;
    let comparison = ReadsComparison::open(bench, &std::env::current_dir()?)?;
    let settings = document_settings(bench, comparison.ways());
    let mut recording = Recording::begin(bench.subject.command(), settings, now);
    if let Some(sentence) = comparison.left_out() {
        println!("{sentence}");
        recording.warn("left_out", sentence.to_owned());
    }
    let bar = step_bar(comparison.steps() as u64);
    let compared = comparison.run(&mut |step| {
        bar.set_message(format!("{}: {}", step.way, step.words));
        bar.set_position(step.done as u64);
        ControlFlow::Continue(())
    })?;
    bar.finish_and_clear();
    let Some(compared) = compared else { return Ok(false) };
    print!("{}", compared.text);
    if let Some(json) = &bench.json {
        bench.subject.record(&mut recording, compared.section);
        recording.write(json)?;
        println!("the result is in {}", json.display());
    }
    Ok(compared.is_expected)
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
