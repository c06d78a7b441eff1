//! Inspection of both servers: what an operator has to know before a start. Writes nothing, neither keys nor
//! tables, and also ends if a server is silent.

mod clock_reading;
mod connect_failure;
mod version;

use std::time::Duration;

use mallbox_storage::OpenError;
use tokio::time::timeout;

pub use self::clock_reading::{ClockReading, Now};
pub use self::connect_failure::ConnectFailure;
pub use self::version::Support;
pub(super) use self::version::support;
use super::ProductionOptions;
use super::mysql::{self, MysqlInspection};
use super::redis::{self, RedisInspection};

/// Time limit for the inspection of one server; both are inspected at once. Longer than the limit of an
/// attempt to connect.
const INSPECTION_TIMEOUT: Duration = Duration::from_secs(8);

/// The state of both servers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inspection {
    /// Address of Redis, without user and password.
    pub redis_address: String,
    /// State of Redis.
    pub redis: Result<RedisInspection, ConnectFailure>,
    /// Address of MySQL, without user and password.
    pub mysql_address: String,
    /// State of MySQL.
    pub mysql: Result<MysqlInspection, ConnectFailure>,
}

/// Inspects both servers without changing anything there. Takes at most 8 s.
///
/// # Errors
/// - [`OpenError::BadUrl`]: a URL is invalid.
/// - [`OpenError::Io`]: the root certificate of Redis cannot be read.
pub async fn inspect(options: &ProductionOptions, now: &Now) -> Result<Inspection, OpenError> {
    let redis = redis::Address::parse(&options.redis.url)?;
    let mysql = mysql::Address::parse(&options.mysql)?;
    let (redis_address, mysql_address) = (redis.to_string(), mysql.place());
    let (redis, mysql) =
        tokio::join!(bounded(redis::inspect(redis, now)), bounded(mysql::inspect(mysql, now)));
    Ok(Inspection { redis_address, redis, mysql_address, mysql })
}

async fn bounded<T>(
    inspection: impl Future<Output = Result<T, ConnectFailure>>,
) -> Result<T, ConnectFailure> {
    timeout(INSPECTION_TIMEOUT, inspection).await.unwrap_or(Err(ConnectFailure::Silent))
}
