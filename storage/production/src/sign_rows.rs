//! Queries of the database about sign-ins. Redis has a bitmap of each day.

use async_trait::async_trait;
use mallbox_storage::{Day, DaySpan, MakeUpOutcome, SignedDay, StoreError, Timestamp, UserId};

/// First user id that the bitmaps leave out: sign-ins of such users are only in the database. A bitmap takes
/// a bit for every id below, so 2 MiB a day at most. Ids are dense, so a mall grows to 16 million users
/// before an id reaches this limit, unless imported users have such ids.
pub const BITMAP_USERS_MAX: u64 = 1 << 24;

/// Sign-ins in the database. Calls that [`SignIns`](mallbox_storage::SignIns) also has are specified there.
#[async_trait]
pub trait SignRows: Send + Sync {
    /// Signs a user in on a day, and adds the day's credits. Returns whether the sign-in is new.
    ///
    /// # Errors
    /// [`StoreError`]: the sign-in may or may not be stored; call again.
    async fn sign(&self, user: UserId, day: Day, now: Timestamp) -> Result<bool, StoreError>;

    /// Makes up for a missed day, unless `most` days of the month are made up already.
    ///
    /// # Errors
    /// [`StoreError`]: the day may or may not be stored; call again.
    async fn make_up(&self, user: UserId, day: Day, most: u32) -> Result<MakeUpOutcome, StoreError>;

    /// Returns the days of a span on which a user signed.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn days(&self, user: UserId, span: DaySpan) -> Result<Vec<SignedDay>, StoreError>;

    /// Returns the length of a user's streak up to a day, in days.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn streak(&self, user: UserId, up_to: Day) -> Result<u32, StoreError>;

    /// Returns the length of a user's longest streak, in days.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn longest_streak(&self, user: UserId) -> Result<u32, StoreError>;

    /// Returns the users below [`BITMAP_USERS_MAX`] who signed on a day, as a bitmap in Redis' format: one
    /// bit per user, the highest bit of each byte first. Takes about a second for some million users.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn bits(&self, day: Day) -> Result<Vec<u8>, StoreError>;

    /// Returns the users from [`BITMAP_USERS_MAX`] on who signed, for each day of a span.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn far(&self, span: DaySpan) -> Result<Vec<(Day, UserId)>, StoreError>;
}
