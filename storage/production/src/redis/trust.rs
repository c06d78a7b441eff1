//! Trust in copies of data that other instances change: it lasts for a bounded time after news was read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Interval at which an instance reads the news.
pub(super) const POLL: Duration = Duration::from_millis(200);
/// Time from the begin of a reading for which copies count.
pub(super) const TRUSTED_FOR: Duration = Duration::from_millis(700);

/// Whether the copies of an instance count.
pub(super) struct Trust {
    made: Instant,
    span: Duration,
    /// Begin of the last reading of the news, in ms since `made`; 0 for none.
    read_ms: AtomicU64,
}

impl Trust {
    /// Creates a trust not given yet. Once given, it lasts for `span` from the begin of the reading.
    pub(super) fn new(span: Duration) -> Self {
        Self { made: Instant::now(), span, read_ms: AtomicU64::new(0) }
    }

    /// Returns whether the copies count now.
    pub(super) fn is_given(&self) -> bool {
        let read_ms = self.read_ms.load(Ordering::Acquire);
        read_ms > 0 && self.made.elapsed() < Duration::from_millis(read_ms) + self.span
    }

    /// Gives trust after a successful reading that began at `began`.
    pub(super) fn give(&self, began: Instant) {
        let began = began.saturating_duration_since(self.made);
        let began_ms = u64::try_from(began.as_millis()).unwrap_or(u64::MAX).max(1);
        self.read_ms.store(began_ms, Ordering::Release);
    }

    /// Withdraws trust until the next reading.
    pub(super) fn withdraw(&self) {
        self.read_ms.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_begins_with_a_reading_and_ends_after_its_span_or_when_withdrawn() {
        let trust = Trust::new(Duration::from_millis(200));
        assert!(!trust.is_given(), "nothing was read yet");
        let began = Instant::now();
        trust.give(began);
        assert!(trust.is_given() || began.elapsed() > Duration::from_millis(200));
        std::thread::sleep(Duration::from_millis(201));
        assert!(!trust.is_given());
        let lasting = Trust::new(Duration::from_secs(3600));
        lasting.give(Instant::now());
        assert!(lasting.is_given());
        lasting.withdraw();
        assert!(!lasting.is_given());
    }
}
