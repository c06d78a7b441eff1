//! `RetryTasks`: a task is stored once, leased by one at a time, and continued where it stopped.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{
    FailedTask, FailedTaskCursor, LeasedTask, NewRetryTask, RetryCounts, RetryLease, RetryLimits,
    RetryReplayOutcome, RetrySettlement, RetryStep, RetryTaskId, StoreError, SubmitOutcome, Timestamp,
};

use crate::world::{HOUR, NOON, World};

crate::cases! {
    a_task_is_leased_settled_and_gone,
    a_key_is_stored_once_per_kind,
    a_full_kind_refuses_exactly,
    due_tasks_are_leased_longest_due_first,
    a_lease_lasts_until_its_instant,
    a_lease_that_another_took_over_settles_nothing,
    a_passed_segment_is_not_due_again,
    an_attempt_counts_and_a_release_does_not,
    failed_tasks_are_listed_latest_first,
    a_replayed_task_continues_at_the_segment_that_failed,
    only_failed_tasks_are_replayed_and_discarded,
    old_failed_tasks_are_pruned,
    texts_and_payloads_have_a_limit,
    errors_are_stored_short,
    tasks_outlive_a_restart,
}

/// The kind of most cases.
pub const KIND: &str = "refund";
/// Duration of leases.
pub const LEASE: Duration = Duration::from_secs(60);
/// Limits that no case reaches by accident.
pub const ROOMY: RetryLimits = RetryLimits { tasks: 100_000, bytes: 1 << 30 };
const MS: Duration = Duration::from_millis(1);

/// Returns a task with a payload of four bytes, due at noon.
pub fn new(key: &str) -> NewRetryTask {
    let payload: Arc<[u8]> = (*b"\0\xffpa").into();
    NewRetryTask { key: key.to_owned(), group: None, payload, due: NOON, lease_until: None }
}

/// Submits a task of [`KIND`], which must be stored.
pub async fn stored(w: &World, task: NewRetryTask) -> RetryTaskId {
    let outcomes = w.storage.base.retry_tasks.submit(KIND, &[task], ROOMY, NOON).await.unwrap();
    match outcomes[..] {
        [SubmitOutcome::Stored { task, .. }] => task,
        ref other => panic!("{other:?}"),
    }
}

/// Leases what is due at `now`, at most `max`.
pub async fn lease(w: &World, max: u32, now: Timestamp) -> Vec<LeasedTask> {
    w.storage.base.retry_tasks.lease_due(KIND, max, now, now + LEASE).await.unwrap()
}

/// Leases the one task that is due at `now`.
pub async fn lease_one(w: &World, now: Timestamp) -> LeasedTask {
    let mut due = lease(w, 9, now).await;
    assert_eq!(due.len(), 1, "{due:?}");
    due.remove(0)
}

/// Settles a lease at `now`. Returns whether the lease was in force.
pub async fn settle(w: &World, lease: RetryLease, step: RetryStep, now: Timestamp) -> bool {
    let settled = w.storage.base.retry_tasks.settle(KIND, &[RetrySettlement { lease, step }], now).await;
    settled.unwrap()[0]
}

/// A failure for good.
pub fn failure(error: &str) -> RetryStep {
    RetryStep::Failed { error: error.to_owned() }
}

fn retry(due: Timestamp) -> RetryStep {
    RetryStep::Retry { due, error: "away".to_owned() }
}

/// Submits a task and lets it fail for good.
pub async fn failed_task(w: &World, key: &str, at: Timestamp) -> RetryTaskId {
    let task = stored(w, new(key)).await;
    let leased = lease(w, 1, NOON).await.remove(0);
    assert_eq!(leased.lease.task, task, "nothing else is due");
    assert!(settle(w, leased.lease, failure(key), at).await);
    task
}

async fn failed(w: &World, after: Option<FailedTaskCursor>, max: u32) -> Vec<FailedTask> {
    w.storage.base.retry_tasks.failed(Some(KIND), after, max).await.unwrap()
}

/// Returns the numbers of [`KIND`]: open tasks, their bytes, failed tasks.
pub async fn counts(w: &World) -> (u64, u64, u64) {
    let all = w.storage.base.retry_tasks.counts().await.unwrap();
    let of_kind = all.into_iter().find(|counts| counts.kind == KIND);
    of_kind.map_or((0, 0, 0), |counts| (counts.open, counts.open_bytes, counts.failed))
}

