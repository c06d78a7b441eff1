//! `Deadlines`: due at the instant, and handed out to one caller only.

use std::time::Duration;

use mallbox_storage::OrderId;
use mallbox_storage::deadlines::LEASE_MS;

use crate::world::{HOUR, NOON, World};

crate::cases! {
    due_from_the_instant_on_and_earliest_first,
    those_of_one_instant_come_by_id,
    handed_out_once_a_lease,
    set_again_replaces_and_clear_forgets,
}

const MS: Duration = Duration::from_millis(1);

fn order(number: u64) -> OrderId {
    OrderId::new(number)
}

async fn due_from_the_instant_on_and_earliest_first(w: &World) {
    let deadlines = &w.storage.selling.deadlines;
    assert_eq!(deadlines.next().await.unwrap(), None);
    for (number, at) in [(1, NOON + HOUR), (2, NOON), (3, NOON - HOUR)] {
        deadlines.set(&[(order(number), at)]).await.unwrap();
    }
    assert_eq!((deadlines.count().await.unwrap(), deadlines.next().await.unwrap()), (3, Some(NOON - HOUR)));
    assert!(deadlines.due(NOON - HOUR - MS, 10).await.unwrap().is_empty());
    assert_eq!(deadlines.due(NOON, 1).await.unwrap(), [order(3)], "no more than asked for");
    assert_eq!(deadlines.due(NOON - MS, 10).await.unwrap(), []);
    assert_eq!(deadlines.due(NOON, 10).await.unwrap(), [order(2)]);
}

async fn those_of_one_instant_come_by_id(w: &World) {
    let deadlines = &w.storage.selling.deadlines;
    let ids = [9, 10, 404, u64::MAX].map(order);
    let mixed = [ids[1], ids[3], ids[0], ids[2]].map(|order| (order, NOON));
    deadlines.set(&mixed).await.unwrap();
    deadlines.clear(&[ids[2]]).await.unwrap();
    assert_eq!(deadlines.due(NOON, usize::MAX).await.unwrap(), [ids[0], ids[1], ids[3]]);
}

async fn handed_out_once_a_lease(w: &World) {
    let deadlines = &w.storage.selling.deadlines;
    let lease = Duration::from_millis(LEASE_MS.unsigned_abs());
    deadlines.set(&[(order(1), NOON)]).await.unwrap();
    assert_eq!(deadlines.due(NOON, 10).await.unwrap(), [order(1)]);
    assert!(deadlines.due(NOON + lease - MS, 10).await.unwrap().is_empty());
    assert_eq!(deadlines.due(NOON + lease, 10).await.unwrap(), [order(1)], "its handler may have died");
    deadlines.clear(&[order(1)]).await.unwrap();
    assert_eq!(deadlines.count().await.unwrap(), 0);
}

async fn set_again_replaces_and_clear_forgets(w: &World) {
    let deadlines = &w.storage.selling.deadlines;
    deadlines.set(&[(order(1), NOON)]).await.unwrap();
    deadlines.set(&[(order(1), NOON + HOUR)]).await.unwrap();
    assert!(deadlines.due(NOON, 10).await.unwrap().is_empty());
    assert_eq!(deadlines.count().await.unwrap(), 1);
    for _ in 0..2 {
        deadlines.clear(&[order(1)]).await.unwrap();
    }
    assert!(deadlines.due(NOON + HOUR, 10).await.unwrap().is_empty());
}
