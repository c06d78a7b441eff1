//! Outcome of one experiment.

use std::collections::BTreeMap;

/// Outcome of one experiment.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding<Q> {
    /// What was asked.
    pub question: Q,
    /// The verdict, in words that are compared.
    pub verdict: String,
    /// Counts behind the verdict.
    pub detail: String,
    /// Measured values, by the names of the published file.
    pub figures: BTreeMap<&'static str, f64>,
}

impl<Q> Finding<Q> {
    /// Creates a finding without figures.
    pub fn new(question: Q, verdict: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { question, verdict: verdict.into(), detail: detail.into(), figures: BTreeMap::new() }
    }

    /// Adds a measured value, unless it is unknown.
    #[must_use]
    pub fn with_figure(mut self, name: &'static str, value: Option<f64>) -> Self {
        self.figures.extend(value.map(|value| (name, value)));
        self
    }
}
