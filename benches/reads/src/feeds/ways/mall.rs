//! mallbox: notes are pushed to the inboxes of readers who come often, up to a limit of fans; everything else
//! is pulled. Inboxes are refilled from the database, so a change of follows shows, and a note whose writer
//! died is passed on later.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mallbox_bench_ports::{
    BenchError, Keep, Load, Mall, NOON, drive, follow, import, insert_kind, note, users,
};
use mallbox_storage::feeds::fan_out::FAN_OUT_MAX;
use mallbox_storage::{FeedEntry, NoteId, NoteText, ShopId, Timestamp, UserId, Visibility};

use crate::Stage;
use crate::feeds::crowd::Crowd;
use crate::feeds::feed::{Feed, Written};

/// Readers who visit the mall at once before the experiments.
const VISITORS_AT_ONCE: usize = 32;
/// Notes passed on at once by the repair.
const REPAIRED_MAX: u32 = 100;

struct MallFeed {
    mall: Mall,
    /// Notes written, each a millisecond after the one before.
    written: AtomicU64,
}

pub(super) async fn in_directory(stage: &Stage, crowd: Crowd) -> Result<Arc<dyn Feed>, BenchError> {
    open(Mall::in_directory(&stage.dir).await?, crowd).await
}

pub(super) async fn on_servers(stage: &Stage, crowd: Crowd) -> Result<Arc<dyn Feed>, BenchError> {
    open(Mall::on_servers(&stage.servers()?.addresses, Keep::InMemory).await?, crowd).await
}

async fn open(mall: Mall, crowd: Crowd) -> Result<Arc<dyn Feed>, BenchError> {
    let earlier = crowd.notes().count() as u64;
    // Numbers of imported notes count backwards in time.
    let notes = crowd.notes().map(|(number, author)| Ok(note(earlier + 1 - number, author)));
    let follows = crowd.follows().map(|(fan, author)| Ok(follow(fan, author)));
    import(&mall.storage, users(crowd.count()).chain(notes).chain(follows)).await?;
    insert_kind(&mall.storage).await?;
    mall.analyze("follows, notes").await?;
    let feed = MallFeed { mall, written: AtomicU64::new(0) };
    // Inboxes belong to readers who come: everybody to whom a note would be pushed.
    let comes = if crowd.fans <= FAN_OUT_MAX as u64 { crowd.fans() } else { crowd.readers() };
    let feeds = Arc::clone(&feed.mall.storage.writing.feeds);
    let first = *comes.start();
    let visits = drive(Load::count(VISITORS_AT_ONCE, comes.count() as u64, Duration::MAX), move |number| {
        let feeds = Arc::clone(&feeds);
        async move {
            feeds.page(UserId::new(first + number), Timestamp::MAX, 10, NOON).await?;
            Ok(())
        }
    });
    visits.await?;
    Ok(Arc::new(feed))
}

impl MallFeed {
    fn now(&self) -> Timestamp {
        NOON + Duration::from_millis(self.written.load(Ordering::Relaxed))
    }
}

#[async_trait]
impl Feed for MallFeed {
    async fn insert(&self, author: u64) -> Result<Written, BenchError> {
        self.written.fetch_add(1, Ordering::Relaxed);
        let now = self.now();
        let text = NoteText {
            shop: ShopId::new(1),
            title: "一碗面".into(),
            images: String::new(),
            content: "面很好吃。".into(),
        };
        let note = self.mall.storage.writing.notes.insert(UserId::new(author), &text, now).await?;
        Ok(Written { note: note.get(), author, at_ms: now.as_millis() })
    }

    async fn pass_on(&self, written: Written) -> Result<(), BenchError> {
        let entry =
            FeedEntry { note: NoteId::new(written.note), written: Timestamp::from_millis(written.at_ms) };
        let author = UserId::new(written.author);
        Ok(self.mall.storage.writing.feeds.pass_on(entry, author, self.now()).await?)
    }

    async fn page(&self, reader: u64, most: u32) -> Result<Vec<u64>, BenchError> {
        let feeds = &self.mall.storage.writing.feeds;
        let entries = feeds.page(UserId::new(reader), Timestamp::MAX, most, self.now()).await?;
        let ids: Vec<NoteId> = entries.iter().map(|entry| entry.note).collect();
        let notes = self.mall.storage.writing.notes.those(&ids).await?;
        Ok(notes.iter().filter(|note| note.visibility.is_seen()).map(|note| note.id.get()).collect())
    }

    async fn follow(&self, reader: u64, author: u64) -> Result<(), BenchError> {
        let (reader, author) = (UserId::new(reader), UserId::new(author));
        self.mall.storage.people.follows.follow(reader, author, self.now()).await?;
        Ok(self.mall.storage.writing.feeds.refresh(reader).await?)
    }

    async fn unfollow(&self, reader: u64, author: u64) -> Result<(), BenchError> {
        let (reader, author) = (UserId::new(reader), UserId::new(author));
        self.mall.storage.people.follows.unfollow(reader, author).await?;
        Ok(self.mall.storage.writing.feeds.refresh(reader).await?)
    }

    async fn delete(&self, note: u64) -> Result<(), BenchError> {
        let notes = &self.mall.storage.writing.notes;
        notes.put_visibility(NoteId::new(note), Visibility::Deleted, self.now()).await?;
        Ok(())
    }

    async fn catch_up(&self) -> Result<(), BenchError> {
        let feeds = &self.mall.storage.writing.feeds;
        feeds.pass_on_the_rest(Timestamp::MAX, REPAIRED_MAX, self.now()).await?;
        Ok(())
    }

    async fn redis_bytes(&self) -> Result<Option<u64>, BenchError> {
        self.mall.redis_bytes().await
    }

    async fn remove(self: Arc<Self>) -> Result<(), BenchError> {
        let feed = Arc::into_inner(self);
        feed.ok_or_else(|| BenchError::Wrong("the feed is still in use".to_owned()))?.mall.close().await
    }
}
