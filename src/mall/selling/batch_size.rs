//! Adaptive batch size of the order workers.

use std::time::Duration;

/// About 4 MB of SQLite pages. Larger transactions would only delay other writers.
const CLAIMS_MAX: usize = 4_096;
const CLAIMS_INITIAL: usize = 256;

/// The number of claims per transaction, adapted to the speed of the database.
#[derive(Clone, Copy, Debug)]
pub(in crate::mall) struct BatchSize {
    claims: usize,
    /// Target duration of one transaction.
    aim: Duration,
}

impl BatchSize {
    pub(in crate::mall) fn new(aim: Duration) -> Self {
        Self { claims: CLAIMS_INITIAL, aim }
    }

    pub(in crate::mall) fn get(self) -> usize {
        self.claims
    }

    /// Adapts the size after a transaction that wrote `written` claims in `took`. One step at most doubles or
    /// halves the size.
    pub(in crate::mall) fn observe(&mut self, written: usize, took: Duration) {
        let would_fit = written as f64 * self.aim.as_secs_f64() / took.as_secs_f64().max(1e-6);
        let (least, most) = (self.claims / 2, self.claims.saturating_mul(2));
        if took > self.aim {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates, then is clamped"
            )]
            let wanted = would_fit as usize;
            self.claims = wanted.clamp(least, self.claims).clamp(1, CLAIMS_MAX);
        } else if written >= self.claims {
            // Only a full batch is evidence that a larger batch would fit.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates, then is clamped"
            )]
            let wanted = would_fit as usize;
            self.claims = wanted.clamp(self.claims, most).clamp(1, CLAIMS_MAX);
        }
    }

    /// Caps the size of the next batch at `most`.
    pub(in crate::mall) fn limit(&mut self, most: usize) {
        self.claims = self.claims.min(most).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AIM: Duration = Duration::from_millis(10);

    fn after(start: usize, written: usize, took_ms: u64) -> usize {
        let mut size = BatchSize { claims: start, aim: AIM };
        size.observe(written, Duration::from_millis(took_ms));
        size.get()
    }

    #[test]
    fn a_full_quick_batch_grows_and_a_small_one_says_nothing() {
        assert_eq!(after(256, 256, 5), 512);
        assert_eq!(after(256, 256, 1), 512, "at most twice as many");
        assert_eq!(after(256, 3, 1), 256);
    }

    #[test]
    fn a_slow_batch_shrinks_in_proportion_but_by_half_at_the_most() {
        assert_eq!(after(1_000, 1_000, 16), 625);
        assert_eq!(after(1_000, 1_000, 500), 500, "a single spell of the disk does not undo everything");
        assert_eq!(after(1, 1, 500), 1);
    }

    #[test]
    fn it_settles_where_a_batch_takes_the_time_aimed_at_and_stays_in_its_bounds() {
        for (per_claim_us, expected) in [(10, 1_000), (100, 100), (1, CLAIMS_MAX), (50_000, 1)] {
            let mut size = BatchSize::new(AIM);
            for _ in 0..64 {
                let written = size.get();
                size.observe(written, Duration::from_micros(per_claim_us * written as u64));
                assert!((1..=CLAIMS_MAX).contains(&size.get()));
            }
            assert!(size.get().abs_diff(expected) <= expected / 10, "{per_claim_us} us: {}", size.get());
        }
    }
}
