//! When to retry, and when to give up.

use std::time::Duration;

use mallbox_storage::{RetryLimits, RetryTaskId};

use super::breaker::BreakerRule;

/// Duration of a lease: for so long the tasks of a dead process wait.
pub(super) const LEASE: Duration = Duration::from_secs(60);
/// Longest run of a segment: below [`LEASE`], with time for the settlement.
const SEGMENT_TIMEOUT_MAX: Duration = Duration::from_secs(45);
/// Share of an interval by which jitter shortens it at most: one in this number.
const JITTER_SHARE: u32 = 5;

/// Intervals and limits of a kind of work.
#[derive(Clone, PartialEq, Debug)]
pub struct RetryPolicy {
    /// Pause before each retry of a segment, shortened by up to a fifth (jitter). Their number is the number
    /// of retries after the first attempt.
    pub intervals: Vec<Duration>,
    /// Age, since the submission or the last replay, from which a task is run no more.
    pub age_max: Duration,
    /// Limits on the open tasks of the kind.
    pub limits: RetryLimits,
    /// Time limit of a run of a segment, in real time; at most 45 s.
    pub segment_timeout: Duration,
    /// Segments of the kind run at once by an instance, first tries of callers aside.
    pub concurrency: usize,
    /// When to stop calling what keeps failing; `None` means never.
    pub breaker: Option<BreakerRule>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            intervals: [10, 100, 100, 1_000, 10_000].map(Duration::from_secs).to_vec(),
            age_max: Duration::from_secs(24 * 3600),
            limits: RetryLimits { tasks: 100_000, bytes: 128 << 20 },
            segment_timeout: Duration::from_secs(10),
            concurrency: 32,
            breaker: Some(BreakerRule::default()),
        }
    }
}

impl RetryPolicy {
    /// Returns the pause after the failed attempt with this number, from 1; `None` after the last attempt.
    pub(super) fn pause(&self, task: RetryTaskId, attempt: u32) -> Option<Duration> {
        let index = usize::try_from(attempt.checked_sub(1)?).ok()?;
        let interval = *self.intervals.get(index)?;
        Some(interval - jitter(interval, task.get(), u64::from(attempt)))
    }

    /// Returns the time limit of a run.
    pub(super) fn timeout(&self) -> Duration {
        self.segment_timeout.min(SEGMENT_TIMEOUT_MAX)
    }
}

/// Returns a share of up to a fifth of `span`, deterministic in the two numbers.
pub(super) fn jitter(span: Duration, one: u64, other: u64) -> Duration {
    // The finaliser of SplitMix64: neighbouring numbers get unrelated shares.
    let mut mixed = one.wrapping_add(other.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    let thousandths = u32::try_from((mixed ^ mixed >> 31) % 1_000).unwrap_or(0);
    span / JITTER_SHARE / 1_000 * thousandths
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_retry_has_its_interval_and_up_to_a_fifth_less() {
        let policy = RetryPolicy::default();
        let mut pauses = BTreeSet::new();
        for task in 0..1_000 {
            for (attempt, seconds) in [(1, 10), (2, 100), (3, 100), (4, 1_000), (5, 10_000)] {
                let pause = policy.pause(RetryTaskId::new(task), attempt).unwrap();
                assert_eq!(policy.pause(RetryTaskId::new(task), attempt), Some(pause));
                let longest = Duration::from_secs(seconds);
                assert!(pause <= longest && pause > longest * 4 / 5, "{attempt}: {pause:?}");
                pauses.insert((attempt, pause));
            }
            for attempt in [0, 6, u32::MAX] {
                assert_eq!(policy.pause(RetryTaskId::new(task), attempt), None);
            }
        }
        assert!(pauses.len() > 2_500, "{}", pauses.len());
        let of = |segment_timeout| RetryPolicy { segment_timeout, ..RetryPolicy::default() }.timeout();
        assert_eq!(of(Duration::from_secs(10)), Duration::from_secs(10));
        assert!(of(Duration::MAX) < LEASE, "a run ends within its lease");
        assert_eq!(jitter(Duration::ZERO, 7, 1), Duration::ZERO);
        assert!(jitter(Duration::MAX, 7, 1) < Duration::MAX);
    }
}
