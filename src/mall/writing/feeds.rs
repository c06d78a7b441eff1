//! Feeds of notes by followed users, read page by page with a cursor.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{FeedEntry, Note, NoteId, Timestamp, UserId};

use crate::mall::base::chores::{Chore, Every};
use crate::mall::base::sparse_log::SparseLog;
use crate::mall::base::{Context, Failure};

/// Notes per page.
const PAGE: u32 = 10;
/// Maximum number of entries of an instant skipped by a cursor.
const SKIP_MAX: u32 = 10_000;
/// Additional entries per read, after a first read without ten visible notes.
const EXTRA_ENTRIES: u32 = 100;
/// Maximum number of reads per page. Without a visible note by then, the page is empty and the next page
/// continues from the same position.
const READS_MAX: usize = 20;

/// Feed cursor: an instant, and the number of entries of exactly this instant already read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FeedCursor {
    /// The instant at which reading continues.
    pub at: Timestamp,
    /// Number of entries of this instant already read.
    pub read: u32,
}

impl FeedCursor {
    /// Advances the cursor past `entry`.
    fn pass(&mut self, entry: FeedEntry) {
        let of_the_same = if entry.written == self.at { self.read } else { 0 };
        *self = Self { at: entry.written, read: of_the_same.saturating_add(1) };
    }
}

/// A page of a feed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FeedPage {
    /// The notes, newest first.
    pub notes: Vec<Note>,
    /// Cursor of the next page.
    pub next: FeedCursor,
}

/// The feed service: notes by followed users.
pub struct Feeds {
    context: Context,
}

impl Feeds {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context) -> Self {
        Self { context }
    }

    /// Returns a page of up to ten notes; `None` at the end of the feed.
    ///
    /// No note is skipped or repeated, even if many notes share an instant or are written and deleted between
    /// pages. A page may be empty although the feed continues.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn page(
        &self,
        reader: UserId,
        from: FeedCursor,
        now: Timestamp,
    ) -> Result<Option<FeedPage>, Failure> {
        let storage = &self.context.storage;
        let (mut page, mut wanted) = (FeedPage { notes: Vec::new(), next: from }, PAGE);
        for _ in 0..READS_MAX {
            let FeedCursor { at, read } = page.next;
            let most = read.min(SKIP_MAX) + wanted;
            let entries = storage.writing.feeds.page(reader, at, most, now).await?;
            let is_end = entries.len() < most as usize;
            let of_the_same = entries.iter().take_while(|entry| entry.written == at).count();
            let unread = entries.split_at(of_the_same.min(read as usize)).1;
            if page.add(unread, self.notes(unread).await?) {
                break;
            }
            if is_end {
                return Ok(Some(page).filter(|page| !page.notes.is_empty()));
            }
            wanted = EXTRA_ENTRIES;
        }
        Ok(Some(page))
    }

    /// Returns the background job for unfinished fan-outs.
    #[must_use]
    pub fn passer(context: &Context) -> Arc<dyn Chore> {
        let every = Every::new(CompleteFanOuts::AFTER);
        Arc::new(CompleteFanOuts { every, context: context.clone(), log: SparseLog::default() })
    }

    /// Loads the visible notes of the entries.
    async fn notes(&self, entries: &[FeedEntry]) -> Result<HashMap<NoteId, Note>, Failure> {
        let ids: Vec<NoteId> = entries.iter().map(|entry| entry.note).collect();
        let notes = self.context.storage.writing.notes.those(&ids).await?;
        Ok(notes.into_iter().filter(|note| note.visibility.is_seen()).map(|note| (note.id, note)).collect())
    }
}

impl FeedPage {
    /// Appends the visible notes of `entries`. Returns whether the page is full.
    fn add(&mut self, entries: &[FeedEntry], mut notes: HashMap<NoteId, Note>) -> bool {
        for entry in entries {
            self.next.pass(*entry);
            self.notes.extend(notes.remove(&entry.note));
            if self.notes.len() == PAGE as usize {
                return true;
            }
        }
        false
    }
}

/// Completes the fan-out of notes after the author's request failed midway: the process was killed, or a
/// store failed.
struct CompleteFanOuts {
    every: Every,
    context: Context,
    log: SparseLog,
}

impl CompleteFanOuts {
    /// A request either finishes the fan-out within this time, or never.
    const AFTER: Duration = Duration::from_secs(5);
    const BATCH_MAX: u32 = 100;
}

#[async_trait]
impl Chore for CompleteFanOuts {
    fn name(&self) -> &'static str {
        "fan out notes"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        let feeds = &self.context.storage.writing.feeds;
        if let Err(error) = feeds.pass_on_the_rest(now - Self::AFTER, Self::BATCH_MAX, now).await
            && let Some(times) = self.log.again()
        {
            tracing::warn!(%error, times, "could not complete the fan-out of notes");
        }
    }
}
