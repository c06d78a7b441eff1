//! Rung 0b: DECR decides, and counts on below zero.

use async_trait::async_trait;
use redis::cmd;

use super::seller::Seller;
use super::{get_then_decr, shop};
use crate::error::LadderError;
use crate::instance::{Parts, Request};
use crate::point::Point;
use crate::reply::Reply;

pub(crate) struct DecrBelowZero {
    pub(crate) parts: Parts,
}

#[async_trait]
impl Seller for DecrBelowZero {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        let Parts { redis, database, .. } = &self.parts;
        if shop::has_order(database, request).await? {
            return Ok(Reply::AlreadyBought);
        }
        request.at(Point::Checked).await;
        let left: i64 = redis.call(request, cmd("DECR").arg("stock")).await?;
        if left < 0 {
            // MISTAKE: the refusal stays counted. A unit that is returned later only fills the hole.
            return Ok(Reply::SoldOut);
        }
        request.at(Point::Taken).await;
        database.run(request, "INSERT INTO orders (user) VALUES (?)", &[request.user()]).await?;
        Ok(Reply::Accepted)
    }

    async fn give_back(&self, request: &Request) -> Result<(), LadderError> {
        get_then_decr::give_back(&self.parts, request).await
    }

    async fn stock(&self, request: &Request) -> Result<i64, LadderError> {
        // What buyers can still get: below zero there is nothing.
        let counted: i64 = self.parts.redis.call(request, cmd("GET").arg("stock")).await?;
        Ok(counted.max(0))
    }
}
