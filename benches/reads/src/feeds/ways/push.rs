//! Push (fan-out on write): a note goes to the inbox of every fan; a page is one range of one inbox.
//!
//! THE PRICE: a write takes as long as its author has fans, and each note is kept once per fan. What later
//! happens to the note or the follow does not reach the inboxes; nor does a note whose writer died here.

use std::sync::Arc;

use async_trait::async_trait;
use mallbox_bench_ports::BenchError;

use super::inboxes::{FANS_AT_ONCE, Inboxes};
use super::server_feed::{Delivery, ServerFeed};
use super::tables::{Tables, earlier};
use crate::Stage;
use crate::feeds::crowd::Crowd;
use crate::feeds::feed::{Feed, Written};

pub(super) struct Push {
    inboxes: Inboxes,
}

pub(super) async fn open(stage: &Stage, crowd: Crowd) -> Result<Arc<dyn Feed>, BenchError> {
    let tables = Tables::create(stage.servers()?, crowd).await?;
    Ok(Arc::new(ServerFeed { tables, delivery: Push::create(stage, crowd).await? }))
}

impl Push {
    /// Puts all earlier notes into the inboxes of the readers.
    pub(super) async fn create(stage: &Stage, crowd: Crowd) -> Result<Self, BenchError> {
        let inboxes = Inboxes::create(stage.servers()?).await?;
        let (earlier, readers): (Vec<_>, Vec<_>) = (earlier(crowd).collect(), crowd.readers().collect());
        if !earlier.is_empty() {
            inboxes.fill(&earlier, &readers).await?;
        }
        Ok(Self { inboxes })
    }
}

#[async_trait]
impl Delivery for Push {
    async fn pass_on(&self, tables: &Tables, written: Written) -> Result<(), BenchError> {
        let mut after = 0;
        loop {
            let fans = tables.fans(written.author, after, FANS_AT_ONCE).await?;
            let Some(last) = fans.last() else { return Ok(()) };
            after = *last;
            self.inboxes.add(written, &fans).await?;
        }
    }

    async fn newest(&self, _: &Tables, reader: u64, most: u32) -> Result<Vec<(i64, u64)>, BenchError> {
        self.inboxes.newest(reader, most).await
    }

    fn inboxes(&self) -> Option<&Inboxes> {
        Some(&self.inboxes)
    }
}
