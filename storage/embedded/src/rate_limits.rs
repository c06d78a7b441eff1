//! The [`RateLimits`] port: GCRA in memory.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{Limit, RateLimitOutcome, RateLimits, StoreError, Timestamp};
use parking_lot::Mutex;

const SHARDS: usize = 16;

/// Theoretical arrival time per key, in nanoseconds: afterwards the key equals an unused key. Keys come
/// from clients, so the hash is seeded with a secret.
#[derive(Debug)]
pub(crate) struct EmbeddedRateLimits {
    hasher: RandomState,
    shards: Box<[Mutex<HashMap<String, i128>>]>,
}

impl Default for EmbeddedRateLimits {
    fn default() -> Self {
        Self { hasher: RandomState::new(), shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }
}

impl EmbeddedRateLimits {
    /// Removes keys after their theoretical arrival time.
    pub(crate) fn sweep(&self, now: Timestamp) {
        for shard in &self.shards {
            shard.lock().retain(|_, fresh_at| *fresh_at > nanos(now));
        }
    }

    fn shard(&self, key: &str) -> &Mutex<HashMap<String, i128>> {
        let hash = self.hasher.hash_one(key);
        &self.shards[usize::try_from(hash % SHARDS as u64).unwrap_or(0)]
    }
}

fn nanos(at: Timestamp) -> i128 {
    i128::from(at.as_millis()) * 1_000_000
}

#[async_trait]
impl RateLimits for EmbeddedRateLimits {
    async fn pass(&self, key: &str, limit: Limit, now: Timestamp) -> Result<RateLimitOutcome, StoreError> {
        let burst = i128::try_from(limit.per.as_nanos()).unwrap_or(i128::MAX / 4);
        let step = burst / i128::from(limit.count.max(1));
        let now = nanos(now);
        let mut keys = self.shard(key).lock();
        let stored = keys.get(key).copied().unwrap_or(now);
        // A clock set back by more than a burst must not lock out a key for longer than a burst.
        let fresh_at = stored.clamp(now, now + burst);
        let wait = fresh_at + step - (now + burst);
        if wait > 0 {
            let retry_after = Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX));
            return Ok(RateLimitOutcome::Refused { retry_after });
        }
        match keys.get_mut(key) {
            Some(slot) => *slot = fresh_at + step,
            None => drop(keys.insert(key.to_owned(), fresh_at + step)),
        }
        Ok(RateLimitOutcome::Allowed)
    }
}
