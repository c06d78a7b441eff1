//! Result of a comparison.

use mallbox_bench_reads::Way;
use mallbox_bench_verdicts::{Question, Verdict};
use serde::Serialize;
use serde_json::{Value, json};

/// Gets a way and the words of its next step; returns false to end the comparison.
pub(in crate::bench) type OnStep<'a> = dyn FnMut(&Way, &str) -> bool + Send + 'a;

/// Result of a comparison.
pub(in crate::bench) struct Compared {
    /// The tables.
    pub(in crate::bench) text: String,
    /// The section of the published file.
    pub(in crate::bench) section: Value,
    /// Whether every verdict was the expected one.
    pub(in crate::bench) is_expected: bool,
}

impl Compared {
    pub(super) fn new<Q: Question>(
        ways: &[&Way],
        verdicts: &[Verdict<Q>],
        costs: &[impl Serialize],
        text: String,
    ) -> Self {
        let ways: Vec<_> = ways.iter().map(|way| json!({"way": way.name, "about": way.about})).collect();
        Self {
            text,
            section: json!({"ways": ways, "verdicts": verdicts, "costs": costs}),
            is_expected: verdicts.iter().all(|verdict| verdict.is_expected),
        }
    }
}
