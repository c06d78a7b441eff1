//! `bench feed` and `bench cache`: ways to read what others wrote.

mod caches;
mod compared;
mod comparison;
mod feeds;
mod mall_cache;
mod settings;
mod subject;

use mallbox_bench_ports::Effort;
use mallbox_storage::Timestamp;

pub use self::comparison::ReadsComparison;
pub use self::settings::ReadsBench;
pub use self::subject::ReadsSubject;
use super::new_file::check_new;
use super::result::Recording;
use super::step::with_bar;
use super::way_settings::way_settings;

/// Runs the bench and prints the tables. Returns whether every verdict was the expected one.
///
/// # Errors
/// The result exists; servers that are not empty or cannot be reached; no way is left to compare; an
/// experiment could not be carried out.
pub fn run(bench: &ReadsBench, now: Timestamp) -> anyhow::Result<bool> {
    check_new(bench.json.as_deref())?;
    let comparison = ReadsComparison::open(bench, &std::env::current_dir()?)?;
    let is_quick = bench.effort == Effort::Quick;
    let settings = way_settings(comparison.ways(), is_quick, bench.repeat, bench.servers.as_ref());
    let mut recording = Recording::begin(bench.subject.command(), settings, now);
    if let Some(sentence) = comparison.left_out() {
        println!("{sentence}");
        recording.warn("left_out", sentence.to_owned());
    }
    let steps = comparison.steps();
    let Some(compared) = with_bar(steps, |on_step| comparison.run(on_step))? else { return Ok(false) };
    print!("{}", compared.text);
    if let Some(json) = &bench.json {
        recording.section(bench.subject.section(), compared.section);
        recording.write(json)?;
        println!("the result is in {}", json.display());
    }
    Ok(compared.is_expected)
}
