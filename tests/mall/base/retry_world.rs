//! A retry queue with scripted segments.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::tz::TimeZone;
use mallbox::fixture::faults::{self, Faults};
use mallbox::mall::base::chores::Chores;
use mallbox::mall::base::retry::{
    Attempt, FirstTry, RetryMetrics, RetryPolicy, RetryQueue, Segment, SegmentOutcome, Submission, Work,
};
use mallbox::mall::{Clock as _, Context, ManualClock, Settings};
use mallbox_storage::{FailedTask, Storage, Timestamp};
use mallbox_storage_embedded::DiskFaults;
use mallbox_test_patience::Deadline;
use mallbox_test_servers::MallLocation;
use parking_lot::Mutex;

pub const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
pub const KIND: &str = "test";

/// What a segment does in its next run.
#[derive(Clone)]
pub enum Act {
    Pass(&'static str),
    /// Throws: panics.
    Throw,
    Nothing,
    Fail,
    GiveUp,
    Hang,
}

/// A segment that follows a script; after the script it passes with its own name.
pub struct Scripted {
    name: &'static str,
    script: Mutex<VecDeque<Act>>,
    /// Number and former result of each run.
    pub runs: Mutex<Vec<(u32, String)>>,
}

impl Scripted {
    pub fn new(name: &'static str, script: impl IntoIterator<Item = Act>) -> Arc<Self> {
        let script = Mutex::new(script.into_iter().collect());
        Arc::new(Self { name, script, runs: Mutex::default() })
    }

    pub fn then(&self, script: impl IntoIterator<Item = Act>) {
        self.script.lock().extend(script);
    }

    /// Returns the numbers of the attempts so far.
    pub fn attempts(&self) -> Vec<u32> {
        self.runs.lock().iter().map(|(number, _)| *number).collect()
    }
}

#[async_trait]
impl Segment for Scripted {
    fn name(&self) -> &'static str {
        self.name
    }

    async fn run(&self, attempt: &Attempt) -> SegmentOutcome {
        let former = String::from_utf8(attempt.former.to_vec()).unwrap();
        self.runs.lock().push((attempt.number, former));
        let act = self.script.lock().pop_front().unwrap_or(Act::Pass(self.name));
        match act {
            Act::Pass(result) => SegmentOutcome::Passed(result.as_bytes().to_vec()),
            Act::Throw => panic!("thrown by the script"),
            Act::Nothing => SegmentOutcome::NoResult,
            Act::Fail => SegmentOutcome::Failed("failed by the script".to_owned()),
            Act::GiveUp => SegmentOutcome::Hopeless("hopeless by the script".to_owned()),
            Act::Hang => std::future::pending().await,
        }
    }
}

/// Returns the default policy without a breaker.
pub fn policy() -> RetryPolicy {
    RetryPolicy { breaker: None, segment_timeout: Duration::from_secs(20), ..RetryPolicy::default() }
}

/// An instance of a mall that has nothing but a retry queue.
pub struct World {
    context: Context,
    pub storage: Storage,
    pub clock: Arc<ManualClock>,
    pub queue: RetryQueue,
    chores: Chores,
    ground: Arc<MallLocation>,
}

pub async fn world(segments: &[Arc<Scripted>]) -> World {
    with_policy(segments, policy()).await
}

pub async fn with_policy(segments: &[Arc<Scripted>], policy: RetryPolicy) -> World {
    let segments = segments.iter().map(|segment| Arc::clone(segment) as Arc<dyn Segment>).collect();
    of_work(Work::new(KIND, segments, policy)).await
}

pub async fn of_work(work: Work) -> World {
    let ground = Arc::new(MallLocation::of_target(env!("CARGO_CRATE_NAME")));
    instance(ground, NOON, work).await
}

async fn instance(ground: Arc<MallLocation>, now: Timestamp, work: Work) -> World {
    let storage = ground.open().await;
    let clock = Arc::new(ManualClock::new(now));
    let context = Context::new(storage.clone(), clock.clone(), TimeZone::UTC, Arc::new(Settings::default()));
    let queue = RetryQueue::new(context.clone(), vec![work]);
    World { chores: Chores::new(clock.clone(), queue.chores()), context, storage, clock, queue, ground }
}

impl World {
    pub fn task(key: &str) -> Submission {
        Submission { key: key.to_owned(), group: None, payload: key.as_bytes().into() }
    }

    pub async fn submit(&self, key: &str) -> FirstTry {
        self.queue.submit(KIND, Self::task(key)).await.unwrap()
    }

    /// Moves the clock and runs what is due.
    pub async fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
        self.chores.run_all_due(self.clock.now()).await;
    }

    pub async fn metrics(&self) -> RetryMetrics {
        self.queue.metrics().await.unwrap().remove(0)
    }

    /// Returns the numbers of open and of failed tasks.
    pub async fn counts(&self) -> (u64, u64) {
        let counts = self.metrics().await.counts;
        (counts.open, counts.failed)
    }

    pub async fn failed(&self) -> Vec<FailedTask> {
        self.storage.base.retry_tasks.failed(Some(KIND), None, 100).await.unwrap()
    }

    /// Opens another instance on the same servers.
    pub async fn second(&self, work: Work) -> Self {
        instance(Arc::clone(&self.ground), self.clock.now(), work).await
    }

    /// Whether several instances can share the storage.
    pub fn is_shared(&self) -> bool {
        self.ground.production().is_some()
    }

    /// Returns a queue of the same instance with fault injection in front of the storage, and the faults.
    pub fn behind_faults(&self, work: Work) -> (RetryQueue, Arc<Faults>) {
        let faults = Arc::new(Faults::new(self.clock.clone(), Arc::<DiskFaults>::default()));
        let storage = faults::behind(self.storage.clone(), &faults);
        let mut context = self.context.clone();
        context.storage = storage;
        (RetryQueue::new(context, vec![work]), faults)
    }

    /// Closes the storage: what runs now is settled no more.
    pub async fn close(&self) {
        self.storage.base.upkeep.close().await.unwrap();
    }

    /// Opens another instance in the place of this one, which is closed.
    pub async fn reopen(self, work: Work) -> Self {
        let (now, ground) = (self.clock.now(), Arc::clone(&self.ground));
        drop(self);
        instance(ground, now, work).await
    }
}

/// Waits until the condition holds.
pub async fn eventually(condition: impl AsyncFn() -> bool) {
    let deadline = Deadline::after(Duration::from_secs(20));
    while !condition().await {
        assert!(!deadline.is_over());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
