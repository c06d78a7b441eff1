//! Counters that never return a number twice.

use async_trait::async_trait;

use crate::StoreError;

/// First number of a [closed](Sequences::close) counter. Beyond the range of every caller, older versions
/// included: 2^40, while an order id holds 28 bits.
pub const CLOSED_COUNTER: u64 = 1 << 40;

/// Unique numbers, from one counter per name and day.
///
/// - Numbers start at 0, or at [`CLOSED_COUNTER`] after [`close`](Sequences::close), and rise. No number is
///   returned twice, not even after a crash; a crash may skip numbers.
/// - Each (name, day) has an independent counter. Returning to an earlier day continues the counter of that
///   day.
#[async_trait]
pub trait Sequences: Send + Sync {
    /// Returns the next number.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: no number was assigned; call again.
    async fn next(&self, name: &'static str, day: u64) -> Result<u64, StoreError>;

    /// Returns an upper bound of the numbers assigned so far, for `verify`; `None` if none was assigned.
    /// At least [`CLOSED_COUNTER`] − 1 for a closed counter.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn high_water(&self, name: &'static str, day: u64) -> Result<Option<u64>, StoreError>;

    /// Closes the counter of a day, unless an instance has reserved numbers of the day. Returns whether the
    /// counter is closed, by this call or before.
    ///
    /// Atomic against [`next`](Sequences::next) of every instance: after `true`, no number below
    /// [`CLOSED_COUNTER`] was or will be assigned; after `false`, no later call returns `true`.
    ///
    /// # Errors
    /// Any [`StoreError`]: the counter may be closed; call again.
    async fn close(&self, name: &'static str, day: u64) -> Result<bool, StoreError>;
}
