//! The mall's only source of time.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use mallbox_storage::Timestamp;
use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::Notify;

use super::clock_guard::{ClockGuard, MachineTime};
use super::clock_jump::ClockJump;

/// Time as the mall sees it. Time-dependent code reads the clock once per request and passes the value on.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;

    /// Returns the jump that expiry does not follow yet, if any. A clock moved on purpose has none.
    fn doubt(&self) -> Option<ClockJump> {
        None
    }

    /// Returns the guard of the machine's clock, which can be set from outside; `None` for a clock moved on
    /// purpose.
    fn guard(&self) -> Option<&ClockGuard> {
        None
    }

    /// Sleeps until `now() >= at`. May return earlier: callers must check again.
    async fn reach(&self, at: Timestamp);
}

/// The machine's clock, without jump detection.
#[derive(Debug, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everything else is told to ask")]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    async fn reach(&self, at: Timestamp) {
        sleep_towards(at, self.now()).await;
    }
}

/// The machine's clock, compared on every read with a steady clock that cannot be set and that counts
/// suspension. An unsure clock is not followed, see [`ClockGuard`].
#[derive(Debug)]
pub struct WatchedClock {
    guard: ClockGuard,
}

impl WatchedClock {
    /// Creates a clock that reads another source than this machine.
    #[must_use]
    pub fn with_source(machine: Box<dyn MachineTime>) -> Self {
        Self { guard: ClockGuard::new(machine) }
    }
}

impl Default for WatchedClock {
    fn default() -> Self {
        Self::with_source(Box::new(ThisMachine))
    }
}

#[async_trait]
impl Clock for WatchedClock {
    fn now(&self) -> Timestamp {
        self.guard.now()
    }

    fn doubt(&self) -> Option<ClockJump> {
        self.guard.lag()
    }

    fn guard(&self) -> Option<&ClockGuard> {
        Some(&self.guard)
    }

    async fn reach(&self, at: Timestamp) {
        sleep_towards(at, self.now()).await;
    }
}

/// The clocks of this machine.
#[derive(Debug)]
struct ThisMachine;

impl MachineTime for ThisMachine {
    fn wall(&self) -> Timestamp {
        SystemClock.now()
    }

    fn steady(&self) -> Duration {
        #[cfg(target_os = "linux")]
        let since = clock_gettime(ClockId::Boottime);
        // On macOS this one counts suspension.
        #[cfg(not(target_os = "linux"))]
        let since = clock_gettime(ClockId::Monotonic);
        let seconds = u64::try_from(since.tv_sec).unwrap_or_default();
        Duration::new(seconds, u32::try_from(since.tv_nsec).unwrap_or_default())
    }
}

/// Sleeps until `at`, or for so long that a clock set forward is noticed.
async fn sleep_towards(at: Timestamp, now: Timestamp) {
    /// Longest sleep, and so the delay until a clock set forward is noticed.
    const SLEEP_MAX: Duration = Duration::from_secs(1);
    tokio::time::sleep(at.since(now).min(SLEEP_MAX)).await;
}

/// A clock set by hand: frozen, or running from the instant where it was put.
#[derive(Debug)]
pub struct ManualClock {
    motion: Mutex<Motion>,
    moved: Notify,
}

#[derive(Clone, Copy, Debug)]
enum Motion {
    Stands { at: Timestamp },
    Runs { from: Timestamp, since: Instant },
}

impl Motion {
    fn now(self) -> Timestamp {
        match self {
            Self::Stands { at } => at,
            Self::Runs { from, since } => from + since.elapsed(),
        }
    }

    /// Returns the same kind of motion, starting at `now`.
    fn at(self, now: Timestamp) -> Self {
        match self {
            Self::Stands { .. } => Self::Stands { at: now },
            Self::Runs { .. } => Self::Runs { from: now, since: Instant::now() },
        }
    }
}

impl ManualClock {
    /// Creates a clock frozen at `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self { motion: Mutex::new(Motion::Stands { at: start }), moved: Notify::new() }
    }

    /// Moves the clock to an instant, forwards or backwards. A frozen clock stays frozen, a running one keeps
    /// running.
    pub fn set(&self, now: Timestamp) {
        self.change(|motion| motion.at(now));
    }

    /// Moves the clock forwards by a span.
    pub fn advance(&self, span: Duration) {
        self.change(|motion| motion.at(motion.now() + span));
    }

    /// Freezes the clock at the current instant.
    pub fn freeze(&self) {
        self.change(|motion| Motion::Stands { at: motion.now() });
    }

    /// Lets the clock run at the speed of real time.
    pub fn run(&self) {
        self.change(|motion| Motion::Runs { from: motion.now(), since: Instant::now() });
    }

    /// Returns whether the clock is frozen.
    #[must_use]
    pub fn is_frozen(&self) -> bool {
        matches!(*self.motion.lock(), Motion::Stands { .. })
    }

    fn change(&self, change: impl FnOnce(Motion) -> Motion) {
        {
            let mut motion = self.motion.lock();
            *motion = change(*motion);
        }
        self.moved.notify_waiters();
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.motion.lock().now()
    }

    async fn reach(&self, at: Timestamp) {
        loop {
            let moved = self.moved.notified();
            let left = at.since(self.now());
            if left.is_zero() {
                return;
            }
            if self.is_frozen() {
                moved.await;
            } else {
                // Either the span is over, or the clock was moved or frozen: check again.
                let _ = tokio::time::timeout(left, moved).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
    const HOUR: Duration = Duration::from_secs(3_600);

    #[test]
    fn a_clock_stands_and_runs_where_it_is_put() {
        let clock = ManualClock::new(NOON);
        assert!(clock.is_frozen() && clock.now() == NOON);
        clock.advance(HOUR);
        assert_eq!(clock.now(), NOON + HOUR);
        clock.run();
        clock.set(NOON);
        assert!(!clock.is_frozen() && clock.now() >= NOON && clock.now() < NOON + HOUR);
        clock.freeze();
        let frozen = clock.now();
        std::thread::sleep(Duration::from_millis(3));
        assert_eq!(clock.now(), frozen);
    }

    #[tokio::test]
    async fn an_instant_is_reached_by_running_or_by_a_move() {
        let clock = ManualClock::new(NOON);
        clock.run();
        clock.reach(NOON + Duration::from_millis(5)).await;
        assert!(clock.now() >= NOON + Duration::from_millis(5));
        let reached = async { clock.reach(NOON + HOUR).await };
        let moved = async {
            tokio::task::yield_now().await;
            clock.freeze();
            tokio::task::yield_now().await;
            clock.advance(HOUR);
        };
        tokio::join!(reached, moved);
    }
}
