//! Attempts to claim in the export of personal data.

use jiff::tz::TimeZone;
use mallbox_storage::{Attempt, StoredAttempt};
use schemars::JsonSchema;
use serde::Serialize;

use crate::mall::base::wall_time;

/// An attempt to claim a unit of a judged sale in an export.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AttemptPart {
    voucher_id: u64,
    /// How the attempt ended, such as `ACCEPTED` or `LOOKS_AUTOMATED`.
    #[schemars(example = &"ACCEPTED")]
    outcome: &'static str,
    #[schemars(example = 60)]
    score: u32,
    /// What was measured.
    signals: Vec<SignalPart>,
    #[schemars(example = &"2026-11-21T10:09:17")]
    time: String,
}

#[derive(Serialize, JsonSchema)]
struct SignalPart {
    #[schemars(example = &"account-hours")]
    signal: &'static str,
    #[schemars(example = 720)]
    value: u32,
}

impl AttemptPart {
    pub(super) fn new(stored: &StoredAttempt, zone: &TimeZone) -> Self {
        let Attempt { at, voucher, outcome, score, signals, .. } = stored.attempt;
        Self {
            voucher_id: voucher.get(),
            outcome: outcome.name(),
            score,
            signals: signals
                .iter()
                .map(|(signal, value)| SignalPart { signal: signal.name(), value })
                .collect(),
            time: wall_time::text(at, zone),
        }
    }
}
