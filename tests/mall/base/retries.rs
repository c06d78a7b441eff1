//! Work in segments: a failed segment is retried, and passed segments are not run again.

use std::sync::Arc;
use std::time::Duration;

use mallbox::mall::Clock as _;
use mallbox::mall::base::retry::{FirstTry, Queued, RetryPolicy, Submission};
use mallbox_storage::{RetryLimits, RetryReplayOutcome};

use super::retry_world::{Act, KIND, NOON, Scripted, World, eventually, policy, with_policy, world};

fn done(result: &str) -> FirstTry {
    FirstTry::Done(result.as_bytes().into())
}

#[tokio::test]
async fn two_throws_and_two_nulls_then_success_make_one_result() {
    let acts = [Act::Throw, Act::Throw, Act::Nothing, Act::Nothing, Act::Pass("result")];
    let (first, second) = (Scripted::new("first", []), Scripted::new("second", acts));
    let third = Scripted::new("third", []);
    let w = world(&[first.clone(), second.clone(), third.clone()]).await;
    assert_eq!(w.submit("a").await, FirstTry::Continues);
    for (seconds, runs) in [(7, 1), (3, 2), (100, 3), (100, 4), (799, 4), (201, 5)] {
        w.advance(seconds).await;
        assert_eq!(second.runs.lock().len(), runs, "after {seconds} s");
    }
    assert_eq!(first.runs.lock()[..], [(1, String::new())], "passed segments are not run again");
    assert_eq!(second.attempts(), [1, 2, 3, 4, 5]);
    assert!(second.runs.lock().iter().all(|(_, former)| former == "first"));
    assert_eq!(third.runs.lock()[..], [(1, "result".to_owned())]);
    assert_eq!(w.counts().await, (0, 0));
    w.advance(100_000).await;
    assert_eq!(third.attempts(), [1], "one result");
}

#[tokio::test]
async fn work_that_passes_is_done_on_the_caller() {
    let segments = [Scripted::new("first", []), Scripted::new("second", [Act::Pass("result")])];
    let w = world(&segments).await;
    assert_eq!(w.submit("a").await, done("result"));
    assert_eq!(w.counts().await, (0, 0));
    assert_eq!(w.submit("a").await, done("second"), "a key is free again once the task is done");
    assert_eq!(segments[1].runs.lock()[..], [(1, "first".to_owned()), (1, "first".to_owned())]);
}

#[tokio::test]
async fn a_caller_whose_first_segment_fails_is_told_although_it_is_retried() {
    for (act, error) in [
        (Act::Fail, "failed by the script"),
        (Act::Nothing, "no result"),
        (Act::Throw, "the segment panicked"),
    ] {
        let segments = [Scripted::new("first", [act]), Scripted::new("second", [])];
        let w = world(&segments).await;
        assert_eq!(w.submit("a").await, FirstTry::Retries(error.to_owned()));
        assert_eq!(w.submit("a").await, FirstTry::Repeat { has_failed: false });
        assert_eq!(segments[0].attempts(), [1]);
        w.advance(10).await;
        assert_eq!((segments[0].attempts(), segments[1].attempts()), (vec![1, 2], vec![1]));
        assert_eq!(w.counts().await, (0, 0));
    }
}

#[tokio::test]
async fn a_caller_whose_later_segment_fails_has_succeeded() {
    for act in [Act::Fail, Act::Nothing, Act::Throw, Act::GiveUp] {
        let segments = [Scripted::new("first", []), Scripted::new("second", [act])];
        let w = world(&segments).await;
        assert_eq!(w.submit("a").await, FirstTry::Continues);
    }
}

#[tokio::test]
async fn a_segment_that_never_passes_fails_for_good_after_its_retries() {
    let segment = Scripted::new("first", vec![Act::Fail; 100]);
    let w = world(std::slice::from_ref(&segment)).await;
    assert_eq!(w.submit("a").await, FirstTry::Retries("failed by the script".to_owned()));
    for seconds in [10, 100, 100, 1_000, 10_000, 100_000] {
        w.advance(seconds).await;
    }
    assert_eq!(segment.attempts(), [1, 2, 3, 4, 5, 6], "a first try, and a retry per interval");
    let failed = w.failed().await;
    assert_eq!(failed.len(), 1);
    assert_eq!((&*failed[0].key, failed[0].attempts, &*failed[0].error), ("a", 6, "failed by the script"));
    assert_eq!(w.submit("a").await, FirstTry::Repeat { has_failed: true });
}

