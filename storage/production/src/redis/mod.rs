//! The part of the production back end that lives in Redis: sales and the order log, deadlines, sessions,
//! login codes, rate limits, locks, cached copies of database rows, sign-in bitmaps, visitor counts, feed
//! inboxes and the geo index of shops.
//!
//! Redis is one server, a master watched by sentinels, or a cluster. The URLs are `redis://` (also any node
//! of a cluster, which is detected), `redis+sentinel://host,host/master` and `redis-cluster://host,host`.
//! With `rediss…` a connection uses TLS, and `?ca=FILE` then names a private root certificate. Version 6.2 or
//! later is required.
//!
//! A script touches only the keys in `KEYS`, and all keys of a call share a hash tag, so each call runs on
//! one node of a cluster. Scripts receive the time as an argument. Only lock leases, the timeouts of workers
//! and loaders, and the retention of expired keys run by Redis' own clock.

mod address;
mod cache;
mod claim_groups;
mod codes;
mod deadlines;
mod epochs;
mod event_streams;
mod geo_index;
mod health;
mod inboxes;
mod inspection;
mod keys;
mod link;
mod listener;
mod loading;
mod locks;
mod log_entries;
mod nodes;
mod order_log;
mod rate_limits;
mod removal;
mod restored_server;
mod resync;
mod sales;
mod scan;
mod script;
mod sentinels;
mod session_cache;
mod session_fields;
mod session_look_up;
mod sessions;
mod shop_copy;
mod shop_entries;
mod sign_ins;
mod stats;
mod taken_claims;
mod trust;
mod visit_copies;
mod visitors;
mod waiting_rooms;
mod wake_ups;
mod worker_reaper;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::backend::FanOutFeeds;
use mallbox_storage::backend::FeedRows;
use mallbox_storage::{
    Cache, CircuitHealth, Claim, Codes, Deadlines, EventStreams, Feeds, GeoIndex, Locks, OpenError, OrderLog,
    Orders, PARTITIONS, RateLimits, Sales, Sessions, Shops, SignIns, StoreError, Timestamp, Visitors,
    WaitingRooms,
};

pub(super) use self::address::Address;
pub use self::health::{RedisDurability, RedisHealth, RedisTrouble};
pub(super) use self::inspection::inspect;
pub use self::inspection::{RedisInspection, RedisMemory};
use self::keys::Keys;
use self::link::Link;
pub use self::sign_ins::SIGNS_KEPT;
pub use self::stats::RedisStats;
use super::{EpochRows, Holders, SignRows};
use crate::copy_error::CopyError;

/// Address and settings of Redis.
#[derive(Clone)]
pub struct RedisOptions {
    /// URL of Redis. May contain a password.
    pub url: String,
    /// Prefix of every key: malls with different prefixes share a Redis and nothing else.
    pub prefix: String,
    /// Real time without a heartbeat after which an order worker counts as dead. Its claims then go to other
    /// workers.
    pub worker_silence: Duration,
}

impl RedisOptions {
    /// Creates options with the prefix `mallbox` and a worker timeout of 10 s.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        let worker_silence = Duration::from_secs(10);
        Self { url: url.into(), prefix: "mallbox".to_owned(), worker_silence }
    }
}

impl std::fmt::Debug for RedisOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedisOptions").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// The ports that Redis serves.
pub struct RedisPorts {
    /// Flash sales: units and buyers.
    pub sales: Arc<dyn Sales>,
    /// Accepted claims on the way to the database.
    pub order_log: Arc<dyn OrderLog>,
    /// Deadlines of unpaid orders.
    pub deadlines: Arc<dyn Deadlines>,
    /// Login codes, and the requesters known to each phone.
    pub codes: Arc<dyn Codes>,
    /// Login sessions.
    pub sessions: Arc<dyn Sessions>,
    /// Rate limits by key.
    pub rate_limits: Arc<dyn RateLimits>,
    /// Cached copies of database rows.
    pub cache: Arc<dyn Cache>,
    /// Locks that instances share.
    pub locks: Arc<dyn Locks>,
    /// Sign-ins by user and day.
    pub sign_ins: Arc<dyn SignIns>,
    /// Unique visitors and page views.
    pub visitors: Arc<dyn Visitors>,
    /// Waiting rooms of busy sales.
    pub waiting_rooms: Arc<dyn WaitingRooms>,
    /// Index of shops by location.
    pub geo_index: Arc<dyn GeoIndex>,
    /// Feeds of new notes by followed authors.
    pub feeds: Arc<dyn Feeds>,
    /// Streams of events for programs beside the mall.
    pub event_streams: Arc<dyn EventStreams>,
    /// Health and statistics of Redis.
    pub upkeep: RedisUpkeep,
}

