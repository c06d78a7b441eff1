//! The command line: one file per subcommand.

mod archive;
mod audit;
mod backup;
#[cfg(feature = "production")]
mod bench;
mod capacity;
mod completions;
mod control_calls;
#[cfg(feature = "production")]
mod copy_errors;
mod demo;
mod doctor;
mod downgrade;
mod events;
mod export;
mod fixture;
mod import;
mod key_files;
mod keygen;
mod kiosk;
#[cfg(feature = "ladder")]
mod learn;
mod licenses;
mod listeners;
mod log;
mod mall_directory;
mod manual;
mod messages;
mod output;
mod parent;
mod password_input;
mod payment_gateway;
mod private_data;
mod progress;
mod read_only_copy;
mod recovery;
mod restore;
mod room;
mod running_mall;
mod runtime;
mod serve;
mod service;
mod staff_key;
#[cfg(feature = "otlp")]
mod traces;
#[cfg(feature = "production")]
mod undo;
mod user;
mod verify;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};

use self::messages::UsageError;
use crate::config;
use crate::language::Language;

/// A whole local-life mall in one program.
#[derive(Parser)]
#[command(name = "mallbox", version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// The language of all output; default: the locale (LC_ALL, LC_MESSAGES or LANG).
    #[arg(long, env = "MALLBOX_LANG", global = true, value_name = "zh|en")]
    lang: Option<Spoken>,
}

/// Languages of the command line.
#[derive(Clone, Copy, ValueEnum)]
enum Spoken {
    Zh,
    En,
}

#[derive(Subcommand)]
#[expect(clippy::large_enum_variant, reason = "one value, read once at the start")]
enum Command {
    /// Runs a mall with shops, people and a sale that opens in 30 s.
    Demo(demo::Demo),
    /// Runs a mall stored in one directory, or in Redis and MySQL.
    Serve(crate::config::ServeConfig),
    /// Creates a mall from a dump of an hm-dianping database.
    Import(import::Import),
    /// Checks the ledger: claims, units and orders. Exit code 1 names every mismatch.
    Verify(verify::Verify),
    /// Lists users, grants the operator role, and blocks users.
    #[command(subcommand)]
    User(user::User),
    /// Lists the operators' actions and verifies the audit log.
    #[command(subcommand)]
    Audit(audit::Audit),
    /// Shows what happens in a mall: orders, notes, reviews, stock.
    #[command(subcommand)]
    Events(events::Events),
    /// Writes orders, payments and day books to files for a bookkeeper, also while the mall runs. Exit code 1
    /// names every sum that does not agree.
    Export(export::Export),
    /// Archives old days of a ledger into compressed files, and reads archived days.
    #[command(subcommand)]
    Archive(archive::Archive),
    /// Checks a directory, by default the current one, or Redis and MySQL: versions, durability, limits,
    /// clocks. Exit code 1: something is bad.
    Doctor(doctor::Doctor),
    /// Writes a mall in a directory to a file, also while it runs, and tries the file out.
    Backup(backup::Backup),
    /// Makes a mall of a backup.
    Restore(restore::Restore),
    /// Makes keys that encrypt or sign backups.
    Keygen(keygen::Keygen),
    /// Turns a Debian computer with a screen into a kiosk, which shows the mall after power-on and crashes.
    #[command(subcommand)]
    Kiosk(kiosk::Kiosk),
    /// Makes the directory of a stopped mall readable by the version before.
    Downgrade(downgrade::Downgrade),
    /// Runs a throw-away mall for tests in any language; prints its address as a line of JSON.
    Fixture(fixture::Fixture),
    /// Shows who oversells: a page whose buttons run every way of selling on this machine.
    #[cfg(feature = "ladder")]
    Learn(learn::Learn),
    /// Prints a page of the manual, or the list of topics.
    Manual(manual::Manual),
    /// Prints a script for a shell that completes commands and flags.
    Completions(completions::Completions),
    /// Writes manual pages of all commands for man(1).
    ManPages(completions::ManPages),
    /// Prints the licences of all crates in this program, or its bill of materials.
    Licenses(licenses::Licenses),
    /// Measures throughput and latency under load.
    #[cfg(feature = "production")]
    #[command(subcommand)]
    Bench(bench::Bench),
}

/// Parses the command line and runs the command. Exit codes: 0 success; 1 a check failed, or something
/// prevents the command; 2 wrong usage.
#[must_use]
pub fn main() -> ExitCode {
    let typed = Cli::command().get_matches();
    let requested = typed.get_one::<Spoken>("lang").copied();
    let l = language(requested);
    let done = with_file(typed).and_then(|matches| match Cli::from_arg_matches(&matches) {
        Ok(Cli { command, .. }) => run(command, l, requested),
        Err(error) => error.exit(),
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            // One sentence; a write error is ignored, since standard error may be closed.
            let prefix = service::journal::error_prefix();
            let _ = writeln!(std::io::stderr(), "{prefix}mallbox: {}", messages::render_error(&error, l));
            ExitCode::from(if error.is::<UsageError>() { 2 } else { 1 })
        }
    }
}

