//! Rung 9: a reentrant lock whose lease a watchdog renews, and whose waiters are woken by a message.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::StreamExt as _;

use super::seller::{LEASE, LEASE_MS, Seller};
use super::shop;
use crate::error::LadderError;
use crate::instance::{Parts, Redis, Request, script};
use crate::point::Point;
use crate::reply::Reply;

/// Time after which a waiter is refused.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// Enters the lock: returns nothing if it is ours now, and otherwise the rest of its lease in ms.
const ENTER: &str = "-- enter the lock, or say how long it lasts
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
    redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    return false
end
return redis.call('PTTL', KEYS[1])";

const RENEW: &str = "-- renew the lease if the lock is mine
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
    return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0";

const LEAVE: &str = "-- leave the lock, and wake a waiter
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
    return 0
end
if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) <= 0 then
    redis.call('DEL', KEYS[1])
    redis.call('PUBLISH', KEYS[1], 'free')
end
return 1";

pub(crate) struct Watchdog {
    pub(crate) parts: Parts,
}

#[async_trait]
impl Seller for Watchdog {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        let key = format!("lock:order:{}", request.user());
        let owner = format!("{}:{}", self.parts.instance, rand::random::<u64>());
        if !self.enter(request, &key, &owner).await? {
            return Ok(Reply::Busy);
        }
        // MISTAKE of every lock with a lease: a process that is stopped takes its watchdog with it.
        let watchdog =
            tokio::spawn(renew(self.parts.redis.apart(), request.clone(), key.clone(), owner.clone()));
        let reply = shop::check_then_buy(&self.parts.database, request).await;
        watchdog.abort();
        request.at(Point::Releasing).await;
        let _: i64 = self.parts.redis.call(request, script(LEAVE, &[&key]).arg(&owner)).await?;
        reply
    }
}

impl Watchdog {
    /// Waits for the lock. A message says that it is free; the end of its lease says so too.
    async fn enter(&self, request: &Request, key: &str, owner: &str) -> Result<bool, LadderError> {
        let began = Instant::now();
        let mut free = None;
        loop {
            let entering = script(ENTER, &[key]).arg(owner).arg(LEASE_MS).clone();
            let Some(left_ms) = self.parts.redis.call::<Option<i64>>(request, &entering).await? else {
                return Ok(true);
            };
            let patience = WAIT_MAX.saturating_sub(began.elapsed());
            if patience.is_zero() {
                return Ok(false);
            }
            let Some(messages) = &mut free else {
                // The lock may be free before the subscription begins: asks once more.
                free = Some(self.parts.redis.subscribe(key).await?.into_on_message());
                continue;
            };
            let lease = Duration::from_millis(u64::try_from(left_ms).unwrap_or(0) + 1);
            // A message and the end of the lease both lead to the next attempt.
            if let Ok(None) = tokio::time::timeout(patience.min(lease), messages.next()).await {
                // The connection is lost.
                free = None;
            }
        }
    }
}

/// Renews the lease every third of its length, until the lock is lost or the work is over.
async fn renew(redis: Redis, request: Request, key: String, owner: String) {
    loop {
        tokio::time::sleep(LEASE / 3).await;
        let renewing = script(RENEW, &[&key]).arg(&owner).arg(LEASE_MS).clone();
        // After an error, another attempt fits before the lease ends.
        if let Ok(0) = redis.call::<i64>(&request, &renewing).await {
            return;
        }
    }
}