/// Database ports that Redis falls back to, or is loaded from.
pub struct DatabaseForRedis {
    /// Replication epochs, which name the valid server.
    pub epochs: Arc<dyn EpochRows>,
    /// Holders of units of a sale.
    pub holders: Arc<dyn Holders>,
    /// Orders, to find unpaid orders and to check whether an order is live.
    pub orders: Arc<dyn Orders>,
    /// Shops with their locations.
    pub shops: Arc<dyn Shops>,
    /// Sign-ins by user and day.
    pub sign_rows: Arc<dyn SignRows>,
    /// Follows and notes, to fill inboxes.
    pub feed_rows: Arc<dyn FeedRows>,
}

/// Reports health and statistics of Redis.
#[derive(Clone, Debug)]
pub struct RedisUpkeep {
    link: Link,
    epochs: Option<Arc<epochs::ServerEpochs>>,
}

impl RedisUpkeep {
    /// Returns the address, without user and password.
    #[must_use]
    pub fn address(&self) -> String {
        self.link.address().to_string()
    }

    /// Queries the current health.
    pub async fn health(&self) -> RedisHealth {
        health::health(&self.link).await
    }

    /// Returns the circuit breakers: one, or one per master of a cluster.
    #[must_use]
    pub fn circuits(&self) -> Vec<CircuitHealth> {
        self.link.circuits()
    }

    /// Returns the statistics of all masters together.
    ///
    /// # Errors
    /// [`StoreError`]: a master is unreachable.
    pub async fn figures(&self) -> Result<RedisStats, StoreError> {
        stats::read(&self.link).await
    }

    /// Returns the number of keys of all masters together, those of other programs included.
    ///
    /// # Errors
    /// [`StoreError`]: a master is unreachable.
    pub(super) async fn keys(&self) -> Result<u64, StoreError> {
        Ok(self.link.of_each_master::<u64>("redis.dbsize", &::redis::cmd("DBSIZE")).await?.into_iter().sum())
    }

    /// Connects to a Redis without changing anything there.
    pub(super) async fn to(url: &str) -> Result<Self, OpenError> {
        Ok(Self { link: Link::open(address::Address::parse(url)?).await?, epochs: None })
    }

    /// Copies visits and salts to `out`, a line each.
    pub(super) async fn copy_visits(
        &self,
        prefix: &str,
        now: Timestamp,
        out: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), CopyError> {
        visit_copies::copy(&self.link, prefix, now, out).await
    }

    /// Replaces visits and salts by copied ones.
    pub(super) async fn put_visits(
        &self,
        prefix: &str,
        lines: impl io::BufRead,
        now: Timestamp,
    ) -> Result<(), CopyError> {
        let keys = Keys::new(prefix).map_err(CopyError::Open)?;
        visit_copies::replace(&self.link, (&keys, prefix), lines, now).await
    }

    /// Returns whether there are keys of a mall with this prefix, other than those of visits.
    pub(super) async fn has_other_keys(&self, prefix: &str) -> Result<bool, StoreError> {
        visit_copies::has_other_keys(&self.link, prefix).await
    }

    /// Returns all pending claims of the mall with this prefix.
    pub(super) async fn pending(&self, prefix: &str) -> Result<Vec<Claim>, CopyError> {
        let keys = Keys::new(prefix).map_err(CopyError::Open)?;
        let logs: Vec<_> = (0..PARTITIONS).map(|partition| keys.log(partition)).collect();
        Ok(log_entries::pending(&self.link, &logs).await?)
    }

