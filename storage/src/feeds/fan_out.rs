//! Assembly of feeds: fan-out on write, with pull for authors with many fans.

use std::sync::Arc;

use async_trait::async_trait;

use super::{FeedEntry, FeedRows, Feeds, INBOX_MAX_ENTRIES, Inbox, Inboxes};
use crate::{StoreError, Timestamp, UserId};

/// Fan-out limit: notes of authors with more fans are not pushed, since one note would take a second.
pub const FAN_OUT_MAX: usize = 5_000;
/// Fans per batch.
const FANS_PER_BATCH: u32 = 1_000;

/// Fan-out feeds, assembled from inboxes and the database.
pub struct FanOutFeeds<I> {
    inboxes: I,
    rows: Arc<dyn FeedRows>,
}

impl<I: Inboxes> FanOutFeeds<I> {
    /// Fans out to `inboxes`, with the authors and followers in `rows`.
    pub fn new(inboxes: I, rows: Arc<dyn FeedRows>) -> Self {
        Self { inboxes, rows }
    }

    /// Pushes a note to all fans unless there are too many. Beyond the limit, the author is marked, and
    /// readers pull the author's notes from the database.
    async fn push(&self, entry: FeedEntry, author: UserId, now: Timestamp) -> Result<(), StoreError> {
        if self.rows.has_many_fans(author).await? {
            return Ok(());
        }
        let (mut after, mut pushed) = (UserId::new(0), 0);
        loop {
            let fans = self.rows.fans(author, after, FANS_PER_BATCH).await?;
            let Some(last) = fans.last().copied() else { return Ok(()) };
            pushed += fans.len();
            if pushed > FAN_OUT_MAX {
                return self.rows.put_many_fans(author).await;
            }
            self.inboxes.push(entry, &fans, now).await?;
            self.take_back(author, after, &fans).await?;
            after = last;
        }
    }

    /// Invalidates the inboxes of users who unfollowed during the push. Such a user has dropped the inbox on
    /// unfollowing, but the inbox may have been refilled before the note arrived; so the inbox is dropped
    /// once more.
    async fn take_back(&self, author: UserId, after: UserId, pushed: &[UserId]) -> Result<(), StoreError> {
        let still = self.rows.fans(author, after, FANS_PER_BATCH).await?;
        // Both lists are sorted by id.
        let gone: Vec<UserId> =
            pushed.iter().copied().filter(|fan| still.binary_search(fan).is_err()).collect();
        // If new fans have joined in between, the last fans of the batch only fall outside the second read.
        // Dropping their inboxes costs nothing but time.
        if gone.is_empty() { Ok(()) } else { self.inboxes.drop(&gone).await }
    }

    /// Fills a reader's inbox from the database. Returns the contents even if the inbox could not be stored.
    async fn fill(&self, reader: UserId, now: Timestamp) -> Result<Inbox, StoreError> {
        let begun = self.inboxes.begin(reader, now).await;
        let entries = self.rows.followed(reader, Timestamp::MAX, INBOX_MAX_ENTRIES).await?;
        let is_all = entries.len() < INBOX_MAX_ENTRIES as usize;
        let floor = entries.last().filter(|_| !is_all).map(|last| last.written);
        let inbox = Inbox { entries, floor };
        let filled = match begun {
            Ok(filling) => self.inboxes.fill(reader, filling, &inbox, now).await,
            Err(error) => Err(error),
        };
        if let Err(error) = filled {
            tracing::debug!(%error, %reader, "could not fill the inbox");
        }
        Ok(inbox)
    }

    /// Returns the newest entries at or before `from`: inbox contents plus pulled notes. If the inbox cannot
    /// be read, returns no entries and a floor of `from`, so that everything comes from the database.
    async fn newest(
        &self,
        reader: UserId,
        from: Timestamp,
        most: u32,
        now: Timestamp,
    ) -> Result<Inbox, StoreError> {
        match self.inboxes.read(reader, from, most, now).await {
            Ok(Some(mut inbox)) => {
                let pulled = self.rows.followed_with_many_fans(reader, from, most).await?;
                inbox.entries.extend(pulled.into_iter().filter(|entry| is_above(inbox.floor, *entry)));
                Ok(inbox)
            }
            Ok(None) => {
                let mut inbox = self.fill(reader, now).await?;
                inbox.entries.retain(|entry| entry.written <= from && is_above(inbox.floor, *entry));
                Ok(inbox)
            }
            Err(error) => {
                tracing::debug!(%error, %reader, "could not read the inbox; reading the feed from the database");
                Ok(Inbox { entries: Vec::new(), floor: Some(from) })
            }
        }
    }
}

/// Returns whether an inbox with this floor covers the entry.
fn is_above(floor: Option<Timestamp>, entry: FeedEntry) -> bool {
    floor.is_none_or(|floor| entry.written > floor)
}

#[async_trait]
impl<I: Inboxes> Feeds for FanOutFeeds<I> {
    async fn pass_on(&self, entry: FeedEntry, author: UserId, now: Timestamp) -> Result<(), StoreError> {
        self.push(entry, author, now).await?;
        self.rows.put_passed_on(entry.note).await
    }

    async fn pass_on_the_rest(
        &self,
        before: Timestamp,
        max: u32,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let rest = self.rows.not_passed_on(before, max).await?;
        for (entry, author) in &rest {
            self.pass_on(*entry, *author, now).await?;
        }
        Ok(rest.len())
    }

    async fn refresh(&self, reader: UserId) -> Result<(), StoreError> {
        self.inboxes.drop(&[reader]).await
    }

    async fn page(
        &self,
        reader: UserId,
        from: Timestamp,
        most: u32,
        now: Timestamp,
    ) -> Result<Vec<FeedEntry>, StoreError> {
        let Inbox { mut entries, floor } = self.newest(reader, from, most, now).await?;
        let wanted = most as usize;
        if let Some(floor) = floor
            && entries.len() < wanted
        {
            entries.extend(self.rows.followed(reader, from.min(floor), most).await?);
        }
        entries.sort_unstable();
        // A note pushed before its author exceeded the limit comes from both sources.
        entries.dedup();
        entries.truncate(wanted);
        Ok(entries)
    }
}
