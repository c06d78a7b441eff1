//! What the record is asked for feeds.

use async_trait::async_trait;

use super::FeedEntry;
use crate::{NoteId, StoreError, Timestamp, UserId};

/// Follows and notes, as the record has them.
#[async_trait]
pub trait FeedRows: Send + Sync {
    /// At most `most` entries written at `from` or before, in order, by those whom a reader follows.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn followed(
        &self,
        reader: UserId,
        from: Timestamp,
        most: u32,
    ) -> Result<Vec<FeedEntry>, StoreError>;

    /// The same of those among them whose notes are not pushed.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn followed_with_many_fans(
        &self,
        reader: UserId,
        from: Timestamp,
        most: u32,
    ) -> Result<Vec<FeedEntry>, StoreError>;

    /// At most `most` fans with an id above `after`, by id: who is there all the time is seen, whoever comes and goes.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn fans(&self, author: UserId, after: UserId, most: u32) -> Result<Vec<UserId>, StoreError>;

    /// Whether an author's notes are not pushed any more.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn has_many_fans(&self, author: UserId) -> Result<bool, StoreError>;

    /// From now on an author's notes are not pushed. There is no way back: what was not pushed then would be missing.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn put_many_fans(&self, author: UserId) -> Result<(), StoreError>;

    /// At most `max` notes with their authors, written before an instant and not passed on, the oldest first.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn not_passed_on(
        &self,
        before: Timestamp,
        max: u32,
    ) -> Result<Vec<(FeedEntry, UserId)>, StoreError>;

    /// A note has been passed on.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn put_passed_on(&self, note: NoteId) -> Result<(), StoreError>;
}
