//! Feeds under interleavings: results from the database are held back until a test releases the results.

use std::sync::Arc;

use async_trait::async_trait;
use mallbox_storage::backend::FanOutFeeds;
use mallbox_storage::backend::FeedRows;
use mallbox_storage::{Durability, Follows, NoteId, NoteText, Notes, ShopId, StoreError, Timestamp, UserId};
use mallbox_storage::{FeedEntry, Feeds};
use parking_lot::Mutex;
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::inboxes::MemoryInboxes;
use super::sqlite::{Database, EmbeddedFeedRows, EmbeddedFollows, EmbeddedNotes};

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
const ANNE: UserId = UserId::new(1);
const READER: UserId = UserId::new(11);

/// Signals a ready result, and waits for the release.
type Gate = (oneshot::Sender<()>, oneshot::Receiver<()>);

/// The database, with either of two queries held back on demand.
struct Held {
    rows: EmbeddedFeedRows,
    fans: Mutex<Option<Gate>>,
    followed: Mutex<Option<Gate>>,
}

async fn hold(stop: &Mutex<Option<Gate>>) {
    let stop = stop.lock().take();
    if let Some((there, go)) = stop {
        there.send(()).unwrap();
        go.await.unwrap();
    }
}

#[async_trait]
impl FeedRows for Held {
    async fn followed(
        &self,
        reader: UserId,
        from: Timestamp,
        most: u32,
    ) -> Result<Vec<FeedEntry>, StoreError> {
        let answer = self.rows.followed(reader, from, most).await;
        hold(&self.followed).await;
        answer
    }

    async fn followed_with_many_fans(
        &self,
        reader: UserId,
        from: Timestamp,
        most: u32,
    ) -> Result<Vec<FeedEntry>, StoreError> {
        self.rows.followed_with_many_fans(reader, from, most).await
    }

    async fn fans(&self, author: UserId, after: UserId, most: u32) -> Result<Vec<UserId>, StoreError> {
        let answer = self.rows.fans(author, after, most).await;
        hold(&self.fans).await;
        answer
    }

    async fn has_many_fans(&self, author: UserId) -> Result<bool, StoreError> {
        self.rows.has_many_fans(author).await
    }

    async fn put_many_fans(&self, author: UserId) -> Result<(), StoreError> {
        self.rows.put_many_fans(author).await
    }

    async fn not_passed_on(
        &self,
        before: Timestamp,
        max: u32,
    ) -> Result<Vec<(FeedEntry, UserId)>, StoreError> {
        self.rows.not_passed_on(before, max).await
    }

    async fn put_passed_on(&self, note: NoteId) -> Result<(), StoreError> {
        self.rows.put_passed_on(note).await
    }
}

struct World {
    feeds: FanOutFeeds<MemoryInboxes>,
    rows: Arc<Held>,
    notes: EmbeddedNotes,
    follows: EmbeddedFollows,
    _dir: TempDir,
}

impl World {
    /// Makes a world in which the reader follows Anne.
    async fn new() -> Arc<Self> {
        let dir = TempDir::new().unwrap();
        let database = Database::open(&dir.path().join("mall.sqlite"), Durability::Memory, None).unwrap();
        let rows = EmbeddedFeedRows::load(database.clone()).unwrap();
        let rows = Arc::new(Held { rows, fans: Mutex::default(), followed: Mutex::default() });
        let w = Self {
            feeds: FanOutFeeds::new(MemoryInboxes::default(), Arc::clone(&rows) as _),
            rows,
            notes: EmbeddedNotes::new(database.clone()),
            follows: EmbeddedFollows::new(database),
            _dir: dir,
        };
        w.follows.follow(READER, ANNE, NOON).await.unwrap();
        Arc::new(w)
    }

    async fn publish(&self) -> FeedEntry {
        let text = NoteText {
            shop: ShopId::new(1),
            title: "面".to_owned(),
            images: String::new(),
            content: "好吃".to_owned(),
        };
        let entry = FeedEntry { note: self.notes.insert(ANNE, &text, NOON).await.unwrap(), written: NOON };
        self.feeds.pass_on(entry, ANNE, NOON).await.unwrap();
        entry
    }

    async fn feed(&self) -> Vec<FeedEntry> {
        self.feeds.page(READER, Timestamp::MAX, 10, NOON).await.unwrap()
    }
}

/// Holds back the next result. The receiver fires when the result is ready; the sender releases the result.
fn hold_next(place: &Mutex<Option<Gate>>) -> (oneshot::Receiver<()>, oneshot::Sender<()>) {
    let ((there, arrived), (go, waits)) = (oneshot::channel(), oneshot::channel());
    *place.lock() = Some((there, waits));
    (arrived, go)
}

#[tokio::test]
async fn a_reader_who_unfollows_during_the_fan_out_does_not_get_the_note() {
    let w = World::new().await;
    assert_eq!(w.feed().await, []);
    let (there, go) = hold_next(&w.rows.fans);
    let writer = Arc::clone(&w);
    let writes = tokio::spawn(async move { writer.publish().await });
    there.await.unwrap();
    w.follows.unfollow(READER, ANNE).await.unwrap();
    w.feeds.refresh(READER).await.unwrap();
    assert_eq!(w.feed().await, []);
    go.send(()).unwrap();
    writes.await.unwrap();
    assert_eq!(w.feed().await, []);
}

#[tokio::test]
async fn a_note_that_comes_while_an_inbox_is_filled_is_in_it() {
    let w = World::new().await;
    let (there, go) = hold_next(&w.rows.followed);
    let reader = Arc::clone(&w);
    let reads = tokio::spawn(async move { reader.feed().await });
    there.await.unwrap();
    let entry = w.publish().await;
    go.send(()).unwrap();
    assert_eq!(reads.await.unwrap(), [], "it was read before the note was written");
    assert_eq!(w.feed().await, [entry]);
}

#[tokio::test]
async fn what_was_read_before_a_follow_fills_no_inbox_after_it() {
    let w = World::new().await;
    w.follows.unfollow(READER, ANNE).await.unwrap();
    let entry = w.publish().await;
    let (there, go) = hold_next(&w.rows.followed);
    let reader = Arc::clone(&w);
    let reads = tokio::spawn(async move { reader.feed().await });
    there.await.unwrap();
    w.follows.follow(READER, ANNE, NOON).await.unwrap();
    w.feeds.refresh(READER).await.unwrap();
    go.send(()).unwrap();
    assert_eq!(reads.await.unwrap(), []);
    assert_eq!(w.feed().await, [entry]);
}
