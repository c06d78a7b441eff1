//! Rung 8: a random owner, compared and deleted by one script.

use async_trait::async_trait;
use redis::cmd;

use super::seller::{LEASE_MS, Seller};
use super::shop;
use crate::error::LadderError;
use crate::instance::{Parts, Request, script};
use crate::point::Point;
use crate::reply::Reply;

/// Deletes the lock if its owner is `ARGV[1]`.
pub(super) const DELETE_IF_MINE: &str = "-- delete the lock if it is mine
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('DEL', KEYS[1])
end
return 0";

pub(crate) struct DeleteByScript {
    pub(crate) parts: Parts,
}

#[async_trait]
impl Seller for DeleteByScript {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        let Parts { redis, database, .. } = &self.parts;
        let key = format!("lock:order:{}", request.user());
        let owner = rand::random::<u64>().to_string();
        let set: Option<String> =
            redis.call(request, cmd("SET").arg(&key).arg(&owner).arg("NX").arg("PX").arg(LEASE_MS)).await?;
        if set.is_none() {
            return Ok(Reply::Busy);
        }
        // MISTAKE of every lock with a lease: a process that is stopped in here does not know that the lease
        // is over, and writes.
        let reply = shop::check_then_buy(database, request).await;
        request.at(Point::Releasing).await;
        let _: i64 = redis.call(request, script(DELETE_IF_MINE, &[&key]).arg(&owner)).await?;
        reply
    }
}
