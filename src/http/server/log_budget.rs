//! A rate limit for repeated log lines.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Enough lines to diagnose a failure, and too few to slow the mall down.
pub(in crate::http) const LINES_PER_SECOND_MAX: u64 = 20;

/// Lets the first lines of each second through and counts the rest.
#[derive(Debug)]
pub(in crate::http) struct LogRateLimit {
    start: Instant,
    /// The second being counted.
    second: AtomicU64,
    spent: AtomicU64,
    unsaid: AtomicU64,
}

impl Default for LogRateLimit {
    fn default() -> Self {
        let zero = || AtomicU64::new(0);
        Self { start: Instant::now(), second: zero(), spent: zero(), unsaid: zero() }
    }
}

impl LogRateLimit {
    /// Counts a line. Returns `None` if the line is suppressed, else the number of lines suppressed before.
    /// Approximate: racing threads may log a few lines more.
    pub(in crate::http) fn acquire(&self) -> Option<u64> {
        let second = self.start.elapsed().as_secs();
        if self.second.swap(second, Relaxed) != second {
            self.spent.store(0, Relaxed);
        }
        if self.spent.fetch_add(1, Relaxed) >= LINES_PER_SECOND_MAX {
            self.unsaid.fetch_add(1, Relaxed);
            return None;
        }
        Some(self.unsaid.swap(0, Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_flood_is_counted_and_reported_later() {
        let budget = LogRateLimit::default();
        let acquired = (0..LINES_PER_SECOND_MAX + 7).filter(|_| budget.acquire().is_some()).count() as u64;
        // A second may end in between.
        assert!((LINES_PER_SECOND_MAX..=LINES_PER_SECOND_MAX + 7).contains(&acquired));
        budget.second.store(u64::MAX, Relaxed);
        assert_eq!(budget.acquire(), Some(LINES_PER_SECOND_MAX + 7 - acquired));
    }
}
