//! Encoding and lifetime of a cache entry.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{CacheEntry, Timestamp};
use serde::{Deserialize, Serialize};

use super::id_filter::CacheId;
use super::policy::{Cached, Policy};

/// Tolerated clock difference between instances.
const CLOCK_SKEW_MAX: Duration = Duration::from_secs(5);

/// A cache entry, stored as JSON. `deny_unknown_fields` makes an entry of another version with other fields
/// unreadable, and so a miss.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry<V> {
    /// Time of the database read.
    pub(super) made: Timestamp,
    /// End of the fresh period; afterwards the entry is served only while a revalidation runs.
    pub(super) fresh_until: Timestamp,
    /// The value; `None` marks a negative cache entry.
    pub(super) value: Option<V>,
}

impl<V: Cached> Entry<V> {
    /// Creates an entry for a value read at `now`. Also returns when the entry expires.
    pub(super) fn new(id: V::Id, value: Option<V>, policy: &Policy, now: Timestamp) -> (Self, Timestamp) {
        let (fresh, stale) = match value {
            Some(_) => (policy.fresh, policy.stale),
            None => (policy.absent, Duration::ZERO),
        };
        let fresh_until = now + with_jitter(fresh, id.number(), now);
        (Self { made: now, fresh_until, value }, fresh_until + stale)
    }

    /// Decodes an entry, once per local copy. Returns `None` if it is unreadable, or was made later than
    /// `now` because the clock has been set back.
    pub(super) fn read(kept: &CacheEntry, now: Timestamp) -> Option<Arc<Entry<Arc<V>>>> {
        let decode = || {
            let Self { made, fresh_until, value } = serde_json::from_slice(&kept.bytes).ok()?;
            Some(Entry { made, fresh_until, value: value.map(Arc::new) })
        };
        kept.decoded.get_or_decode(decode).filter(|entry| entry.made <= now + CLOCK_SKEW_MAX)
    }

    pub(super) fn bytes(&self) -> Option<Arc<[u8]>> {
        serde_json::to_vec(self).ok().map(Into::into)
    }
}

/// Shortens a TTL by up to 10 %, deterministic in (id, now).
fn with_jitter(span: Duration, id: u64, now: Timestamp) -> Duration {
    let mut mixed = id ^ now.as_millis().unsigned_abs().rotate_left(32);
    // The splitmix64 finaliser: neighbouring inputs give distant outputs.
    mixed = mixed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let thousandths = u32::try_from((mixed >> 33) % 100).unwrap_or(0);
    span - span * thousandths / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_spread_over_a_tenth_and_repeat() {
        let span = Duration::from_secs(100);
        let now = Timestamp::from_millis(1_795_262_400_000);
        let spans: std::collections::BTreeSet<Duration> =
            (0..1_000).map(|id| with_jitter(span, id, now)).collect();
        assert!(spans.len() > 95, "{}", spans.len());
        assert!(spans.iter().all(|some| *some <= span && *some > span * 9 / 10));
        assert_eq!(with_jitter(span, 7, now), with_jitter(span, 7, now));
        assert_eq!(with_jitter(Duration::ZERO, 7, now), Duration::ZERO);
    }
}
