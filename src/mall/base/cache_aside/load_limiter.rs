//! Concurrency limit for database reads.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// Concurrency limit with load shedding: `most` reads at once, but only one while reads take longer than
/// `slow`.
pub(super) struct LoadLimiter {
    places: Semaphore,
    most: usize,
    slow: Duration,
    is_slow: AtomicBool,
}

impl LoadLimiter {
    pub(super) fn new(most: usize, slow: Duration) -> Self {
        Self { places: Semaphore::new(most), most, slow, is_slow: AtomicBool::new(false) }
    }

    /// Runs `work` if a permit is free within `slow`; otherwise returns `None`.
    pub(super) async fn pass<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let _place = self.place().await?;
        let began = Instant::now();
        let mut work = std::pin::pin!(work);
        let answer = match tokio::time::timeout(self.slow, work.as_mut()).await {
            Ok(answer) => answer,
            Err(_) => {
                // Callers that arrive during the slow read need not find out for themselves.
                self.is_slow.store(true, Relaxed);
                work.await
            }
        };
        self.is_slow.store(began.elapsed() >= self.slow, Relaxed);
        Some(answer)
    }

    /// Returns whether new callers are rejected: reads are slow, and a probe is already running.
    pub(super) fn is_shut(&self) -> bool {
        self.is_slow.load(Relaxed) && self.places.available_permits() < self.most
    }

    async fn place(&self) -> Option<SemaphorePermit<'_>> {
        if self.is_shut() {
            return None;
        }
        tokio::time::timeout(self.slow, self.places.acquire()).await.ok()?.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const SLOW: Duration = Duration::from_millis(100);

    #[tokio::test]
    async fn while_it_is_slow_one_at_a_time_tries_and_when_it_is_quick_again_all_may() {
        let gate = Arc::new(LoadLimiter::new(3, SLOW));
        let long = {
            let gate = Arc::clone(&gate);
            tokio::spawn(async move { gate.pass(tokio::time::sleep(5 * SLOW)).await })
        };
        tokio::time::sleep(SLOW / 10).await;
        assert_eq!(gate.pass(async { 1 }).await, Some(1), "nobody knows yet");
        tokio::time::sleep(2 * SLOW).await;
        assert_eq!((gate.is_shut(), gate.pass(async { 2 }).await), (true, None));
        assert_eq!(long.await.unwrap(), Some(()));
        let (one, other) = tokio::join!(gate.pass(tokio::task::yield_now()), gate.pass(async { 3 }));
        assert_eq!((one, other), (Some(()), None), "one tries");
        let (one, other) = tokio::join!(gate.pass(tokio::task::yield_now()), gate.pass(async { 4 }));
        assert_eq!((one, other), (Some(()), Some(4)));
    }

    #[tokio::test]
    async fn who_finds_no_place_is_turned_away_before_long() {
        let gate = LoadLimiter::new(1, SLOW);
        let (_, turned_away) = tokio::join!(gate.pass(tokio::time::sleep(20 * SLOW)), async {
            let began = Instant::now();
            assert_eq!(gate.pass(async { 1 }).await, None);
            began.elapsed()
        });
        assert!(turned_away < 10 * SLOW, "{turned_away:?}");
    }
}
