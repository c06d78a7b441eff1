//! Copies of sessions in each instance: a session that has ended in Redis ends everywhere.

use std::time::{Duration, Instant};

use mallbox_storage::{NewSession, Role, Storage, TokenHash, UserId, hex};
use mallbox_test_patience::{self as patience, Deadline};
use mallbox_test_servers::RedisOptions as ServerOptions;

use crate::redis_world::{start, tell};
use crate::world::{self, NOON, World};

const TTL: Duration = Duration::from_secs(1800);
/// Beyond this time a copy must not count, however the end became known.
const BOUND: Duration = Duration::from_secs(1);

fn token(number: u8) -> TokenHash {
    TokenHash([number; 32])
}

fn session(user: u64) -> NewSession {
    NewSession::of(UserId::new(user), TTL)
}

async fn find(storage: &Storage, number: u8) -> Option<u64> {
    let found = storage.people.sessions.find(token(number), TTL, NOON).await.unwrap();
    found.map(|session| session.user.get())
}

/// Removes a session from Redis behind the mall's back, so that only copies are left.
fn remove(w: &World, number: u8) {
    let prefix = &w.production().redis.prefix;
    tell(&w.production().redis.url, &["DEL", &format!("{prefix}:session:{}", hex(&token(number).0))]);
}

/// Waits until an instance answers for a session from a copy: the session is gone from Redis.
async fn until_copied(w: &World, storage: &Storage, number: u8, user: u64) {
    let deadline = Deadline::after(Duration::from_secs(20));
    loop {
        w.storage.people.sessions.begin(token(number), &session(user), NOON).await.unwrap();
        assert_eq!(find(storage, number).await, Some(user));
        remove(w, number);
        if find(storage, number).await == Some(user) {
            break;
        }
        assert!(!deadline.is_over(), "no copy was ever served");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // Written back without an announcement.
    let prefix = &w.production().redis.prefix;
    let key = format!("{prefix}:session:{}", hex(&token(number).0));
    let expires = (NOON + TTL).as_millis().to_string();
    let ttl = TTL.as_millis().to_string();
    let user = user.to_string();
    let fields = ["HSET", &key, "user", &user, "expires", &expires, "ttl", &ttl];
    tell(&w.production().redis.url, &fields);
    tell(
        &w.production().redis.url,
        &["ZADD", &format!("{prefix}:tokens:{user}"), "1", &hex(&token(number).0)],
    );
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn a_session_ended_at_one_instance_ends_at_all_within_a_second() {
    let server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    let other = w.other_instance().await;
    until_copied(&w, &other, 1, 7).await;
    w.storage.people.sessions.end(token(1)).await.unwrap();
    assert_eq!(find(&w.storage, 1).await, None, "at once where it was ended");
    let ended = Instant::now();
    while find(&other, 1).await.is_some() {
        assert!(patience::is_within(ended.elapsed(), BOUND), "still served after {:?}", ended.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn when_all_sessions_of_a_user_have_ended_no_instance_serves_one() {
    let server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    let other = w.other_instance().await;
    until_copied(&w, &other, 1, 7).await;
    until_copied(&w, &other, 2, 8).await;
    assert_eq!(w.storage.people.sessions.end_all(UserId::new(7)).await.unwrap(), 1);
    assert_eq!(find(&other, 1).await, None);
    w.storage.people.sessions.begin(token(3), &session(8), NOON).await.unwrap();
    assert_eq!(w.storage.people.sessions.end_others(UserId::new(8), token(3)).await.unwrap(), 1);
    assert_eq!((find(&other, 2).await, find(&other, 3).await), (None, Some(8)));
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn a_session_that_is_replaced_is_seen_by_all_within_a_second() {
    let server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    let other = w.other_instance().await;
    until_copied(&w, &other, 1, 7).await;
    let raised = NewSession { has_second_factor: true, ..session(7) };
    w.storage.people.sessions.begin(token(1), &raised, NOON).await.unwrap();
    let replaced = Instant::now();
    loop {
        let found = other.people.sessions.find(token(1), TTL, NOON).await.unwrap().unwrap();
        if found.has_second_factor {
            break;
        }
        assert!(patience::is_within(replaced.elapsed(), BOUND), "the former session is still served");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn sessions_of_operators_are_read_each_time() {
    let server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    // The instance serves copies of others by now.
    until_copied(&w, &w.storage, 1, 7).await;
    let operator = NewSession { role: Role::Operator, ..session(9) };
    w.storage.people.sessions.begin(token(4), &operator, NOON).await.unwrap();
    assert_eq!(find(&w.storage, 4).await, Some(9));
    remove(&w, 4);
    assert_eq!(find(&w.storage, 4).await, None);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn without_news_from_redis_no_copy_counts() {
    let server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    until_copied(&w, &w.storage, 1, 7).await;
    server.pause().unwrap();
    let silent = Instant::now();
    loop {
        match w.storage.people.sessions.find(token(1), TTL, NOON).await {
            Ok(found) => assert!(found.is_some()),
            Err(_) => break,
        }
        assert!(patience::is_within(silent.elapsed(), BOUND), "a copy is served without news");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    server.resume().unwrap();
}
