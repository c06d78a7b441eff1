//! `bench queues`: ways to hand orders from the request to a worker, by eight criteria.

mod comparison;
mod settings;
mod table;

use mallbox_bench_queues::Effort;
use mallbox_storage::Timestamp;
use serde_json::json;

pub use self::comparison::QueuesComparison;
pub use self::settings::{QueuesBench, STATION};
use super::new_file::check_new;
use super::result::Recording;
use super::step::with_bar;
use super::way_settings::way_settings;

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
    let is_quick = bench.effort == Effort::Quick;
    let settings = way_settings(&ways, is_quick, bench.repeat, bench.servers.as_ref());
    let mut recording = Recording::begin("queues", settings, now);
    comparison.left_out().iter().for_each(|sentence| recording.warn("left_out", sentence.clone()));
    let steps = comparison.steps();
    let Some(section) = with_bar(steps, |on_step| comparison.run(on_step))? else { return Ok(false) };
    print!("{}", table::text(&ways, &section.verdicts, &section.speeds));
    if let Some(json) = &bench.json {
        recording.section("queues", json!(section));
        recording.write(json)?;
        println!("the result is in {}", json.display());
    }
    Ok(section.verdicts.iter().all(|verdict| verdict.is_expected))
}
