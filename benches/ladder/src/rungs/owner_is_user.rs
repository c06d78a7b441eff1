//! Rung 6c: the lock knows its owner, but the owner is the user.

use async_trait::async_trait;
use redis::cmd;

use super::delete_by_script::DELETE_IF_MINE;
use super::seller::{LEASE_MS, Seller};
use super::shop;
use crate::error::LadderError;
use crate::instance::{Parts, Request, script};
use crate::point::Point;
use crate::reply::Reply;

pub(crate) struct OwnerIsUser {
    pub(crate) parts: Parts,
}

#[async_trait]
impl Seller for OwnerIsUser {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        let Parts { redis, database, .. } = &self.parts;
        let key = format!("lock:order:{}", request.user());
        // MISTAKE: all who compete for this lock are the same user, so the owner tells nobody apart.
        let owner = request.user();
        let set: Option<String> =
            redis.call(request, cmd("SET").arg(&key).arg(owner).arg("NX").arg("PX").arg(LEASE_MS)).await?;
        if set.is_none() {
            return Ok(Reply::Busy);
        }
        let reply = shop::check_then_buy(database, request).await;
        request.at(Point::Releasing).await;
        let _: i64 = redis.call(request, script(DELETE_IF_MINE, &[&key]).arg(owner)).await?;
        reply
    }
}
