//! The half of the production back end that is in Redis: sales and their log, deadlines, sessions, rate limits, locks, copies
//! of what the record has, who signed in on which day and who visited, where shops are.
//!
//! Redis is one server, a master that sentinels watch, or a cluster: `redis://` (also any node of a cluster, which says so
//! itself), `redis+sentinel://host,host/master`, `redis-cluster://host,host`, each with TLS as `rediss…` and then with
//! `?ca=FILE` for a root certificate of one's own. Version 6.2 or later.
//!
//! Every script touches only the keys it is given, and those share a hash tag, so each runs on one node of a cluster. Time is
//! an argument; only leases of locks, the silence of dead workers and loaders, and how long Redis keeps what has expired run
//! by Redis' own clock.

mod address;
mod cache;
mod caretaker;
mod deadlines;
mod epochs;
mod figures;
mod geo_index;
mod health;
mod in_hand;
mod inboxes;
mod keys;
mod known_server;
mod link;
mod listener;
mod loading;
mod locks;
mod log_entries;
mod nodes;
mod order_log;
mod rate_limits;
mod removal;
mod resync;
mod sales;
mod script;
mod sentinels;
mod sessions;
mod sign_ins;
mod visitors;
mod wake_ups;

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

pub use self::figures::RedisFigures;
pub use self::health::{RedisDurability, RedisHealth};
use self::keys::Keys;
use self::link::Link;
pub use self::sign_ins::SIGNS_KEPT;
use super::{EpochRows, Holders, SignRows};
use crate::feeds::FeedRows;
use crate::feeds::desk::Desk;
use crate::{
    Cache, CircuitHealth, Deadlines, Feeds, GeoIndex, Locks, OpenError, OrderLog, Orders, RateLimits, Sales,
    Sessions, Shops, SignIns, StoreError, Visitors,
};

/// How much longer than it is live Redis keeps what expires: clocks differ, and the mall's decides.
const KEPT_LONGER: Duration = Duration::from_secs(60);

/// How to reach Redis.
#[derive(Clone)]
pub struct RedisOptions {
    /// Its URL. May hold a password.
    pub url: String,
    /// What every key begins with: malls of different prefixes share a Redis and nothing else.
    pub prefix: String,
    /// After so long (real time) without a sign of life an order worker counts as dead, and others get what it had in
    /// hand.
    pub worker_silence: Duration,
}

impl RedisOptions {
    /// With the prefix `mallbox`, and workers that may be silent for 10 s.
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

/// The ports that are in Redis.
pub struct RedisPorts {
    /// Flash-sale units.
    pub sales: Arc<dyn Sales>,
    /// Accepted claims on their way to the record.
    pub order_log: Arc<dyn OrderLog>,
    /// When unpaid orders end.
    pub deadlines: Arc<dyn Deadlines>,
    /// Who is logged in.
    pub sessions: Arc<dyn Sessions>,
    /// How often is too often.
    pub rate_limits: Arc<dyn RateLimits>,
    /// Copies of what the record has.
    pub cache: Arc<dyn Cache>,
    /// Locks that instances share.
    pub locks: Arc<dyn Locks>,
    /// The days on which people sign in.
    pub sign_ins: Arc<dyn SignIns>,
    /// How many come, and how often.
    pub visitors: Arc<dyn Visitors>,
    /// Shops by where they are.
    pub geo_index: Arc<dyn GeoIndex>,
    /// What those whom one follows have written.
    pub feeds: Arc<dyn Feeds>,
    /// How Redis is.
    pub upkeep: RedisUpkeep,
}

/// What the record is asked when Redis does not know.
pub struct RecordForRedis {
    /// Which server is the one that counts.
    pub epochs: Arc<dyn EpochRows>,
    /// Who holds units of a sale.
    pub holders: Arc<dyn Holders>,
    /// Orders: which are unpaid, and whether one is live.
    pub orders: Arc<dyn Orders>,
    /// Shops, with where they are.
    pub shops: Arc<dyn Shops>,
    /// Who signed in.
    pub sign_rows: Arc<dyn SignRows>,
    /// Follows and notes.
    pub feed_rows: Arc<dyn FeedRows>,
}

/// Asks how Redis is.
#[derive(Clone, Debug)]
pub struct RedisUpkeep {
    link: Link,
    epochs: Option<Arc<epochs::ServerEpochs>>,
}

impl RedisUpkeep {
    /// Where it is, without user and password.
    #[must_use]
    pub fn address(&self) -> String {
        self.link.address().to_string()
    }

