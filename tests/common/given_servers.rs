//! Servers of a user, for benches that fill and clear them.

use mallbox_test_servers::{MariaDb, Redis};
use mysql_async::prelude::Queryable as _;
use redis::aio::MultiplexedConnection;

/// A Redis, and a MariaDB with an empty database.
pub struct GivenServers {
    redis: Redis,
    mariadb: MariaDb,
    keys: MultiplexedConnection,
    /// A connection to MariaDB.
    pub sql: mysql_async::Conn,
}

impl GivenServers {
    pub async fn start() -> Self {
        let (redis, mariadb) = (Redis::start().unwrap(), MariaDb::start().unwrap());
        let client = redis::Client::open(redis.url()).unwrap();
        let keys = client.get_multiplexed_async_connection().await.unwrap();
        let mut sql = mysql_async::Conn::from_url(mariadb.url("mysql")).await.unwrap();
        sql.query_drop("CREATE DATABASE theirs").await.unwrap();
        Self { redis, mariadb, keys, sql }
    }

    /// Returns the flags that name the servers and permit their use.
    pub fn flags(&self) -> [String; 5] {
        let [redis, mysql] = ["--redis", "--mysql"].map(str::to_owned);
        [redis, self.redis.url(), mysql, self.mariadb.url("theirs"), "--may-destroy-data".to_owned()]
    }

    /// Stores a key of the user.
    pub async fn put_key(&mut self) {
        redis::cmd("SET").arg("theirs").arg(7).exec_async(&mut self.keys).await.unwrap();
    }

    /// Fails if the key of the user is not as it was, and removes the key.
    pub async fn take_key(&mut self) {
        let kept: Option<u64> = redis::cmd("GETDEL").arg("theirs").query_async(&mut self.keys).await.unwrap();
        assert_eq!(kept, Some(7));
    }

    /// Fails if the servers hold a key or a table.
    pub async fn are_empty(&mut self) {
        let keys: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut self.keys).await.unwrap();
        let tables = "SELECT CONCAT(table_schema, '.', table_name) FROM information_schema.tables \
                      WHERE table_schema NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')";
        let tables: Vec<String> = self.sql.query(tables).await.unwrap();
        assert_eq!((keys, tables), (Vec::new(), Vec::new()));
    }
}
