//! Sessions in the format of older versions in Redis.

use std::time::Duration;

use mallbox_storage::{NewSession, Timestamp, TokenHash, UserId};
use mallbox_test_servers::RedisOptions as ServerOptions;

use crate::redis_world::{start, tell};
use crate::world::{self, HOUR, NOON, World};

const MS: Duration = Duration::from_millis(1);
const TTL: Duration = Duration::from_secs(1800);

fn token(number: u8) -> TokenHash {
    TokenHash([number; 32])
}

async fn find(w: &World, number: u8, now: Timestamp) -> Option<u64> {
    w.storage.people.sessions.find(token(number), TTL, now).await.unwrap().map(|session| session.user.get())
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn a_session_that_an_older_version_stored_without_a_ttl_takes_that_of_the_first_look() {
    let server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    for (begun, first_look) in [(NOON, NOON + TTL - MS), (NOON + 10 * 365 * 24 * HOUR, NOON)] {
        w.storage.people.sessions.begin(token(1), &NewSession::of(UserId::new(7), TTL), begun).await.unwrap();
        let key = format!("{}:session:{}", w.production().redis.prefix, "01".repeat(32));
        tell(&server.url(), &["HDEL", &key, "ttl"]);
        assert_eq!(find(&w, 1, first_look).await, Some(7));
        assert_eq!(find(&w, 1, first_look + TTL).await, None, "begun at {begun:?}");
    }
}
