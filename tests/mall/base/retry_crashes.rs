//! Whatever dies, the work goes on at the segment that was not settled.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox::fixture::faults::Fault;
use mallbox::mall::base::chores::Chore;
use mallbox::mall::base::retry::{Attempt, FirstTry, RetryPolicy, RetryQueue, Segment, SegmentOutcome, Work};
use mallbox_storage::{RetrySettlement, RetryStep};
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::retry_world::{KIND, NOON, Scripted, World, eventually, of_work, policy};

/// Duration of a lease.
const LEASE: Duration = Duration::from_secs(60);

/// Waits inside each run until released.
struct Held {
    entered: Semaphore,
    releases: Semaphore,
}

impl Held {
    fn new() -> Arc<Self> {
        Arc::new(Self { entered: Semaphore::new(0), releases: Semaphore::new(0) })
    }

    /// Waits until a number of runs have begun since the last call.
    async fn entered(&self, runs: u32) {
        self.entered.acquire_many(runs).await.unwrap().forget();
    }

    /// Lets a number of runs pass.
    fn release(&self, runs: usize) {
        self.releases.add_permits(runs);
    }
}

#[async_trait]
impl Segment for Held {
    fn name(&self) -> &'static str {
        "held"
    }

    async fn run(&self, _: &Attempt) -> SegmentOutcome {
        self.entered.add_permits(1);
        self.releases.acquire().await.unwrap().forget();
        SegmentOutcome::Passed(b"held".to_vec())
    }
}

#[tokio::test]
async fn a_process_that_dies_in_a_segment_repeats_that_segment_only() {
    let first = Scripted::new("first", []);
    let held = Held::new();
    let segments: Vec<Arc<dyn Segment>> = vec![first.clone(), held.clone()];
    let w = of_work(Work::new(KIND, segments, policy())).await;
    let queue = w.queue.clone();
    let caller = tokio::spawn(async move { queue.submit(KIND, World::task("a")).await });
    held.entered(1).await;
    // The first segment is settled. The second passes, and the instance dies before the settlement.
    w.close().await;
    held.release(1);
    assert_eq!(caller.await.unwrap().unwrap(), FirstTry::Done((*b"held").into()));
    let second = Scripted::new("second", []);
    let segments: Vec<Arc<dyn Segment>> = vec![first.clone(), second.clone()];
    let w = w.reopen(Work::new(KIND, segments, policy())).await;
    w.advance(59).await;
    assert!(second.attempts().is_empty(), "the lease of the dead instance lasts");
    w.advance(1).await;
    assert_eq!((first.attempts(), second.runs.lock()[..].to_vec()), (vec![1], vec![(1, "first".to_owned())]));
    assert_eq!(w.counts().await, (0, 0));
}

/// Begins a run of the background job of the queue's only kind.
fn begin_run(queue: &RetryQueue, stop: &CancellationToken) -> JoinHandle<()> {
    let (run_due, stop): (Arc<dyn Chore>, _) = (queue.chores().swap_remove(0), stop.clone());
    tokio::spawn(async move { run_due.run_until(NOON, &stop).await })
}

#[tokio::test]
async fn a_stop_while_a_segment_runs_leaves_the_next_segment_to_the_next_start() {
    let held = Held::new();
    let second = Scripted::new("second", []);
    let segments: Vec<Arc<dyn Segment>> = vec![held.clone(), second.clone()];
    let one_by_one = RetryPolicy { concurrency: 1, ..policy() };
    let w = of_work(Work::new(KIND, segments, one_by_one)).await;
    w.queue.submit_all(KIND, vec![World::task("a"), World::task("b")]).await.unwrap();
    let stop = CancellationToken::new();
    let running = begin_run(&w.queue, &stop);
    held.entered(1).await;
    stop.cancel();
    held.release(1);
    running.await.unwrap();
    assert!(second.attempts().is_empty(), "no segment begins after the stop");
    let leased = w.storage.base.retry_tasks.lease_due(KIND, 9, NOON, NOON).await.unwrap();
    let leases: Vec<_> = leased.iter().map(|task| (&*task.key, task.segment, task.lease.number)).collect();
    assert_eq!(leases, [("a", 1, 2), ("b", 0, 1)], "both are due, and nothing was leased after the stop");
    held.release(1);
    w.advance(0).await;
    assert_eq!(second.runs.lock()[..], [(1, "held".to_owned()), (1, "held".to_owned())]);
    assert_eq!(w.counts().await, (0, 0));
}

#[tokio::test]
async fn a_run_whose_lease_was_taken_over_goes_no_further() {
    let (held, second) = (Held::new(), Scripted::new("second", []));
    let segments: Vec<Arc<dyn Segment>> = vec![held.clone(), second.clone()];
    let w = of_work(Work::new(KIND, segments, policy())).await;
    w.queue.submit_all(KIND, vec![World::task("a")]).await.unwrap();
    let running = begin_run(&w.queue, &CancellationToken::new());
    held.entered(1).await;
    let (expired, later) = (NOON + LEASE, NOON + LEASE * 2);
    let others = w.storage.base.retry_tasks.lease_due(KIND, 9, expired, later).await.unwrap();
    assert_eq!((others.len(), others[0].segment), (1, 0));
    held.release(1);
    running.await.unwrap();
    assert!(second.attempts().is_empty());
    let done = RetrySettlement { lease: others[0].lease, step: RetryStep::Done };
    assert_eq!(w.storage.base.retry_tasks.settle(KIND, &[done], expired).await.unwrap(), [true]);
    assert_eq!(w.counts().await, (0, 0));
}

