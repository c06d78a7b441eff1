//! The comparisons that the page runs, each the quick variant of a bench. To add one: a line in
//! [`COMPARISONS`], and a chapter in `web/learn/chapters/` that draws its section.

use std::path::Path;

use mallbox_bench_queues::{Effort, WAYS};
use serde_json::{Value, json};

use crate::bench::about_way::AboutWay;
use crate::bench::queues::{QueuesBench, QueuesComparison};
use crate::bench::reads::{ReadsBench, ReadsComparison, ReadsSubject};
use crate::bench::step::OnStep;

/// All comparisons.
pub(super) const COMPARISONS: [Comparison; 3] = [
    Comparison { name: "queues", ways: ways_of_queues, run: run_queues },
    Comparison { name: "feeds", ways: || ways_of_reads(ReadsSubject::Feeds), run: run_feeds },
    Comparison { name: "caches", ways: || ways_of_reads(ReadsSubject::Caches), run: run_caches },
];

/// A comparison of ways.
#[derive(Clone, Copy)]
pub(super) struct Comparison {
    /// Name in calls, and of the section in results.
    pub(super) name: &'static str,
    /// Returns the ways, in the order of the tables.
    pub(super) ways: fn() -> Vec<AboutWay>,
    /// Runs the comparison on servers of its own, with their data below a directory. Returns the section of
    /// the result, or `None` if cancelled at a step. Nothing is left running in any case.
    pub(super) run: fn(&Path, &mut OnStep<'_>) -> anyhow::Result<Option<Value>>,
}

impl Comparison {
    /// Returns the comparison with this name.
    pub(super) fn find(name: &str) -> Option<Self> {
        COMPARISONS.into_iter().find(|comparison| comparison.name == name)
    }
}

fn ways_of_queues() -> Vec<AboutWay> {
    WAYS.iter().map(AboutWay::from).collect()
}

fn run_queues(below: &Path, on_step: &mut OnStep<'_>) -> anyhow::Result<Option<Value>> {
    let ways = WAYS.iter().collect();
    let bench = QueuesBench { ways, effort: Effort::Quick, repeat: 1, servers: None, json: None };
    let section = QueuesComparison::open(&bench, below)?.run(on_step)?;
    Ok(section.map(|section| json!(section)))
}

fn ways_of_reads(subject: ReadsSubject) -> Vec<AboutWay> {
    subject.ways().iter().map(AboutWay::from).collect()
}

fn run_feeds(below: &Path, on_step: &mut OnStep<'_>) -> anyhow::Result<Option<Value>> {
    run_reads(ReadsSubject::Feeds, below, on_step)
}

fn run_caches(below: &Path, on_step: &mut OnStep<'_>) -> anyhow::Result<Option<Value>> {
    run_reads(ReadsSubject::Caches, below, on_step)
}

fn run_reads(subject: ReadsSubject, below: &Path, on_step: &mut OnStep<'_>) -> anyhow::Result<Option<Value>> {
    let ways = subject.ways().iter().collect();
    let effort = mallbox_bench_ports::Effort::Quick;
    let bench = ReadsBench { subject, ways, effort, repeat: 1, servers: None, json: None };
    let compared = ReadsComparison::open(&bench, below)?.run(on_step)?;
    Ok(compared.map(|compared| compared.section))
}
