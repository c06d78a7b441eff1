//! Back ends whose ports are in Redis where Redis has them; the others are embedded.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mallbox_storage::production::redis::{self, RedisOptions, RedisPorts};
use mallbox_storage::production::{Holder, Holders};
use mallbox_storage::{Claim, ClaimAnswer, OpenError, OrderId, Page, Storage, StoreError, VoucherId};
use mallbox_test_servers::{Redis, RedisCluster, RedisOptions as ServerOptions};

use crate::world::{World, embedded};

/// One Redis for all cases, each with a prefix of its own. It ends with the process.
pub async fn single() -> World {
    static SERVER: OnceLock<Redis> = OnceLock::new();
    let url = tokio::task::spawn_blocking(|| SERVER.get_or_init(|| Redis::start().unwrap()).url());
    fresh(url.await.unwrap()).await
}

/// The same on a cluster, of which the mall is told one node.
pub async fn cluster() -> World {
    static SERVERS: OnceLock<RedisCluster> = OnceLock::new();
    let urls = tokio::task::spawn_blocking(|| SERVERS.get_or_init(|| RedisCluster::start(3).unwrap()).urls());
    fresh(urls.await.unwrap()[1].clone()).await
}

/// An empty one on this Redis.
pub async fn fresh(url: String) -> World {
    embedded().await.on_redis(options(url)).await
}

/// With a prefix that no other case has.
pub fn options(url: String) -> RedisOptions {
    static CASES: AtomicU64 = AtomicU64::new(0);
    let prefix = format!("case-{}", CASES.fetch_add(1, Ordering::Relaxed));
    RedisOptions { prefix, ..RedisOptions::new(url) }
}

impl World {
    /// This one, but with Redis behind the ports that Redis has.
    pub async fn on_redis(mut self, options: RedisOptions) -> Self {
        self.storage = on_redis(&self.storage, &options).await;
        self.redis = Some(options);
        self
    }

    /// The same mall as another instance sees it: over connections of its own.
    pub async fn other_instance(&self) -> Storage {
        on_redis(&self.storage, self.redis.as_ref().unwrap()).await
    }
}

/// What Redis has of a mall whose record is this one's.
pub async fn ports(storage: &Storage, options: &RedisOptions) -> Result<RedisPorts, OpenError> {
    let holders = Arc::new(RecordHolders(storage.clone()));
    redis::connect(options, holders, Arc::clone(&storage.orders)).await
}

async fn on_redis(storage: &Storage, options: &RedisOptions) -> Storage {
    let RedisPorts { sales, order_log, deadlines, sessions, rate_limits, locks, .. } =
        ports(storage, options).await.unwrap();
    Storage { sales, order_log, deadlines, sessions, rate_limits, locks, ..storage.clone() }
}

/// The holders that a record has whose live orders are all unpaid, as they are in these cases.
struct RecordHolders(Storage);

#[async_trait]
impl Holders for RecordHolders {
    async fn page(&self, voucher: VoucherId, after: OrderId) -> Result<Vec<Holder>, StoreError> {
        let mut holders = Vec::new();
        for (order, _) in self.0.orders.unpaid(after, 1_000_000).await? {
            if let Some(order) = self.0.orders.get(order).await?.filter(|order| order.voucher == voucher) {
                // Perhaps it was closed meanwhile.
                if order.status.is_live() {
                    holders.push(Holder { user: order.user, order: order.id, is_order: true });
                }
            }
        }
        let (dead, _) = self.0.dead_letters.page(None, Page::new(1, 10_000)).await?;
        let dead = dead.iter().filter(|letter| letter.voucher == voucher && letter.holds_unit);
        let dead = dead.filter(|letter| letter.order > after);
        holders.extend(dead.map(|letter| Holder { user: letter.user, order: letter.order, is_order: false }));
        holders.sort_by_key(|holder| holder.order);
        Ok(holders)
    }

    async fn settled(&self, claims: &[Claim]) -> Result<HashSet<OrderId>, StoreError> {
        let mut settled = HashSet::new();
        for claim in claims {
            let order = self.0.orders.get(claim.order).await?;
            let dead = self.0.dead_letters.of_order(claim.order).await?;
            let owners = order.map(|order| (order.user, order.voucher)).into_iter();
            let mut owners = owners.chain(dead.iter().map(|letter| (letter.user, letter.voucher)));
            if owners.any(|owner| owner == (claim.user, claim.voucher)) {
                settled.insert(claim.order);
            }
        }
        Ok(settled)
    }
}

/// A world whose record is empty.
pub async fn connect(options: &RedisOptions) -> Result<RedisPorts, OpenError> {
    ports(&embedded().await.storage, options).await
}

/// A server of a case's own.
pub async fn start(options: ServerOptions) -> Redis {
    tokio::task::spawn_blocking(move || Redis::start_with(options).unwrap()).await.unwrap()
}

/// Says something to a server behind the mall's back.
pub fn tell(url: &str, words: &[&str]) {
    let mut connection = ::redis::Client::open(url).unwrap().get_connection().unwrap();
    let mut command = ::redis::cmd(words[0]);
    command.arg(&words[1..]);
    let _: ::redis::Value = command.query(&mut connection).unwrap();
}

/// Whether this attempt is accepted.
pub async fn accepted(storage: &Storage, claim: Claim) -> bool {
    storage.sales.claim(claim).await.unwrap() == ClaimAnswer::Accepted
}

/// Calls until it is answered again.
pub async fn recovers(w: &World, attempt: Claim) -> ClaimAnswer {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        match w.storage.sales.claim(attempt).await {
            Ok(answer) => return answer,
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
