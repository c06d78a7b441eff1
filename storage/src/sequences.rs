//! Counters that never give a number twice.

use async_trait::async_trait;

use crate::StoreError;

/// A counter per name and day.
///
/// - Numbers begin at 0 and rise. None is given twice, whatever crashes; some may be left out after a crash.
/// - Each (name, day) counts alone, and going back to an earlier day goes on where that day stopped.
#[async_trait]
pub trait Sequences: Send + Sync {
    /// The next number.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: no number was given out; call again.
    async fn next(&self, name: &'static str, day: u64) -> Result<u64, StoreError>;

    /// The highest number that may have been given out so far, for `verify`; `None` if none was.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: call again.
    async fn high_water(&self, name: &'static str, day: u64) -> Result<Option<u64>, StoreError>;
}
