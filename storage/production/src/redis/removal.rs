//! Removal of a whole mall from Redis.

use mallbox_storage::StoreError;

use super::link::Link;

const OP: &str = "redis.remove_all";
/// Keys per `SCAN`: blocks other clients no longer than a few claims.
const SCAN_COUNT: usize = 1_000;

/// Removes every key of the mall with this prefix. Returns the number of removed keys.
pub(super) async fn remove_all(link: &Link, prefix: &str) -> Result<u64, StoreError> {
    let mut removed = 0;
    for master in link.masters(OP).await? {
        let mut cursor = "0".to_owned();
        loop {
            let mut scan = redis::cmd("SCAN");
            // Some keys begin with a brace.
            scan.arg(&cursor).arg("MATCH").arg(format!("*{prefix}:*")).arg("COUNT").arg(SCAN_COUNT);
            let (next, keys): (String, Vec<String>) = link.query_at(OP, &master, &scan).await?;
            let is_ours = |key: &&String| key.trim_start_matches('{').starts_with(&format!("{prefix}:"));
            let unlink = |key: &String| {
                let mut command = redis::cmd("UNLINK");
                command.arg(key);
                command
            };
            let commands: Vec<_> = keys.iter().filter(is_ours).map(unlink).collect();
            removed += link.query_all::<u64>(OP, &commands).await?.iter().sum::<u64>();
            cursor = next;
            if cursor == "0" {
                break;
            }
        }
    }
    Ok(removed)
}
