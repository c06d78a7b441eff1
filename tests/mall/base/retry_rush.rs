//! Thousands of callers at once.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mallbox::mall::base::retry::{FirstTry, RetryPolicy, Segment, Work};
use mallbox_storage::RetryLimits;
use tokio::task::JoinSet;

use super::fails_four_times::{self, FailsFourTimes};
use super::retry_world::{KIND, World, of_work, policy};

/// The hundred thousand of the requirement are in `benches/retries.rs`.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn submits_at_once_that_fail_four_times_each_all_succeed_once() {
    const TASKS: u64 = 2_000;
    fails_four_times::silence();
    let segment = Arc::new(FailsFourTimes::default());
    let limits = RetryLimits { tasks: TASKS, bytes: 1 << 20 };
    let policy = RetryPolicy { limits, concurrency: 256, ..policy() };
    let w = of_work(Work::new(KIND, vec![segment.clone() as Arc<dyn Segment>], policy)).await;
    let mut callers = JoinSet::new();
    for number in 0..TASKS {
        let queue = w.queue.clone();
        callers.spawn(async move { queue.submit(KIND, World::task(&number.to_string())).await.unwrap() });
    }
    let outcomes = callers.join_all().await;
    assert!(outcomes.iter().all(|outcome| matches!(outcome, FirstTry::Retries(_))));
    assert_eq!(w.counts().await, (TASKS, 0));
    for seconds in [10, 100, 100, 1_000] {
        w.advance(seconds).await;
    }
    assert_eq!(w.counts().await, (0, 0));
    assert_eq!(segment.passed.load(Ordering::Relaxed), TASKS);
    assert_eq!(segment.runs.load(Ordering::Relaxed), TASKS * 5);
}
