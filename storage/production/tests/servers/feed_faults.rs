//! Feeds during Redis faults: lost inboxes, inboxes without the latest pushes, or no Redis at all. The
//! database is authoritative.

use std::time::{Duration, Instant};

use mallbox_storage::Timestamp;
use mallbox_test_patience::{self as patience, Deadline};
use mallbox_test_servers::RedisOptions as ServerOptions;

use crate::redis_world::{start, tell};
use crate::world;
use crate::world::NOON;
use mallbox_storage_contract::writing::feeds::{ANNE, BOB, feed, follow, minute, publish, unfollow};

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn a_feed_outlives_the_loss_of_its_inbox_and_redis_itself() {
    let mut server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    follow(&w.storage, BOB, ANNE).await;
    let first = publish(&w.storage, ANNE, minute(1)).await;
    assert_eq!(feed(&w.storage, BOB).await, [first]);
    tell(&server.url(), &["FLUSHALL"]);
    assert_eq!(feed(&w.storage, BOB).await, [first]);
    let second = publish(&w.storage, ANNE, minute(2)).await;
    tell(&server.url(), &["FLUSHALL"]);
    assert_eq!(feed(&w.storage, BOB).await, [second, first]);

    tokio::task::block_in_place(|| server.kill());
    let asked = Instant::now();
    assert_eq!(feed(&w.storage, BOB).await, [second, first], "from the record alone");
    assert!(patience::is_within(asked.elapsed(), Duration::from_millis(1_500)), "{:?}", asked.elapsed());
    // The note is in the database, and reaches inboxes once Redis is back.
    let third = w
        .storage
        .writing
        .notes
        .insert(ANNE, &mallbox_storage_contract::writing::notes::text("面"), minute(3))
        .await
        .unwrap();
    let entry = mallbox_storage::FeedEntry { note: third, written: minute(3) };
    assert!(w.storage.writing.feeds.pass_on(entry, ANNE, NOON).await.is_err());
    assert_eq!(feed(&w.storage, BOB).await, [entry, second, first]);
    tokio::task::block_in_place(|| server.restart().unwrap());
    let until = Deadline::after(Duration::from_secs(20));
    while w.storage.writing.feeds.pass_on_the_rest(Timestamp::MAX, 10, NOON).await.is_err() {
        assert!(!until.is_over());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(feed(&w.storage, BOB).await, [entry, second, first]);
}

/// A replica promoted to master has inboxes that may lack the latest pushes.
#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn inboxes_of_another_server_are_not_believed() {
    let server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    follow(&w.storage, BOB, ANNE).await;
    let first = publish(&w.storage, ANNE, minute(1)).await;
    assert_eq!(feed(&w.storage, BOB).await, [first]);
    let second = publish(&w.storage, ANNE, minute(2)).await;
    let key = format!("{{{}:feeds:{:02}}}:{BOB}", w.production().redis.prefix, BOB.get() % 16);
    let member = format!("{:020}", u64::MAX - second.note.get());
    tell(&server.url(), &["ZREM", &key, &member]);
    assert_eq!(feed(&w.storage, BOB).await, [first], "believed as long as it is the same");
    // Promoted: as after a failover, the server has another id.
    tell(&server.url(), &["REPLICAOF", "127.0.0.1", "1"]);
    tell(&server.url(), &["REPLICAOF", "NO", "ONE"]);
    assert_eq!(feed(&w.storage, BOB).await, [second, first]);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn what_one_instance_passes_on_another_one_reads() {
    let w = world::single().await;
    let other = w.other_instance().await;
    follow(&w.storage, BOB, ANNE).await;
    assert_eq!(feed(&other, BOB).await, []);
    let first = publish(&w.storage, ANNE, minute(1)).await;
    assert_eq!(feed(&other, BOB).await, [first]);
    unfollow(&w.storage, BOB, ANNE).await;
    assert_eq!(feed(&other, BOB).await, []);
    other.base.upkeep.close().await.unwrap();
}
