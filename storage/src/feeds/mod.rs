//! Feeds: what those whom one follows have written.
//!
//! [`Desk`](desk::Desk) has the one way in which a feed is put together, from inboxes that forget and a record that does not;
//! each back end brings its own two.

pub(crate) mod desk;
mod inboxes;
mod rows;

use std::cmp::Reverse;

use async_trait::async_trait;

pub(crate) use inboxes::{HOLDS, Inbox, Inboxes, LIVES};
pub use rows::FeedRows;

use crate::{NoteId, StoreError, Timestamp, UserId};

/// A note's place in a feed. In order, the newest come first, and of one instant those of lower ids: a note that comes late
/// stands behind those of its instant and moves none of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FeedEntry {
    /// Which.
    pub note: NoteId,
    /// When it was written.
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

/// Feeds.
///
/// - A person's feed holds, of everybody they follow, the notes from the twentieth before the follow on (see
///   [`Follows::follow`](crate::Follows::follow)), each once. Notes that were deleted or hidden keep their places, so that
///   nobody's reading shifts: whoever shows a feed leaves them out.
/// - A note that was passed on is in every feed it belongs to when the answer comes. One whose answer was lost may be in some
///   of them, and comes to the others with [`pass_on_the_rest`](Feeds::pass_on_the_rest).
/// - It is pushed to the inboxes of those who read their feed lately; those who did not find it in the record when they come
///   back, and so do all fans of an author who has many. Nobody can tell from an answer which of the two it was.
/// - Inboxes have an end, feeds do not: what is older comes from the record.
/// - After a change of whom somebody follows, [`refresh`](Feeds::refresh) has to be called; its answer means that the next
///   page shows the change. Where that call never came (the process died), it shows within a day.
#[async_trait]
pub trait Feeds: Send + Sync {
    /// Brings a note that is in the record into the feeds of its author's fans. A repeat changes nothing.
    ///
    /// # Errors
    /// [`StoreError`]: it is not yet in all of them; call again.
    async fn pass_on(&self, entry: FeedEntry, author: UserId, now: Timestamp) -> Result<(), StoreError>;

    /// Does the same for notes written before an instant whose passing on has not ended, at most `max`, the oldest first.
    /// Answers how many there were.
    ///
    /// # Errors
    /// [`StoreError`]: some are not yet passed on; call again.
    async fn pass_on_the_rest(
        &self,
        before: Timestamp,
        max: u32,
        now: Timestamp,
    ) -> Result<usize, StoreError>;

    /// Takes note that a reader follows others than before.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn refresh(&self, reader: UserId) -> Result<(), StoreError>;

    /// At most `most` entries of a feed, those written at `from` or before.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn page(
        &self,
        reader: UserId,
        from: Timestamp,
        most: u32,
        now: Timestamp,
    ) -> Result<Vec<FeedEntry>, StoreError>;
}
