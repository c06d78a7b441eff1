//! The mall's one source of time.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::Timestamp;
use tokio::sync::Notify;

/// Time as the mall sees it. Whatever depends on time asks this once a request and hands the answer on.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;

    /// Returns when `now() >= at`, or earlier: look again.
    async fn reach(&self, at: Timestamp);
}

/// The machine's clock.
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

/// A clock that stands still until it is told to move.
#[derive(Debug)]
pub struct ManualClock {
    now_ms: AtomicI64,
    moved: Notify,
}

impl ManualClock {
    /// Stands at `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self { now_ms: AtomicI64::new(start.as_millis()), moved: Notify::new() }
    }

    /// Moves to an instant, forwards or backwards.
    pub fn set(&self, now: Timestamp) {
        self.now_ms.store(now.as_millis(), Ordering::SeqCst);
        self.moved.notify_waiters();
    }

    /// Moves forwards by a span.
    pub fn advance(&self, span: Duration) {
        self.set(self.now() + span);
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.now_ms.load(Ordering::SeqCst))
    }

    async fn reach(&self, at: Timestamp) {
        loop {
            let moved = self.moved.notified();
            if self.now() >= at {
                return;
            }
            moved.await;
        }
    }
}
