//! The flags of `bench ports`.

use std::path::PathBuf;

use clap::Args;
use mallbox_storage::Timestamp;

use super::given_servers::GivenServers;
use super::on::{On, count};
use crate::bench::{self, Effort, PORTS, PortsBench, Side};
use crate::cli::messages::{BenchMisuse, UsageError};
use crate::config::{LocationError, at_least_one};

/// The flags of `bench ports`.
#[derive(Args, Debug)]
pub struct Ports {
    /// The ports to measure; default: all.
    names: Vec<String>,
    /// Prints the ports instead of measuring them.
    #[arg(long)]
    list: bool,
    /// Measures small sizes for short spans: all ports within five minutes.
    #[arg(long)]
    quick: bool,
    /// Greatest number of concurrent callers.
    #[arg(long, default_value_t = 64, value_name = "NUMBER", value_parser = at_least_one())]
    threads: u64,
    /// Back ends to measure; the servers are started by the bench, unless given.
    #[arg(long, default_value = "both")]
    on: On,
    #[command(flatten)]
    given: GivenServers,
    /// Writes the result to a new file, for `bench report`. Until then, the state of the run is in a file
    /// beside it.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Continues an interrupted run with the same flags; what it measured is not measured again.
    #[arg(long)]
    resume: bool,
}

impl Ports {
    /// Runs the bench, or prints the ports. Returns whether no measurement failed.
    pub(super) fn run(&self, now: Timestamp) -> anyhow::Result<bool> {
        if self.list {
            print_ports();
            return Ok(true);
        }
        bench::run_ports(&self.plan()?, now)
    }

    fn plan(&self) -> Result<PortsBench, UsageError> {
        if let Some(unknown) = self.names.iter().find(|name| PORTS.iter().all(|(port, _)| port != name)) {
            print_ports();
            let known = PORTS.iter().map(|(port, _)| *port).collect();
            return Err(UsageError::Bench(BenchMisuse::NoPort(unknown.clone(), known)));
        }
        if self.resume && self.json.is_none() {
            return Err(UsageError::Bench(BenchMisuse::ResumeWithoutResult));
        }
        let is_asked = |name: &&str| self.names.is_empty() || self.names.iter().any(|asked| asked == name);
        Ok(PortsBench {
            ports: PORTS.iter().map(|(port, _)| *port).filter(is_asked).collect(),
            effort: if self.quick { Effort::Quick } else { Effort::Full },
            threads: count(self.threads),
            sides: match self.on {
                On::Directory => vec![Side::Directory],
                On::Servers => vec![Side::Servers],
                On::Both => vec![Side::Directory, Side::Servers],
            },
            servers: self.servers()?,
            json: self.json.clone(),
            resume: self.resume,
        })
    }

    /// Returns the URLs of the user's servers, Redis first; `None` = servers of the bench.
    fn servers(&self) -> Result<Option<(String, String)>, UsageError> {
        if self.given.are_both() && self.on == On::Directory {
            return Err(UsageError::Where(LocationError::OnlyOnServers("--redis")));
        }
        self.given.urls()
    }
}

fn print_ports() {
    for (name, about) in PORTS {
        println!("{name:<12} {about}");
    }
}
