//! `RateLimits`: a burst, then evenly.

use std::time::Duration;

use mallbox_storage::{Limit, RateLimitOutcome};

use crate::world::{HOUR, NOON, World};

crate::cases! { a_burst_and_then_one_at_a_time, keys_do_not_share, a_clock_set_back_locks_nobody_out }

const FIVE_A_MINUTE: Limit = Limit { count: 5, per: Duration::from_secs(60) };
const STEP: Duration = Duration::from_secs(12);
const MS: Duration = Duration::from_millis(1);

async fn pass(w: &World, key: &str, now: mallbox_storage::Timestamp) -> RateLimitOutcome {
    w.storage.base.rate_limits.pass(key, FIVE_A_MINUTE, now).await.unwrap()
}

async fn a_burst_and_then_one_at_a_time(w: &World) {
    for _ in 0..5 {
        assert_eq!(pass(w, "a", NOON).await, RateLimitOutcome::Allowed);
    }
    for _ in 0..3 {
        assert_eq!(
            pass(w, "a", NOON).await,
            RateLimitOutcome::Refused { retry_after: STEP },
            "a refusal costs nothing"
        );
    }
    assert_eq!(pass(w, "a", NOON + STEP - MS).await, RateLimitOutcome::Refused { retry_after: MS });
    assert_eq!(pass(w, "a", NOON + STEP).await, RateLimitOutcome::Allowed);
    assert!(matches!(pass(w, "a", NOON + STEP).await, RateLimitOutcome::Refused { .. }));
    for _ in 0..5 {
        assert_eq!(pass(w, "a", NOON + HOUR).await, RateLimitOutcome::Allowed);
    }
    assert!(
        matches!(pass(w, "a", NOON + HOUR).await, RateLimitOutcome::Refused { .. }),
        "never more than a burst"
    );
}

async fn keys_do_not_share(w: &World) {
    for _ in 0..5 {
        assert_eq!(pass(w, "claim:1", NOON).await, RateLimitOutcome::Allowed);
    }
    assert_eq!(pass(w, "claim:11", NOON).await, RateLimitOutcome::Allowed);
}

async fn a_clock_set_back_locks_nobody_out(w: &World) {
    for _ in 0..5 {
        assert_eq!(pass(w, "a", NOON + HOUR).await, RateLimitOutcome::Allowed);
    }
    assert_eq!(pass(w, "a", NOON).await, RateLimitOutcome::Refused { retry_after: STEP });
}
