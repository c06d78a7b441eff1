//! A mall in memory, discarded on close.

use mallbox_storage::sessions::TokenHash;
use mallbox_storage::{ClaimOutcome, Durability, NewSession, Page, UserId};

use crate::world::{HOUR, NOON, WORKER, World};

const TOKEN: TokenHash = TokenHash([7; 32]);

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_made_after_the_close_is_the_whole_mall() {
    let world = World::open(Durability::Memory).await;
    assert_eq!(world.storage.base.upkeep.health().await.durability, Durability::Memory);
    for user in 1..=50 {
        assert_eq!(world.claim(user).await.unwrap(), ClaimOutcome::Accepted);
    }
    let taken = world.take(20).await;
    world.storage.selling.orders.persist(&taken, NOON).await.unwrap();
    world.storage.selling.order_log.done(WORKER, &taken).await.unwrap();
    world.storage.people.sessions.begin(TOKEN, &NewSession::of(UserId::new(9), HOUR), NOON).await.unwrap();
    world.storage.base.upkeep.put_setting("zone", "UTC").await.unwrap();

    let copy = world.copied().await;
    let ordered = copy.storage.selling.orders.of_user(taken[0].claim.user, Page::new(0, 10)).await.unwrap();
    assert_eq!(ordered.iter().map(|order| order.id).collect::<Vec<_>>(), [taken[0].claim.order]);
    let mut waiting: Vec<u64> = copy.take(1000).await.iter().map(|logged| logged.claim.user.get()).collect();
    waiting.extend(taken.iter().map(|logged| logged.claim.user.get()));
    waiting.sort_unstable();
    assert_eq!(waiting, (1..=50).collect::<Vec<_>>());
    assert_eq!(copy.taken().await, 50);
    let found = copy.storage.people.sessions.find(TOKEN, HOUR, NOON).await.unwrap();
    assert_eq!(found.map(|session| session.user), Some(UserId::new(9)));
    assert_eq!(copy.storage.base.upkeep.setting("zone").await.unwrap().as_deref(), Some("UTC"));
    assert_eq!(copy.claim(51).await.unwrap(), ClaimOutcome::Accepted);
}

/// Not with a claim, and not later either: relaxed malls sync every 200 ms.
#[tokio::test(flavor = "multi_thread")]
async fn it_syncs_nothing_while_it_works() {
    let world = World::open(Durability::Memory).await;
    world.faults.set_failing_syncs(true);
    for user in 1..=3 {
        assert_eq!(world.claim(user).await.unwrap(), ClaimOutcome::Accepted);
        tokio::time::sleep(std::time::Duration::from_millis(150)).await;
    }
    assert_eq!(world.troubles().await, [""; 0]);

    let synced = World::open(Durability::Process).await;
    synced.faults.set_failing_syncs(true);
    assert!(synced.claim(1).await.is_err(), "the fault is one");
}
