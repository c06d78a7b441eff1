//! The servers of a run, as the ways of tutorials use them.

use mallbox_bench_ports::{BenchError, RawRedis, ServerAddresses};
use mysql_async::prelude::Queryable as _;
use mysql_async::{Opts, OptsBuilder, Pool, PoolConstraints, PoolOpts};

/// Connections to MySQL: a caller of a stampede each, and some for experiments. Below MySQL's default limit
/// of 151.
const CONNECTIONS_MAX: usize = 100;

/// A Redis without persistence and a MySQL: what the ways keep there could be rebuilt.
#[derive(Clone)]
pub struct Servers {
    /// For mallbox, which opens malls of its own there.
    pub(crate) addresses: ServerAddresses,
    pub(crate) redis: RawRedis,
    pub(crate) mysql: Pool,
}

impl Servers {
    /// Connects to servers, and creates the database of the URL if there is none.
    ///
    /// # Errors
    /// [`BenchError`]: a server cannot be reached.
    pub async fn connect(addresses: ServerAddresses) -> Result<Self, BenchError> {
        let redis = RawRedis::connect(&addresses.redis_in_memory).await?;
        let options = Opts::from_url(&addresses.mysql)?;
        if let Some(database) = options.db_name().map(str::to_owned) {
            let without = OptsBuilder::from_opts(options.clone()).db_name(None::<String>);
            let mut connection = mysql_async::Conn::new(without).await?;
            connection.query_drop(format!("CREATE DATABASE IF NOT EXISTS `{database}`")).await?;
            connection.disconnect().await?;
        }
        let constraints = PoolConstraints::new(1, CONNECTIONS_MAX).unwrap_or_default();
        let pool = PoolOpts::new().with_constraints(constraints);
        let mysql = Pool::new(OptsBuilder::from_opts(options).pool_opts(pool));
        Ok(Self { addresses, redis, mysql })
    }

    /// Runs statements, one after another.
    pub(crate) async fn run(&self, statements: &[&str]) -> Result<(), BenchError> {
        let mut connection = self.mysql.get_conn().await?;
        for statement in statements {
            connection.query_drop(*statement).await?;
        }
        Ok(())
    }

    /// Removes all keys that begin with `prefix`.
    pub(crate) async fn remove_keys(&self, prefix: &str) -> Result<(), BenchError> {
        let mut cursor = "0".to_owned();
        loop {
            let mut scan = redis::cmd("SCAN");
            scan.arg(&cursor).arg("MATCH").arg(format!("{prefix}*")).arg("COUNT").arg(5_000);
            let (next, keys): (String, Vec<String>) = self.redis.query(&scan).await?;
            if !keys.is_empty() {
                self.redis.query::<u64>(redis::cmd("UNLINK").arg(keys)).await?;
            }
            if next == "0" {
                return Ok(());
            }
            cursor = next;
        }
    }

    /// Closes the connections.
    ///
    /// # Errors
    /// [`BenchError`]: a connection ended before.
    pub async fn close(self) -> Result<(), BenchError> {
        Ok(self.mysql.disconnect().await?)
    }
}