async fn a_task_is_leased_settled_and_gone(w: &World) {
    let tasks = &w.storage.base.retry_tasks;
    assert_eq!(tasks.next_due(KIND).await.unwrap(), None);
    assert_eq!(tasks.counts().await.unwrap(), []);
    let id = stored(w, NewRetryTask { group: Some("g".to_owned()), ..new("k") }).await;
    assert_eq!(tasks.next_due(KIND).await.unwrap(), Some(NOON));
    let leased = lease_one(w, NOON).await;
    let expected = LeasedTask {
        lease: RetryLease { task: id, number: 1 },
        key: "k".to_owned(),
        group: Some("g".to_owned()),
        payload: (*b"\0\xffpa").into(),
        segment: 0,
        former: [].into(),
        attempts: 0,
        opened: NOON,
    };
    assert_eq!(leased, expected);
    assert_eq!(tasks.next_due(KIND).await.unwrap(), Some(NOON + LEASE));
    let number = RetryCounts { kind: KIND.to_owned(), open: 1, open_bytes: 4, failed: 0, oldest: Some(NOON) };
    assert_eq!(tasks.counts().await.unwrap(), [number]);
    assert!(settle(w, leased.lease, RetryStep::Done, NOON).await);
    assert!(!settle(w, leased.lease, RetryStep::Done, NOON).await, "only once");
    assert_eq!(tasks.next_due(KIND).await.unwrap(), None);
    assert_eq!(counts(w).await, (0, 0, 0));
    assert_eq!(lease(w, 9, NOON + HOUR).await, []);
    assert!(tasks.settle(KIND, &[], NOON).await.unwrap().is_empty());
    assert!(tasks.submit(KIND, &[], ROOMY, NOON).await.unwrap().is_empty());
}

