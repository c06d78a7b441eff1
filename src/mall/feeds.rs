//! Feeds, as people read them: a page at a time, each going on where the last one ended.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{FeedEntry, Note, NoteId, Timestamp, UserId};

use super::chores::{Chore, Every};
use super::sparse_log::SparseLog;
use super::{Context, Failure};

/// Notes on a page.
const PAGE: u32 = 10;
/// Of one instant, no page goes further.
const OF_AN_INSTANT: u32 = 10_000;
/// Entries looked at together where nobody is to see what was found first.
const FURTHER: u32 = 100;
/// So often, for one page. A page that finds nothing to be seen by then is empty, and the next goes on behind it.
const LOOKS: usize = 20;

/// Where a feed is read on: at an instant, behind so many entries of just that instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FeedPlace {
    /// The instant.
    pub at: Timestamp,
    /// Entries of it that were read.
    pub read: u32,
}

impl FeedPlace {
    /// Behind this entry.
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
    /// Where the next page begins.
    pub next: FeedPlace,
}

/// Brings people what those whom they follow have written.
pub struct FeedBook {
    context: Context,
}

impl FeedBook {
    /// Of this mall.
    #[must_use]
    pub fn new(context: Context) -> Self {
        Self { context }
    }

    /// A page of ten notes; `None` when there is nothing more. None is left out and none shown twice, however many share an
    /// instant, and whoever writes or deletes in between.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn page(
        &self,
        reader: UserId,
        from: FeedPlace,
        now: Timestamp,
    ) -> Result<Option<FeedPage>, Failure> {
        let storage = &self.context.storage;
        let (mut page, mut wanted) = (FeedPage { notes: Vec::new(), next: from }, PAGE);
        for _ in 0..LOOKS {
            let FeedPlace { at, read } = page.next;
            let most = read.min(OF_AN_INSTANT) + wanted;
            let entries = storage.feeds.page(reader, at, most, now).await?;
            let is_end = entries.len() < most as usize;
            let of_the_same = entries.iter().take_while(|entry| entry.written == at).count();
            let unread = entries.split_at(of_the_same.min(read as usize)).1;
            if page.add(unread, self.notes(unread).await?) {
                break;
            }
            if is_end {
                return Ok(Some(page).filter(|page| !page.notes.is_empty()));
            }
            wanted = FURTHER;
        }
        Ok(Some(page))
    }

    /// What passes on notes whose writer could not.
    #[must_use]
    pub fn passer(context: &Context) -> Arc<dyn Chore> {
        let every = Every::new(PassOnTheRest::AFTER);
        Arc::new(PassOnTheRest { every, context: context.clone(), log: SparseLog::default() })
    }

    /// The notes of entries, of those that are to be seen.
    async fn notes(&self, entries: &[FeedEntry]) -> Result<HashMap<NoteId, Note>, Failure> {
        let ids: Vec<NoteId> = entries.iter().map(|entry| entry.note).collect();
        let notes = self.context.storage.notes.those(&ids).await?;
        Ok(notes.into_iter().filter(|note| note.visibility.is_seen()).map(|note| (note.id, note)).collect())
    }
}

impl FeedPage {
    /// Adds those of `entries` that are to be seen. Answers whether the page is full.
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

/// Passes on notes whose writer went away in the middle: the process that had them died, or a store was in trouble.
struct PassOnTheRest {
    every: Every,
    context: Context,
    log: SparseLog,
}

impl PassOnTheRest {
    /// Whoever writes a note has passed it on by then, or never will.
    const AFTER: Duration = Duration::from_secs(5);
    const AT_ONCE: u32 = 100;
}

#[async_trait]
impl Chore for PassOnTheRest {
    fn name(&self) -> &'static str {
        "pass on notes"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        let feeds = &self.context.storage.feeds;
        if let Err(error) = feeds.pass_on_the_rest(now - Self::AFTER, Self::AT_ONCE, now).await
            && let Some(times) = self.log.again()
        {
            tracing::warn!(%error, times, "notes are still to come to feeds");
        }
    }
}
