//! Pull (fan-out on read): a note is a row; each page collects the newest rows of all followed authors.
//!
//! A write costs the same with any number of fans. A read costs more with each followed author.

use std::sync::Arc;

use async_trait::async_trait;
use mallbox_bench_ports::BenchError;

use super::inboxes::Inboxes;
use super::server_feed::{Delivery, ServerFeed};
use super::tables::Tables;
use crate::Stage;
use crate::feeds::crowd::Crowd;
use crate::feeds::feed::{Feed, Written};

struct Pull;

pub(super) async fn open(stage: &Stage, crowd: Crowd) -> Result<Arc<dyn Feed>, BenchError> {
    let tables = Tables::create(stage.servers()?, crowd).await?;
    Ok(Arc::new(ServerFeed { tables, delivery: Pull }))
}

#[async_trait]
impl Delivery for Pull {
    async fn pass_on(&self, _: &Tables, _: Written) -> Result<(), BenchError> {
        // The row is all there is.
        Ok(())
    }

    async fn newest(&self, tables: &Tables, reader: u64, most: u32) -> Result<Vec<(i64, u64)>, BenchError> {
        tables.followed(reader, "", most).await
    }

    fn inboxes(&self) -> Option<&Inboxes> {
        None
    }
}
