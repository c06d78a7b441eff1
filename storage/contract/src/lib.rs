//! The contract of the storage ports: one suite of cases for every back end.
//!
//! A back end implements [`BackEnd`] (opens an empty storage, and reopens an existing one) and calls [`run`]
//! from a test target without the standard harness:
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use mallbox_storage_contract::{BackEnd, SetUp, run};
//!
//! fn fresh() -> Box<dyn BackEnd> {
//!     unimplemented!("an empty back end")
//! }
//!
//! fn main() -> ExitCode {
//!     run(&[SetUp { name: "mine", fresh, ignored: None }])
//! }
//! ```
//!
//! Cases are named `port::set-up::what_is_expected`; `cargo test --test contract -- likes::` runs the cases
//! of a single port.
#![expect(clippy::unwrap_used, reason = "cases of a test suite: a failure is a failed test")]

mod attempts;
pub mod base;
mod case;
pub mod catalogue;
mod dice;
pub mod operator;
pub mod people;
pub mod samples;
pub mod selling;
pub mod world;
pub mod writing;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use case::Case;
pub(crate) use case::cases;
pub use world::{BackEnd, World};

/// The cases of every area, by module.
const AREAS: [&[(&str, &[Case])]; 6] =
    [base::CASES, people::CASES, selling::CASES, catalogue::CASES, writing::CASES, operator::CASES];

/// A set-up of a back end.
#[derive(Clone, Copy)]
pub struct SetUp {
    /// Part of the names of the set-up's tests.
    pub name: &'static str,
    /// Creates an empty back end. May block.
    pub fresh: fn() -> Box<dyn BackEnd>,
    /// Why the cases cannot run here; with a reason, all cases report as ignored.
    pub ignored: Option<&'static str>,
}

/// Runs every case on every set-up, each in a separate back end. Takes the command line of `cargo test`.
#[must_use]
pub fn run(set_ups: &[SetUp]) -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for (port, cases) in AREAS.into_iter().flatten() {
        for set_up in set_ups.iter().copied() {
            for case in *cases {
                let run = case.run;
                let name = format!("{port}::{}::{}", set_up.name, case.name);
                let trial = Trial::test(name.clone(), move || {
                    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
                    attempts::run(&name, || {
                        runtime.block_on(async { run(&World::on((set_up.fresh)()).await).await });
                    });
                    Ok(())
                });
                trials.push(trial.with_ignored_flag(set_up.ignored.is_some()));
            }
        }
    }
    if let Some((set_up, why)) = set_ups.iter().find_map(|s| Some((s.name, s.ignored?))) {
        println!("{set_up} is ignored: {why}");
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
