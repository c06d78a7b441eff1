//! Rung 6: SETNX, then EXPIRE as a second command.

use async_trait::async_trait;
use redis::cmd;

use super::seller::{LEASE_MS, Seller};
use super::shop;
use crate::error::LadderError;
use crate::instance::{Parts, Request};
use crate::point::Point;
use crate::reply::Reply;

pub(crate) struct SetnxThenExpire {
    pub(crate) parts: Parts,
}

#[async_trait]
impl Seller for SetnxThenExpire {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        let Parts { redis, database, .. } = &self.parts;
        let key = format!("lock:order:{}", request.user());
        let is_mine: bool = redis.call(request, cmd("SETNX").arg(&key).arg("1")).await?;
        if !is_mine {
            return Ok(Reply::Busy);
        }
        // MISTAKE: a process that dies here leaves a lock without an expiry. Its user never buys again.
        request.at(Point::Locked).await;
        let _: bool = redis.call(request, cmd("PEXPIRE").arg(&key).arg(LEASE_MS)).await?;
        let reply = shop::check_then_buy(database, request).await;
        request.at(Point::Releasing).await;
        let _: i64 = redis.call(request, cmd("DEL").arg(&key)).await?;
        reply
    }
}
