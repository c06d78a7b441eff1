//! The flags of benches that compare ways.

use std::path::PathBuf;

use clap::Args;

use super::given_servers::GivenServers;
use super::on::count;
use crate::bench::AboutWay;
use crate::cli::messages::{BenchMisuse, UsageError};
use crate::config::at_least_one;

/// The flags of benches that compare ways.
#[derive(Args, Debug)]
pub struct WayFlags {
    /// The ways to compare; default: all.
    #[arg(value_name = "WAY")]
    names: Vec<String>,
    /// Prints the ways instead of comparing them.
    #[arg(long)]
    list: bool,
    /// Repetitions of each experiment with a verdict; verdicts that differ are shown as k of n.
    #[arg(long, default_value_t = 1, value_name = "NUMBER", value_parser = at_least_one())]
    repeat: u64,
    /// Small sizes and short spans: all ways within two minutes.
    #[arg(long)]
    pub(super) quick: bool,
    #[command(flatten)]
    given: GivenServers,
    /// Writes the result to a new file, for `bench report`.
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
}

impl WayFlags {
    /// Prints the ways if asked to. Returns whether that was all.
    pub(super) fn prints<W>(&self, ways: &'static [W]) -> bool
    where
        AboutWay: From<&'static W>,
    {
        if self.list {
            print(ways);
        }
        self.list
    }

    /// Returns the number of repetitions.
    pub(super) fn repeat(&self) -> usize {
        count(self.repeat)
    }

    /// Returns the URLs of the user's servers.
    pub(super) fn servers(&self) -> Result<Option<(String, String)>, UsageError> {
        self.given.urls()
    }

    /// Returns the ways that are asked for, in their order.
    ///
    /// # Errors
    /// [`BenchMisuse::NoWay`]; the ways are printed then.
    pub(super) fn chosen<W>(&self, ways: &'static [W]) -> Result<Vec<&'static W>, UsageError>
    where
        AboutWay: From<&'static W>,
    {
        let known: Vec<&'static str> = ways.iter().map(|way| AboutWay::from(way).way).collect();
        if let Some(unknown) = self.names.iter().find(|name| !known.contains(&name.as_str())) {
            print(ways);
            return Err(UsageError::Bench(BenchMisuse::NoWay(unknown.clone(), known)));
        }
        let is_asked = |name: &str| self.names.is_empty() || self.names.iter().any(|asked| asked == name);
        let ways = ways.iter().zip(known).filter(|(_, name)| is_asked(name));
        Ok(ways.map(|(way, _)| way).collect())
    }
}

fn print<W>(ways: &'static [W])
where
    AboutWay: From<&'static W>,
{
    let ways: Vec<AboutWay> = ways.iter().map(AboutWay::from).collect();
    let width = ways.iter().map(|way| way.way.len()).max().unwrap_or(0);
    for AboutWay { way, about } in ways {
        println!("{way:<width$} {about}");
    }
}
