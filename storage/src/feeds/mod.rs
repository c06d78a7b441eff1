//! Feeds: notes of the authors that a user follows.
//!
//! [`FanOutFeeds`](fan_out::FanOutFeeds) assembles all feeds (fan-out on write with pull for large authors),
//! from inboxes that may lose data and a database that does not. Each back end implements both.
//!
//! Reasons and figures: `storage/decisions/0013-feeds.md`.

pub mod fan_out;
mod inboxes;
mod rows;

use std::cmp::Reverse;

use async_trait::async_trait;

pub use inboxes::{INBOX_MAX_ENTRIES, INBOX_TTL, Inbox, Inboxes};
pub use rows::FeedRows;

use crate::{NoteId, StoreError, Timestamp, UserId};

/// Position of a note in a feed. Newest first; within one instant, by ascending id. A late note therefore
/// sorts behind the others of its instant and shifts none of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FeedEntry {
    /// Id of the note.
    pub note: NoteId,
    /// Time of writing.
    pub written: Timestamp,
}

impl Ord for FeedEntry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (Reverse(self.written), self.note).cmp(&(Reverse(other.written), other.note))
    }
}

impl PartialOrd for FeedEntry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Feeds of followed authors.
///
/// - A user's feed holds the notes of every followed author, each once, starting with the twentieth note
///   before the follow (see [`Follows::follow`](crate::Follows::follow)). Deleted and hidden notes keep their
///   positions so that nobody's paging shifts; the presentation leaves them out.
/// - When [`pass_on`](Feeds::pass_on) returns, the note is in every feed concerned. If the call failed, the
///   note may be in some feeds only, and reaches the others by [`pass_on_the_rest`](Feeds::pass_on_the_rest).
/// - Fan-out on write: notes are pushed to the inboxes of recently active readers. Other readers get them
///   from the database on their return, and so do all fans of an author with many fans. The two paths are
///   indistinguishable in the result.
/// - Inboxes are bounded, feeds are not: older entries come from the database.
/// - After a change of a user's follows, call [`refresh`](Feeds::refresh); once the call has returned, the
///   next page shows the change. If the call never happens (the process died), the change shows within a day.
#[async_trait]
pub trait Feeds: Send + Sync {
    /// Delivers a stored note to the feeds of its author's fans. Idempotent.
    ///
    /// # Errors
    /// Any [`StoreError`]: some feeds still lack the note; call again.
    async fn pass_on(&self, entry: FeedEntry, author: UserId, now: Timestamp) -> Result<(), StoreError>;

    /// Finishes interrupted deliveries: delivers up to `max` notes written before `before` whose delivery has
    /// not completed, oldest first. Returns their number.
    ///
    /// # Errors
    /// Any [`StoreError`]: some deliveries are incomplete; call again.
    async fn pass_on_the_rest(
        &self,
        before: Timestamp,
        max: u32,
        now: Timestamp,
    ) -> Result<usize, StoreError>;

    /// Invalidates a reader's feed after a change of the reader's follows.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn refresh(&self, reader: UserId) -> Result<(), StoreError>;

    /// Returns up to `most` entries of a feed, written at or before `from`.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn page(
        &self,
        reader: UserId,
        from: Timestamp,
        most: u32,
        now: Timestamp,
    ) -> Result<Vec<FeedEntry>, StoreError>;
}