    /// How it is, now.
    pub async fn health(&self) -> RedisHealth {
        health::health(&self.link).await
    }

    /// The circuit breakers before it: one, or one a master of a cluster.
    #[must_use]
    pub fn circuits(&self) -> Vec<CircuitHealth> {
        self.link.circuits()
    }

    /// What it has done so far.
    ///
    /// # Errors
    /// [`StoreError`]: it does not answer.
    pub async fn figures(&self) -> Result<RedisFigures, StoreError> {
        figures::figures(&self.link).await
    }

    /// Reaches a Redis, and asks nothing of it.
    pub(super) async fn to(url: &str) -> Result<Self, OpenError> {
        Ok(Self { link: Link::open(address::Address::parse(url)?).await?, epochs: None })
    }

    /// No claims are taken here any more, and none is in hand.
    pub(super) async fn leave(&self) {
        if let Some(epochs) = &self.epochs {
            epochs.leave().await;
        }
    }

    /// Removes all that the mall with this prefix has there. Answers how many keys there were.
    pub(super) async fn remove_all(&self, prefix: &str) -> Result<u64, StoreError> {
        removal::remove_all(&self.link, prefix).await
    }
}

/// Connects, and checks that Redis keeps what it is told to keep. Connections and background work live on the runtime that
/// this is called on.
///
/// # Errors
/// [`OpenError`]: the URL cannot be read, Redis does not answer, or its `maxmemory-policy` is not `noeviction`.
pub async fn connect(options: &RedisOptions, record: RecordForRedis) -> Result<RedisPorts, OpenError> {
    let RecordForRedis { epochs, holders, orders, shops, sign_rows, feed_rows } = record;
    let keys = Keys::new(&options.prefix)?;
    let link = Link::open(address::Address::parse(&options.url)?).await?;
    health::check_policy(&link).await?;
    health::advise_on_replicas(&link).await;
    let wake_ups = Arc::new(wake_ups::WakeUps::default());
    let silence = options.worker_silence;
    let epochs = epochs::ServerEpochs::start(&link, &keys, epochs, Arc::clone(&wake_ups), silence).await;
    let order_log = order_log::RedisOrderLog::new(Arc::clone(&epochs), &keys, Arc::clone(&wake_ups));
    let consumers = order_log.consumers();
    caretaker::Caretaker::start(&epochs, &keys, &consumers, Arc::clone(&wake_ups), silence);
    let geo_index = geo_index::RedisGeoIndex::new(link.clone(), &keys, shops);
    // A start does not wait for it.
    drop(geo_index.begin_to_fill());
    Ok(RedisPorts {
        feeds: Arc::new(Desk::new(
            inboxes::RedisInboxes { link: link.clone(), keys: keys.clone() },
            feed_rows,
        )),
        geo_index: Arc::new(geo_index),
        deadlines: Arc::new(deadlines::RedisDeadlines::new(Arc::clone(&epochs), &keys, Arc::clone(&orders))),
        sales: Arc::new(sales::RedisSales {
            epochs: Arc::clone(&epochs),
            keys: keys.clone(),
            holders,
            orders,
            wake_ups,
        }),
        order_log: Arc::new(order_log),
        sessions: Arc::new(sessions::RedisSessions { link: link.clone(), keys: keys.clone() }),
        rate_limits: Arc::new(rate_limits::RedisRateLimits { link: link.clone(), keys: keys.clone() }),
        cache: cache::RedisCache::start(&link, &keys),
        locks: Arc::new(locks::RedisLocks::new(&link, &keys)),
        visitors: Arc::new(visitors::RedisVisitors { link: link.clone(), keys: keys.clone() }),
        sign_ins: Arc::new(sign_ins::RedisSignIns::new(link.clone(), keys, sign_rows)),
        upkeep: RedisUpkeep { link, epochs: Some(epochs) },
    })
}

/// A number that nobody else has, from the seed that the standard library draws from the system.
pub(super) fn random() -> u64 {
    RandomState::new().hash_one("redis")
}

/// A random share of 1, to keep instances from doing things in step.
pub(super) fn share() -> f64 {
    f64::from(u32::try_from(random() >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}

/// A span as Redis wants it.
pub(super) fn millis(span: Duration) -> u64 {
    /// A hundred years: more than Redis can add to its clock without harm is not needed.
    const LONGEST_MS: u64 = 100 * 365 * 24 * 60 * 60 * 1000;
    u64::try_from(span.as_millis()).unwrap_or(LONGEST_MS).min(LONGEST_MS)
}
