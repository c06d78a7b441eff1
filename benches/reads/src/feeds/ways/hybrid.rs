//! Hybrid: notes of authors with few fans are pushed, notes of authors with many fans are pulled.
//!
//! A write never takes longer than a push to a thousand inboxes; a read merges the inbox with the few authors
//! who have more fans. The faults of push remain for everybody else.

use std::sync::Arc;

use async_trait::async_trait;
use mallbox_bench_ports::BenchError;

use super::push::Push;
use crate::Stage;
use crate::feeds::crowd::Crowd;
use crate::feeds::feed::{Feed, Written};

/// Notes of authors with more fans are pulled.
const PUSH_MAX: u64 = 1_000;

struct Hybrid {
    push: Push,
}

pub(super) async fn open(stage: &Stage, crowd: Crowd) -> Result<Arc<dyn Feed>, BenchError> {
    Ok(Arc::new(Hybrid { push: Push::create(stage, crowd).await? }))
}

#[async_trait]
impl Feed for Hybrid {
    async fn insert(&self, author: u64) -> Result<Written, BenchError> {
        self.push.insert(author).await
    }

    async fn pass_on(&self, written: Written) -> Result<(), BenchError> {
        if self.push.tables.count_fans(written.author).await? > PUSH_MAX {
            return Ok(());
        }
        self.push.pass_on(written).await
    }

    async fn page(&self, reader: u64, most: u32) -> Result<Vec<u64>, BenchError> {
        let large = format!("JOIN bench_authors a ON a.id = f.author AND a.fans > {PUSH_MAX}");
        let (pushed, pulled) = tokio::try_join!(
            self.push.inboxes.newest(reader, most),
            self.push.tables.followed(reader, &large, most)
        )?;
        let mut newest = [pushed, pulled].concat();
        newest.sort_unstable_by(|one, other| other.cmp(one));
        // A note pushed before its author had many fans comes from both sides.
        newest.dedup();
        newest.truncate(most as usize);
        self.push.tables.texts(&newest.iter().map(|(_, note)| *note).collect::<Vec<_>>()).await
    }

    async fn follow(&self, reader: u64, author: u64) -> Result<(), BenchError> {
        self.push.follow(reader, author).await
    }

    async fn unfollow(&self, reader: u64, author: u64) -> Result<(), BenchError> {
        self.push.unfollow(reader, author).await
    }

    async fn delete(&self, note: u64) -> Result<(), BenchError> {
        self.push.delete(note).await
    }

    async fn redis_bytes(&self) -> Result<Option<u64>, BenchError> {
        self.push.redis_bytes().await
    }

    async fn remove(self: Arc<Self>) -> Result<(), BenchError> {
        self.push.inboxes.remove().await?;
        self.push.tables.remove().await
    }
}
