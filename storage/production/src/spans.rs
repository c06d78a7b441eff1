//! Spans of time as the servers count them.

use std::time::Duration;

/// Extra time for which Redis keeps an expired entry. Clocks differ, and the mall's clock decides about
/// expiry.
pub(crate) const EXPIRY_GRACE: Duration = Duration::from_secs(60);

/// Returns a span in milliseconds for Redis, capped at 100 years.
pub(crate) fn millis(span: Duration) -> u64 {
    /// 100 years: Redis can add this span to its clock safely, and no caller needs more.
    const SPAN_MAX_MS: u64 = 100 * 365 * 24 * 60 * 60 * 1000;
    u64::try_from(span.as_millis()).unwrap_or(SPAN_MAX_MS).min(SPAN_MAX_MS)
}
