//! The flags of `bench ladder`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;
use mallbox_bench_ladder::Trigger;
use mallbox_storage::Timestamp;

use super::given_servers::GivenServers;
use super::on::count;
use crate::bench::{self, AnyRung, LadderBench};
use crate::cli::messages::{BenchMisuse, UsageError};
use crate::config::at_least_one;

/// The flags of `bench ladder`.
#[derive(Args, Debug)]
pub struct Ladder {
    /// The rungs to run; default: all.
    rungs: Vec<String>,
    /// Prints the rungs and triggers instead of running them.
    #[arg(long)]
    list: bool,
    /// A trigger to run, may be repeated; default: all.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Trigger::ALL.map(Trigger::name)))]
    trigger: Vec<String>,
    /// Runs of each rung under each trigger.
    #[arg(long, default_value_t = 1, value_name = "NUMBER", value_parser = at_least_one())]
    repeat: u64,
    /// Milliseconds for which the rates of a rung are measured; 0 = not at all.
    #[arg(long, default_value_t = 500, value_name = "MS", value_parser = clap::value_parser!(u64).range(..=60_000))]
    span: u64,
    #[command(flatten)]
    given: GivenServers,
    /// Writes the result to a new file, with the events that explain each verdict.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Ladder {
    /// Runs the bench, or prints the rungs. Returns whether every verdict is the expected one.
    pub(super) fn run(&self, now: Timestamp) -> anyhow::Result<bool> {
        if self.list {
            print_rungs();
            return Ok(true);
        }
        bench::run_ladder(&self.plan()?, now)
    }

    fn plan(&self) -> Result<LadderBench, UsageError> {
        if let Some(unknown) = self.rungs.iter().find(|id| AnyRung::find(id).is_none()) {
            print_rungs();
            let known = AnyRung::all().iter().map(|rung| rung.id()).collect();
            return Err(UsageError::Bench(BenchMisuse::NoRung(unknown.clone(), known)));
        }
        let is_asked = |rung: &AnyRung| self.rungs.is_empty() || self.rungs.iter().any(|id| id == rung.id());
        let strikes = |trigger: &Trigger| {
            self.trigger.is_empty() || self.trigger.iter().any(|name| name == trigger.name())
        };
        Ok(LadderBench {
            rungs: AnyRung::all().iter().copied().filter(is_asked).collect(),
            triggers: Trigger::ALL.into_iter().filter(strikes).collect(),
            repeat: count(self.repeat),
            span: Duration::from_millis(self.span),
            servers: self.given.urls()?,
            json: self.json.clone(),
        })
    }
}

fn print_rungs() {
    println!("rungs:");
    for rung in AnyRung::all() {
        let instances = if rung.instances() == 1 { "" } else { ", two instances" };
        println!("  {:<4} {}{instances}", rung.id(), rung.title().en);
    }
    println!("triggers:");
    for trigger in Trigger::ALL {
        println!("  {:<24} {}", trigger.name(), trigger.about().en);
    }
}
