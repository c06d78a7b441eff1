//! Exponentially sparser logging of a repeated failure.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// After this long without a failure, the count starts again.
const RESET_AFTER: Duration = Duration::from_secs(10 * 60);

/// Selects the repetitions to log: the 1st, 2nd, 4th, 8th … in real time. Failures of a minute and of a week
/// both leave a few lines.
#[derive(Debug, Default)]
pub(in crate::mall) struct SparseLog {
    times: Mutex<Option<(u64, Instant)>>,
}

impl SparseLog {
    /// Counts another failure. Returns the count so far if this repetition is to be logged.
    pub(in crate::mall) fn again(&self) -> Option<u64> {
        let mut times = self.times.lock();
        let before = times.filter(|(_, last)| last.elapsed() < RESET_AFTER).map_or(0, |(count, _)| count);
        *times = Some((before + 1, Instant::now()));
        (before + 1).is_power_of_two().then_some(before + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lasting_trouble_is_logged_less_and_less_often_and_a_new_one_at_once() {
        let log = SparseLog::default();
        let logged: Vec<u64> = (0..100).filter_map(|_| log.again()).collect();
        assert_eq!(logged, [1, 2, 4, 8, 16, 32, 64]);
        let Some(long_ago) = Instant::now().checked_sub(RESET_AFTER) else { return };
        *log.times.lock() = Some((100, long_ago));
        assert_eq!(log.again(), Some(1));
    }
}
