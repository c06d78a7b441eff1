//! Background jobs, scheduled by the mall's clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::Timestamp;
use tokio_util::sync::CancellationToken;

use super::Clock;

/// A periodic background job.
#[async_trait]
pub trait Chore: Send + Sync {
    /// Returns the job's name, for the log.
    fn name(&self) -> &'static str;

    /// Returns the time of the next run: at or before `now` means immediately, `None` means not scheduled.
    async fn next_due(&self, now: Timestamp) -> Option<Timestamp>;

    /// Does all work due at `now` and logs failures. Idempotent.
    async fn run(&self, now: Timestamp);

    /// Does as [`run`](Self::run), but returns soon after `stop`; the remaining work stays due. For jobs with
    /// long runs.
    async fn run_until(&self, now: Timestamp, stop: &CancellationToken) {
        let _ = stop;
        self.run(now).await;
    }
}

/// A job with the lock against overlapping runs.
struct Entry {
    chore: Arc<dyn Chore>,
    turn: tokio::sync::Mutex<()>,
}

/// Runs the mall's background jobs. Each job has a separate driver: a job waiting for a gateway delays no
/// other.
pub struct Chores {
    clock: Arc<dyn Clock>,
    entries: Vec<Arc<Entry>>,
}

impl Chores {
    /// Creates the runner for `chores`, driven by `clock`.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, chores: Vec<Arc<dyn Chore>>) -> Self {
        let entry = |chore| Arc::new(Entry { chore, turn: tokio::sync::Mutex::default() });
        Self { clock, entries: chores.into_iter().map(entry).collect() }
    }

    /// Runs each job whenever due, until `stop`. A run in progress finishes, or ends between two batches.
    pub async fn run(&self, stop: CancellationToken) {
        let mut driven = tokio::task::JoinSet::new();
        for entry in &self.entries {
            driven.spawn(drive(Arc::clone(entry), Arc::clone(&self.clock), stop.clone()));
        }
        while let Some(ended) = driven.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "the driver of a background job panicked");
            }
        }
    }

    /// Runs jobs until none is due at `now`, for use after a move of the clock.
    ///
    /// Before moving the clock, make sure that the order log is
    /// [drained](crate::mall::selling::order_workers::drained).
    pub async fn run_all_due(&self, now: Timestamp) {
        /// One job may create work for another. A job still due has failed, and its driver retries.
        const ROUNDS_MAX: usize = 8;
        let never = CancellationToken::new();
        for _ in 0..ROUNDS_MAX {
            let mut was_idle = true;
            for entry in &self.entries {
                was_idle &= !entry.run_if_due(now, &never).await;
            }
            if was_idle {
                return;
            }
        }
        tracing::warn!(now_ms = now.as_millis(), "a background job is still due after {ROUNDS_MAX} rounds");
    }

    /// Returns the names of the jobs due at `now`.
    pub async fn due(&self, now: Timestamp) -> Vec<&'static str> {
        let mut due = Vec::new();
        for entry in &self.entries {
            if entry.chore.next_due(now).await.is_some_and(|at| at <= now) {
                due.push(entry.chore.name());
            }
        }
        due
    }
}

impl Entry {
    /// Runs the job if due. Returns whether the job was due.
    async fn run_if_due(self: &Arc<Self>, now: Timestamp, stop: &CancellationToken) -> bool {
        let _turn = self.turn.lock().await;
        if self.chore.next_due(now).await.is_none_or(|due| due > now) {
            return false;
        }
        // A separate task: if the job panics, the panic is logged and the job runs again.
        let (chore, stop) = (Arc::clone(&self.chore), stop.clone());
        if let Err(error) = tokio::spawn(async move { chore.run_until(now, &stop).await }).await {
            tracing::error!(chore = self.chore.name(), %error, "a background job panicked");
        }
        true
    }
}

