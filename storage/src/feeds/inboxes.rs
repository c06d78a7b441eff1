//! What a back end has to bring to keep inboxes.

use std::time::Duration;

use async_trait::async_trait;

use super::FeedEntry;
use crate::{StoreError, Timestamp, UserId};

/// How long an inbox lives from its filling: whoever has not read their feed for so long is pushed nothing, and a mistake in
/// an inbox lasts no longer.
pub(crate) const LIVES: Duration = Duration::from_secs(24 * 60 * 60);
/// Entries of an inbox: a hundred pages.
pub(crate) const HOLDS: u32 = 1_000;

/// What an inbox answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Inbox {
    /// Entries above the floor, in order.
    pub(crate) entries: Vec<FeedEntry>,
    /// What was written later is here, all of it; what was not has to be asked of the record. `None`: there is nothing more.
    pub(crate) floor: Option<Timestamp>,
}

/// Inboxes: the newest of feeds, where they are read from quickly. They may forget anything at any time except what makes
/// an inbox that is there untrue.
///
/// An inbox is filled in three steps, between which others push: begun, which from then on takes what is pushed; read from
/// the record; filled. What happens to the inbox in between makes the filling void.
#[async_trait]
pub(crate) trait Inboxes: Send + Sync {
    /// At most `most` entries written at `from` or before, and later than the floor; `None` if there is no live inbox.
    async fn read(
        &self,
        reader: UserId,
        from: Timestamp,
        most: u32,
        now: Timestamp,
    ) -> Result<Option<Inbox>, StoreError>;

    /// Begins to fill an inbox. Answers a number that this filling alone has.
    async fn begin(&self, reader: UserId, now: Timestamp) -> Result<u64, StoreError>;

    /// Ends the filling, unless another has begun or the inbox was dropped: adds these, and is live from then on.
    async fn fill(
        &self,
        reader: UserId,
        filling: u64,
        inbox: &Inbox,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Adds an entry to those inboxes of these readers that are live or being filled, and drops the others: a clock that is
    /// set back finds none that has missed something. The oldest beyond [`HOLDS`] go, and the floor rises to them.
    async fn push(&self, entry: FeedEntry, readers: &[UserId], now: Timestamp) -> Result<(), StoreError>;

    /// Drops an inbox, and makes void what fills it.
    async fn drop(&self, readers: &[UserId]) -> Result<(), StoreError>;
}