#[tokio::test]
async fn a_store_that_fails_once_ends_the_run_and_loses_nothing() {
    let (held, second) = (Held::new(), Scripted::new("second", []));
    let segments = || -> Vec<Arc<dyn Segment>> { vec![held.clone(), second.clone()] };
    let w = of_work(Work::new(KIND, segments(), policy())).await;
    w.queue.submit_all(KIND, vec![World::task("a"), World::task("b")]).await.unwrap();
    let (faulty, faults) = w.behind_faults(Work::new(KIND, segments(), policy()));
    faults.add(Fault::at_port("retry_tasks.settle").error().times(1)).unwrap();
    let running = begin_run(&faulty, &CancellationToken::new());
    held.entered(2).await;
    held.release(1);
    eventually(async || faults.list().is_empty()).await;
    held.release(1);
    running.await.unwrap();
    assert!(second.attempts().is_empty(), "no segment begins after the failure");
    // The settled task goes on at once, the other one after its lease.
    w.advance(0).await;
    assert_eq!(second.attempts(), [1]);
    held.release(1);
    w.advance(60).await;
    assert_eq!((second.attempts(), w.counts().await), (vec![1, 1], (0, 0)));
}

#[tokio::test]
async fn a_stop_while_tasks_are_leased_begins_none() {
    let segment = Scripted::new("first", []);
    let work = || Work::new(KIND, vec![segment.clone() as Arc<dyn Segment>], policy());
    let w = of_work(work()).await;
    w.queue.submit_all(KIND, vec![World::task("a"), World::task("b")]).await.unwrap();
    let (slow, faults) = w.behind_faults(work());
    faults.add(Fault::at_port("retry_tasks.lease_due").delay(Fault::LONGEST_DELAY).times(1)).unwrap();
    let stop = CancellationToken::new();
    let running = begin_run(&slow, &stop);
    eventually(async || faults.list().is_empty()).await;
    stop.cancel();
    let calm = faults.calm();
    running.await.unwrap();
    drop(calm);
    assert!(segment.attempts().is_empty());
    let due = w.storage.base.retry_tasks.next_due(KIND).await.unwrap();
    assert_eq!(due, Some(NOON), "the leases are released");
    w.advance(0).await;
    assert_eq!((segment.attempts(), w.counts().await), (vec![1, 1], (0, 0)));
}

/// Counts the runs per key.
#[derive(Default)]
struct Counting(Mutex<std::collections::BTreeMap<String, u32>>);

#[async_trait]
impl Segment for Counting {
    fn name(&self) -> &'static str {
        "count"
    }

    async fn run(&self, attempt: &Attempt) -> SegmentOutcome {
        *self.0.lock().entry(attempt.key.clone()).or_default() += 1;
        tokio::task::yield_now().await;
        SegmentOutcome::Passed(Vec::new())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_instances_share_a_queue_and_each_task_is_done_once() {
    let counting = Arc::new(Counting::default());
    let work = || Work::new(KIND, vec![counting.clone() as Arc<dyn Segment>], policy());
    let one = of_work(work()).await;
    // One process alone opens a directory.
    let other = if one.is_shared() { Some(one.second(work()).await) } else { None };
    let tasks: Vec<_> = (0..500).map(|number| World::task(&number.to_string())).collect();
    one.queue.submit_all(KIND, tasks).await.unwrap();
    let others = async {
        if let Some(other) = &other {
            other.advance(0).await;
        }
    };
    tokio::join!(one.advance(0), others);
    let counted = counting.0.lock().clone();
    assert_eq!((counted.len(), counted.values().all(|runs| *runs == 1)), (500, true));
    assert_eq!(one.counts().await, (0, 0));
    let passed = one.metrics().await.passed;
    let by_other = match &other {
        Some(other) => other.metrics().await.passed,
        None => 0,
    };
    assert_eq!(passed + by_other, 500);
    assert_eq!(by_other > 0, other.is_some(), "both instances worked");
}

#[tokio::test]
async fn what_the_store_did_not_settle_runs_again() {
    let (first, second) = (Scripted::new("first", []), Scripted::new("second", []));
    let segments = || -> Vec<Arc<dyn Segment>> { vec![first.clone(), second.clone()] };
    let w = of_work(Work::new(KIND, segments(), policy())).await;
    let (faulty, faults) = w.behind_faults(Work::new(KIND, segments(), policy()));
    faults.add(Fault::at_port("retry_tasks.settle").error().times(1)).unwrap();
    let _ = faulty.submit(KIND, World::task("a")).await.unwrap();
    assert_eq!((first.attempts(), second.attempts()), (vec![1], vec![]));
    w.advance(59).await;
    assert_eq!(first.attempts(), [1]);
    w.advance(1).await;
    assert_eq!((first.attempts(), second.attempts()), (vec![1, 1], vec![1]));
    assert_eq!(w.counts().await, (0, 0));
}
