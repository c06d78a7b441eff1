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

pub mod audit;
pub mod cache;
pub mod cancellations;
mod case;
pub mod comments;
pub mod dead_letters;
pub mod deadlines;
mod dice;
pub mod feeds;
pub mod feeds_model;
pub mod follows;
pub mod geo_index;
pub mod geo_index_model;
pub mod import;
pub mod likes;
pub mod locks;
pub mod notes;
pub mod order_counts;
pub mod order_lists;
pub mod order_log;
pub mod orders;
pub mod orders_model;
pub mod outbox;
pub mod payment_modes;
pub mod payments;
pub mod pictures;
pub mod purchases;
pub mod rate_limits;
pub mod reports;
pub mod sales;
pub mod samples;
pub mod sequences;
pub mod sessions;
pub mod settings;
pub mod shops;
pub mod sign_ins;
pub mod stock;
pub mod users;
pub mod visitors;
pub mod vouchers;
pub mod world;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use case::Case;
pub(crate) use case::cases;
pub use world::{BackEnd, World};

/// The cases of every port, by module.
const PORTS: &[(&str, &[Case])] = &[
    ("audit", audit::CASES),
    ("cache", cache::CASES),
    ("cancellations", cancellations::CASES),
    ("comments", comments::CASES),
    ("dead_letters", dead_letters::CASES),
    ("deadlines", deadlines::CASES),
    ("feeds", feeds::CASES),
    ("feeds_model", feeds_model::CASES),
    ("follows", follows::CASES),
    ("geo_index", geo_index::CASES),
    ("geo_index_model", geo_index_model::CASES),
    ("import", import::CASES),
    ("likes", likes::CASES),
    ("locks", locks::CASES),
    ("notes", notes::CASES),
    ("order_counts", order_counts::CASES),
    ("order_lists", order_lists::CASES),
    ("order_log", order_log::CASES),
    ("orders", orders::CASES),
    ("orders_model", orders_model::CASES),
    ("outbox", outbox::CASES),
    ("payment_modes", payment_modes::CASES),
    ("payments", payments::CASES),
    ("pictures", pictures::CASES),
    ("purchases", purchases::CASES),
    ("rate_limits", rate_limits::CASES),
    ("reports", reports::CASES),
    ("sales", sales::CASES),
    ("sequences", sequences::CASES),
    ("sessions", sessions::CASES),
    ("settings", settings::CASES),
    ("shops", shops::CASES),
    ("sign_ins", sign_ins::CASES),
    ("stock", stock::CASES),
    ("users", users::CASES),
    ("visitors", visitors::CASES),
    ("vouchers", vouchers::CASES),
];

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
    for (port, cases) in PORTS {
        for set_up in set_ups.iter().copied() {
            for case in *cases {
                let run = case.run;
                let name = format!("{port}::{}::{}", set_up.name, case.name);
                let trial = Trial::test(name, move || {
                    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
                    runtime.block_on(async { run(&World::on((set_up.fresh)()).await).await });
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