async fn drive(entry: Arc<Entry>, clock: Arc<dyn Clock>, stop: CancellationToken) {
    /// Longest interval between calls of `next_due`, by the mall's clock: the job may have become due earlier
    /// meanwhile.
    const POLL_INTERVAL: Duration = Duration::from_secs(1);
    /// Real time between retries of a failed job.
    const RETRY_PAUSE: Duration = Duration::from_millis(100);
    while !stop.is_cancelled() {
        let now = clock.now();
        let ran = entry.run_if_due(now, &stop).await;
        let next = entry.chore.next_due(now).await;
        let wait = async {
            match next {
                Some(due) if due <= now && ran => tokio::time::sleep(RETRY_PAUSE).await,
                Some(due) => clock.reach(due.min(now + POLL_INTERVAL)).await,
                None => clock.reach(now + POLL_INTERVAL).await,
            }
        };
        tokio::select! {
            () = wait => {}
            () = stop.cancelled() => {}
        }
    }
}

/// A fixed interval: due immediately the first time, and after the clock was set back.
#[derive(Debug)]
pub(in crate::mall) struct Every {
    span: Duration,
    last_ms: AtomicI64,
}

impl Every {
    pub(in crate::mall) fn new(span: Duration) -> Self {
        Self { span, last_ms: AtomicI64::new(i64::MAX) }
    }

    pub(in crate::mall) fn next(&self, now: Timestamp) -> Timestamp {
        let last = Timestamp::from_millis(self.last_ms.load(Ordering::SeqCst));
        if last > now { now } else { last + self.span }
    }

    pub(in crate::mall) fn ran(&self, now: Timestamp) {
        self.last_ms.store(now.as_millis(), Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;
    use crate::mall::base::ManualClock;

    const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);

    /// Records the runs of a job.
    struct RecordingChore {
        every: Every,
        rang: Mutex<Vec<Timestamp>>,
    }

    impl RecordingChore {
        fn every(seconds: u64) -> Arc<Self> {
            Arc::new(Self { every: Every::new(Duration::from_secs(seconds)), rang: Mutex::default() })
        }
    }

    #[async_trait]
    impl Chore for RecordingChore {
        fn name(&self) -> &'static str {
            "bell"
        }

        async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
            Some(self.every.next(now))
        }

        async fn run(&self, now: Timestamp) {
            self.every.ran(now);
            self.rang.lock().push(now);
            assert!(now != NOON + Duration::from_secs(20), "a chore that breaks off");
        }
    }

    #[tokio::test]
    async fn a_moved_clock_runs_what_is_due_once_however_far_it_moved() {
        let clock = Arc::new(ManualClock::new(NOON));
        let (quick, slow) = (RecordingChore::every(1), RecordingChore::every(60));
        let chores = Chores::new(clock.clone(), vec![quick.clone(), slow.clone()]);
        for seconds in [0, 0, 20, 59, 3_600] {
            let now = NOON + Duration::from_secs(seconds);
            clock.set(now);
            chores.run_all_due(now).await;
        }
        let at = |seconds| NOON + Duration::from_secs(seconds);
        assert_eq!(*quick.rang.lock(), [at(0), at(20), at(59), at(3_600)]);
        assert_eq!(*slow.rang.lock(), [at(0), at(3_600)]);
    }

    #[tokio::test]
    async fn driven_chores_follow_the_clock_outlive_a_panic_and_stop_on_request() {
        let clock = Arc::new(ManualClock::new(NOON));
        let chore = RecordingChore::every(10);
        let chores = Arc::new(Chores::new(clock.clone(), vec![chore.clone()]));
        let stop = CancellationToken::new();
        let running = tokio::spawn({
            let (chores, stop) = (Arc::clone(&chores), stop.clone());
            async move { chores.run(stop).await }
        });
        for (step, seconds) in [0, 20, 30].into_iter().enumerate() {
            clock.set(NOON + Duration::from_secs(seconds));
            for _ in 0..1_000 {
                if chore.rang.lock().len() > step {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            assert_eq!(chore.rang.lock().len(), step + 1, "at {seconds} s");
        }
        stop.cancel();
        tokio::time::timeout(Duration::from_secs(5), running).await.unwrap().unwrap();
    }

    #[test]
    fn a_clock_that_went_back_makes_a_chore_due_at_once() {
        let every = Every::new(Duration::from_secs(10));
        assert_eq!(every.next(NOON), NOON);
        every.ran(NOON);
        assert_eq!(every.next(NOON), NOON + Duration::from_secs(10));
        let before = NOON - Duration::from_secs(3_600);
        assert_eq!(every.next(before), before);
    }
}
