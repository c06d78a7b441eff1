//! All keys of a mall, found by their prefix.

use mallbox_storage::StoreError;
use redis::Cmd;

use super::link::{Link, Master};

/// Keys per `SCAN`: blocks other clients no longer than a few claims.
const SCAN_COUNT: usize = 1_000;

/// A scan over all masters. Keys that are written meanwhile may be missing, and a key may appear twice.
pub(super) struct Scan<'a> {
    link: &'a Link,
    op: &'static str,
    prefix: &'a str,
    /// The masters that were not scanned to the end, the current one last.
    masters: Vec<Master>,
    cursor: String,
}

/// Begins a scan of the mall with this prefix.
pub(super) async fn keys_of<'a>(
    link: &'a Link,
    op: &'static str,
    prefix: &'a str,
) -> Result<Scan<'a>, StoreError> {
    Ok(Scan { link, op, prefix, masters: link.masters(op).await?, cursor: "0".to_owned() })
}

impl Scan<'_> {
    /// Returns some further keys, perhaps none of them the mall's; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<String>>, StoreError> {
        let Some(master) = self.masters.last() else { return Ok(None) };
        let mut scan = redis::cmd("SCAN");
        // Some keys begin with a brace.
        let pattern = format!("*{}:*", self.prefix);
        scan.arg(&self.cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(SCAN_COUNT);
        let (next, mut keys): (String, Vec<String>) = self.link.query_at(self.op, master, &scan).await?;
        keys.retain(|key| key.trim_start_matches('{').starts_with(&format!("{}:", self.prefix)));
        if next == "0" {
            self.masters.pop();
        }
        self.cursor = next;
        Ok(Some(keys))
    }
}

/// Returns a command whose only argument is a key.
pub(super) fn of_key(name: &str, key: &str) -> Cmd {
    let mut command = redis::cmd(name);
    command.arg(key);
    command
}
