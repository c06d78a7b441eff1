//! Database queries behind feeds.

use async_trait::async_trait;

use super::FeedEntry;
use crate::{NoteId, StoreError, Timestamp, UserId};

/// Follows and notes in the database, as needed by feeds.
#[async_trait]
pub trait FeedRows: Send + Sync {
    /// Returns up to `most` notes written at or before `from` by the authors that a reader follows, in feed
    /// order.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn followed(
        &self,
        reader: UserId,
        from: Timestamp,
        most: u32,
    ) -> Result<Vec<FeedEntry>, StoreError>;

    /// Returns the same as [`followed`](FeedRows::followed), limited to authors with many fans, whose notes
    /// are not pushed.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn followed_with_many_fans(
        &self,
        reader: UserId,
        from: Timestamp,
        most: u32,
    ) -> Result<Vec<FeedEntry>, StoreError>;

    /// Returns up to `most` fans with an id above `after`, by id. Paging finds every fan who follows
    /// throughout, regardless of concurrent changes by others.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn fans(&self, author: UserId, after: UserId, most: u32) -> Result<Vec<UserId>, StoreError>;

    /// Returns whether the author is marked as having many fans (notes are not pushed).
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn has_many_fans(&self, author: UserId) -> Result<bool, StoreError>;

    /// Marks an author as having many fans: notes are no longer pushed. Irreversible, because notes not
    /// pushed meanwhile would be missing from inboxes.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn put_many_fans(&self, author: UserId) -> Result<(), StoreError>;

    /// Returns up to `max` notes, with their authors, written before `before` and not completely delivered,
    /// oldest first.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn not_passed_on(
        &self,
        before: Timestamp,
        max: u32,
    ) -> Result<Vec<(FeedEntry, UserId)>, StoreError>;

    /// Marks a note as completely delivered.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn put_passed_on(&self, note: NoteId) -> Result<(), StoreError>;
}
