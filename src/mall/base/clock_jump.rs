//! Detection of jumps of the machine's clock: moves by more than the elapsed time.
//!
//! Reasons and figures: `src/decisions/0011-clock-jumps.md`.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use mallbox_storage::Timestamp;
use parking_lot::Mutex;

/// NTP moves a clock by less at once, and unpaid orders have minutes: smaller steps are followed silently.
const JUMP_MIN_MS: u64 = 10_000;
/// Offsets this close to the last one are not compared further: rounding, or a thread suspended between its
/// two reads.
const DRIFT_IGNORED_MS: u64 = 100;
/// How long a jump stays in doubt: usually longer than the payment deadline and the TTL of an idle session.
const DOUBT_DURATION: Duration = Duration::from_secs(60 * 60);

/// A move of the wall clock that elapsed time does not explain.
///
/// Only the operator knows whether the clock was wrong before or is wrong now. While the jump is in doubt,
/// expiry is judged by elapsed time, so that no user loses an order or a session to a clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockJump {
    by_ms: i64,
}

impl ClockJump {
    /// Creates a jump forward.
    #[must_use]
    pub fn forward(by: Duration) -> Self {
        Self { by_ms: millis(by) }
    }

    /// Returns how far the clock is now ahead of elapsed time; zero after a jump backwards.
    #[must_use]
    pub fn ahead(self) -> Duration {
        Duration::from_millis(u64::try_from(self.by_ms).unwrap_or_default())
    }

    /// Returns the jump in whole seconds, negative for a jump backwards; for the log.
    #[must_use]
    pub fn seconds(self) -> i64 {
        self.by_ms / 1_000
    }
}

impl fmt::Display for ClockJump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, way) =
            (self.seconds().unsigned_abs(), if self.by_ms > 0 { "forward" } else { "backward" });
        write!(f, "this machine's clock jumped {way} by {seconds} s: check the clock. ")?;
        if self.by_ms > 0 {
            write!(f, "For an hour, unpaid orders and sessions expire by elapsed time")
        } else {
            write!(f, "Sales, deadlines and sessions follow the new time")
        }
    }
}

/// Compares the wall clock with a steady clock that cannot be set.
#[derive(Debug)]
pub(in crate::mall) struct JumpDetector {
    /// Wall clock − steady clock in milliseconds at the last comparison; [`UNKNOWN`] before the first.
    offset_ms: AtomicI64,
    doubt: DoubtCell,
}

#[derive(Clone, Copy, Debug)]
struct Doubt {
    jump: ClockJump,
    /// End of the doubt, by the steady clock.
    until: Duration,
}

/// The jump in doubt, behind a flag: without a doubt, reading costs one atomic load.
#[derive(Debug, Default)]
struct DoubtCell {
    /// Whether `doubt` may hold a jump; written only while `doubt` is locked.
    is_in_doubt: AtomicBool,
    doubt: Mutex<Option<Doubt>>,
}

impl DoubtCell {
    /// Returns the jump in doubt. Reads the steady clock only if there may be a doubt, and drops an expired
    /// one.
    fn jump(&self, steady: impl FnOnce() -> Duration) -> Option<ClockJump> {
        if !self.is_in_doubt.load(Ordering::Acquire) {
            return None;
        }
        let mut doubt = self.doubt.lock();
        let steady = steady();
        *doubt = doubt.filter(|doubt| steady < doubt.until);
        self.is_in_doubt.store(doubt.is_some(), Ordering::Release);
        doubt.map(|doubt| doubt.jump)
    }
}

const UNKNOWN: i64 = i64::MIN;

impl Default for JumpDetector {
    fn default() -> Self {
        Self { offset_ms: AtomicI64::new(UNKNOWN), doubt: DoubtCell::default() }
    }
}

impl JumpDetector {
    /// Returns whether two consecutive readings agree with the last comparison. Costs one atomic load.
    pub(in crate::mall) fn agrees(&self, wall: Timestamp, steady: Duration) -> bool {
        let before = self.offset_ms.load(Ordering::Acquire);
        before != UNKNOWN && offset_ms(wall, steady).abs_diff(before) < DRIFT_IGNORED_MS
    }

    /// Compares two readings taken at one moment.
    ///
    /// Returns a jump only the first time it is seen.
    pub(in crate::mall) fn observe(&self, wall: Timestamp, steady: Duration) -> Option<ClockJump> {
        let offset = offset_ms(wall, steady);
        let before = self.offset_ms.load(Ordering::Acquire);
        let by_ms = offset.saturating_sub(before);
        if before == UNKNOWN || by_ms.unsigned_abs() < JUMP_MIN_MS {
            // Slewing or rounding. Compare-and-set: a reading older than another thread's must not undo the
            // offset of a jump.
            let _ = self.offset_ms.compare_exchange(before, offset, Ordering::AcqRel, Ordering::Relaxed);
            return None;
        }
        let mut doubt = self.doubt.doubt.lock();
        if self.offset_ms.load(Ordering::Relaxed) != before {
            // Another thread saw the same jump.
            return None;
        }
        // Set the flag before the offset: a thread for which the clocks agree again must find the doubt too.
        self.doubt.is_in_doubt.store(true, Ordering::Release);
        self.offset_ms.store(offset, Ordering::Release);
        let earlier = doubt.filter(|doubt| steady < doubt.until).map_or(0, |doubt| doubt.jump.by_ms);
        let jump = ClockJump { by_ms: earlier.saturating_add(by_ms) };
        // Back at the earlier offset: nothing is in doubt.
        let is_over = jump.by_ms.unsigned_abs() < JUMP_MIN_MS;
        *doubt = (!is_over).then(|| Doubt { jump, until: steady + DOUBT_DURATION });
        self.doubt.is_in_doubt.store(!is_over, Ordering::Release);
        Some(ClockJump { by_ms })
    }

