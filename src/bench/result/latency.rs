//! Latencies as a document holds them.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::bench::histogram_text::encoded;

/// Points of the percentiles: enough for a curve to 99.999 %.
const QUANTILES: [f64; 22] = [
    0.0, 0.1, 0.25, 0.5, 0.625, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999,
    0.9995, 0.9999, 0.99995, 0.99999, 1.0,
];

/// Latencies of a load.
#[derive(Clone, Serialize, Debug, Default)]
pub(in crate::bench) struct Latency {
    count: u64,
    mean_us: f64,
    /// Pairs of a share and µs, ascending.
    percentiles: Vec<(f64, u64)>,
    /// The whole histogram: HdrHistogram V2, compressed, in base64. Others can merge it.
    histogram: Option<String>,
}

impl Latency {
    /// Returns latencies in µs for the document.
    pub(in crate::bench) fn of(histogram: &Histogram<u64>) -> Self {
        Self {
            count: histogram.len(),
            mean_us: if histogram.is_empty() { 0.0 } else { histogram.mean() },
            percentiles: QUANTILES.map(|quantile| (quantile, histogram.value_at_quantile(quantile))).to_vec(),
            // Only memory that is missing could fail here; a document without the histogram is still of use.
            histogram: encoded(histogram).ok(),
        }
    }

    /// Returns the latency at a share, in µs.
    pub(in crate::bench) fn at(&self, share: f64) -> Option<u64> {
        self.percentiles.iter().find(|(quantile, _)| quantile.total_cmp(&share).is_eq()).map(|(_, us)| *us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::histogram_text::decoded;

    #[test]
    fn the_histogram_can_be_read_and_merged() {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 1_000_000, 3).unwrap();
        for us in 1..=1_000 {
            histogram.record(us).unwrap();
        }
        let latency = Latency::of(&histogram);
        assert_eq!((latency.count, latency.at(0.5), latency.at(1.0)), (1_000, Some(500), Some(1_000)));
        assert!((latency.mean_us - 500.5).abs() < 1.0);
        let mut read = decoded(&latency.histogram.unwrap()).unwrap();
        read.add(&histogram).unwrap();
        assert_eq!((read.len(), read.value_at_quantile(0.5)), (2_000, 500));
    }
}
