//! Rung 0: the stock is in Redis, and GET decides before DECR counts.

use async_trait::async_trait;
use redis::cmd;

use super::seller::Seller;
use super::shop;
use crate::error::LadderError;
use crate::instance::{Parts, Request};
use crate::point::Point;
use crate::reply::Reply;

pub(crate) struct GetThenDecr {
    pub(crate) parts: Parts,
}

#[async_trait]
impl Seller for GetThenDecr {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        let Parts { redis, database, .. } = &self.parts;
        if shop::has_order(database, request).await? {
            return Ok(Reply::AlreadyBought);
        }
        let stock: i64 = redis.call(request, cmd("GET").arg("stock")).await?;
        if stock <= 0 {
            return Ok(Reply::SoldOut);
        }
        request.at(Point::Checked).await;
        // MISTAKE: two commands. Every request that reads the last unit before the first DECR gets a unit.
        let _: i64 = redis.call(request, cmd("DECR").arg("stock")).await?;
        // MISTAKE: two stores. A process that dies here has taken a unit without an order.
        request.at(Point::Taken).await;
        database.run(request, "INSERT INTO orders (user) VALUES (?)", &[request.user()]).await?;
        Ok(Reply::Accepted)
    }

    async fn give_back(&self, request: &Request) -> Result<(), LadderError> {
        give_back(&self.parts, request).await
    }

    async fn stock(&self, request: &Request) -> Result<i64, LadderError> {
        self.parts.redis.call(request, cmd("GET").arg("stock")).await
    }
}

/// Deletes the order in the database, then counts its unit back in Redis.
pub(super) async fn give_back(parts: &Parts, request: &Request) -> Result<(), LadderError> {
    let Parts { redis, database, .. } = parts;
    if database.run(request, "DELETE FROM orders WHERE user = ?", &[request.user()]).await? > 0 {
        let _: i64 = redis.call(request, cmd("INCR").arg("stock")).await?;
    }
    Ok(())
}