#[tokio::test]
async fn what_a_repetition_cannot_mend_ends_at_once() {
    let segments = [Scripted::new("first", [Act::GiveUp]), Scripted::new("second", [Act::Fail, Act::GiveUp])];
    let w = world(&segments).await;
    assert_eq!(w.submit("a").await, FirstTry::Failed("hopeless by the script".to_owned()));
    assert_eq!(w.submit("b").await, FirstTry::Continues);
    w.advance(10).await;
    w.advance(100_000).await;
    assert_eq!((segments[0].attempts(), segments[1].attempts()), (vec![1, 1], vec![1, 2]));
    let failed: Vec<_> = w.failed().await.into_iter().map(|task| (task.key, task.segment)).collect();
    assert_eq!(failed, [("b".to_owned(), 1), ("a".to_owned(), 0)]);
    let queued = w.queue.submit_all(KIND, vec![World::task("a"), World::task("c")]).await.unwrap();
    assert_eq!(queued, [Queued::FailedBefore, Queued::Stored]);
}

#[tokio::test]
async fn a_result_too_large_to_store_ends_at_once() {
    static LARGE: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| "x".repeat((64 << 10) + 1));
    let segments = [Scripted::new("first", [Act::Pass(&LARGE)]), Scripted::new("second", [])];
    let w = world(&segments).await;
    let outcome = w.submit("a").await;
    assert!(matches!(&outcome, FirstTry::Failed(error) if error.contains("65537 bytes")), "{outcome:?}");
}

#[tokio::test]
async fn a_task_older_than_its_limit_is_run_no_more() {
    let segment = Scripted::new("first", vec![Act::Fail; 3]);
    let age_max = Duration::from_secs(150);
    let w = with_policy(std::slice::from_ref(&segment), RetryPolicy { age_max, ..policy() }).await;
    let _ = w.submit("a").await;
    w.advance(10).await;
    w.advance(139).await;
    assert_eq!(segment.attempts(), [1, 2, 3]);
    w.advance(100).await;
    assert_eq!(segment.attempts(), [1, 2, 3]);
    let failed = w.failed().await;
    assert_eq!((failed.len(), &*failed[0].error), (1, "older than 150 s"));
    // A replay counts as new.
    let replayed = w.storage.base.retry_tasks.replay(failed[0].id, w.clock.now()).await.unwrap();
    assert!(matches!(replayed, RetryReplayOutcome::Done(_)));
    w.advance(0).await;
    assert_eq!((segment.attempts(), w.counts().await), (vec![1, 2, 3, 1], (0, 0)));
}

#[tokio::test]
async fn a_task_is_run_until_the_last_millisecond_before_its_age_limit() {
    for (milliseconds, attempts) in [(99_999, vec![1, 2]), (100_000, vec![1])] {
        let segment = Scripted::new("first", vec![Act::Fail; 2]);
        let (intervals, age_max) = (vec![Duration::from_secs(100)], Duration::from_secs(100));
        let w =
            with_policy(std::slice::from_ref(&segment), RetryPolicy { intervals, age_max, ..policy() }).await;
        let _ = w.submit("a").await;
        w.clock.advance(Duration::from_millis(milliseconds));
        w.advance(0).await;
        assert_eq!(segment.attempts(), attempts, "{milliseconds} ms");
        let error = if attempts.len() == 1 { "older than 100 s" } else { "failed by the script" };
        assert_eq!(w.failed().await[0].error, error);
    }
}

#[tokio::test]
async fn a_replayed_task_continues_at_the_segment_that_failed() {
    let segments = [Scripted::new("first", []), Scripted::new("second", [Act::GiveUp, Act::Fail])];
    let w = world(&segments).await;
    assert_eq!(w.submit("a").await, FirstTry::Continues);
    assert_eq!(w.counts().await, (0, 1));
    let id = w.failed().await[0].id;
    let _ = w.storage.base.retry_tasks.replay(id, w.clock.now()).await.unwrap();
    w.advance(0).await;
    assert_eq!(w.counts().await, (1, 0));
    w.advance(10).await;
    assert_eq!(w.counts().await, (0, 0));
    assert_eq!((segments[0].attempts(), segments[1].attempts()), (vec![1], vec![1, 1, 2]));
}

#[tokio::test]
async fn a_full_queue_refuses_and_runs_nothing() {
    let segment = Scripted::new("first", vec![Act::Fail; 100]);
    let limits = RetryLimits { tasks: 3, bytes: 1_000 };
    let w = with_policy(std::slice::from_ref(&segment), RetryPolicy { limits, ..policy() }).await;
    let many = |keys: &[&str]| keys.iter().map(|key| World::task(key)).collect::<Vec<_>>();
    let queued = w.queue.submit_all(KIND, many(&["a", "b"])).await.unwrap();
    assert_eq!(queued, [Queued::Stored, Queued::Stored]);
    let _ = w.submit("c").await;
    assert_eq!(w.submit("d").await, FirstTry::Full);
    let queued = w.queue.submit_all(KIND, many(&["a", "e"])).await.unwrap();
    assert_eq!(queued, [Queued::Stored, Queued::Full]);
    assert_eq!((segment.attempts(), w.counts().await), (vec![1], (3, 0)));
    assert_eq!(w.metrics().await.refused, 2);
    let large = Submission { payload: vec![0; 1_000].into(), ..World::task("f") };
    assert_eq!(w.queue.submit(KIND, large).await.unwrap(), FirstTry::Full);
}

