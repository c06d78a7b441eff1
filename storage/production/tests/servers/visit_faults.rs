//! Visits counted by several instances, and visits during a Redis outage.

use std::time::{Duration, Instant};

use mallbox_storage::{
    Day, DaySpan, Storage, StoreError, VISITS_RETENTION_DAYS, Visit, VisitCounts, VisitTarget, Visitor,
};
use mallbox_test_patience::{self as patience, Deadline};
use mallbox_test_servers::RedisOptions as ServerOptions;

use crate::redis_world::start;
use crate::world;

fn today() -> Day {
    Day::parse("2026-11-21").unwrap()
}

async fn note(storage: &Storage, visitors: &[u64]) -> Result<(), StoreError> {
    let visit = |bits: &u64| Visit { of: VisitTarget::Mall, day: today(), visitor: Visitor(*bits), views: 1 };
    storage.people.visitors.note(&visitors.iter().map(visit).collect::<Vec<_>>(), today()).await
}

async fn count(storage: &Storage) -> Result<VisitCounts, StoreError> {
    storage.people.visitors.count(VisitTarget::Mall, DaySpan::new(today(), today()).unwrap(), today()).await
}

async fn counted(storage: &Storage) -> (u64, u64) {
    let counts = count(storage).await.unwrap();
    (counts.visitors, counts.days[0].views)
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn instances_count_together_and_share_the_days_salt() {
    for w in [world::single().await, world::cluster().await] {
        let other = w.other_instance().await;
        note(&w.storage, &[1, 2, 3]).await.unwrap();
        note(&other, &[3, 4]).await.unwrap();
        assert_eq!((counted(&w.storage).await, counted(&other).await), ((4, 5), (4, 5)));
        assert_eq!(w.storage.people.visitors.salt(today(), [1; 16]).await.unwrap(), [1; 16]);
        assert_eq!(other.people.visitors.salt(today(), [2; 16]).await.unwrap(), [1; 16]);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn redis_keeps_a_day_as_long_as_it_counts_and_a_salt_no_longer_than_it_is_used() {
    let server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    note(&w.storage, &[1]).await.unwrap();
    w.storage.people.visitors.salt(today(), [1; 16]).await.unwrap();
    let mut connection = ::redis::Client::open(server.url()).unwrap().get_connection().unwrap();
    let prefix = &w.production().redis.prefix;
    let mut left = |key: String| {
        let ms: i64 = ::redis::cmd("PTTL").arg(&key).query(&mut connection).unwrap();
        Duration::from_millis(u64::try_from(ms).unwrap_or_else(|_| panic!("{key}: {ms}")))
    };
    let day = Duration::from_secs(24 * 60 * 60);
    let kept = day * u32::try_from(VISITS_RETENTION_DAYS).unwrap();
    for key in ["2026-11-21", "2026-11-21:views"] {
        let left = left(format!("{{{prefix}:visits:mall}}:{key}"));
        assert!(left >= kept && left < kept + day, "{key}: {left:?}");
    }
    let left = left(format!("{prefix}:visits:salt:2026-11-21"));
    assert!(left > day && left <= 2 * day, "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn while_redis_is_away_each_call_says_so_in_time_and_later_ones_count_again() {
    let mut server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    note(&w.storage, &[1]).await.unwrap();
    tokio::task::block_in_place(|| server.kill());
    let began = Instant::now();
    for answer in [
        note(&w.storage, &(0..5_000).collect::<Vec<_>>()).await,
        count(&w.storage).await.map(drop),
        w.storage.people.visitors.salt(today(), [1; 16]).await.map(drop),
    ] {
        assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{answer:?}");
    }
    assert!(patience::is_within(began.elapsed(), Duration::from_millis(1_500)), "{:?}", began.elapsed());
    tokio::task::block_in_place(|| server.restart().unwrap());
    let until = Deadline::after(Duration::from_secs(20));
    while count(&w.storage).await.is_err() {
        assert!(!until.is_over());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let (visitors, views) = counted(&w.storage).await;
    note(&w.storage, &[8, 9]).await.unwrap();
    assert_eq!(counted(&w.storage).await, (visitors + 2, views + 2));
}
