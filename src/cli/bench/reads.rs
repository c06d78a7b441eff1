//! The flags of `bench feed` and `bench cache`.

use std::path::PathBuf;

use clap::Args;
use mallbox_storage::Timestamp;

use super::given_servers::GivenServers;
use super::on::count;
use crate::bench::{self, ReadsBench, ReadsEffort, ReadsSubject, ReadsWay};
use crate::cli::messages::{BenchMisuse, UsageError};
use crate::config::at_least_one;

/// The flags of `bench feed` and `bench cache`.
#[derive(Args, Debug)]
pub struct Reads {
    /// The ways to compare; default: all.
    #[arg(value_name = "WAY")]
    names: Vec<String>,
    /// Prints the ways instead of comparing them.
    #[arg(long)]
    list: bool,
    /// Repetitions of each experiment with a verdict; verdicts that differ are shown as k of n.
    #[arg(long, default_value_t = 1, value_name = "NUMBER", value_parser = at_least_one())]
    repeat: u64,
    /// Small crowds and short spans: all ways within a minute.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    given: GivenServers,
    /// Writes the result to a new file, for `bench report`.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Reads {
    /// Runs the bench, or prints the ways. Returns whether every verdict was the expected one.
    pub(super) fn run(&self, subject: ReadsSubject, now: Timestamp) -> anyhow::Result<bool> {
        if self.list {
            print_ways(subject);
            return Ok(true);
        }
        bench::run_reads(&self.plan(subject)?, now)
    }

    fn plan(&self, subject: ReadsSubject) -> Result<ReadsBench, UsageError> {
        Ok(ReadsBench {
            subject,
            ways: self.ways(subject)?,
            effort: if self.quick { ReadsEffort::Quick } else { ReadsEffort::Full },
            repeat: count(self.repeat),
            servers: self.given.urls()?,
            json: self.json.clone(),
        })
    }

    fn ways(&self, subject: ReadsSubject) -> Result<Vec<&'static ReadsWay>, UsageError> {
        let ways = subject.ways();
        if let Some(unknown) = self.names.iter().find(|name| ways.iter().all(|way| way.name != **name)) {
            print_ways(subject);
            let known = ways.iter().map(|way| way.name).collect();
            return Err(UsageError::Bench(BenchMisuse::NoWay(unknown.clone(), known)));
        }
        let is_asked =
            |way: &&ReadsWay| self.names.is_empty() || self.names.iter().any(|name| name == way.name);
        Ok(ways.iter().filter(is_asked).collect())
    }
}

fn print_ways(subject: ReadsSubject) {
    for way in subject.ways() {
        println!("{:<17} {}", way.name, way.about);
    }
}
