//! Jumps of the machine's clock: moves by more than the elapsed time.

use std::fmt;
use std::time::Duration;

/// A move of the mall's time that elapsed time does not explain.
///
/// Until an hour has passed, expiry is judged by elapsed time, so that no user loses an order or a session to
/// a clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockJump {
    by_ms: i64,
}

impl ClockJump {
    /// Creates a jump forward.
    #[must_use]
    pub fn forward(by: Duration) -> Self {
        Self { by_ms: i64::try_from(by.as_millis()).unwrap_or(i64::MAX) }
    }

    /// Creates a jump by milliseconds, negative for a jump backwards.
    pub(super) fn of_millis(by_ms: i64) -> Self {
        Self { by_ms }
    }

    /// Returns the jump in milliseconds, negative for a jump backwards.
    pub(super) fn as_millis(self) -> i64 {
        self.by_ms
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
