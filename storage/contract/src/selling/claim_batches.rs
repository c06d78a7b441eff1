//! `ClaimBatches`: each version follows the one before, and a finished batch stays as it is.

use std::sync::Arc;

use mallbox_storage::{ClaimBatch, ClaimGatewayId, Timestamp};
use tokio::task::JoinSet;

use crate::world::{HOUR, NOON, World};

crate::cases! {
    a_batch_is_read_as_it_was_stored,
    names_are_compared_byte_by_byte,
    a_version_follows_the_one_before,
    a_finished_batch_stays,
    of_many_versions_at_once_one_is_stored,
    old_batches_are_pruned,
    batches_outlive_a_reopening,
}

fn batch(request: &str) -> ClaimBatch {
    ClaimBatch {
        gateway: ClaimGatewayId::new(1),
        request: request.to_owned(),
        claims_hash: [7; 32],
        created: NOON,
        revision: 1,
        outcomes: "[]".to_owned(),
        is_finished: false,
    }
}

async fn put(w: &World, batch: &ClaimBatch) -> bool {
    w.storage.selling.claim_batches.put(batch).await.unwrap()
}

async fn get(w: &World, request: &str) -> Option<ClaimBatch> {
    w.storage.selling.claim_batches.get(ClaimGatewayId::new(1), request).await.unwrap()
}

async fn a_batch_is_read_as_it_was_stored(w: &World) {
    let w = w.another().await;
    let name = "批".repeat(64);
    let outcomes = "结".repeat(300_000);
    let batch = ClaimBatch { outcomes, claims_hash: [255; 32], ..batch(&name) };
    assert!(put(&w, &batch).await);
    assert_eq!(get(&w, &name).await, Some(batch));
    let others = w.storage.selling.claim_batches.get(ClaimGatewayId::new(2), &name).await.unwrap();
    assert_eq!(others, None, "another gateway's names are its own");
    assert_eq!(get(&w, "").await, None);
}

async fn names_are_compared_byte_by_byte(w: &World) {
    let w = w.another().await;
    let names = ["a", "a ", "A", "á"];
    for name in names {
        assert!(put(&w, &batch(name)).await, "{name:?}");
    }
    for name in names {
        assert_eq!(get(&w, name).await, Some(batch(name)));
    }
}

async fn a_version_follows_the_one_before(w: &World) {
    let w = w.another().await;
    let first = batch("one");
    let version = |revision: u32| ClaimBatch { revision, outcomes: format!("[{revision}]"), ..first.clone() };
    assert!(!put(&w, &version(2)).await, "there is no first");
    assert_eq!(get(&w, "one").await, None);
    assert!(put(&w, &first).await);
    for stale in [1, 3] {
        assert!(!put(&w, &version(stale)).await, "{stale}");
    }
    assert_eq!(get(&w, "one").await, Some(first.clone()), "a refused version changes nothing");
    let second = ClaimBatch { claims_hash: [8; 32], created: NOON + HOUR, ..version(2) };
    assert!(put(&w, &second).await);
    assert_eq!(get(&w, "one").await, Some(version(2)), "time and hash stay those of the first");
    assert!(!put(&w, &second).await, "a repeat is no further version");
}

async fn a_finished_batch_stays(w: &World) {
    let w = w.another().await;
    let first = batch("one");
    let end = ClaimBatch { revision: 2, outcomes: "[1]".to_owned(), is_finished: true, ..first.clone() };
    assert!(put(&w, &first).await && put(&w, &end).await);
    for revision in [1, 2, 3] {
        assert!(!put(&w, &ClaimBatch { revision, ..first.clone() }).await, "{revision}");
    }
    assert_eq!(get(&w, "one").await, Some(end));
    let at_once = ClaimBatch { is_finished: true, ..batch("two") };
    assert!(put(&w, &at_once).await);
    assert!(!put(&w, &ClaimBatch { revision: 2, ..at_once.clone() }).await);
    assert_eq!(get(&w, "two").await, Some(at_once));
}

async fn of_many_versions_at_once_one_is_stored(w: &World) {
    let w = w.another().await;
    for revision in 1..=5 {
        let mut putting = JoinSet::new();
        for number in 0..8 {
            let batches = Arc::clone(&w.storage.selling.claim_batches);
            let version = ClaimBatch { revision, outcomes: format!("[{number}]"), ..batch("one") };
            putting.spawn(async move { (batches.put(&version).await.unwrap(), version) });
        }
        let stored: Vec<ClaimBatch> =
            putting.join_all().await.into_iter().filter(|(stored, _)| *stored).map(|(_, of)| of).collect();
        assert_eq!(stored.len(), 1, "{stored:?}");
        assert_eq!(get(&w, "one").await.as_ref(), stored.first());
    }
}

async fn old_batches_are_pruned(w: &World) {
    let w = w.another().await;
    let at = |hours: u32| NOON + hours * HOUR;
    for (name, created) in [("late", at(3)), ("first", at(0)), ("third", at(2)), ("second", at(1))] {
        let is_finished = name != "first";
        assert!(put(&w, &ClaimBatch { created, is_finished, ..batch(name) }).await);
    }
    let prune = async |before: Timestamp, max| {
        let pruned = w.storage.selling.claim_batches.prune(before, max).await.unwrap();
        let mut left = Vec::new();
        for name in ["first", "second", "third", "late"] {
            if get(&w, name).await.is_some() {
                left.push(name);
            }
        }
        (pruned, left)
    };
    assert_eq!(prune(at(0), 9).await, (0, vec!["first", "second", "third", "late"]));
    assert_eq!(prune(at(3), 2).await, (2, vec!["third", "late"]), "the oldest first, finished or not");
    assert_eq!(prune(at(3), 2).await, (1, vec!["late"]));
    assert!(put(&w, &batch("first")).await, "its name is free again");
}

async fn batches_outlive_a_reopening(w: &World) {
    let w = w.another().await;
    assert!(put(&w, &batch("one")).await);
    let w = w.reopen().await;
    assert_eq!(get(&w, "one").await, Some(batch("one")));
}
