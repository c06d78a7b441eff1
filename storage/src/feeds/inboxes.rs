//! Port for the inboxes of feeds, implemented by each back end.

use std::time::Duration;

use async_trait::async_trait;

use super::FeedEntry;
use crate::{StoreError, Timestamp, UserId};

/// TTL of an inbox, counted from its fill. Readers inactive for longer receive no pushes, and an error in an
/// inbox lasts no longer.
pub const INBOX_TTL: Duration = Duration::from_secs(24 * 60 * 60);
/// Maximum entries of an inbox: a hundred pages.
pub const INBOX_MAX_ENTRIES: u32 = 1_000;

/// Contents of an inbox, as read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inbox {
    /// Entries above the floor, in feed order.
    pub entries: Vec<FeedEntry>,
    /// The inbox is complete for notes written after the floor; older notes must be read from the database.
    /// `None`: the inbox holds the whole feed.
    pub floor: Option<Timestamp>,
}

/// Inboxes: the newest part of each feed, materialized for fast reads. Data may be lost at any time, except
/// where the loss would leave a live inbox incomplete.
///
/// Filling takes three steps, and pushes may happen between them: `begin`, from which on the inbox accepts
/// pushes; reading the database; `fill`. Dropping the inbox in between, or another `begin`, cancels the fill.
#[async_trait]
pub trait Inboxes: Send + Sync {
    /// Returns up to `most` entries written at or before `from` and above the floor; `None` if there is no
    /// live inbox.
    async fn read(
        &self,
        reader: UserId,
        from: Timestamp,
        most: u32,
        now: Timestamp,
    ) -> Result<Option<Inbox>, StoreError>;

    /// Begins filling an inbox. Returns the unique number of this fill.
    async fn begin(&self, reader: UserId, now: Timestamp) -> Result<u64, StoreError>;

    /// Adds `inbox` and makes the inbox live, unless another fill has begun or the inbox was dropped.
    async fn fill(
        &self,
        reader: UserId,
        filling: u64,
        inbox: &Inbox,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Pushes an entry to those of the readers' inboxes that are live or being filled, and drops the others:
    /// otherwise a clock set back would revive an inbox that missed an entry. Beyond [`INBOX_MAX_ENTRIES`]
    /// entries, the oldest are evicted and the floor rises to them.
    async fn push(&self, entry: FeedEntry, readers: &[UserId], now: Timestamp) -> Result<(), StoreError>;

    /// Drops the readers' inboxes and cancels fills in progress.
    async fn drop(&self, readers: &[UserId]) -> Result<(), StoreError>;
}
