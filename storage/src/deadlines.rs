//! Payment deadlines of unpaid orders.

use async_trait::async_trait;

use crate::{NO_DEADLINE, OrderId, Orders, StoreError, Timestamp};

/// Timer queue of "cancel order X at T".
///
/// - An order has at most one deadline; setting another replaces the first.
/// - An entry is due from its instant on. Orders returned by [`due`](Deadlines::due) are leased to the caller
///   for [`LEASE_MS`] of the mall's time and not returned again meanwhile, unless
///   set anew or cleared. A handler that dies therefore loses nothing, and two handlers do no work twice.
/// - The database is the source of truth: entries missing from the queue are restored from the unpaid orders
///   at start.
#[async_trait]
pub trait Deadlines: Send + Sync {
    /// Sets or moves the deadlines of the given orders. Pass all deadlines at hand: a call may cost a
    /// network round trip.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: some deadlines may be set; call again.
    async fn set(&self, deadlines: &[(OrderId, Timestamp)]) -> Result<(), StoreError>;

    /// Removes the deadlines of the given orders. An order without a deadline is no error.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: some deadlines may still be set; call again.
    async fn clear(&self, orders: &[OrderId]) -> Result<(), StoreError>;

    /// Returns and leases up to `max` orders whose deadline is at or before `now`, ordered by deadline, then
    /// id.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn due(&self, now: Timestamp, max: usize) -> Result<Vec<OrderId>, StoreError>;

    /// Returns the earliest deadline or lease end; `None` if no deadline is set.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn next(&self) -> Result<Option<Timestamp>, StoreError>;

    /// Returns the number of deadlines set.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn count(&self) -> Result<u64, StoreError>;
}

/// Length of the lease on a due order, in milliseconds of the mall's time.
pub const LEASE_MS: i64 = 30_000;

/// Restores the deadlines of unpaid orders from the database: all of them, or only deadlines earlier than
/// `before`. Returns the number restored. A deadline restored for an order that was paid or closed meanwhile
/// is cleared when due.
///
/// # Errors
/// Any [`StoreError`]: an order whose deadline is not set would never be cancelled; call again.
pub async fn restore(
    deadlines: &dyn Deadlines,
    orders: &dyn Orders,
    before: Option<Timestamp>,
) -> Result<u64, StoreError> {
    /// Rows per read: 64 KB.
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
