//! Settings of `bench sale` and `bench ramp`.

use std::path::PathBuf;
use std::time::Duration;

use super::generator::Generator;
use super::load::Shape;
use super::preset::Preset;
use super::result::Settings;
use super::site::BenchTarget;

/// The malls to bench, and their users.
#[derive(Clone, Debug)]
pub struct BenchMalls {
    /// Number of users.
    pub users: usize,
    /// Whether every claim is checked against the user's rate limit, which is never reached.
    pub limits: bool,
    /// Grounds to run on, in alternating order.
    pub grounds: Vec<BenchTarget>,
    /// Rounds on each ground.
    pub rounds: usize,
    /// Whether the ledger check prints every sale.
    pub verbose: bool,
    /// File to create with the result as JSON.
    pub json: Option<PathBuf>,
}

impl BenchMalls {
    /// Returns the settings for the result document.
    pub(super) fn settings(&self) -> Settings {
        [
            ("users", self.users.into()),
            ("limits", self.limits.into()),
            ("grounds", self.grounds.iter().map(BenchTarget::text).collect()),
            ("rounds", self.rounds.into()),
        ]
        .into()
    }
}

/// Settings of a run of `bench sale`.
#[derive(Clone, Debug)]
pub struct SaleBench {
    /// The malls. Each user sends one claim per sale.
    pub malls: BenchMalls,
    /// The published load that users, units and connections are from.
    pub preset: Option<Preset>,
    /// The load generator.
    pub generator: Generator,
    /// Units of each sale; `None` = unlimited.
    pub units: Option<u64>,
    /// Number of sales, one after another.
    pub sales: usize,
    /// Arrivals of the claims; `None` = closed loop.
    pub shape: Option<Shape>,
    /// Duration of each measurement of the ceiling and of the refusals.
    pub span: Duration,
    /// Log-ins per second beside the claims.
    pub log_ins: f64,
    /// Claims per request of a gateway, in a further sale; `None` = no gateway.
    pub batch: Option<usize>,
}

/// Settings of a run of `bench ramp`.
#[derive(Clone, Debug)]
pub struct RampBench {
    /// The malls.
    pub malls: BenchMalls,
    /// The load generator.
    pub generator: Generator,
    /// Longest p99 that meets the goal.
    pub p99: Duration,
    /// First rate, in claims per second.
    pub from: f64,
    /// Duration of a trial.
    pub span: Duration,
}
