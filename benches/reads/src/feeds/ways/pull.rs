//! Pull (fan-out on read): a note is a row; each page collects the newest rows of all followed authors.
//!
//! A write costs the same with any number of fans. A read costs more with each followed author.

use std::sync::Arc;

use async_trait::async_trait;
use mallbox_bench_ports::BenchError;

use super::tables::Tables;
use crate::Stage;
use crate::feeds::crowd::Crowd;
use crate::feeds::feed::{Feed, Written};

struct Pull {
    tables: Tables,
}

pub(super) async fn open(stage: &Stage, crowd: Crowd) -> Result<Arc<dyn Feed>, BenchError> {
    Ok(Arc::new(Pull { tables: Tables::create(stage.servers()?, crowd).await? }))
}

#[async_trait]
impl Feed for Pull {
    async fn insert(&self, author: u64) -> Result<Written, BenchError> {
        self.tables.insert(author).await
    }

    async fn pass_on(&self, _: Written) -> Result<(), BenchError> {
        // The row is all there is.
        Ok(())
    }

    async fn page(&self, reader: u64, most: u32) -> Result<Vec<u64>, BenchError> {
        let newest = self.tables.followed(reader, "", most).await?;
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
        Ok(None)
    }

    async fn remove(self: Arc<Self>) -> Result<(), BenchError> {
        self.tables.remove().await
    }
}
