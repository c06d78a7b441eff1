//! Rung 9e: rung 8 with a fencing token, which the database checks.

use async_trait::async_trait;
use redis::cmd;

use super::delete_by_script::DELETE_IF_MINE;
use super::seller::{LEASE_MS, Seller};
use super::shop;
use crate::error::LadderError;
use crate::instance::{Parts, Request, script};
use crate::point::Point;
use crate::reply::Reply;

/// Stores the token unless a greater or equal one is stored.
const RAISE: &str = "INSERT INTO fences (user, token) VALUES (?, ?)
    ON DUPLICATE KEY UPDATE token = GREATEST(token, VALUES(token))";

pub(crate) struct FencingToken {
    pub(crate) parts: Parts,
}

#[async_trait]
impl Seller for FencingToken {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        let redis = &self.parts.redis;
        let key = format!("lock:order:{}", request.user());
        let owner = rand::random::<u64>().to_string();
        let set: Option<String> =
            redis.call(request, cmd("SET").arg(&key).arg(&owner).arg("NX").arg("PX").arg(LEASE_MS)).await?;
        if set.is_none() {
            return Ok(Reply::Busy);
        }
        let token: i64 = redis.call(request, cmd("INCR").arg("fencing-token")).await?;
        let reply = self.buy_as(request, token).await;
        request.at(Point::Releasing).await;
        let _: i64 = redis.call(request, script(DELETE_IF_MINE, &[&key]).arg(&owner)).await?;
        reply
    }
}

impl FencingToken {
    /// Buys as the holder of `token`. The database knows the newest holder before that one reads anything,
    /// and takes no order from an older one.
    async fn buy_as(&self, request: &Request, token: i64) -> Result<Reply, LadderError> {
        let database = &self.parts.database;
        // One row is a new token, two are a raised one, none is a stored token that is not smaller.
        if database.run(request, RAISE, &[request.user(), token]).await? == 0 {
            return Ok(Reply::Busy);
        }
        if shop::has_order(database, request).await? {
            return Ok(Reply::AlreadyBought);
        }
        request.at(Point::Checked).await;
        let mut transaction = database.begin(request).await?;
        let newest = transaction
            .number("SELECT token FROM fences WHERE user = ? FOR UPDATE", &[request.user()])
            .await?;
        if newest != Some(token) {
            transaction.roll_back().await?;
            return Ok(Reply::Busy);
        }
        let taken = transaction.run("UPDATE vouchers SET stock = stock - 1 WHERE stock > 0", &[]).await?;
        if taken == 0 {
            transaction.roll_back().await?;
            return Ok(Reply::SoldOut);
        }
        request.at(Point::Taken).await;
        transaction.run("INSERT INTO orders (user) VALUES (?)", &[request.user()]).await?;
        transaction.commit().await?;
        Ok(Reply::Accepted)
    }
}
