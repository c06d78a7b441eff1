//! Bare commands of Redis, as tutorials send them: to a server or to a cluster.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::{AsyncConnectionConfig, Cmd, FromRedisValue, Pipeline};

use crate::error::BenchError;

/// Time limit of a response. The client's own of half a second is short for a command on a million places.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// A connection that any number of callers share.
#[derive(Clone)]
pub enum RawRedis {
    /// To a server.
    Server(MultiplexedConnection),
    /// To a cluster.
    Cluster(ClusterConnection),
}

impl RawRedis {
    /// Connects; to a cluster if the server is a node of one.
    pub async fn connect(url: &str) -> Result<Self, BenchError> {
        let client = redis::Client::open(url)?;
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(RESPONSE_TIMEOUT));
        let mut server = client.get_multiplexed_async_connection_with_config(&config).await?;
        let info: String = redis::cmd("INFO").arg("cluster").query_async(&mut server).await?;
        if field(&info, "cluster_enabled") == Some("1") {
            let cluster = ClusterClient::builder([url]).response_timeout(RESPONSE_TIMEOUT).build()?;
            return Ok(Self::Cluster(cluster.get_async_connection().await?));
        }
        Ok(Self::Server(server))
    }

    /// Sends a command.
    pub async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, BenchError> {
        Ok(match self {
            Self::Server(server) => command.query_async(&mut server.clone()).await?,
            Self::Cluster(cluster) => command.query_async(&mut cluster.clone()).await?,
        })
    }

    /// Sends commands on keys of one slot together, without a transaction.
    pub async fn pipeline<T: FromRedisValue>(&self, commands: &Pipeline) -> Result<T, BenchError> {
        Ok(match self {
            Self::Server(server) => commands.query_async(&mut server.clone()).await?,
            Self::Cluster(cluster) => commands.query_async(&mut cluster.clone()).await?,
        })
    }

    /// Returns the memory of the data in bytes; of a cluster, unknown.
    pub async fn memory(&self) -> Result<Option<u64>, BenchError> {
        if matches!(self, Self::Cluster(_)) {
            return Ok(None);
        }
        let info: String = self.query(redis::cmd("INFO").arg("memory")).await?;
        Ok(field(&info, "used_memory").and_then(|bytes| bytes.parse().ok()))
    }

    /// Returns how durable a write is when a command returns, in Redis' terms.
    pub(crate) async fn durability(&self) -> Result<String, BenchError> {
        let Self::Server(_) = self else { return Ok("durability of the cluster unknown".to_owned()) };
        let append = self.setting("appendonly").await?;
        if append != "yes" {
            return Ok("Redis: appendonly no, memory only".to_owned());
        }
        Ok(format!("Redis: appendfsync {}", self.setting("appendfsync").await?))
    }

    async fn setting(&self, name: &str) -> Result<String, BenchError> {
        let pair: Vec<String> = self.query(redis::cmd("CONFIG").arg("GET").arg(name)).await?;
        Ok(pair.get(1).cloned().unwrap_or_default())
    }
}

/// Returns a field of `INFO`.
fn field<'info>(info: &'info str, name: &str) -> Option<&'info str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}
