//! Sign-ins during Redis faults: all lost, or one missed. The database is authoritative.

use std::time::{Duration, Instant};

use mallbox_storage::{Day, DaySpan, Page, StoreError, UserId};
use mallbox_storage_production::redis::SIGNS_KEPT;
use mallbox_storage_production::{ProductionOptions, open};
use mallbox_test_patience::{self as patience, Deadline};
use mallbox_test_servers::{Behaviour, Proxy, RedisOptions as ServerOptions};

use crate::redis_world::{start, tell};
use crate::world;
use crate::world::{NOON, World};

fn days() -> DaySpan {
    let day = |text| Day::parse(text).unwrap();
    DaySpan::new(day("2026-11-20"), day("2026-11-21")).unwrap()
}

/// Users 1 to `to` sign on both days; user 9 on the first alone.
async fn signed(w: &World, to: u64) {
    for day in days().days() {
        for user in 1..=to {
            w.storage.people.sign_ins.sign(UserId::new(user), day, NOON).await.unwrap();
        }
    }
    w.storage.people.sign_ins.sign(UserId::new(9), days().first(), NOON).await.unwrap();
}

async fn assert_all_there(w: &World, to: u64) {
    let signs = &w.storage.people.sign_ins;
    assert_eq!(signs.counts(days()).await.unwrap(), [to + 1, to]);
    let all: Vec<_> = (1..=to).map(UserId::new).collect();
    assert_eq!(signs.signed_all(days(), Page::new(1, 99)).await.unwrap(), (all, to));
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn days_that_redis_lost_are_read_from_the_record() {
    let mut server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    signed(&w, 3).await;
    assert_all_there(&w, 3).await;
    tell(&server.url(), &["FLUSHALL"]);
    assert_all_there(&w, 3).await;
    tell(&server.url(), &["FLUSHALL"]);
    // Noted, and nothing else is there.
    signed(&w, 4).await;
    assert_all_there(&w, 4).await;
    tokio::task::block_in_place(|| {
        server.kill();
        server.restart().unwrap();
    });
    let until = Deadline::after(Duration::from_secs(20));
    while w.storage.people.sign_ins.counts(days()).await.is_err() {
        assert!(!until.is_over());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_all_there(&w, 4).await;
}

/// A server that returns with an older state has bits and marks, and lacks later sign-ins.
#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn a_server_that_missed_the_last_sign_ins_is_not_believed() {
    let server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    signed(&w, 2).await;
    assert_all_there(&w, 2).await;
    let key = format!("{{{}:signs}}:{}", w.production().redis.prefix, days().last());
    signed(&w, 5).await;
    for user in ["3", "4", "5"] {
        tell(&server.url(), &["SETBIT", &key, user, "0"]);
    }
    assert_eq!(
        w.storage.people.sign_ins.counts(days()).await.unwrap(),
        [6, 2],
        "believed as long as it is the same"
    );
    // Promoted: as after a failover, the server has another id.
    tell(&server.url(), &["REPLICAOF", "127.0.0.1", "1"]);
    tell(&server.url(), &["REPLICAOF", "NO", "ONE"]);
    assert_all_there(&w, 5).await;
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn nothing_is_kept_or_believed_for_longer_than_it_is_said() {
    let server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    signed(&w, 2).await;
    w.storage.people.sign_ins.counts(DaySpan::new(days().first(), days().first()).unwrap()).await.unwrap();
    let mut connection = ::redis::Client::open(server.url()).unwrap().get_connection().unwrap();
    let key = format!("{{{}:signs}}:", w.production().redis.prefix);
    let mut left = |name: &str| {
        let ms: i64 = ::redis::cmd("PTTL").arg(format!("{key}{name}")).query(&mut connection).unwrap();
        Duration::from_millis(u64::try_from(ms).unwrap_or_else(|_| panic!("{name}: {ms}")))
    };
    let (bits, loaded) = (left("2026-11-20"), left("2026-11-20:loaded"));
    assert!(loaded <= SIGNS_KEPT && loaded > SIGNS_KEPT - Duration::from_secs(30), "{loaded:?}");
    assert!(bits > SIGNS_KEPT, "{bits:?}: bits end after what says that they are all there");
    assert!(left("2026-11-21") > Duration::ZERO, "noted and never read");
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn without_redis_days_are_read_from_the_database_and_refused_in_time_otherwise() {
    let mut server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    signed(&w, 1).await;
    tokio::task::block_in_place(|| server.kill());
    let signs = &w.storage.people.sign_ins;
    assert_eq!(signs.streak(UserId::new(1), days().last()).await.unwrap(), 2);
    assert_eq!(signs.days(UserId::new(1), days()).await.unwrap().len(), 2);
    for answer in [
        signs.sign(UserId::new(2), days().last(), NOON).await.map(drop),
        signs.counts(days()).await.map(drop),
        signs.signed_all(days(), Page::new(1, 1)).await.map(drop),
    ] {
        assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{answer:?}");
    }
    // The sign-in is in the database all the same, and a repeat finds the row.
    assert_eq!(signs.streak(UserId::new(2), days().last()).await.unwrap(), 1);
    let began = Instant::now();
    assert!(signs.counts(days()).await.is_err());
    assert!(patience::is_within(began.elapsed(), Duration::from_millis(1_500)), "{:?}", began.elapsed());
    tokio::task::block_in_place(|| server.restart().unwrap());
    let until = Deadline::after(Duration::from_secs(20));
    while signs.sign(UserId::new(2), days().last(), NOON).await.is_err() {
        assert!(!until.is_over());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(signs.counts(days()).await.unwrap(), [2, 2]);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn statistics_stayed_too_low_after_a_late_response_of_the_database() {
    let w = world::plain().await;
    let url = w.production().mysql.clone();
    let server = url.split(['@', '/']).nth(3).unwrap().to_owned();
    let proxy = Proxy::before(server.rsplit_once(':').unwrap().1.parse().unwrap()).unwrap();
    let mysql = url.replace(&server, &format!("127.0.0.1:{}", proxy.port()));
    let options = ProductionOptions { mysql, ..w.production().clone() };
    let signs = open(&options).await.unwrap().people.sign_ins;
    let day = DaySpan::new(days().last(), days().last()).unwrap();
    signs.sign(UserId::new(1), day.last(), NOON).await.unwrap();
    assert_eq!(signs.counts(day).await.unwrap(), [1]);
    proxy.set(Behaviour::Slow(Duration::from_millis(900)));
    let late = signs.sign(UserId::new(2), day.last(), NOON).await;
    assert!(matches!(late, Err(StoreError::Unavailable { .. })), "{late:?}");
    proxy.set(Behaviour::Good);
    let until = Deadline::after(Duration::from_secs(20));
    while !signs.counts(day).await.is_ok_and(|counts| counts == [2]) {
        assert!(!until.is_over(), "{:?}", signs.counts(day).await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
