//! A feed, as the experiments use it.

use std::sync::Arc;

use async_trait::async_trait;
use mallbox_bench_ports::BenchError;

/// A stored note.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Written {
    pub(crate) note: u64,
    pub(crate) author: u64,
    /// Time of writing, in ms; rises from note to note.
    pub(crate) at_ms: i64,
}

/// A feed of one way, with the people of a crowd.
#[async_trait]
pub(crate) trait Feed: Send + Sync {
    /// Stores a note. Step one of writing.
    async fn insert(&self, author: u64) -> Result<Written, BenchError>;

    /// Passes a stored note on to the fans; afterwards every fan's page shows it. Step two of writing.
    async fn pass_on(&self, written: Written) -> Result<(), BenchError>;

    /// Returns the notes on the first page of a feed, at most `most`, with their texts read.
    async fn page(&self, reader: u64, most: u32) -> Result<Vec<u64>, BenchError>;

    async fn follow(&self, reader: u64, author: u64) -> Result<(), BenchError>;

    async fn unfollow(&self, reader: u64, author: u64) -> Result<(), BenchError>;

    async fn delete(&self, note: u64) -> Result<(), BenchError>;

    /// Runs the background work of the way.
    async fn catch_up(&self) -> Result<(), BenchError> {
        Ok(())
    }

    /// Returns the memory of Redis' data in bytes; `None` if the way keeps none there.
    async fn redis_bytes(&self) -> Result<Option<u64>, BenchError>;

    /// Removes all data of the feed.
    async fn remove(self: Arc<Self>) -> Result<(), BenchError>;
}
