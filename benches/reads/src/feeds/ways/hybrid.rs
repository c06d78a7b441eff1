//! Hybrid: notes of authors with few fans are pushed, notes of authors with many fans are pulled.
//!
//! A write never takes longer than a push to a thousand inboxes; a read merges the inbox with the few authors
//! who have more fans. The faults of push remain for everybody else.

use std::sync::Arc;

use async_trait::async_trait;
use mallbox_bench_ports::BenchError;

use super::inboxes::Inboxes;
use super::push::Push;
use super::server_feed::{Delivery, ServerFeed};
use super::tables::Tables;
use crate::Stage;
use crate::feeds::crowd::Crowd;
use crate::feeds::feed::{Feed, Written};

/// Notes of authors with more fans are pulled.
const PUSH_MAX: u64 = 1_000;

struct Hybrid {
    push: Push,
}

pub(super) async fn open(stage: &Stage, crowd: Crowd) -> Result<Arc<dyn Feed>, BenchError> {
    let tables = Tables::create(stage.servers()?, crowd).await?;
    let delivery = Hybrid { push: Push::create(stage, crowd).await? };
    Ok(Arc::new(ServerFeed { tables, delivery }))
}

#[async_trait]
impl Delivery for Hybrid {
    async fn pass_on(&self, tables: &Tables, written: Written) -> Result<(), BenchError> {
        if tables.count_fans(written.author).await? > PUSH_MAX {
            return Ok(());
        }
        self.push.pass_on(tables, written).await
    }

    async fn newest(&self, tables: &Tables, reader: u64, most: u32) -> Result<Vec<(i64, u64)>, BenchError> {
        let large = format!("JOIN bench_authors a ON a.id = f.author AND a.fans > {PUSH_MAX}");
        let (pushed, pulled) =
            tokio::try_join!(self.push.newest(tables, reader, most), tables.followed(reader, &large, most))?;
        let mut newest = [pushed, pulled].concat();
        newest.sort_unstable_by(|one, other| other.cmp(one));
        // A note pushed before its author had many fans comes from both sides.
        newest.dedup();
        newest.truncate(most as usize);
        Ok(newest)
    }

    fn inboxes(&self) -> Option<&Inboxes> {
        self.push.inboxes()
    }
}