#[tokio::test]
async fn many_tasks_are_submitted_at_once_and_run_in_the_background() {
    let segment = Scripted::new("first", [Act::Fail]);
    let w = world(std::slice::from_ref(&segment)).await;
    let group = |number: usize| number.is_multiple_of(2).then(|| "even".to_owned());
    let task = |number: usize| Submission { group: group(number), ..World::task(&number.to_string()) };
    let tasks: Vec<Submission> = (0..600).map(task).collect();
    assert_eq!(w.queue.submit_all(KIND, tasks.clone()).await.unwrap(), vec![Queued::Stored; 600]);
    assert_eq!(w.queue.submit_all(KIND, tasks).await.unwrap(), vec![Queued::Stored; 600]);
    assert_eq!(w.counts().await, (600, 0));
    w.advance(0).await;
    w.advance(10).await;
    assert_eq!((segment.attempts().len(), w.counts().await), (601, (0, 0)));
    assert!(w.queue.submit_all("other", Vec::new()).await.is_err());
    assert!(w.queue.submit("other", World::task("a")).await.is_err());
}

#[tokio::test]
async fn tasks_of_a_group_wait_for_the_older_one() {
    let segment = Scripted::new("first", [Act::Fail]);
    let w = world(std::slice::from_ref(&segment)).await;
    let task = |key: &str| Submission { group: Some("g".to_owned()), ..World::task(key) };
    assert!(matches!(w.queue.submit(KIND, task("a")).await.unwrap(), FirstTry::Retries(_)));
    assert_eq!(w.queue.submit(KIND, task("b")).await.unwrap(), FirstTry::Waits);
    assert_eq!(segment.attempts(), [1]);
    w.advance(10).await;
    assert_eq!((segment.attempts(), w.counts().await), (vec![1, 2, 1], (0, 0)));
}

#[tokio::test]
async fn a_segment_that_hangs_is_aborted() {
    let segment = Scripted::new("first", [Act::Hang]);
    let segment_timeout = Duration::from_millis(20);
    let w = with_policy(std::slice::from_ref(&segment), RetryPolicy { segment_timeout, ..policy() }).await;
    assert_eq!(w.submit("a").await, FirstTry::Retries("no result within 0.02 s".to_owned()));
    w.advance(10).await;
    assert_eq!((segment.attempts(), w.counts().await), (vec![1, 2], (0, 0)));
}

#[tokio::test]
async fn a_cancelled_caller_stops_nothing() {
    let segments = [Scripted::new("first", []), Scripted::new("second", [Act::Fail])];
    let w = world(&segments).await;
    let queue = w.queue.clone();
    let submit = async move { queue.submit(KIND, World::task("a")).await };
    // Polled once, and dropped.
    let _ = tokio::time::timeout(Duration::ZERO, submit).await;
    eventually(async || segments[1].runs.lock().len() == 1).await;
    let soon = Some(NOON + Duration::from_secs(11));
    eventually(async || w.storage.base.retry_tasks.next_due(KIND).await.unwrap() < soon).await;
    w.advance(10).await;
    assert_eq!((segments[1].attempts(), w.counts().await), (vec![1, 2], (0, 0)));
}

#[tokio::test]
async fn a_clock_that_jumps_during_a_first_try_runs_nothing_twice() {
    let segment = Scripted::new("first", [Act::Hang]);
    let segment_timeout = Duration::from_millis(500);
    let w = Arc::new(
        with_policy(std::slice::from_ref(&segment), RetryPolicy { segment_timeout, ..policy() }).await,
    );
    let caller = tokio::spawn({
        let w = Arc::clone(&w);
        async move { w.submit("a").await }
    });
    eventually(async || segment.runs.lock().len() == 1).await;
    w.advance(3_600).await;
    assert!(matches!(caller.await.unwrap(), FirstTry::Retries(_)));
    assert_eq!(segment.attempts(), [1]);
    w.advance(10).await;
    assert_eq!((segment.attempts(), w.counts().await), (vec![1, 2], (0, 0)));
}

#[tokio::test]
async fn old_failed_tasks_are_removed() {
    let segment = Scripted::new("first", [Act::GiveUp, Act::GiveUp]);
    let w = world(std::slice::from_ref(&segment)).await;
    let day = 24 * 3600;
    let _ = w.submit("a").await;
    w.advance(29 * day).await;
    let _ = w.submit("b").await;
    assert_eq!(w.counts().await, (0, 2));
    w.advance(2 * day).await;
    assert_eq!(w.failed().await.iter().map(|task| &*task.key).collect::<Vec<_>>(), ["b"]);
}
