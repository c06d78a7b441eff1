//! Rung 9b: one lock on three independent Redis servers, all or none.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use redis::cmd;

use super::delete_by_script::DELETE_IF_MINE;
use super::seller::{LEASE_MS, Seller};
use super::shop;
use crate::error::LadderError;
use crate::instance::{Parts, Redis, Request, script};
use crate::point::Point;
use crate::reply::Reply;

/// Time within which all servers must grant the lock, for each of them.
const WAIT_PER_SERVER: Duration = Duration::from_millis(1_500);
/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

pub(crate) struct MultiLock {
    pub(crate) parts: Parts,
}

#[async_trait]
impl Seller for MultiLock {
    fn parts(&self) -> &Parts {
        &self.parts
    }

    async fn buy(&self, request: &Request) -> Result<Reply, LadderError> {
        let Parts { masters, database, .. } = &self.parts;
        let key = format!("lock:order:{}", request.user());
        let owner = rand::random::<u64>().to_string();
        let began = Instant::now();
        while !self.enter_all(request, &key, &owner).await {
            if began.elapsed() > WAIT_PER_SERVER * u32::try_from(masters.len()).unwrap_or(1) {
                return Ok(Reply::Busy);
            }
            tokio::time::sleep(PAUSE).await;
        }
        // MISTAKE of every lock with a lease, on one server or on three: a stopped holder writes after its
        // end. A failover of one server is harmless: the other two still know the holder.
        let reply = shop::check_then_buy(database, request).await;
        request.at(Point::Releasing).await;
        for master in masters {
            leave(master, request, &key, &owner).await;
        }
        reply
    }
}

impl MultiLock {
    /// Enters the lock on every server. What was entered is given back unless all grant the lock.
    async fn enter_all(&self, request: &Request, key: &str, owner: &str) -> bool {
        for (entered, master) in self.parts.masters.iter().enumerate() {
            let setting = cmd("SET").arg(key).arg(owner).arg("NX").arg("PX").arg(LEASE_MS).clone();
            // A server that does not respond has not granted the lock.
            let set = master.call::<Option<String>>(request, &setting).await;
            if !matches!(set, Ok(Some(_))) {
                for earlier in &self.parts.masters[..=entered] {
                    leave(earlier, request, key, owner).await;
                }
                return false;
            }
        }
        true
    }
}

async fn leave(master: &Redis, request: &Request, key: &str, owner: &str) {
    // A lock that cannot be deleted ends with its lease.
    let _ = master.call::<i64>(request, script(DELETE_IF_MINE, &[key]).arg(owner)).await;
}
