//! Rung 7: a random owner, compared and deleted in two commands.

use async_trait::async_trait;
use redis::cmd;

use super::seller::{LEASE_MS, Seller};
use super::shop;
use crate::error::LadderError;
use crate::instance::{Parts, Request};
use crate::point::Point;
use crate::reply::Reply;

pub(crate) struct CheckThenDelete {
    pub(crate) parts: Parts,
}

#[async_trait]
impl Seller for CheckThenDelete {
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
        let reply = shop::check_then_buy(database, request).await;
        request.at(Point::Releasing).await;
        let holder: Option<String> = redis.call(request, cmd("GET").arg(&key)).await?;
        if holder.as_deref() == Some(owner.as_str()) {
            // MISTAKE: the lease may end here; DEL then deletes the lock of the next owner.
            request.at(Point::OwnerChecked).await;
            let _: i64 = redis.call(request, cmd("DEL").arg(&key)).await?;
        }
        reply
    }
}
