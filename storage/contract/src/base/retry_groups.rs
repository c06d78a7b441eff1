//! `RetryTasks`: tasks of one group run one after the other, in order of submission.

use std::time::Duration;

use mallbox_storage::{
    LeasedTask, NewRetryTask, RetryLease, RetryReplayOutcome, RetryStep, RetryTaskId, SubmitOutcome,
    Timestamp,
};

use super::retry_tasks::{KIND, LEASE, ROOMY, counts, failure, lease, lease_one, new, settle, stored};
use crate::world::{HOUR, NOON, World};

crate::cases! {
    tasks_of_a_group_are_leased_one_after_the_other,
    a_waiting_task_keeps_younger_tasks_of_its_group_waiting,
    a_task_that_failed_blocks_its_group_no_longer,
    a_task_is_not_leased_to_its_caller_while_an_older_one_is_open,
    a_replayed_task_goes_before_younger_ones,
    a_replayed_task_waits_for_the_younger_one_in_progress,
    a_replayed_task_waits_for_older_ones,
    groups_of_different_kinds_are_different_groups,
}

fn of(group: &str, key: &str) -> NewRetryTask {
    NewRetryTask { group: Some(group.to_owned()), ..new(key) }
}

fn keys(leased: &[LeasedTask]) -> Vec<&str> {
    leased.iter().map(|task| &*task.key).collect()
}

async fn end(w: &World, leased: &LeasedTask) {
    assert!(settle(w, leased.lease, RetryStep::Done, NOON).await);
}

async fn fail(w: &World, leased: &LeasedTask) -> RetryTaskId {
    assert!(settle(w, leased.lease, failure("no"), NOON).await);
    leased.lease.task
}

async fn replay(w: &World, task: RetryTaskId, now: Timestamp) {
    let replayed = w.storage.base.retry_tasks.replay(task, now).await.unwrap();
    assert!(matches!(replayed, RetryReplayOutcome::Done(_)), "{replayed:?}");
}

async fn tasks_of_a_group_are_leased_one_after_the_other(w: &World) {
    let batch = [of("a", "a1"), of("b", "b1"), of("a", "a2"), new("free"), of("b", "b2"), of("a", "a3")];
    let _ = w.storage.base.retry_tasks.submit(KIND, &batch, ROOMY, NOON).await.unwrap();
    let first = lease(w, 9, NOON).await;
    assert_eq!(keys(&first), ["a1", "b1", "free"]);
    assert_eq!(lease(w, 9, NOON).await, []);
    let _ = stored(w, of("a", "a4")).await;
    assert_eq!(lease(w, 9, NOON).await, []);
    end(w, &first[0]).await;
    let second = lease(w, 9, NOON).await;
    assert_eq!(keys(&second), ["a2"]);
    end(w, &second[0]).await;
    end(w, &first[1]).await;
    let third = lease(w, 9, NOON).await;
    assert_eq!(keys(&third), ["b2", "a3"]);
    for leased in &third {
        end(w, leased).await;
    }
    end(w, &lease_one(w, NOON).await).await;
    end(w, &first[2]).await;
    assert_eq!(counts(w).await, (0, 0, 0));
    let _ = stored(w, of("a", "a1")).await;
    assert_eq!(keys(&lease(w, 9, NOON).await), ["a1"], "an empty group begins anew");
}

async fn a_waiting_task_keeps_younger_tasks_of_its_group_waiting(w: &World) {
    for key in ["a1", "a2"] {
        let _ = stored(w, of("a", key)).await;
    }
    let first = lease_one(w, NOON).await;
    let retry = RetryStep::Retry { due: NOON + HOUR, error: "away".to_owned() };
    assert!(settle(w, first.lease, retry, NOON).await);
    assert_eq!(lease(w, 9, NOON + HOUR - LEASE).await, []);
    assert_eq!(w.storage.base.retry_tasks.next_due(KIND).await.unwrap(), Some(NOON + HOUR));
    let again = lease_one(w, NOON + HOUR).await;
    assert_eq!(again.key, "a1");
    assert!(settle(w, again.lease, RetryStep::Released { due: NOON + 2 * HOUR }, NOON).await);
    assert_eq!(lease(w, 9, NOON + HOUR).await, []);
    // An expired lease goes to the same task, not to the younger one.
    let third = lease_one(w, NOON + 2 * HOUR).await;
    let fourth = lease_one(w, NOON + 2 * HOUR + LEASE).await;
    assert_eq!((&*third.key, &*fourth.key), ("a1", "a1"));
}

