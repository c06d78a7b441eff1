//! Rung 8b: one lock for the whole sale, tried every 50 ms.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use redis::cmd;

use super::delete_by_script::DELETE_IF_MINE;
use super::seller::{LEASE_MS, Seller};
use super::shop;
use crate::error::LadderError;
use crate::instance::{Parts, Request, script};
use crate::point::Point;
use crate::reply::Reply;

const KEY: &str = "lock:sale";
/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(50);
/// Time after which a buyer is refused.
const WAIT_MAX: Duration = Duration::from_millis(500);

pub(crate) struct Spin {
    pub(crate) parts: Parts,
}

#[async_trait]
impl Seller for Spin {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        let Parts { redis, database, .. } = &self.parts;
        let owner = rand::random::<u64>().to_string();
        let began = Instant::now();
        loop {
            let set: Option<String> = redis
                .call(request, cmd("SET").arg(KEY).arg(&owner).arg("NX").arg("PX").arg(LEASE_MS))
                .await?;
            if set.is_some() {
                break;
            }
            // MISTAKE: all wait for one lock, nobody in turn. Of a crowd, most are refused while units are
            // left.
            if began.elapsed() >= WAIT_MAX {
                return Ok(Reply::Busy);
            }
            tokio::time::sleep(PAUSE).await;
        }
        let reply = shop::check_then_buy(database, request).await;
        request.at(Point::Releasing).await;
        let _: i64 = redis.call(request, script(DELETE_IF_MINE, &[KEY]).arg(&owner)).await?;
        reply
    }
}
