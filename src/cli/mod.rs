//! The command line: one subcommand a file.

mod audit;
mod bench;
mod demo;
mod doctor;
mod house;
mod import;
mod log;
mod serve;
mod user;
mod verify;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A whole local-life mall in one program.
#[derive(Parser)]
#[command(name = "mallbox", version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// A mall with shops, people and a sale that opens in 30 s.
    Demo(demo::Demo),
    /// A mall that keeps everything in one directory.
    Serve(crate::config::ServeConfig),
    /// A mall from a dump of an hm-dianping database.
    Import(import::Import),
    /// Do the books balance? Exit code 1 names what does not.
    Verify(verify::Verify),
    /// Who is there, who is an operator, who is kept out.
    #[command(subcommand)]
    User(user::User),
    /// What operators did, and whether the log of it is whole.
    #[command(subcommand)]
    Audit(audit::Audit),
    /// Versions, directory, limits, clock, and how fast the disk is safe.
    Doctor(doctor::Doctor),
    /// Load and comparisons.
    #[command(subcommand)]
    Bench(bench::Bench),
}

/// A wrong use of the command line: one sentence, exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

/// Parses, chooses, runs. 0: good; 1: a check failed, or something is in the way; 2: wrong use.
#[must_use]
pub fn main() -> ExitCode {
    let Cli { command } = Cli::parse();
    let done = match command {
        Command::Demo(demo) => demo::run(demo).map(|()| true),
        Command::Serve(config) => serve::run(config).map(|()| true),
        Command::Import(import) => import::run(import).map(|()| true),
        Command::Verify(verify) => verify::run(&verify),
        Command::User(user) => user::run(user).map(|()| true),
        Command::Audit(audit) => audit::run(audit),
        Command::Doctor(doctor) => doctor::run(&doctor),
        Command::Bench(bench) => bench::run(bench),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            // One sentence; there is nobody to tell if standard error is closed.
            let _ = writeln!(std::io::stderr(), "mallbox: {error:#}");
            ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
        }
    }
}

/// Writes to standard output; a reader that has gone away is no error.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_fit_together() {
        use clap::CommandFactory as _;
        Cli::command().debug_assert();
    }
}
