//! A temporary mall on servers that may carry other malls.

use mallbox_storage::{OpenError, StoreError};

use super::ProductionOptions;
use super::mysql::{self, MysqlMetrics};
use super::redis::{RedisStats, RedisUpkeep};

/// A temporary mall on servers shared with other malls, for a benchmark or the trial of a backup. Has a
/// unique key prefix and a unique database, and removes both.
///
/// The mall's scripts, some 30 KiB, stay in Redis' script cache until Redis restarts.
#[derive(Debug)]
pub struct TemporaryMall {
    options: ProductionOptions,
    database: String,
    redis: RedisUpkeep,
}

/// Statistics of both servers since each started. Work of other clients is included.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ServerStats {
    /// Statistics of Redis, summed over all masters.
    pub redis: RedisStats,
    /// Statistics of the MySQL server.
    pub mysql: MysqlMetrics,
}

/// What servers hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Occupancy {
    /// Keys in all masters of Redis.
    pub keys: u64,
    /// Tables in the named database.
    pub tables: u64,
}

impl std::ops::Sub for ServerStats {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self { redis: self.redis - before.redis, mysql: self.mysql - before.mysql }
    }
}

impl TemporaryMall {
    /// Chooses names for a temporary mall on the servers of `options`; writes nothing. The prefix and the
    /// database named in `options` stay untouched. The names contain `purpose`, a short word. Connections
    /// live on the runtime of the caller.
    ///
    /// # Errors
    /// - [`OpenError::BadUrl`]: a URL is invalid.
    /// - [`OpenError::Io`]: a root certificate cannot be read.
    /// - [`OpenError::Unreachable`]: Redis does not reply.
    pub async fn beside(options: &ProductionOptions, purpose: &str) -> Result<Self, OpenError> {
        let name = crate::random::random();
        let database = format!("mallbox_{purpose}_{name:016x}");
        let mut own = ProductionOptions {
            redis: options.redis.clone(),
            mysql: mysql::with_database(&options.mysql, &database)?,
            connection_wait: options.connection_wait,
        };
        own.redis.prefix = format!("{purpose}-{name:016x}");
        Ok(Self { redis: RedisUpkeep::to(&own.redis.url).await?, options: own, database })
    }

    /// Returns the temporary mall with these [`options`](Self::options), for its removal by another runtime
    /// than that of its connections.
    ///
    /// # Errors
    /// As [`beside`](Self::beside).
    pub async fn at(options: ProductionOptions) -> Result<Self, OpenError> {
        let database = mysql::Address::parse(&options.mysql)?.database;
        Ok(Self { redis: RedisUpkeep::to(&options.redis.url).await?, options, database })
    }

    /// Returns what the servers hold: keys of any prefix, and tables in the database that the URL `mysql`
    /// names.
    ///
    /// # Errors
    /// [`StoreError`]: a server is unreachable, or the URL is invalid.
    pub async fn occupancy(&self, mysql: &str) -> Result<Occupancy, StoreError> {
        Ok(Occupancy { keys: self.redis.keys().await?, tables: mysql::tables_of(mysql).await? })
    }

    /// Returns the options that open the temporary mall.
    #[must_use]
    pub fn options(&self) -> &ProductionOptions {
        &self.options
    }

    /// Returns the statistics of both servers.
    ///
    /// # Errors
    /// [`StoreError`]: a server is unreachable.
    pub async fn figures(&self) -> Result<ServerStats, StoreError> {
        let (redis, mysql) = tokio::join!(self.redis.figures(), mysql::figures_of(&self.options.mysql));
        Ok(ServerStats { redis: redis?, mysql: mysql? })
    }

    /// Removes the keys and the database. The mall must not be in use any more.
    ///
    /// # Errors
    /// [`StoreError`]: some or all of the data is still there.
    pub async fn remove(&self) -> Result<(), StoreError> {
        let dropped = mysql::drop_database(&self.options.mysql).await;
        self.redis.remove_all(&self.options.redis.prefix).await?;
        dropped
    }

