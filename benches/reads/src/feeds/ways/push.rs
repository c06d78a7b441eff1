//! Push (fan-out on write): a note goes to the inbox of every fan; a page is one range of one inbox.
//!
//! THE PRICE: a write takes as long as its author has fans, and each note is kept once per fan. What later
//! happens to the note or the follow does not reach the inboxes; nor does a note whose writer died here.

use std::sync::Arc;

use async_trait::async_trait;
use mallbox_bench_ports::BenchError;

use super::inboxes::{FANS_AT_ONCE, Inboxes};
use super::tables::{Tables, earlier};
use crate::Stage;
use crate::feeds::crowd::Crowd;
use crate::feeds::feed::{Feed, Written};

pub(super) struct Push {
    pub(super) tables: Tables,
    pub(super) inboxes: Inboxes,
}

pub(super) async fn open(stage: &Stage, crowd: Crowd) -> Result<Arc<dyn Feed>, BenchError> {
    Ok(Arc::new(Push::create(stage, crowd).await?))
}

impl Push {
    /// Creates the tables, and puts all earlier notes into the inboxes of the readers.
    pub(super) async fn create(stage: &Stage, crowd: Crowd) -> Result<Self, BenchError> {
        let servers = stage.servers()?;
        let tables = Tables::create(servers, crowd).await?;
        let inboxes = Inboxes::create(servers).await?;
        let (earlier, readers): (Vec<_>, Vec<_>) = (earlier(crowd).collect(), crowd.readers().collect());
        if !earlier.is_empty() {
            inboxes.fill(&earlier, &readers).await?;
        }
        Ok(Self { tables, inboxes })
    }
}

#[async_trait]
impl Feed for Push {
    async fn insert(&self, author: u64) -> Result<Written, BenchError> {
        self.tables.insert(author).await
    }

    async fn pass_on(&self, written: Written) -> Result<(), BenchError> {
        let mut after = 0;
        loop {
            let fans = self.tables.fans(written.author, after, FANS_AT_ONCE).await?;
            let Some(last) = fans.last() else { return Ok(()) };
            after = *last;
            self.inboxes.add(written, &fans).await?;
        }
    }

    async fn page(&self, reader: u64, most: u32) -> Result<Vec<u64>, BenchError> {
        let newest = self.inboxes.newest(reader, most).await?;
        self.tables.texts(&newest.iter().map(|(_, note)| *note).collect::<Vec<_>>()).await
    }

    async fn follow(&self, reader: u64, author: u64) -> Result<(), BenchError> {
        self.tables.follow(reader, author).await
    }

    async fn unfollow(&self, reader: u64, author: u64) -> Result<(), BenchError> {
        self.tables.unfollow(reader, author).await
    }

    async fn delete(&self, note: u64) -> Result<(), BenchError> {
        self.tables.delete(note).await
    }

    async fn redis_bytes(&self) -> Result<Option<u64>, BenchError> {
        self.inboxes.bytes().await
    }

    async fn remove(self: Arc<Self>) -> Result<(), BenchError> {
        self.inboxes.remove().await?;
        self.tables.remove().await
    }
}
