//! The mall's one source of time.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use mallbox_storage::Timestamp;
use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::Notify;

use super::clock_jump::{ClockJump, JumpDetector};

/// Time as the mall sees it. Whatever depends on time asks this once a request and hands the answer on.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;

    /// The jump of this clock that is in doubt. A clock that is moved on purpose makes none.
    fn doubt(&self) -> Option<ClockJump> {
        None
    }

    /// Whether this is the machine's clock, which anybody may set, and not one that is moved on purpose.
    fn is_machines(&self) -> bool {
        false
    }

    /// Returns when `now() >= at`, or earlier: look again.
    async fn reach(&self, at: Timestamp);
}

/// The machine's clock, read once.
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
        /// A clock that is set forward is noticed after this long.
        const LONGEST: Duration = Duration::from_secs(1);
        tokio::time::sleep(at.since(self.now()).min(LONGEST)).await;
    }
}

/// The machine's clock, compared at each look with one that nobody can set and that counts suspension.
#[derive(Debug, Default)]
pub struct WatchedClock {
    jumps: JumpDetector,
}

impl WatchedClock {
    /// Time since the machine started, suspension included.
    fn steady() -> Duration {
        let since = clock_gettime(ClockId::Boottime);
        let seconds = u64::try_from(since.tv_sec).unwrap_or_default();
        Duration::new(seconds, u32::try_from(since.tv_nsec).unwrap_or_default())
    }

    /// Both clocks at one moment. A thread that is held up between two looks would see a jump where none was.
    fn both() -> (Timestamp, Duration) {
        /// A look takes less than a microsecond.
        const HELD_UP: Duration = Duration::from_secs(1);
        loop {
            let before = Self::steady();
            let wall = SystemClock.now();
            let after = Self::steady();
            if after.saturating_sub(before) < HELD_UP {
                return (wall, after);
            }
        }
    }
}

#[async_trait]
impl Clock for WatchedClock {
    fn now(&self) -> Timestamp {
        let wall = SystemClock.now();
        if self.jumps.agrees(wall, Self::steady()) {
            return wall;
        }
        let (wall, steady) = Self::both();
        if let Some(jump) = self.jumps.observe(wall, steady) {
            tracing::warn!(jump_seconds = jump.seconds(), "{jump}");
        }
        wall
    }

    fn doubt(&self) -> Option<ClockJump> {
        self.jumps.doubt(Self::steady)
    }

    fn is_machines(&self) -> bool {
        true
    }

    async fn reach(&self, at: Timestamp) {
        SystemClock.reach(at).await;
    }
}

/// A clock that goes where it is told: it stands, or runs from where it was put.
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

    /// The same from this instant on.
    fn at(self, now: Timestamp) -> Self {
        match self {
            Self::Stands { .. } => Self::Stands { at: now },
            Self::Runs { .. } => Self::Runs { from: now, since: Instant::now() },
        }
    }
}

impl ManualClock {
    /// Stands at `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self { motion: Mutex::new(Motion::Stands { at: start }), moved: Notify::new() }
    }

    /// Moves to an instant, forwards or backwards; it goes on standing or running there.
    pub fn set(&self, now: Timestamp) {
        self.change(|motion| motion.at(now));
    }

    /// Moves forwards by a span.
    pub fn advance(&self, span: Duration) {
        self.change(|motion| motion.at(motion.now() + span));
    }

    /// Stands from now on.
    pub fn freeze(&self) {
        self.change(|motion| Motion::Stands { at: motion.now() });
    }

    /// Runs from now on, as fast as the machine's clock.
    pub fn run(&self) {
        self.change(|motion| Motion::Runs { from: motion.now(), since: Instant::now() });
    }

    /// Whether it stands.
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
                // Moved or frozen meanwhile: then it is looked at anew.
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
