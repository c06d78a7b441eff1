//! Rung 6b: SET NX PX in one command, and a release that deletes whatever lock is there.

use async_trait::async_trait;
use redis::cmd;

use super::seller::{LEASE_MS, Seller};
use super::shop;
use crate::error::LadderError;
use crate::instance::{Parts, Request};
use crate::point::Point;
use crate::reply::Reply;

pub(crate) struct DeleteBlindly {
    pub(crate) parts: Parts,
}

#[async_trait]
impl Seller for DeleteBlindly {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        let Parts { redis, database, .. } = &self.parts;
        let key = format!("lock:order:{}", request.user());
        let set: Option<String> =
            redis.call(request, cmd("SET").arg(&key).arg("1").arg("NX").arg("PX").arg(LEASE_MS)).await?;
        if set.is_none() {
            return Ok(Reply::Busy);
        }
        let reply = shop::check_then_buy(database, request).await;
        request.at(Point::Releasing).await;
        // MISTAKE: if the lease ended meanwhile, this deletes the lock of the next owner.
        let _: i64 = redis.call(request, cmd("DEL").arg(&key)).await?;
        reply
    }
}
