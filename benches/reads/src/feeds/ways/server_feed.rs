//! A feed in MySQL and Redis. The ways differ in delivery and assembly alone.

use std::sync::Arc;

use async_trait::async_trait;
use mallbox_bench_ports::BenchError;

use super::inboxes::Inboxes;
use super::tables::Tables;
use crate::feeds::feed::{Feed, Written};

/// Delivery of notes, and assembly of a page.
#[async_trait]
pub(super) trait Delivery: Send + Sync {
    /// Passes a stored note on.
    async fn pass_on(&self, tables: &Tables, written: Written) -> Result<(), BenchError>;

    /// Returns the newest notes of a feed, newest first: time and note.
    async fn newest(&self, tables: &Tables, reader: u64, most: u32) -> Result<Vec<(i64, u64)>, BenchError>;

    /// Returns the inboxes of a way that pushes.
    fn inboxes(&self) -> Option<&Inboxes>;
}

/// A feed in MySQL and Redis.
pub(super) struct ServerFeed<D> {
    pub(super) tables: Tables,
    pub(super) delivery: D,
}

#[async_trait]
impl<D: Delivery> Feed for ServerFeed<D> {
    async fn insert(&self, author: u64) -> Result<Written, BenchError> {
        self.tables.insert(author).await
    }

    async fn pass_on(&self, written: Written) -> Result<(), BenchError> {
        self.delivery.pass_on(&self.tables, written).await
    }

    async fn page(&self, reader: u64, most: u32) -> Result<Vec<u64>, BenchError> {
        let newest = self.delivery.newest(&self.tables, reader, most).await?;
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
        match self.delivery.inboxes() {
            Some(inboxes) => inboxes.bytes().await,
            None => Ok(None),
        }
    }

    async fn remove(self: Arc<Self>) -> Result<(), BenchError> {
        if let Some(inboxes) = self.delivery.inboxes() {
            inboxes.remove().await?;
        }
        self.tables.remove().await
    }
}