async fn a_task_that_failed_blocks_its_group_no_longer(w: &World) {
    for key in ["a1", "a2", "a3"] {
        let _ = stored(w, of("a", key)).await;
    }
    for key in ["a1", "a2"] {
        let leased = lease_one(w, NOON).await;
        assert_eq!(leased.key, key);
        let _ = fail(w, &leased).await;
    }
    let leased = lease_one(w, NOON).await;
    assert_eq!(leased.key, "a3");
    end(w, &leased).await;
    let _ = stored(w, of("a", "a4")).await;
    assert_eq!(lease_one(w, NOON).await.key, "a4");
}

async fn a_task_is_not_leased_to_its_caller_while_an_older_one_is_open(w: &World) {
    let own = |key| NewRetryTask { lease_until: Some(NOON + LEASE), ..of("a", key) };
    let submit = async |batch: &[NewRetryTask]| -> Vec<Option<RetryLease>> {
        let outcomes = w.storage.base.retry_tasks.submit(KIND, batch, ROOMY, NOON).await.unwrap();
        let lease = |outcome: SubmitOutcome| match outcome {
            SubmitOutcome::Stored { lease, .. } => lease,
            other => panic!("{other:?}"),
        };
        outcomes.into_iter().map(lease).collect()
    };
    let leases = submit(&[own("a1"), own("a2")]).await;
    let (Some(first), None) = (leases[0], leases[1]) else { panic!("{leases:?}") };
    assert_eq!(submit(&[own("a3")]).await, [None]);
    assert_eq!(lease(w, 9, NOON).await, []);
    assert!(settle(w, first, RetryStep::Done, NOON).await);
    let second = lease_one(w, NOON).await;
    assert_eq!((&*second.key, second.lease.number), ("a2", 1));
}

async fn a_replayed_task_goes_before_younger_ones(w: &World) {
    for key in ["a1", "a2", "a3"] {
        let _ = stored(w, of("a", key)).await;
    }
    let first = fail(w, &lease_one(w, NOON).await).await;
    replay(w, first, NOON).await;
    let again = lease_one(w, NOON).await;
    assert_eq!(again.key, "a1");
    let _ = fail(w, &again).await;
    // The head's lease expired, so the head waits as well. Its late settlement has no force.
    let second = lease_one(w, NOON).await;
    assert_eq!(second.key, "a2");
    let later = NOON + LEASE;
    replay(w, first, later).await;
    assert!(!settle(w, second.lease, RetryStep::Done, later).await);
    for key in ["a1", "a2", "a3"] {
        let leased = lease_one(w, later).await;
        assert_eq!(leased.key, key);
        end(w, &leased).await;
    }
}

async fn a_replayed_task_waits_for_the_younger_one_in_progress(w: &World) {
    for key in ["a1", "a2", "a3"] {
        let _ = stored(w, of("a", key)).await;
    }
    let first = fail(w, &lease_one(w, NOON).await).await;
    let second = lease_one(w, NOON).await;
    let now = NOON + LEASE - Duration::from_millis(1);
    replay(w, first, now).await;
    assert_eq!(lease(w, 9, now).await, [], "one at a time");
    end(w, &second).await;
    for key in ["a1", "a3"] {
        let leased = lease_one(w, now).await;
        assert_eq!(leased.key, key);
        end(w, &leased).await;
    }
}

async fn a_replayed_task_waits_for_older_ones(w: &World) {
    for key in ["a1", "a2"] {
        let _ = stored(w, of("a", key)).await;
    }
    let first = fail(w, &lease_one(w, NOON).await).await;
    let second = fail(w, &lease_one(w, NOON).await).await;
    for task in [first, second] {
        replay(w, task, NOON).await;
    }
    for key in ["a1", "a2"] {
        let leased = lease_one(w, NOON).await;
        assert_eq!(leased.key, key);
        end(w, &leased).await;
    }
}

async fn groups_of_different_kinds_are_different_groups(w: &World) {
    let tasks = &w.storage.base.retry_tasks;
    for kind in [KIND, "mail"] {
        let _ = tasks.submit(kind, &[of("a", "a1")], ROOMY, NOON).await.unwrap();
    }
    let _ = stored(w, of("A", "A1")).await;
    let _ = stored(w, of("a ", "a 1")).await;
    assert_eq!(keys(&lease(w, 9, NOON).await), ["a1", "A1", "a 1"]);
    assert_eq!(tasks.lease_due("mail", 9, NOON, NOON + LEASE).await.unwrap().len(), 1);
}
