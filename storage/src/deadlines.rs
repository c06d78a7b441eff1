//! When unpaid orders are to be cancelled.

use async_trait::async_trait;

use crate::{NO_DEADLINE, OrderId, Orders, StoreError, Timestamp};

/// "Cancel order X at T".
///
/// - One deadline an order; setting another replaces it.
/// - An entry is due from its instant on. What [`due`](Deadlines::due) hands out is not handed out again for
///   [`LEASE_MS`](crate::deadlines::LEASE_MS) of the mall's time, unless it is set anew or cleared: a handler that
///   dies loses nothing, and two handlers do nothing twice.
/// - The record is the truth: what is missing here is set anew from the unpaid orders at start.
#[async_trait]
pub trait Deadlines: Send + Sync {
    /// Sets or moves the deadlines of these orders: as many at once as the caller has, since a call may be a round trip.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: some may be set; call again.
    async fn set(&self, deadlines: &[(OrderId, Timestamp)]) -> Result<(), StoreError>;

    /// Removes the deadlines of these orders; no error for an order without one.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: some may be set still; call again.
    async fn clear(&self, orders: &[OrderId]) -> Result<(), StoreError>;

    /// Up to `max` orders whose deadline is at or before `now`, earliest first; those of one instant by id.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn due(&self, now: Timestamp, max: usize) -> Result<Vec<OrderId>, StoreError>;

    /// The earliest instant at which something falls due.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn next(&self) -> Result<Option<Timestamp>, StoreError>;

    /// How many deadlines are set.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn count(&self) -> Result<u64, StoreError>;
}

/// How long a due order is its handler's alone, in milliseconds of the mall's time.
pub const LEASE_MS: i64 = 30_000;

/// Sets the deadlines of unpaid orders anew from the record: of all that have one, or of those that should have been
/// cancelled before an instant. Answers how many. One of an order that was paid or closed meanwhile is cleared when it comes.
///
/// # Errors
/// [`StoreError`]: an order whose deadline is not set would not be cancelled; call again.
pub async fn restore(
    deadlines: &dyn Deadlines,
    orders: &dyn Orders,
    before: Option<Timestamp>,
) -> Result<u64, StoreError> {
    /// Rows read at once: 64 KB.
    const PAGE: u32 = 4_096;
    let (mut after, mut restored) = (OrderId::new(0), 0);
    loop {
        let mut unpaid = orders.unpaid(after, PAGE).await?;
        let Some((last, _)) = unpaid.last() else { return Ok(restored) };
        after = *last;
        unpaid.retain(|(_, deadline)| *deadline < before.unwrap_or(NO_DEADLINE));
        deadlines.set(&unpaid).await?;
        restored += unpaid.len() as u64;
    }
}
