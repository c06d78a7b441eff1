//! The flags of `bench queues`.

use std::path::PathBuf;

use clap::Args;
use mallbox_storage::Timestamp;

use super::given_servers::GivenServers;
use super::on::count;
use crate::bench::{self, QueueEffort, QueuesBench, WAYS, Way, way};
use crate::cli::messages::{BenchMisuse, UsageError};
use crate::config::at_least_one;

/// The flags of `bench queues`.
#[derive(Args, Debug)]
pub struct Queues {
    /// The ways to compare; default: all.
    #[arg(value_name = "WAY")]
    names: Vec<String>,
    /// Prints the ways instead of comparing them.
    #[arg(long)]
    list: bool,
    /// Repetitions of each experiment with a verdict; verdicts that differ are shown as k of n.
    #[arg(long, default_value_t = 1, value_name = "NUMBER", value_parser = at_least_one())]
    repeat: u64,
    /// Small backlogs and short spans: all ways within two minutes.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    given: GivenServers,
    /// Writes the result to a new file, for `bench report`.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Queues {
    /// Runs the bench, or prints the ways. Returns whether every verdict was the expected one.
    pub(super) fn run(&self, now: Timestamp) -> anyhow::Result<bool> {
        if self.list {
            print_ways();
            return Ok(true);
        }
        bench::run_queues(&self.plan()?, now)
    }

    fn plan(&self) -> Result<QueuesBench, UsageError> {
        Ok(QueuesBench {
            ways: self.ways()?,
            effort: if self.quick { QueueEffort::Quick } else { QueueEffort::Full },
            repeat: count(self.repeat),
            servers: self.given.urls()?,
            json: self.json.clone(),
        })
    }

    fn ways(&self) -> Result<Vec<&'static Way>, UsageError> {
        if let Some(unknown) = self.names.iter().find(|name| way(name).is_none()) {
            print_ways();
            let known = WAYS.iter().map(|way| way.name).collect();
            return Err(UsageError::Bench(BenchMisuse::NoWay(unknown.clone(), known)));
        }
        let is_asked = |way: &&Way| self.names.is_empty() || self.names.iter().any(|name| name == way.name);
        Ok(WAYS.iter().filter(is_asked).collect())
    }
}

fn print_ways() {
    for way in WAYS {
        println!("{:<10} {}", way.name, way.about);
    }
}
