//! The [`RateLimits`] port: GCRA in memory, for a bounded number of keys.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{Limit, RateLimitOutcome, RateLimits, StoreError, Timestamp};
use parking_lot::Mutex;

const SHARDS: usize = 16;
/// Number of keys in a shard beyond which the least used keys are forgotten: 262,144 keys in all, which take
/// about 32 MiB.
const KEYS_PER_SHARD_MAX: usize = 16_384;

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

/// Makes room for another key: removes keys that equal an unused key, then the half that comes closest. A
/// flood of keys used once thus removes its own keys, not the counters of keys used up.
fn make_room(keys: &mut HashMap<String, i128>, now: i128) {
    if keys.len() < KEYS_PER_SHARD_MAX {
        return;
    }
    keys.retain(|_, fresh_at| *fresh_at > now);
    if keys.len() < KEYS_PER_SHARD_MAX / 2 {
        return;
    }
    let mut all: Vec<i128> = keys.values().copied().collect();
    let middle = all.len() / 2;
    let (_, median, _) = all.select_nth_unstable(middle);
    let mut removable = middle;
    keys.retain(|_, fresh_at| {
        let goes = *fresh_at <= *median && removable > 0;
        removable -= usize::from(goes);
        !goes
    });
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
            None => {
                make_room(&mut keys, now);
                keys.insert(key.to_owned(), fresh_at + step);
            }
        }
        Ok(RateLimitOutcome::Allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
    const HOUR: Duration = Duration::from_secs(3_600);
    const LIMIT: Limit = Limit { count: 30, per: HOUR };

    fn count(limits: &EmbeddedRateLimits) -> usize {
        limits.shards.iter().map(|shard| shard.lock().len()).sum()
    }

    #[tokio::test]
    async fn a_flood_of_keys_takes_no_more_memory_than_the_cap_and_frees_nobody() {
        let limits = EmbeddedRateLimits::default();
        while limits.pass("greedy", LIMIT, NOON).await.unwrap() == RateLimitOutcome::Allowed {}
        for number in 0..3 * SHARDS * KEYS_PER_SHARD_MAX {
            let _ = limits.pass(&format!("flood:{number}"), LIMIT, NOON).await.unwrap();
        }
        assert!(count(&limits) <= SHARDS * KEYS_PER_SHARD_MAX, "{}", count(&limits));
        let outcome = limits.pass("greedy", LIMIT, NOON).await.unwrap();
        assert!(
            matches!(outcome, RateLimitOutcome::Refused { .. }),
            "the flood freed a key that was used up"
        );
        for number in 0..SHARDS * KEYS_PER_SHARD_MAX {
            let _ = limits.pass(&format!("later:{number}"), LIMIT, NOON + HOUR).await.unwrap();
        }
        assert!(count(&limits) <= SHARDS * KEYS_PER_SHARD_MAX);
        limits.sweep(NOON + 2 * HOUR);
        assert_eq!(count(&limits), 0);
    }
}