    /// Returns the jump in doubt. `steady` reads the steady clock, and is called only if there may be a
    /// doubt.
    pub(in crate::mall) fn doubt(&self, steady: impl FnOnce() -> Duration) -> Option<ClockJump> {
        self.doubt.jump(steady)
    }
}

fn offset_ms(wall: Timestamp, steady: Duration) -> i64 {
    wall.as_millis().saturating_sub(millis(steady))
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
    const HOUR: Duration = Duration::from_secs(3_600);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_clock_that_runs_or_is_slewed_never_jumps() {
        let detector = JumpDetector::default();
        let mut wall = NOON;
        for step in 0..10_000_u64 {
            wall = wall + seconds(1) + Duration::from_millis(step % 9);
            assert_eq!(detector.observe(wall, seconds(step)), None, "{step}");
        }
        assert_eq!(detector.doubt(|| seconds(10_000)), None);
    }

    #[test]
    fn a_jump_is_reported_once_and_in_doubt_for_an_hour_of_passing_time() {
        let detector = JumpDetector::default();
        assert_eq!(detector.observe(NOON, seconds(5)), None);
        let seen = detector.observe(NOON + HOUR + seconds(1), seconds(6));
        assert_eq!(seen.map(ClockJump::seconds), Some(3_600));
        assert_eq!(detector.observe(NOON + HOUR + seconds(2), seconds(7)), None);
        assert_eq!(detector.doubt(|| seconds(7)).map(ClockJump::ahead), Some(HOUR));
        assert!(detector.doubt(|| seconds(6 + 3_599)).is_some());
        assert_eq!(detector.doubt(|| seconds(6 + 3_600)), None);
    }

    #[test]
    fn a_clock_that_is_set_back_again_is_in_doubt_no_more() {
        let detector = JumpDetector::default();
        detector.observe(NOON, seconds(0));
        assert!(detector.observe(NOON + HOUR + seconds(1), seconds(1)).is_some());
        assert!(detector.observe(NOON + seconds(2), seconds(2)).is_some());
        assert_eq!(detector.doubt(|| seconds(2)), None);
        let back = detector.observe(NOON - HOUR + seconds(3), seconds(3)).unwrap();
        assert_eq!((back.seconds(), back.ahead()), (-3_600, Duration::ZERO));
        assert_eq!(detector.doubt(|| seconds(4)).map(ClockJump::seconds), Some(-3_600));
    }

    #[test]
    fn the_steady_clock_is_read_for_a_doubt_only_while_there_is_one() {
        let detector = JumpDetector::default();
        let unread = || -> Duration { unreachable!("nothing is in doubt") };
        detector.observe(NOON, seconds(0));
        assert_eq!(detector.doubt(unread), None);

        // Set by a jump, cleared when the clock is set back.
        assert!(detector.observe(NOON + HOUR, seconds(0)).is_some());
        assert!(detector.doubt(|| seconds(0)).is_some());
        assert!(detector.observe(NOON, seconds(0)).is_some());
        assert_eq!(detector.doubt(unread), None);

        // Set again, cleared by the first check after the hour.
        assert!(detector.observe(NOON + HOUR, seconds(0)).is_some());
        assert_eq!(detector.doubt(|| HOUR), None);
        assert_eq!(detector.doubt(unread), None);
    }

    #[test]
    fn clocks_agree_until_the_wall_clock_drifts_or_jumps() {
        let detector = JumpDetector::default();
        assert!(!detector.agrees(NOON, seconds(0)), "nothing to compare with yet");
        detector.observe(NOON, seconds(0));
        for (wall, agrees) in [
            (NOON + seconds(1), true),
            (NOON + seconds(1) - Duration::from_millis(1), true),
            (NOON + seconds(1) + Duration::from_millis(DRIFT_IGNORED_MS), false),
            (NOON + HOUR, false),
            (NOON - HOUR, false),
        ] {
            assert_eq!(detector.agrees(wall, seconds(1)), agrees, "{wall:?}");
        }
        assert_eq!(detector.observe(NOON + seconds(2), seconds(1)), None);
        assert!(detector.agrees(NOON + seconds(2), seconds(1)), "a drift is followed");
    }

    #[test]
    fn a_thread_that_finds_the_clocks_to_agree_after_a_jump_finds_the_doubt() {
        for _ in 0..200 {
            let detector = JumpDetector::default();
            detector.observe(NOON, seconds(0));
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        if !detector.agrees(NOON + HOUR, seconds(0)) {
                            let _ = detector.observe(NOON + HOUR, seconds(0));
                        }
                        assert_eq!(detector.doubt(|| seconds(0)).map(ClockJump::ahead), Some(HOUR));
                    });
                }
            });
        }
    }
}
