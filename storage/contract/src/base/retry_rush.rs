//! `RetryTasks` under concurrency: limits hold, and nobody leases a task of another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Barrier};

use mallbox_storage::{NewRetryTask, RetryLimits, RetrySettlement, RetryStep, RetryTasks, SubmitOutcome};
use parking_lot::Mutex;
use tokio::runtime::Handle;

use super::retry_tasks::{KIND, LEASE, ROOMY, counts, new};
use crate::world::{NOON, World};

crate::cases! {
    of_a_rush_exactly_as_many_tasks_are_stored_as_fit,
    of_a_rush_on_one_key_one_is_stored,
    of_a_rush_every_task_is_leased_and_done_once,
    of_a_rush_on_groups_every_group_keeps_its_order,
}

const THREADS: usize = 8;

/// For each group, whether a task is leased, and the ids of all tasks leased so far.
type GroupLog = BTreeMap<String, (bool, Vec<u64>)>;

/// Runs `work` on [`THREADS`] threads at once, each with its number. Returns the results.
async fn rush<T: Send + 'static>(
    w: &World,
    work: impl Fn(usize, &Handle, &dyn RetryTasks) -> T + Clone + Send + 'static,
) -> Vec<T> {
    let barrier = Arc::new(Barrier::new(THREADS));
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (tasks, barrier) = (Arc::clone(&w.storage.base.retry_tasks), Arc::clone(&barrier));
            let (runtime, work) = (Handle::current(), work.clone());
            tokio::task::spawn_blocking(move || {
                barrier.wait();
                work(thread, &runtime, &*tasks)
            })
        })
        .collect();
    let mut results = Vec::new();
    for thread in threads {
        results.push(thread.await.unwrap());
    }
    results
}

async fn of_a_rush_exactly_as_many_tasks_are_stored_as_fit(w: &World) {
    const LIMITS: RetryLimits = RetryLimits { tasks: 100, bytes: 4 * 90 };
    let stored = rush(w, |thread, runtime, tasks| {
        let mut stored = 0;
        for number in 0..10 {
            let batch: Vec<NewRetryTask> =
                (0..3).map(|part| new(&format!("{thread} {number} {part}"))).collect();
            let outcomes = runtime.block_on(tasks.submit(KIND, &batch, LIMITS, NOON)).unwrap();
            stored += outcomes.iter().filter(|got| matches!(got, SubmitOutcome::Stored { .. })).count();
        }
        stored
    });
    assert_eq!(stored.await.into_iter().sum::<usize>(), 90);
    assert_eq!(counts(w).await, (90, 360, 0));
}

async fn of_a_rush_on_one_key_one_is_stored(w: &World) {
    let outcomes = rush(w, |_, runtime, tasks| {
        let submit = |number: u32| {
            let batch = [new(&number.to_string())];
            runtime.block_on(tasks.submit(KIND, &batch, ROOMY, NOON)).unwrap()[0]
        };
        (0..20).map(submit).collect::<Vec<_>>()
    });
    let outcomes = outcomes.await;
    for number in 0..20 {
        let mut ids = BTreeSet::new();
        let mut stored = 0;
        for outcome in outcomes.iter().map(|of_thread| of_thread[number]) {
            match outcome {
                SubmitOutcome::Stored { task, .. } => {
                    stored += 1;
                    ids.insert(task);
                }
                SubmitOutcome::Repeat { task, has_failed: false } => drop(ids.insert(task)),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((stored, ids.len()), (1, 1));
    }
    assert_eq!(counts(w).await.0, 20);
}

async fn of_a_rush_every_task_is_leased_and_done_once(w: &World) {
    const TASKS: usize = 400;
    let batch: Vec<NewRetryTask> = (0..TASKS).map(|number| new(&number.to_string())).collect();
    let _ = w.storage.base.retry_tasks.submit(KIND, &batch, ROOMY, NOON).await.unwrap();
    let done = rush(w, |thread, runtime, tasks| {
        let mut done = Vec::new();
        // A rush may leave a thread empty-handed while others hold everything due.
        let mut idle = 0;
        while idle < 20 {
            let leased = runtime.block_on(tasks.lease_due(KIND, 7, NOON, NOON + LEASE)).unwrap();
            idle = if leased.is_empty() { idle + 1 } else { 0 };
            let settlements: Vec<RetrySettlement> = leased
                .iter()
                .map(|task| {
                    // Every second task needs a second attempt.
                    let is_done = task.attempts > 0 || task.lease.task.get() % 2 == 0;
                    let retry = RetryStep::Retry { due: NOON, error: format!("thread {thread}") };
                    RetrySettlement { lease: task.lease, step: if is_done { RetryStep::Done } else { retry } }
                })
                .collect();
            let settled = runtime.block_on(tasks.settle(KIND, &settlements, NOON)).unwrap();
            assert!(settled.iter().all(|in_force| *in_force), "{settled:?}");
            let ended = settlements.iter().filter(|settlement| settlement.step == RetryStep::Done);
            done.extend(ended.map(|settlement| settlement.lease.task));
        }
        done
    });
    let done: Vec<_> = done.await.into_iter().flatten().collect();
    assert_eq!(done.len(), TASKS);
    assert_eq!(done.into_iter().collect::<BTreeSet<_>>().len(), TASKS);
    assert_eq!(counts(w).await, (0, 0, 0));
}

async fn of_a_rush_on_groups_every_group_keeps_its_order(w: &World) {
    const GROUPS: usize = 5;
    let log: Arc<Mutex<GroupLog>> = Arc::default();
    let seen = Arc::clone(&log);
    rush(w, move |thread, runtime, tasks| {
        let mut idle = 0;
        let mut number = 0;
        while idle < 20 {
            // Half of the threads submit first: groups grow while they run.
            if thread % 2 == 0 && number < 20 {
                let group = format!("g{}", number % GROUPS);
                let key = format!("{thread} {number}");
                let task = NewRetryTask { group: Some(group), ..new(&key) };
                let _ = runtime.block_on(tasks.submit(KIND, &[task], ROOMY, NOON)).unwrap();
                number += 1;
            }
            let leased = runtime.block_on(tasks.lease_due(KIND, 3, NOON, NOON + LEASE)).unwrap();
            idle = if leased.is_empty() { idle + 1 } else { 0 };
            for task in &leased {
                let mut log = seen.lock();
                let (is_running, order) = log.entry(task.group.clone().unwrap()).or_default();
                assert!(!std::mem::replace(is_running, true), "{task:?}");
                order.push(task.lease.task.get());
            }
            for task in &leased {
                seen.lock().entry(task.group.clone().unwrap()).or_default().0 = false;
                let step = if task.lease.task.get() % 5 == 0 {
                    RetryStep::Failed { error: "no".to_owned() }
                } else {
                    RetryStep::Done
                };
                let settlement = RetrySettlement { lease: task.lease, step };
                assert_eq!(runtime.block_on(tasks.settle(KIND, &[settlement], NOON)).unwrap(), [true]);
            }
        }
    })
    .await;
    let log = log.lock().clone();
    assert_eq!(log.values().map(|(_, order)| order.len()).sum::<usize>(), THREADS / 2 * 20);
    for (group, (_, order)) in &log {
        assert!(order.is_sorted(), "{group}: {order:?}");
    }
    let refused = log.values().flat_map(|(_, order)| order).filter(|id| *id % 5 == 0).count() as u64;
    assert_eq!(counts(w).await, (0, 0, refused));
}
