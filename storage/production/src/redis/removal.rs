//! Removal of a whole mall from Redis.

use mallbox_storage::StoreError;

use super::link::Link;
use super::scan::{keys_of, of_key};

const OP: &str = "redis.remove_all";

/// Removes every key of the mall with this prefix. Returns the number of removed keys.
pub(super) async fn remove_all(link: &Link, prefix: &str) -> Result<u64, StoreError> {
    let mut removed = 0;
    let mut scan = keys_of(link, OP, prefix).await?;
    while let Some(keys) = scan.next().await? {
        let commands: Vec<_> = keys.iter().map(|key| of_key("UNLINK", key)).collect();
        removed += link.query_all::<u64>(OP, &commands).await?.iter().sum::<u64>();
    }
    Ok(removed)
}
