//! Result of a comparison.

use mallbox_bench_reads::Way;
use mallbox_bench_verdicts::{Question, Verdict};
use serde::Serialize;
use serde_json::{Value, json};

use crate::bench::about_way::AboutWay;

/// Result of a comparison.
pub struct Compared {
    /// The tables.
    pub text: String,
    /// The section of the published file.
    pub section: Value,
    /// Whether every verdict was the expected one.
    pub is_expected: bool,
}

impl Compared {
    pub(super) fn new<Q: Question>(
        ways: &[&Way],
        verdicts: &[Verdict<Q>],
        costs: &[impl Serialize],
        text: String,
    ) -> Self {
        let ways: Vec<AboutWay> = ways.iter().map(|way| AboutWay::from(*way)).collect();
        Self {
            text,
            section: json!({"ways": ways, "verdicts": verdicts, "costs": costs}),
            is_expected: verdicts.iter().all(|verdict| verdict.is_expected),
        }
    }
}