    /// Names the database and the key prefix, for removal by hand after [`remove`](Self::remove) failed.
    #[must_use]
    pub fn names(&self) -> String {
        format!("the database {} and the keys of {}", self.database, self.options.redis.prefix)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mallbox_test_servers::{MariaDb, Redis, RedisCluster};
    use mysql_async::prelude::Queryable as _;

    use super::*;
    use mallbox_storage::{NewSession, Timestamp, TokenHash, UserId};

    const NOW: Timestamp = Timestamp::from_millis(1_795_262_400_000);

    #[tokio::test]
    async fn it_says_which_url_is_bad() {
        for (redis, mysql) in [("nonsense", "mysql://host/mall"), ("redis://127.0.0.1:1", "nonsense")] {
            let options = ProductionOptions::new(redis, mysql);
            let refused = TemporaryMall::beside(&options, "bench").await.unwrap_err();
            assert!(matches!(refused, OpenError::BadUrl { .. }), "{refused}");
        }
    }

    /// Opens the mall and logs users in.
    async fn fill(options: &ProductionOptions) {
        let storage = crate::open(options).await.unwrap();
        for number in 0..50 {
            let token = TokenHash([number; 32]);
            let session = NewSession::of(UserId::new(number.into()), Duration::from_secs(60));
            storage.people.sessions.begin(token, &session, NOW).await.unwrap();
        }
        storage.base.upkeep.put_setting("zone", "UTC").await.unwrap();
        storage.base.upkeep.close().await.unwrap();
    }

    /// Returns all keys and all databases.
    async fn all_there_is(redis: &[String], mysql: &str) -> (Vec<String>, Vec<String>) {
        let mut keys = Vec::new();
        for url in redis {
            let client = ::redis::Client::open(url.as_str()).unwrap();
            let mut connection = client.get_multiplexed_async_connection().await.unwrap();
            let some: Vec<String> = ::redis::cmd("KEYS").arg("*").query_async(&mut connection).await.unwrap();
            // A check of the server leaves a key for some milliseconds.
            keys.extend(some.into_iter().filter(|key| !key.ends_with(":checked")));
        }
        keys.sort();
        let mut conn = mysql_async::Conn::from_url(mysql).await.unwrap();
        (keys, conn.query("SHOW DATABASES").await.unwrap())
    }

    async fn is_gone_without_a_trace(url: &str, nodes: &[String], mariadb: &MariaDb) {
        let real = ProductionOptions::new(url, mariadb.url("mall"));
        fill(&real).await;
        let before = all_there_is(nodes, &mariadb.url("mall")).await;
        let trial = TemporaryMall::beside(&real, "bench").await.unwrap();
        let held = trial.occupancy(&real.mysql).await.unwrap();
        assert!(held.keys >= 50 && held.tables > 20, "{held:?}");
        assert_eq!(trial.occupancy(&mariadb.url("other")).await.unwrap().tables, 0);
        let begun = trial.figures().await.unwrap();
        fill(trial.options()).await;
        let spent = trial.figures().await.unwrap() - begun;
        assert!(spent.redis.calls >= 50 && spent.redis.bytes_in > 5_000, "{spent:?}");
        assert!(spent.mysql.statements > 0 && spent.mysql.rows > 0, "{spent:?}");
        let during = all_there_is(nodes, &mariadb.url("mall")).await;
        assert!(during.0.len() >= before.0.len() + 100 && during.1.len() == before.1.len() + 1, "{during:?}");
        trial.remove().await.unwrap();
        assert_eq!(all_there_is(nodes, &mariadb.url("mall")).await, before);
    }

    #[tokio::test(flavor = "multi_thread")]
    #[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
    async fn it_is_gone_afterwards_and_the_mall_beside_it_is_not() {
        let (redis, cluster) = (Redis::start().unwrap(), RedisCluster::start(3).unwrap());
        let mariadb = MariaDb::start().unwrap();
        is_gone_without_a_trace(&redis.url(), &[redis.url()], &mariadb).await;
        is_gone_without_a_trace(&cluster.urls()[0], &cluster.urls(), &mariadb).await;
    }
}
