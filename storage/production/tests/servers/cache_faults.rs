//! Cache invalidation between instances, and the cache during and after an outage of its server.

use std::time::{Duration, Instant};

use mallbox_storage::{Storage, StoreError};
use mallbox_test_patience::{self as patience, Deadline};
use mallbox_test_servers::RedisOptions as ServerOptions;

use crate::redis_world::{start, tell};
use crate::world;
use crate::world::{NOON, World};
use mallbox_storage_contract::base::cache::{found, keep, shop};

/// How old a near copy may be.
const BOUND: Duration = Duration::from_secs(3);
/// Upper limit for the duration of any call.
const CALL_MAX: Duration = Duration::from_millis(1500);

/// Waits until the instance no longer returns the key.
async fn forgets(storage: &Storage, within: Duration) -> Duration {
    let began = Instant::now();
    while storage.base.cache.get(&shop(1), NOON).await.unwrap().is_some() {
        assert!(patience::is_within(began.elapsed(), within), "it is still there");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    began.elapsed()
}

/// Waits until `listener` receives the invalidations of `speaker`. Each new subscription clears the local
/// cache; earlier local copies may disappear at any moment.
async fn hears(listener: &Storage, speaker: &Storage) {
    let until = Deadline::after(Duration::from_secs(10));
    loop {
        keep(speaker, &shop(9), "news").await;
        let began = Instant::now();
        assert!(listener.base.cache.get(&shop(9), NOON).await.unwrap().is_some());
        speaker.base.cache.forget(&[shop(9)]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        let is_gone = listener.base.cache.get(&shop(9), NOON).await.unwrap().is_none();
        // An older copy would have expired without an invalidation.
        if is_gone && began.elapsed() < BOUND {
            return;
        }
        assert!(!until.is_over(), "there is no subscription");
    }
}

/// Returns a second instance with a local copy of a value cached by the first. Both subscribe to
/// invalidations by then.
async fn two_instances(w: &World) -> Storage {
    let other = w.other_instance().await;
    hears(&w.storage, &other).await;
    hears(&other, &w.storage).await;
    keep(&w.storage, &shop(1), "tea").await;
    assert_eq!(found(&other, &shop(1), NOON).await.as_deref(), Some("tea"));
    let kept = other.base.cache.get(&shop(1), NOON).await.unwrap();
    assert!(kept.is_some_and(|kept| kept.is_near), "there are no near copies");
    other
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn a_key_that_one_instance_forgets_is_forgotten_by_the_others() {
    for w in [world::single().await, world::cluster().await] {
        let other = two_instances(&w).await;
        w.storage.base.cache.forget(&[shop(1)]).await.unwrap();
        let took = forgets(&other, BOUND - Duration::from_secs(1)).await;
        println!("heard after {took:?}");
        keep(&other, &shop(1), "rice").await;
        assert_eq!(found(&w.storage, &shop(1), NOON).await.as_deref(), Some("rice"));
        w.storage.base.cache.clear().await.unwrap();
        forgets(&other, BOUND - Duration::from_secs(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn a_reader_on_another_instance_does_not_keep_what_was_before_a_change() {
    for w in [world::single().await, world::cluster().await] {
        let other = two_instances(&w).await;
        let reader = other.base.cache.look(&shop(1), NOON).await.unwrap();
        w.storage.base.cache.forget(&[shop(1)]).await.unwrap();
        let until = NOON + Duration::from_secs(30);
        assert!(!other.base.cache.put(&shop(1), reader.lease, (*b"old").into(), until, NOON).await.unwrap());
        assert_eq!(found(&w.storage, &shop(1), NOON).await, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn near_copies_are_emptied_with_the_connection_and_old_soon_without_a_message() {
    let server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    let other = two_instances(&w).await;
    let key = format!("{}:cache:shop:1", w.production().redis.prefix);
    // As if the message were lost.
    tell(&server.url(), &["DEL", &key]);
    assert!(other.base.cache.get(&shop(1), NOON).await.unwrap().is_some());
    let took = forgets(&other, BOUND + Duration::from_millis(500)).await;
    println!("gone after {took:?} without a message");

    keep(&w.storage, &shop(1), "tea").await;
    assert!(other.base.cache.get(&shop(1), NOON).await.unwrap().is_some());
    tell(&server.url(), &["DEL", &key]);
    tell(&server.url(), &["CLIENT", "KILL", "TYPE", "pubsub"]);
    forgets(&other, Duration::from_secs(2)).await;
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn a_change_while_redis_is_away_is_sent_when_redis_is_back() {
    let options = ServerOptions::default().with("appendonly", "yes").with("appendfsync", "always");
    let mut server = start(options).await;
    let w = world::fresh(server.url()).await;
    let other = w.other_instance().await;
    hears(&w.storage, &other).await;
    keep(&w.storage, &shop(1), "old").await;
    keep(&w.storage, &shop(2), "near").await;
    tokio::task::block_in_place(|| server.kill());
    let near = w.storage.base.cache.get(&shop(2), NOON).await.unwrap();
    assert!(near.is_some_and(|kept| kept.is_near), "near copies serve on");

    let began = Instant::now();
    let forgotten = w.storage.base.cache.forget(&[shop(1)]).await;
    assert!(matches!(forgotten, Err(StoreError::Unavailable { .. })), "{forgotten:?}");
    assert!(patience::is_within(began.elapsed(), CALL_MAX), "{:?}", began.elapsed());
    let asked = w.storage.base.cache.get(&shop(1), NOON).await;
    assert!(matches!(asked, Err(StoreError::Unavailable { .. })), "{asked:?}");
    // Values read meanwhile are cached locally.
    let began = Instant::now();
    keep(&w.storage, &shop(1), "new").await;
    let kept = w.storage.base.cache.get(&shop(1), NOON).await.unwrap().unwrap();
    assert_eq!((&*kept.bytes, kept.is_near), (&b"new"[..], true));
    assert!(patience::is_within(began.elapsed(), CALL_MAX), "{:?}", began.elapsed());

    tokio::task::block_in_place(|| server.restart().unwrap());
    let began = Instant::now();
    loop {
        // The instance with the new value never reads the old value from its local cache or from Redis.
        for kept in [
            w.storage.base.cache.get(&shop(1), NOON).await,
            Ok(w.storage.base.cache.look(&shop(1), NOON).await.unwrap().kept),
        ] {
            assert!(!matches!(kept, Ok(Some(kept)) if &*kept.bytes == b"old"));
        }
        if matches!(other.base.cache.get(&shop(1), NOON).await, Ok(None)) {
            break;
        }
        assert!(
            patience::is_within(began.elapsed(), Duration::from_secs(20)),
            "the other one never hears of it"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// As after a failover to a replica that lacks the last second.
#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn a_copy_from_before_a_change_came_back_with_another_server_and_stayed() {
    let server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    let key = format!("{}:cache:shop:1", w.production().redis.prefix);
    keep(&w.storage, &shop(1), "old").await;
    tell(&server.url(), &["COPY", &key, "of-the-replica"]);
    w.storage.base.cache.forget(&[shop(1)]).await.unwrap();
    assert_eq!(found(&w.storage, &shop(1), NOON).await, None);
    tell(&server.url(), &["COPY", "of-the-replica", &key, "REPLACE"]);
    tell(&server.url(), &["CLIENT", "KILL", "TYPE", "normal"]);
    let began = Instant::now();
    while !matches!(w.storage.base.cache.get(&shop(1), NOON).await, Ok(None)) {
        assert!(patience::is_within(began.elapsed(), Duration::from_secs(10)), "it is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
