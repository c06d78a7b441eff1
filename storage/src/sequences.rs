//! Counters that never return a number twice.

use async_trait::async_trait;

use crate::StoreError;

/// Unique numbers, from one counter per name and day.
///
/// - Numbers start at 0 and rise. No number is returned twice, not even after a crash; a crash may skip
///   numbers.
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
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn high_water(&self, name: &'static str, day: u64) -> Result<Option<u64>, StoreError>;
}