    /// Deregisters this instance: it takes no more claims, and has none in hand.
    pub(super) async fn leave(&self) {
        if let Some(epochs) = &self.epochs {
            epochs.leave().await;
        }
    }

    /// Removes all keys of the mall with this prefix. Returns the number of keys removed.
    pub(super) async fn remove_all(&self, prefix: &str) -> Result<u64, StoreError> {
        removal::remove_all(&self.link, prefix).await
    }
}

/// Connects, and checks that Redis never evicts keys. Connections and background tasks live on the runtime of
/// the caller.
///
/// # Errors
/// - [`OpenError::BadUrl`]: the URL or the key prefix is invalid.
/// - [`OpenError::Io`]: the root certificate cannot be read.
/// - [`OpenError::Unreachable`]: Redis does not reply.
/// - [`OpenError::Unfit`]: the `maxmemory-policy` is not `noeviction`.
pub async fn connect(options: &RedisOptions, record: DatabaseForRedis) -> Result<RedisPorts, OpenError> {
    let DatabaseForRedis { epochs, holders, orders, shops, sign_rows, feed_rows } = record;
    let keys = Keys::new(&options.prefix)?;
    let link = Link::open(address::Address::parse(&options.url)?).await?;
    health::check_policy(&link).await?;
    health::advise_on_replicas(&link).await;
    let wake_ups = Arc::new(wake_ups::ReadySet::default());
    let silence = options.worker_silence;
    let epochs = epochs::ServerEpochs::new(&link, &keys, epochs, Arc::clone(&wake_ups), silence);
    resync::start(&epochs).await;
    let order_log = order_log::RedisOrderLog::new(Arc::clone(&epochs), &keys, Arc::clone(&wake_ups));
    let consumers = order_log.consumers();
    worker_reaper::WorkerReaper::start(&epochs, &keys, &consumers, Arc::clone(&wake_ups), silence);
    let geo_index = geo_index::RedisGeoIndex::new(link.clone(), &keys, shops);
    // Startup does not wait for the index.
    drop(geo_index.begin_to_fill());
    Ok(RedisPorts {
        feeds: Arc::new(FanOutFeeds::new(
            inboxes::RedisInboxes { link: link.clone(), keys: keys.clone() },
            feed_rows,
        )),
        geo_index: Arc::new(geo_index),
        deadlines: Arc::new(deadlines::RedisDeadlines::new(Arc::clone(&epochs), &keys, Arc::clone(&orders))),
        sales: Arc::new(sales::RedisSales {
            groups: claim_groups::ClaimGroups::new(Arc::clone(&epochs), keys.clone(), wake_ups),
            epochs: Arc::clone(&epochs),
            keys: keys.clone(),
            holders,
            orders,
        }),
        order_log: Arc::new(order_log),
        codes: Arc::new(codes::RedisCodes { link: link.clone(), keys: keys.clone() }),
        sessions: Arc::new(sessions::RedisSessions {
            cache: session_cache::SessionCache::start(&link, &keys),
            link: link.clone(),
            keys: keys.clone(),
        }),
        rate_limits: Arc::new(rate_limits::RedisRateLimits { link: link.clone(), keys: keys.clone() }),
        cache: cache::RedisCache::start(&link, &keys),
        locks: Arc::new(locks::RedisLocks::new(&link, &keys)),
        event_streams: Arc::new(event_streams::RedisEventStreams { link: link.clone(), keys: keys.clone() }),
        waiting_rooms: Arc::new(waiting_rooms::RedisWaitingRooms { link: link.clone(), keys: keys.clone() }),
        visitors: Arc::new(visitors::RedisVisitors { link: link.clone(), keys: keys.clone() }),
        sign_ins: Arc::new(sign_ins::RedisSignIns::new(link.clone(), keys, sign_rows)),
        upkeep: RedisUpkeep { link, epochs: Some(epochs) },
    })
}
