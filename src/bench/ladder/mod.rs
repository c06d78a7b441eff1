//! `bench ladder`: who oversells, from a counter in Redis to mallbox itself.

mod mall;
mod rung;
mod session;
mod table;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use mallbox_bench_ladder::{RungReport, Trigger};
use mallbox_storage::Timestamp;
use serde_json::json;

pub use self::rung::AnyRung;
pub use self::session::{Effort as LadderEffort, LadderSession, missing_programs};
use super::drive::step_bar;
use super::new_file::check_new;
use super::result::{Recording, Settings};

/// Settings of `bench ladder`.
#[derive(Clone, Debug)]
pub struct LadderBench {
    /// The rungs.
    pub rungs: Vec<AnyRung>,
    /// The triggers.
    pub triggers: Vec<Trigger>,
    /// Runs under each trigger.
    pub repeat: usize,
    /// Length of the measurement of rates; zero = none.
    pub span: Duration,
    /// URLs of the user's Redis and MySQL; `None` = the bench starts servers.
    pub servers: Option<(String, String)>,
    /// File to create with the result as JSON.
    pub json: Option<PathBuf>,
}

/// Runs the bench and prints the verdicts. Returns whether all of them are as expected.
///
/// # Errors
/// The result exists; a program is missing; servers that are not empty or cannot be reached.
pub fn run(bench: &LadderBench, now: Timestamp) -> anyhow::Result<bool> {
    check_new(bench.json.as_deref())?;
    if bench.servers.is_none()
        && let [missing, ..] = missing_programs().as_slice()
    {
        bail!("{missing} is not installed; install it, or pass --redis URL and --mysql URL");
    }
    let here = std::env::current_dir()?;
    let session = LadderSession::open(&here, bench.servers.as_ref())?;
    let effort = LadderEffort { triggers: bench.triggers.clone(), repeat: bench.repeat, span: bench.span };
    let all: usize = bench.rungs.iter().map(|rung| effort.steps(*rung).count()).sum();
    let steps: usize = bench.rungs.iter().map(|rung| session.steps(*rung, &effort).len()).sum();
    if steps == 0 {
        session.close()?;
        bail!(
            "none of these triggers can strike these rungs here; --list names all, the manual's page which"
        );
    }
    let mut recording = Recording::begin("ladder", settings(bench), now);
    let climbed = climb(bench, &session, &effort, steps);
    // What the bench made on servers of the user goes in any case.
    let closed = session.close();
    let reports = climbed?;
    print!("{}", table::text(&reports));
    if steps < all {
        let sentence = "on servers that are given, what needs a failover or further servers is left out";
        println!("\n{sentence}");
        recording.warn("left_out", sentence.to_owned());
    }
    let is_right = reports.iter().all(RungReport::is_as_expected);
    recording.climbed(reports);
    bench.json.as_deref().map_or(Ok(()), |file| recording.write(file))?;
    closed?;
    Ok(is_right)
}

/// Runs all rungs, with a progress bar.
fn climb(
    bench: &LadderBench,
    session: &LadderSession,
    effort: &LadderEffort,
    steps: usize,
) -> anyhow::Result<Vec<RungReport>> {
    let bar = step_bar(steps as u64);
    let mut reports = Vec::new();
    for rung in &bench.rungs {
        let report = session.report(*rung, effort, |step, _| {
            let doing = step.trigger.map_or("rates", Trigger::name);
            bar.set_message(format!("{} {doing}", step.rung));
            bar.inc(1);
            true
        })?;
        reports.push(report);
    }
    bar.finish_and_clear();
    Ok(reports)
}

fn settings(bench: &LadderBench) -> Settings {
    let rungs: Vec<_> = bench.rungs.iter().map(|rung| rung.id()).collect();
    let triggers: Vec<_> = bench.triggers.iter().map(|trigger| trigger.name()).collect();
    [
        ("rungs", json!(rungs)),
        ("triggers", json!(triggers)),
        ("repeat", json!(bench.repeat)),
        ("span_s", json!(bench.span.as_secs_f64())),
        ("servers", json!(if bench.servers.is_some() { "given" } else { "started by the bench" })),
    ]
    .into()
}