fn run(command: Command, l: Language, requested: Option<Spoken>) -> anyhow::Result<bool> {
    // Manual pages are for every account.
    if !matches!(command, Command::ManPages(_)) {
        private_data::restrict_new_files();
    }
    match command {
        Command::Demo(demo) => demo::run(demo, l).map(|()| true),
        Command::Serve(config) => serve::run(config, l).map(|()| true),
        Command::Import(import) => import::run(&import, l).map(|()| true),
        Command::Verify(verify) => verify::run(&verify, l),
        Command::User(user) => user::run(user, l).map(|()| true),
        Command::Audit(audit) => audit::run(audit, l),
        Command::Events(events) => events::run(events, l).map(|()| true),
        Command::Export(export) => export::run(export, l),
        Command::Archive(archive) => archive::run(archive, l),
        Command::Doctor(doctor) => doctor::run(&doctor, l),
        Command::Backup(backup) => backup::run(&backup, l),
        Command::Restore(restore) => restore::run(&restore, l),
        Command::Keygen(keygen) => keygen::run(&keygen, l).map(|()| true),
        Command::Kiosk(kiosk) => kiosk::run(&kiosk, l),
        Command::Downgrade(downgrade) => downgrade::run(&downgrade, l).map(|()| true),
        Command::Fixture(fixture) => {
            fixture::run(fixture, requested.map_or(Language::Zh, Language::from)).map(|()| true)
        }
        #[cfg(feature = "ladder")]
        Command::Learn(learn) => learn::run(&learn, l).map(|()| true),
        Command::Manual(manual) => manual::run(&manual, l).map(|()| true),
        Command::Completions(completions) => {
            completions::run(&completions, Cli::command());
            Ok(true)
        }
        Command::ManPages(pages) => completions::write_man_pages(&pages, Cli::command(), l).map(|()| true),
        Command::Licenses(licenses) => {
            licenses::run(&licenses);
            Ok(true)
        }
        #[cfg(feature = "production")]
        Command::Bench(bench) => bench::run(bench),
    }
}

/// Returns the language of `--lang`, or of the locale: the first variable that is not empty decides.
fn language(requested: Option<Spoken>) -> Language {
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(std::env::var_os);
    match requested {
        Some(spoken) => spoken.into(),
        None => language_of(locale),
    }
}

impl From<Spoken> for Language {
    fn from(spoken: Spoken) -> Self {
        match spoken {
            Spoken::Zh => Self::Zh,
            Spoken::En => Self::En,
        }
    }
}

fn language_of(mut locale: impl Iterator<Item = OsString>) -> Language {
    let first = locale.find(|name| !name.is_empty()).unwrap_or_default();
    let is_chinese = first.to_string_lossy().get(..2).is_some_and(|start| start.eq_ignore_ascii_case("zh"));
    if is_chinese { Language::Zh } else { Language::En }
}

/// Adds the settings of `serve --config FILE` to the parsed arguments, with lower precedence.
fn with_file(typed: ArgMatches) -> anyhow::Result<ArgMatches> {
    let Some(("serve", given)) = typed.subcommand() else { return Ok(typed) };
    let Some(path) = given.get_one::<PathBuf>("config") else { return Ok(typed) };
    let text = std::fs::read_to_string(path).map_err(|error| UsageError::NoFile(path.clone(), error))?;
    let is_given = |setting: &clap::Arg| {
        let source = given.value_source(setting.get_id().as_str());
        matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable))
    };
    let flags = config::flags(&text, &serve::serve_command(), is_given)
        .map_err(|mistake| UsageError::InFile(path.clone(), mistake))?;
    Ok(Cli::command().get_matches_from(std::env::args_os().chain(flags)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_fit_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_first_variable_that_says_something_decides() {
        for (locale, want) in [
            (&["", "", "zh_CN.UTF-8"][..], Language::Zh),
            (&["zh_TW"], Language::Zh),
            (&["ZH"], Language::Zh),
            (&["en_US.UTF-8", "zh_CN"], Language::En),
            (&["C", "", "zh_CN"], Language::En),
            (&["茶"], Language::En),
            (&["z"], Language::En),
            (&[], Language::En),
        ] {
            assert_eq!(language_of(locale.iter().map(OsString::from)), want, "{locale:?}");
        }
    }
}
