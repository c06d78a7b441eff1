//! The whole document. Names of fields are those of the file.

use std::collections::BTreeMap;

use mallbox_bench_ports::Measurement;
use serde::Serialize;
use serde_json::Value;

use super::latency::Latency;
use super::machine::Machine;
use super::run::{Run, System};
use super::statistics::{Comparison, Figure};

/// Version of the schema, raised when a field changes its meaning or goes.
pub(super) const SCHEMA: u32 = 1;

/// The whole document.
#[derive(Serialize)]
pub(super) struct Document {
    pub(super) schema: u32,
    /// `sale`, `ramp`, `load`, `compare`, `ports`, `ladder`, `queues`, `feed`, `cache`.
    pub(super) kind: &'static str,
    pub(super) mallbox: Mallbox,
    /// Instant of the begin, RFC 3339 in UTC.
    pub(super) began: String,
    pub(super) lasted_s: f64,
    /// The command line, without passwords.
    pub(super) command: Vec<String>,
    /// Every setting, also those that have their default.
    pub(super) settings: BTreeMap<&'static str, Value>,
    pub(super) machine: Machine,
    /// Syncs of a write of 4 KiB to the disk, sampled during the runs.
    pub(super) disk_sync: Option<Latency>,
    pub(super) systems: Vec<System>,
    pub(super) runs: Vec<Run>,
    /// Measurements of single ports.
    pub(super) measurements: Vec<Measurement>,
    /// Verdicts of the ladder's rungs; left out of other documents.
    #[cfg(feature = "ladder")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) rungs: Vec<mallbox_bench_ladder::RungReport>,
    /// Comparisons of ways, by name: `queues`, `feeds`, `caches`.
    #[serde(flatten)]
    pub(super) sections: BTreeMap<&'static str, Value>,
    pub(super) summary: Vec<Figure>,
    pub(super) comparisons: Vec<Comparison>,
    pub(super) warnings: Vec<Warning>,
}

/// The program that measured.
#[derive(Serialize)]
pub(super) struct Mallbox {
    pub(super) version: &'static str,
    pub(super) commit: Option<String>,
}

/// What a reader has to know before trusting a figure.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub(super) struct Warning {
    pub(super) code: &'static str,
    pub(super) text: String,
}
