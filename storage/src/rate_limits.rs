//! Rate limits per key.

use std::time::Duration;

use async_trait::async_trait;

use crate::{StoreError, Timestamp};

/// A limit of `count` calls per `per`, refilled evenly. The burst size is `count`: a fresh key may make all
/// calls at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// Number of calls; at least 1.
    pub count: u32,
    /// Period in which `count` calls are refilled.
    pub per: Duration,
}

/// Outcome of a rate-limited call.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RateLimitOutcome {
    /// The call may proceed and was counted.
    Allowed,
    /// The call must not proceed and was not counted.
    Refused {
        /// Time until a call will be allowed.
        retry_after: Duration,
    },
}

/// Rate limits per key, by the GCRA algorithm (leaky bucket as a meter) on the caller's `now`.
///
/// - A refused call costs nothing. A clock set back never allows more than a full burst.
/// - State is kept in memory only and may be lost: after a restart every key is fresh.
/// - Memory is bounded: under a flood of keys, keys that come closest to fresh ones may become fresh.
#[async_trait]
pub trait RateLimits: Send + Sync {
    /// Counts a call for `key` if the limit allows. `key` names both the limited operation and its subject.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: the call was not counted.
    async fn pass(&self, key: &str, limit: Limit, now: Timestamp) -> Result<RateLimitOutcome, StoreError>;
}
