//! Breakers of segments: no attempts are spent on what keeps failing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox::mall::base::retry::breaker::{BreakerRule, BreakerState};
use mallbox::mall::base::retry::{
    Attempt, BreakerMetrics, FirstTry, RetryPolicy, Segment, SegmentOutcome, Work,
};
use mallbox_storage::Timestamp;
use parking_lot::Mutex;

use super::retry_world::{Act, KIND, NOON, Scripted, World, of_work, policy, with_policy};

fn with_breaker() -> RetryPolicy {
    let rule = BreakerRule { runs_min: 4, ..BreakerRule::default() };
    RetryPolicy { breaker: Some(rule), concurrency: 1, ..policy() }
}

#[tokio::test]
async fn a_breaker_opens_on_the_share_of_failures_and_one_probe_closes_it() {
    let segment = Scripted::new("call", [Act::Pass(""), Act::Pass("")]);
    let w = with_policy(std::slice::from_ref(&segment), with_breaker()).await;
    segment.then([Act::Fail, Act::Fail]);
    for key in ["a", "b", "c"] {
        let _ = w.submit(key).await;
        assert_eq!(w.queue.breakers(KIND), []);
    }
    // Half of four.
    let _ = w.submit("d").await;
    let open = BreakerMetrics { name: "call".to_owned(), state: BreakerState::Open };
    assert_eq!(w.queue.breakers(KIND), [open]);
    for key in ["e", "f"] {
        assert_eq!(w.submit(key).await, FirstTry::Waits);
    }
    assert_eq!(segment.runs.lock().len(), 4);
    assert_eq!(w.counts().await, (4, 0));
    // The probe fails: a pause of 20 s follows. Nothing else runs.
    segment.then([Act::Fail]);
    w.advance(10).await;
    assert_eq!(segment.runs.lock().len(), 5);
    w.advance(19).await;
    assert_eq!(segment.runs.lock().len(), 5);
    // The probe passes, and everything runs: nobody has spent an attempt but the probes.
    w.advance(10).await;
    w.advance(20).await;
    w.advance(100).await;
    assert_eq!((w.counts().await, w.queue.breakers(KIND)), ((0, 0), vec![]));
    let attempts = segment.attempts();
    assert_eq!((attempts.len(), attempts.iter().filter(|number| **number == 1).count()), (9, 6));
    assert!(w.metrics().await.held_back >= 3);
}

#[tokio::test]
async fn tasks_that_wait_for_a_probe_come_back_one_after_the_other() {
    const WAITING: usize = 40;
    let segment = Scripted::new("call", vec![Act::Fail; 4]);
    let w = with_policy(std::slice::from_ref(&segment), with_breaker()).await;
    for number in 0..4 {
        let _ = w.submit(&format!("failing {number}")).await;
    }
    assert_eq!(w.queue.breakers(KIND).len(), 1);
    let tasks = (0..WAITING).map(|number| World::task(&number.to_string())).collect();
    w.queue.submit_all(KIND, tasks).await.unwrap();
    w.advance(0).await;
    // Jitter adds up to a fifth to the pause of 10 s.
    let mut waiting = Vec::new();
    for seconds in [10, 11, 12] {
        let (at, tasks) = (NOON + Duration::from_secs(seconds), &w.storage.base.retry_tasks);
        let leased = tasks.lease_due(KIND, 100, at, Timestamp::MAX).await.unwrap();
        waiting.push(leased.iter().filter(|task| !task.key.starts_with("failing")).count());
    }
    assert!(waiting[0] < WAITING / 4 && waiting[1] > 0 && waiting[2] > 0, "{waiting:?}");
    assert_eq!(waiting.iter().sum::<usize>(), WAITING);
}

/// Fails for the parties named, by key up to the first slash.
#[derive(Default)]
struct Calls {
    failing: Mutex<Vec<&'static str>>,
    runs: Mutex<BTreeMap<String, u32>>,
}

struct Call(Arc<Calls>);

#[async_trait]
impl Segment for Call {
    fn name(&self) -> &'static str {
        "call"
    }

    async fn run(&self, attempt: &Attempt) -> SegmentOutcome {
        let party = self.remote_party(attempt).unwrap();
        let fails = self.0.failing.lock().iter().any(|failing| **failing == *party);
        *self.0.runs.lock().entry(party).or_default() += 1;
        if fails { SegmentOutcome::NoResult } else { SegmentOutcome::Passed(Vec::new()) }
    }

    fn remote_party(&self, attempt: &Attempt) -> Option<String> {
        attempt.key.split_once('/').map(|(party, _)| party.to_owned())
    }
}

#[tokio::test]
async fn each_remote_party_has_a_breaker_of_its_own() {
    let calls = Arc::new(Calls::default());
    calls.failing.lock().push("dead");
    let work = Work::new(KIND, vec![Arc::new(Call(Arc::clone(&calls)))], with_breaker());
    let w = of_work(work).await;
    let tasks = |party: &str| (0..50).map(|number| World::task(&format!("{party}/{number}"))).collect();
    for party in ["dead", "alive"] {
        w.queue.submit_all(KIND, tasks(party)).await.unwrap();
    }
    w.advance(0).await;
    assert_eq!(*calls.runs.lock(), BTreeMap::from([("alive".to_owned(), 50), ("dead".to_owned(), 4)]));
    assert_eq!(w.counts().await, (50, 0));
    let open = BreakerMetrics { name: "call/dead".to_owned(), state: BreakerState::Open };
    assert_eq!(w.queue.breakers(KIND), [open]);
    calls.failing.lock().clear();
    for _ in 0..10 {
        w.advance(100).await;
    }
    assert_eq!(w.counts().await, (0, 0));
    assert_eq!(calls.runs.lock()["dead"], 54);
}

#[tokio::test]
async fn hopeless_attempts_open_no_breaker() {
    let segment = Scripted::new("call", vec![Act::GiveUp; 20]);
    let w = with_policy(std::slice::from_ref(&segment), with_breaker()).await;
    for number in 0..20 {
        assert!(matches!(w.submit(&number.to_string()).await, FirstTry::Failed(_)));
    }
    assert_eq!((w.queue.breakers(KIND), w.counts().await), (vec![], (0, 20)));
}
