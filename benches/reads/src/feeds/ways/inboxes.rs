//! Inboxes in Redis: a sorted set per reader, notes by their time.

use mallbox_bench_ports::{BenchError, RawRedis};
use redis::Pipeline;

use crate::Servers;
use crate::feeds::feed::Written;

/// Begin of the keys, all of one slot.
const PREFIX: &str = "{bench}:feed:";
/// Fans to whose inboxes a note is sent at once.
pub(super) const FANS_AT_ONCE: usize = 1_000;

/// All inboxes.
pub(super) struct Inboxes {
    servers: Servers,
}

impl Inboxes {
    /// Begins without any inbox.
    pub(super) async fn create(servers: &Servers) -> Result<Self, BenchError> {
        servers.remove_keys(PREFIX).await?;
        Ok(Self { servers: servers.clone() })
    }

    /// Fills inboxes with earlier notes. The connection is closed afterwards, for its buffers on the server
    /// are large.
    pub(super) async fn fill(&self, notes: &[Written], fans: &[u64]) -> Result<(), BenchError> {
        let redis = RawRedis::connect(&self.servers.addresses.redis_in_memory).await?;
        redis.pipeline(&additions(notes, fans)).await
    }

    /// Adds a note to the inboxes of fans.
    pub(super) async fn add(&self, note: Written, fans: &[u64]) -> Result<(), BenchError> {
        self.servers.redis.pipeline(&additions(&[note], fans)).await
    }

    /// Returns the newest notes of an inbox, newest first: time and note.
    pub(super) async fn newest(&self, reader: u64, most: u32) -> Result<Vec<(i64, u64)>, BenchError> {
        let mut range = redis::cmd("ZRANGE");
        range.arg(key(reader)).arg(0).arg(most - 1).arg("REV").arg("WITHSCORES");
        let found: Vec<(u64, i64)> = self.servers.redis.query(&range).await?;
        Ok(found.into_iter().map(|(note, at_ms)| (at_ms, note)).collect())
    }

    pub(super) async fn bytes(&self) -> Result<Option<u64>, BenchError> {
        self.servers.redis.memory().await
    }

    pub(super) async fn remove(&self) -> Result<(), BenchError> {
        self.servers.remove_keys(PREFIX).await
    }
}

fn additions(notes: &[Written], fans: &[u64]) -> Pipeline {
    let mut pipeline = Pipeline::new();
    for fan in fans {
        let add = pipeline.cmd("ZADD").arg(key(*fan));
        for written in notes {
            add.arg(written.at_ms).arg(written.note);
        }
        add.ignore();
    }
    pipeline
}

fn key(reader: u64) -> String {
    format!("{PREFIX}{reader}")
}
