//! How often is too often.

use std::time::Duration;

use async_trait::async_trait;

use crate::{StoreError, Timestamp};

/// `count` calls per `per`, evenly refilled; a fresh key may make all of them at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// How many; at least 1.
    pub count: u32,
    /// In what span.
    pub per: Duration,
}

/// Whether a call may go ahead.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    /// It may, and has been counted.
    Allowed,
    /// It may not, and was not counted.
    Refused {
        /// When to try again.
        retry_after: Duration,
    },
}

/// Rate limits per key, by GCRA on `now`.
///
/// - A refused call costs nothing. A clock that goes back never gives more than a full burst.
/// - State is memory only and may be lost: after a restart every key is fresh.
#[async_trait]
pub trait RateLimits: Send + Sync {
    /// Counts a call on a key, if the limit allows it. `key` names what is limited and for whom.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: not counted.
    async fn pass(&self, key: &str, limit: Limit, now: Timestamp) -> Result<Pass, StoreError>;
}
