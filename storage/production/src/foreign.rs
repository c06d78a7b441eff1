//! Reads from the servers of somebody else's program, for benches. Nothing is written there.

use std::time::Duration;

use ::redis::{Client, RedisResult};
use mallbox_storage::StoreError;
use tokio::time::timeout;

use super::mysql;

/// Longest time of a call.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns the strings of `keys` in a single Redis, in their order.
///
/// # Errors
/// [`StoreError::Refused`]: the URL is invalid. [`StoreError::Unavailable`]: no reply, or an error.
pub async fn read_strings(redis: &str, keys: &[String]) -> Result<Vec<Option<String>>, StoreError> {
    const OP: &str = "MGET";
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let client = Client::open(redis).map_err(|error| StoreError::Refused { op: OP, source: error.into() })?;
    let read = async {
        let mut connection = client.get_multiplexed_async_connection().await?;
        ::redis::cmd(OP).arg(keys).query_async(&mut connection).await
    };
    let read: RedisResult<_> = timeout(CALL_TIMEOUT, read).await.map_err(|_| StoreError::Unavailable {
        op: OP,
        source: format!("Redis: no reply within {} s", CALL_TIMEOUT.as_secs()).into(),
    })?;
    read.map_err(|error| StoreError::Unavailable { op: OP, source: error.into() })
}

/// Runs a query in a transaction that can only read, and returns the numbers of the first row. Any other
/// value, and a result without a row, is an error.
///
/// # Errors
/// [`StoreError::Refused`]: the URL or the query is invalid. [`StoreError::Unavailable`]: no reply.
pub async fn query_numbers(mysql: &str, sql: &str) -> Result<Vec<u64>, StoreError> {
    mysql::query_numbers(mysql, sql, CALL_TIMEOUT).await
}
