//! The [`RateLimits`] port: GCRA, with a script per call.

use async_trait::async_trait;
use mallbox_storage::{Limit, RateLimitOutcome, RateLimits, StoreError, Timestamp};

use super::keys::Keys;
use super::link::{Idempotence, Link};
use super::script::PASS;
use crate::spans::{EXPIRY_GRACE, millis};

/// Longest burst with an exact value in Lua's numbers: 2^53 ns, 104 days. Longer bursts are capped.
const BURST_MAX_NS: u64 = 1 << 53;

/// Rate limits in Redis.
pub(super) struct RedisRateLimits {
    pub(super) link: Link,
    pub(super) keys: Keys,
}

#[async_trait]
impl RateLimits for RedisRateLimits {
    async fn pass(&self, key: &str, limit: Limit, now: Timestamp) -> Result<RateLimitOutcome, StoreError> {
        let burst = u64::try_from(limit.per.as_nanos()).unwrap_or(u64::MAX).min(BURST_MAX_NS);
        let step = burst / u64::from(limit.count.max(1));
        let call = PASS.on([self.keys.limit(key)]).arg(now.as_millis()).arg(burst).arg(step);
        let call = call.arg(millis(limit.per.saturating_add(EXPIRY_GRACE)));
        let wait: i64 = self.link.run("rate_limits.pass", Idempotence::Never, call).await?;
        Ok(match u64::try_from(wait) {
            Ok(wait) => RateLimitOutcome::Refused { retry_after: std::time::Duration::from_nanos(wait) },
            Err(_) => RateLimitOutcome::Allowed,
        })
    }
}