async fn a_key_is_stored_once_per_kind(w: &World) {
    let tasks = &w.storage.base.retry_tasks;
    let keys = ["k", "K", "k ", "", "键", "k"];
    let batch: Vec<NewRetryTask> = keys.into_iter().map(new).collect();
    let outcomes = tasks.submit(KIND, &batch, ROOMY, NOON).await.unwrap();
    let ids: Vec<RetryTaskId> = outcomes[..5]
        .iter()
        .map(|outcome| match outcome {
            SubmitOutcome::Stored { task, lease: None } => *task,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(ids.is_sorted_by(|one, next| one < next), "{ids:?}");
    let repeat = |task, has_failed| SubmitOutcome::Repeat { task, has_failed };
    assert_eq!(outcomes[5], repeat(ids[0], false));
    let again = tasks.submit(KIND, &batch, ROOMY, NOON).await.unwrap();
    let expected: Vec<_> = [0, 1, 2, 3, 4, 0].map(|index| repeat(ids[index], false)).to_vec();
    assert_eq!(again, expected);
    let other = tasks.submit("mail", &[new("k")], ROOMY, NOON).await.unwrap();
    assert!(matches!(other[..], [SubmitOutcome::Stored { .. }]), "{other:?}");
    let leased = lease(w, 2, NOON).await;
    assert!(settle(w, leased[0].lease, failure("no"), NOON).await);
    assert!(settle(w, leased[1].lease, RetryStep::Done, NOON).await);
    let third = tasks.submit(KIND, &batch, ROOMY, NOON).await.unwrap();
    assert_eq!(third[0], repeat(ids[0], true));
    assert!(matches!(third[1], SubmitOutcome::Stored { task, .. } if task > ids[4]), "{third:?}");
    assert_eq!(counts(w).await, (4 + 1 - 1, 16, 1));
}

async fn a_full_kind_refuses_exactly(w: &World) {
    let tasks = &w.storage.base.retry_tasks;
    let sized = |key: &str, bytes| NewRetryTask { payload: vec![7; bytes].into(), ..new(key) };
    let limits = RetryLimits { tasks: 3, bytes: 10 };
    let submit = async |batch: &[NewRetryTask]| {
        let outcomes = tasks.submit(KIND, batch, limits, NOON).await.unwrap();
        outcomes.iter().map(|outcome| matches!(outcome, SubmitOutcome::Stored { .. })).collect::<Vec<_>>()
    };
    assert_eq!(submit(&[sized("a", 4), sized("b", 7), sized("c", 6)]).await, [true, false, true]);
    assert_eq!(submit(&[sized("d", 1), sized("e", 0), sized("f", 0)]).await, [false, true, false]);
    assert_eq!(counts(w).await, (3, 10, 0));
    // A repeat of what is stored is no refusal.
    let again = tasks.submit(KIND, &[sized("a", 4), sized("g", 0)], limits, NOON).await.unwrap();
    assert!(matches!(again[..], [SubmitOutcome::Repeat { .. }, SubmitOutcome::Full]), "{again:?}");
    assert_eq!(tasks.submit("mail", &[sized("a", 10)], limits, NOON).await.unwrap().len(), 1);
    let leased = lease(w, 9, NOON).await;
    assert!(settle(w, leased[0].lease, failure("no"), NOON).await, "failed tasks take no room");
    assert!(settle(w, leased[1].lease, RetryStep::Done, NOON).await);
    assert_eq!(submit(&[sized("g", 11), sized("h", 9), sized("i", 1)]).await, [false, true, true]);
    assert_eq!(counts(w).await, (3, 10, 1));
    let none = RetryLimits { tasks: 0, bytes: u64::MAX };
    assert_eq!(tasks.submit("none", &[new("a")], none, NOON).await.unwrap(), [SubmitOutcome::Full]);
}

async fn due_tasks_are_leased_longest_due_first(w: &World) {
    for (key, minutes) in [("c", 3), ("a", 1), ("later", 5), ("b", 2), ("a2", 1)] {
        let due = NOON + Duration::from_secs(60 * minutes);
        let _ = stored(w, NewRetryTask { due, ..new(key) }).await;
    }
    let now = NOON + Duration::from_secs(240);
    let keys = async |max| lease(w, max, now).await.into_iter().map(|task| task.key).collect::<Vec<_>>();
    assert_eq!(keys(0).await, [""; 0]);
    assert_eq!(keys(2).await, ["a", "a2"]);
    assert_eq!(keys(9).await, ["b", "c"]);
    let due = NOON + Duration::from_secs(300);
    assert_eq!(w.storage.base.retry_tasks.lease_due("mail", 9, due, due + LEASE).await.unwrap(), []);
    assert_eq!(lease(w, 9, due - MS).await, []);
    let all: Vec<String> = lease(w, 9, due).await.into_iter().map(|task| task.key).collect();
    assert_eq!(all, ["c", "a", "later", "b", "a2"], "expired leases as well");
}

async fn a_lease_lasts_until_its_instant(w: &World) {
    let tasks = &w.storage.base.retry_tasks;
    let own = NewRetryTask { lease_until: Some(NOON + LEASE), ..new("own") };
    let outcomes = tasks.submit(KIND, &[own], ROOMY, NOON).await.unwrap();
    let [SubmitOutcome::Stored { task, lease: Some(mine) }] = outcomes[..] else { panic!("{outcomes:?}") };
    assert_eq!(mine, RetryLease { task, number: 1 });
    assert_eq!(lease(w, 9, NOON + LEASE - MS).await, []);
    // Nobody took the lease over: it settles even later.
    assert!(settle(w, mine, RetryStep::Released { due: NOON + HOUR }, NOON + 2 * LEASE).await);
    assert_eq!(lease(w, 9, NOON + HOUR - MS).await, []);
    let second = lease_one(w, NOON + HOUR).await;
    assert_eq!(second.lease, RetryLease { task, number: 2 });
    assert_eq!(lease(w, 9, NOON + HOUR + LEASE - MS).await, []);
    let third = lease_one(w, NOON + HOUR + LEASE).await;
    assert_eq!((third.lease.number, third.attempts), (3, 0));
}

async fn a_lease_that_another_took_over_settles_nothing(w: &World) {
    let id = stored(w, new("k")).await;
    let old = lease_one(w, NOON).await;
    let later = NOON + LEASE;
    let current = lease_one(w, later).await;
    let result: Arc<[u8]> = (*b"late").into();
    for step in [
        RetryStep::Passed { result, lease_until: later + HOUR },
        retry(later),
        RetryStep::Released { due: later },
        RetryStep::Done,
        failure("late"),
    ] {
        assert!(!settle(w, old.lease, step, later).await);
    }
    let unknown = RetryLease { task: RetryTaskId::new(u64::MAX), number: 1 };
    assert!(!settle(w, unknown, RetryStep::Done, later).await);
    let other_kind = [RetrySettlement { lease: current.lease, step: RetryStep::Done }];
    assert_eq!(w.storage.base.retry_tasks.settle("mail", &other_kind, later).await.unwrap(), [false]);
    assert_eq!(counts(w).await, (1, 4, 0));
    assert_eq!(current.lease.task, id);
    // One call, several settlements of the task: the first in force counts.
    let of = |lease, step| RetrySettlement { lease, step };
    let both =
        [of(old.lease, RetryStep::Done), of(current.lease, retry(later)), of(current.lease, RetryStep::Done)];
    let settled = w.storage.base.retry_tasks.settle(KIND, &both, later).await.unwrap();
    assert_eq!(settled, [false, true, false]);
    assert!(!settle(w, current.lease, RetryStep::Done, later).await, "the lease ended");
    assert_eq!(lease_one(w, later).await.attempts, 1);
}

async fn a_passed_segment_is_not_due_again(w: &World) {
    let _ = stored(w, new("k")).await;
    let first = lease_one(w, NOON).await;
    assert!(settle(w, first.lease, retry(NOON), NOON).await);
    let second = lease_one(w, NOON).await;
    assert_eq!((second.segment, second.attempts), (0, 1));
    let result: Arc<[u8]> = vec![0xfe; NewRetryTask::BYTES_MAX].into();
    let lease_until = NOON + HOUR;
    let passed = RetryStep::Passed { result: Arc::clone(&result), lease_until };
    assert!(settle(w, second.lease, passed, NOON).await);
    assert_eq!(lease(w, 9, NOON + HOUR - MS).await, [], "the lease is prolonged");
    let other = lease_one(w, NOON + HOUR).await;
    assert_eq!((other.segment, other.attempts, other.former), (1, 0, result));
    let passed = RetryStep::Passed { result: [].into(), lease_until: NOON + 2 * HOUR };
    assert!(settle(w, other.lease, passed, NOON + HOUR).await);
    assert!(settle(w, other.lease, retry(NOON + HOUR), NOON + HOUR).await, "the same lease goes on");
    let last = lease_one(w, NOON + HOUR).await;
    assert_eq!((last.segment, last.attempts, &last.former[..]), (2, 1, &[][..]));
}

async fn an_attempt_counts_and_a_release_does_not(w: &World) {
    let _ = stored(w, new("k")).await;
    let mut now = NOON;
    for (attempts, counts) in [(0, false), (0, true), (1, true), (2, false), (2, true)] {
        let leased = lease_one(w, now).await;
        assert_eq!(leased.attempts, attempts);
        let due = now + Duration::from_secs(10);
        let step = if counts { retry(due) } else { RetryStep::Released { due } };
        assert!(settle(w, leased.lease, step, now).await);
        assert_eq!(lease(w, 9, due - MS).await, []);
        now = due;
    }
    assert_eq!(lease_one(w, now).await.opened, NOON);
}

async fn failed_tasks_are_listed_latest_first(w: &World) {
    let tasks = &w.storage.base.retry_tasks;
    let mut ids = Vec::new();
    for (key, hours) in [("a", 2), ("b", 1), ("c", 2), ("d", 3)] {
        ids.push(failed_task(w, key, NOON + HOUR * hours).await);
    }
    let _ = stored(w, new("open")).await;
    let all = failed(w, None, 9).await;
    let expected = FailedTask {
        id: ids[3],
        kind: KIND.to_owned(),
        key: "d".to_owned(),
        group: None,
        segment: 0,
        attempts: 1,
        created: NOON,
        failed: NOON + HOUR * 3,
        error: "d".to_owned(),
    };
    assert_eq!(all[0], expected);
    let order = [ids[3], ids[2], ids[0], ids[1]];
    for size in [1, 2, 3, 4, 5] {
        let (mut after, mut found) = (None, Vec::new());
        loop {
            let page = failed(w, after, size).await;
            let Some(last) = page.last() else { break };
            after = Some(FailedTaskCursor { failed: last.failed, task: last.id });
            found.extend(page.iter().map(|task| task.id));
            assert!(found.len() <= order.len(), "{size}: {found:?}");
        }
        assert_eq!(found, order, "{size}");
    }
    assert_eq!(tasks.failed(None, None, 9).await.unwrap(), all);
    assert_eq!(tasks.failed(Some("mail"), None, 9).await.unwrap(), []);
    assert_eq!(failed(w, None, 0).await, []);
    let before = FailedTaskCursor { failed: NOON, task: RetryTaskId::new(u64::MAX) };
    assert_eq!(failed(w, Some(before), 9).await, []);
    let first = FailedTaskCursor { failed: Timestamp::MAX, task: RetryTaskId::new(u64::MAX) };
    assert_eq!(failed(w, Some(first), 9).await.len(), 4);
}

async fn a_replayed_task_continues_at_the_segment_that_failed(w: &World) {
    let id = stored(w, new("k")).await;
    let leased = lease_one(w, NOON).await;
    let passed = RetryStep::Passed { result: (*b"one").into(), lease_until: NOON + LEASE };
    assert!(settle(w, leased.lease, passed, NOON).await);
    assert!(settle(w, leased.lease, failure("gone"), NOON).await);
    assert_eq!((lease(w, 9, NOON + HOUR).await, counts(w).await), (vec![], (0, 0, 1)));
    assert_eq!(w.storage.base.retry_tasks.next_due(KIND).await.unwrap(), None);
    let replayed = w.storage.base.retry_tasks.replay(id, NOON + HOUR).await.unwrap();
    let RetryReplayOutcome::Done(before) = replayed else { panic!("{replayed:?}") };
    assert_eq!((before.segment, before.attempts, &*before.error), (1, 1, "gone"));
    assert_eq!((failed(w, None, 9).await, counts(w).await), (vec![], (1, 4, 0)));
    assert!(!settle(w, leased.lease, RetryStep::Done, NOON + HOUR).await, "the old lease is lost");
    let again = lease_one(w, NOON + HOUR).await;
    assert_eq!((again.segment, again.attempts, &again.former[..]), (1, 0, &b"one"[..]));
    assert_eq!(again.opened, NOON + HOUR);
}

async fn only_failed_tasks_are_replayed_and_discarded(w: &World) {
    let tasks = &w.storage.base.retry_tasks;
    let gone = failed_task(w, "gone", NOON).await;
    let open = stored(w, new("open")).await;
    for task in [0, open.get() + 1, u64::MAX].map(RetryTaskId::new) {
        assert_eq!(tasks.replay(task, NOON).await.unwrap(), RetryReplayOutcome::Unknown);
        assert_eq!(tasks.discard(task).await.unwrap(), RetryReplayOutcome::Unknown);
    }
    assert_eq!(tasks.replay(open, NOON).await.unwrap(), RetryReplayOutcome::Open);
    assert_eq!(tasks.discard(open).await.unwrap(), RetryReplayOutcome::Open);
    let _ = lease_one(w, NOON).await;
    assert_eq!(tasks.discard(open).await.unwrap(), RetryReplayOutcome::Open);
    let discarded = tasks.discard(gone).await.unwrap();
    assert!(matches!(discarded, RetryReplayOutcome::Done(task) if task.id == gone && task.key == "gone"));
    assert_eq!(tasks.discard(gone).await.unwrap(), RetryReplayOutcome::Unknown);
    assert_eq!(counts(w).await, (1, 4, 0));
}

async fn old_failed_tasks_are_pruned(w: &World) {
    let tasks = &w.storage.base.retry_tasks;
    for hours in 0..5 {
        let _ = failed_task(w, &hours.to_string(), NOON + HOUR * hours).await;
    }
    let _ = stored(w, new("open")).await;
    let prune = async |hours, max| tasks.prune(KIND, NOON + HOUR * hours, max).await.unwrap();
    assert_eq!([prune(0, 9).await, prune(3, 2).await, prune(3, 2).await], [0, 2, 1]);
    let left: Vec<String> = failed(w, None, 9).await.into_iter().map(|task| task.key).collect();
    assert_eq!(left, ["4", "3"]);
    assert_eq!(tasks.prune("mail", NOON + HOUR * 9, 9).await.unwrap(), 0);
    assert_eq!([prune(9, 9).await, prune(9, 9).await], [2, 0]);
    assert_eq!(counts(w).await, (1, 4, 0));
}

async fn texts_and_payloads_have_a_limit(w: &World) {
    let tasks = &w.storage.base.retry_tasks;
    let long = "键".repeat(NewRetryTask::KEY_MAX / 3 + 1);
    let large: Arc<[u8]> = vec![0; NewRetryTask::BYTES_MAX + 1].into();
    for task in [
        new(&long),
        NewRetryTask { group: Some(long.clone()), ..new("k") },
        NewRetryTask { payload: Arc::clone(&large), ..new("k") },
    ] {
        let refused = tasks.submit(KIND, &[new("fits"), task], ROOMY, NOON).await;
        assert!(matches!(refused, Err(StoreError::Refused { .. })), "{refused:?}");
    }
    for kind in ["", &"k".repeat(NewRetryTask::KIND_MAX + 1)] {
        let refused = tasks.submit(kind, &[new("k")], ROOMY, NOON).await;
        assert!(matches!(refused, Err(StoreError::Refused { .. })), "{kind} {refused:?}");
    }
    assert_eq!(lease(w, 9, NOON).await, [], "nothing of a refused call is stored");
    let largest = NewRetryTask {
        key: "k".repeat(NewRetryTask::KEY_MAX),
        group: Some("g".repeat(NewRetryTask::KEY_MAX)),
        payload: large[1..].into(),
        ..new("")
    };
    let longest = "k".repeat(NewRetryTask::KIND_MAX);
    let stored = tasks.submit(&longest, &[largest], ROOMY, NOON).await.unwrap();
    assert!(matches!(stored[..], [SubmitOutcome::Stored { .. }]), "{stored:?}");
    let leased = tasks.lease_due(&longest, 9, NOON, NOON + LEASE).await.unwrap();
    let passed = RetryStep::Passed { result: large, lease_until: NOON + LEASE };
    let settlement = RetrySettlement { lease: leased[0].lease, step: passed };
    let refused = tasks.settle(&longest, &[settlement], NOON).await;
    assert!(matches!(refused, Err(StoreError::Refused { .. })), "{refused:?}");
}

async fn errors_are_stored_short(w: &World) {
    let _ = stored(w, new("k")).await;
    let leased = lease_one(w, NOON).await;
    let error = "网关\n".repeat(NewRetryTask::ERROR_MAX);
    assert!(settle(w, leased.lease, RetryStep::Failed { error }, NOON).await);
    let stored = failed(w, None, 1).await.remove(0).error;
    assert_eq!(stored, "网关 ".repeat(NewRetryTask::ERROR_MAX / 3));
}

async fn tasks_outlive_a_restart(w: &World) {
    let w = w.another().await;
    let gone = failed_task(&w, "gone", NOON).await;
    let id = stored(&w, new("k")).await;
    let leased = lease_one(&w, NOON).await;
    let passed = RetryStep::Passed { result: (*b"one").into(), lease_until: NOON + LEASE };
    assert!(settle(&w, leased.lease, passed, NOON).await);
    let before = (counts(&w).await, failed(&w, None, 9).await);
    let w = w.reopen().await;
    assert_eq!((counts(&w).await, failed(&w, None, 9).await), before);
    assert_eq!(lease(&w, 9, NOON).await, [], "the lease of a dead process lasts");
    let again = lease_one(&w, NOON + LEASE).await;
    assert_eq!((again.lease, again.segment), (RetryLease { task: id, number: 2 }, 1));
    assert_eq!(&again.former[..], b"one");
    assert!(settle(&w, again.lease, RetryStep::Done, NOON).await);
    assert!(matches!(w.storage.base.retry_tasks.discard(gone).await.unwrap(), RetryReplayOutcome::Done(_)));
    let next = stored(&w, new("next")).await;
    assert!(next > id, "ids are never used twice");
}
