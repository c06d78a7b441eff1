//! Snapshots of the claim metrics, and differences between snapshots.

use std::sync::atomic::Ordering::Relaxed;

use super::{BUCKETS_US, Class, Metrics, OUTCOMES};

/// Counts since the start, or between two instants.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in crate::http) struct Sample {
    /// Requests of every class.
    pub(in crate::http) requests: u64,
    /// Claims by outcome, in the order of [`OUTCOMES`].
    claims: [u64; OUTCOMES.len()],
    /// Claims by latency, in the order of [`BUCKETS_US`]; the last bucket counts slower claims.
    latency: [u64; BUCKETS_US.len() + 1],
}

impl Metrics {
    /// Returns a snapshot of the counts so far.
    pub(in crate::http) fn sample(&self) -> Sample {
        let mut sample = Sample::default();
        for tally in &*self.tallies.lock() {
            let requests = tally.by_status.iter().flatten().map(|count| count.load(Relaxed));
            sample.requests += requests.sum::<u64>();
            for (sum, count) in sample.claims.iter_mut().zip(&tally.claims) {
                *sum += count.load(Relaxed);
            }
            for (sum, count) in sample.latency.iter_mut().zip(&tally.by_latency[Class::Claim as usize]) {
                *sum += count.load(Relaxed);
            }
        }
        sample
    }
}

impl Sample {
    /// Returns the counts after `earlier`.
    pub(in crate::http) fn since(&self, earlier: &Self) -> Self {
        let mut between = self.clone();
        between.requests = between.requests.saturating_sub(earlier.requests);
        for (count, before) in between.claims.iter_mut().zip(&earlier.claims) {
            *count = count.saturating_sub(*before);
        }
        for (count, before) in between.latency.iter_mut().zip(&earlier.latency) {
            *count = count.saturating_sub(*before);
        }
        between
    }

    /// Returns the number of accepted claims.
    pub(in crate::http) fn accepted(&self) -> u64 {
        self.claims[0]
    }

    /// Returns the refused claims by reason; reasons without a claim are omitted.
    pub(in crate::http) fn refused(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counted = OUTCOMES.iter().zip(self.claims).skip(1);
        counted.filter(|(_, count)| *count > 0).map(|((_, name), count)| (*name, count))
    }

    /// Returns a percentile of the claim latency in milliseconds, interpolated linearly within a bucket.
    /// `None` without claims.
    #[expect(clippy::cast_precision_loss, reason = "a share of a bucket need not be exact")]
    pub(in crate::http) fn latency_ms(&self, percent: u64) -> Option<f64> {
        let total: u64 = self.latency.iter().sum();
        if total == 0 {
            return None;
        }
        let wanted = (total as f64 * percent as f64 / 100.0).max(1.0);
        let (mut below, mut from_us) = (0.0, 0);
        for (count, to_us) in self.latency.iter().zip(BUCKETS_US) {
            let count = *count as f64;
            if below + count >= wanted {
                let micros = from_us as f64 + (to_us - from_us) as f64 * (wanted - below) / count;
                return Some(micros.round() / 1e3);
            }
            (below, from_us) = (below + count, to_us);
        }
        // Slower than all buckets: the last bound is a lower limit.
        Some(from_us as f64 / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::http::StatusCode;

    use super::*;

    #[test]
    fn a_sample_tells_what_came_after_another() {
        let metrics = Metrics::default();
        let (one, two) = (metrics.worker(), metrics.worker());
        let claim = |tally: &crate::http::server::metrics::Tally, code, micros| {
            tally.count(Class::Claim, StatusCode::OK, code, Duration::from_micros(micros));
        };
        claim(&one, "", 90);
        claim(&two, "SOLD_OUT", 90);
        let before = metrics.sample();
        assert_eq!((before.requests, before.accepted()), (2, 1));
        assert_eq!(before.refused().collect::<Vec<_>>(), [("sold_out", 1)]);
        one.count(Class::Page, StatusCode::OK, "", Duration::from_secs(1));
        for _ in 0..3 {
            claim(&one, "", 700);
            claim(&two, "PAUSED", 700);
        }
        let between = metrics.sample().since(&before);
        assert_eq!((between.requests, between.accepted()), (7, 3));
        assert_eq!(between.refused().collect::<Vec<_>>(), [("paused", 3)]);
        assert_eq!(before.since(&metrics.sample()), Sample::default(), "never below nothing");
    }

    #[test]
    fn percentiles_lie_in_the_bucket_of_their_claim() {
        let sample = |counts: &[(usize, u64)]| {
            let mut sample = Sample::default();
            counts.iter().for_each(|(bucket, count)| sample.latency[*bucket] = *count);
            sample
        };
        assert_eq!(Sample::default().latency_ms(50), None);
        // 100 claims of 0.5 to 1 ms.
        let even = sample(&[(3, 100)]);
        assert_eq!([50, 90, 100].map(|p| even.latency_ms(p)), [Some(0.75), Some(0.95), Some(1.0)]);
        let two = sample(&[(0, 98), (7, 2)]);
        assert_eq!([50, 99].map(|p| two.latency_ms(p)), [Some(0.051), Some(17.5)]);
        assert_eq!(sample(&[(13, 1)]).latency_ms(50), Some(1500.0), "at least");
    }
}
