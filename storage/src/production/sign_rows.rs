//! What the record is asked about sign-ins, of which Redis has the days in bits.

use async_trait::async_trait;

use crate::{Day, DaySpan, MakeUp, SignedDay, StoreError, UserId};

/// Users from this number on are asked of the record alone: a bitmap takes a bit for every number below, 2 MiB a day at the
/// most. Ids are dense, so a mall grows to 16 million users before one has such a number, unless they came with it.
pub const FAR: u64 = 1 << 24;

/// Sign-ins, as the record has them. The calls that [`SignIns`](crate::SignIns) has too are as described there.
#[async_trait]
pub trait SignRows: Send + Sync {
    /// # Errors
    /// [`StoreError`]: it may be done or not; call again.
    async fn sign(&self, user: UserId, day: Day) -> Result<bool, StoreError>;

    /// # Errors
    /// [`StoreError`]: it may be done or not; call again.
    async fn make_up(&self, user: UserId, day: Day, most: u32) -> Result<MakeUp, StoreError>;

    /// # Errors
    /// [`StoreError`]: call again.
    async fn days(&self, user: UserId, span: DaySpan) -> Result<Vec<SignedDay>, StoreError>;

    /// # Errors
    /// [`StoreError`]: call again.
    async fn streak(&self, user: UserId, up_to: Day) -> Result<u32, StoreError>;

    /// # Errors
    /// [`StoreError`]: call again.
    async fn longest_streak(&self, user: UserId) -> Result<u32, StoreError>;

    /// Who signed on a day, below [`FAR`]: a bit a user, as Redis has them, the highest of each byte first. Takes a second
    /// for some million.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn bits(&self, day: Day) -> Result<Vec<u8>, StoreError>;

    /// Who signed on each day of a span, from [`FAR`] on.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn far(&self, span: DaySpan) -> Result<Vec<(Day, UserId)>, StoreError>;
}
