//! A measurement, as printed and published.

use serde::{Deserialize, Serialize};

/// A measurement of a port. Names of fields are those of the published file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measurement {
    /// Name of the port, a colon, and the operation: `claim: accepted`.
    pub port: String,
    /// The back end, or the commands measured for comparison.
    pub back_end: String,
    /// Buyers, places, visitors: what the port's chapter of the manual says.
    pub size: Option<u64>,
    /// Concurrent callers.
    pub threads: Option<usize>,
    /// Operations per second; `None` if the measurement failed, or has no rate.
    pub per_s: Option<f64>,
    /// Median of the time of an operation, in µs.
    pub p50_us: Option<f64>,
    /// 99th percentile of the time of an operation, in µs.
    pub p99_us: Option<f64>,
    /// Growth of the memory of the side that holds the data.
    pub memory_bytes: Option<u64>,
    /// Root mean square of the relative error of an estimate, as a share.
    pub error: Option<f64>,
    /// Durability, what was checked, or why the measurement failed.
    pub note: Option<String>,
    /// Whether the measurement failed: `note` says why.
    #[serde(default)]
    pub is_failed: bool,
}

impl Measurement {
    /// Creates a measurement without figures.
    #[must_use]
    pub fn new(port: impl Into<String>, back_end: impl Into<String>) -> Self {
        Self {
            port: port.into(),
            back_end: back_end.into(),
            size: None,
            threads: None,
            per_s: None,
            p50_us: None,
            p99_us: None,
            memory_bytes: None,
            error: None,
            note: None,
            is_failed: false,
        }
    }

    /// Creates a failed measurement.
    #[must_use]
    pub fn failed(port: impl Into<String>, back_end: impl Into<String>, why: impl Into<String>) -> Self {
        Self { note: Some(why.into()), is_failed: true, ..Self::new(port, back_end) }
    }
}
