//! Limits on what all clients together ask of one process, by the machine's own clock.
//!
//! A rate limit of a user or an address is fair among people and shared by all instances. A crowd limit
//! protects what this process can serve, so it must not cost a call to a store. The mall's clock, which may
//! be moved or frozen, has no part in it.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, NotUntil, Quota, RateLimiter};

use super::Refusal;

/// Number of values beyond which those at rest are forgotten: each takes about 100 bytes.
const VALUES_MAX: usize = 65_536;
/// Calls between two looks at the number of values.
const LOOK_EVERY: u32 = 4_096;

/// A limit on all calls together: bursts of up to a second's calls.
pub struct CrowdLimit(DefaultDirectRateLimiter);

/// A limit on all calls for one value, such as one sale.
pub struct CrowdLimitOfValue {
    limiter: DefaultKeyedRateLimiter<String>,
    calls: AtomicU32,
}

impl CrowdLimit {
    /// Creates a limit of so many calls a second.
    #[must_use]
    pub fn new(per_second: NonZeroU32) -> Self {
        Self(RateLimiter::direct(Quota::per_second(per_second)))
    }

    /// Counts a call.
    ///
    /// # Errors
    /// [`Refusal::Crowded`] above the limit.
    pub fn pass(&self) -> Result<(), Refusal> {
        self.0.check().map_err(|not_until| crowded(&not_until))
    }
}

impl CrowdLimitOfValue {
    /// Creates a limit of so many calls a second for each value.
    #[must_use]
    pub fn new(per_second: NonZeroU32) -> Self {
        Self { limiter: RateLimiter::keyed(Quota::per_second(per_second)), calls: AtomicU32::new(0) }
    }

    /// Counts a call for a value.
    ///
    /// # Errors
    /// [`Refusal::Crowded`] above the limit.
    pub fn pass(&self, value: &str) -> Result<(), Refusal> {
        // Clients choose the values. Those without a call in the last second equal values never seen.
        let is_time = self.calls.fetch_add(1, Ordering::Relaxed) % LOOK_EVERY == LOOK_EVERY - 1;
        if is_time && self.limiter.len() > VALUES_MAX {
            self.limiter.retain_recent();
            self.limiter.shrink_to_fit();
        }
        self.limiter.check_key(&canonical(value)).map_err(|not_until| crowded(&not_until))
    }
}

/// Returns one spelling of a value: ids are numbers, which a client may write in several ways.
fn canonical(value: &str) -> String {
    value.parse::<u64>().map_or_else(|_| value.to_owned(), |number| number.to_string())
}

fn crowded(not_until: &NotUntil<<DefaultClock as governor::clock::Clock>::Instant>) -> Refusal {
    let retry_after: Duration = not_until.wait_time_from(DefaultClock::default().now());
    Refusal::Crowded { retry_after }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More calls than any machine makes in the seconds of a test.
    const MANY: u32 = 1_000;

    fn count(mut pass: impl FnMut() -> Result<(), Refusal>) -> (u32, u32) {
        let (mut passed, mut refused) = (0, 0);
        for _ in 0..MANY {
            match pass() {
                Ok(()) => passed += 1,
                Err(Refusal::Crowded { retry_after }) => {
                    assert!(retry_after <= Duration::from_secs(1), "{retry_after:?}");
                    refused += 1;
                }
                Err(other) => panic!("{other:?}"),
            }
        }
        (passed, refused)
    }

    fn per_second(calls: u32) -> NonZeroU32 {
        NonZeroU32::new(calls).unwrap()
    }

    #[test]
    fn calls_above_the_limit_are_refused_with_the_time_to_wait() {
        let limit = CrowdLimit::new(per_second(5));
        let (passed, refused) = count(|| limit.pass());
        assert!(passed >= 5 && refused > 0, "{passed} {refused}");
    }

    #[test]
    fn a_value_does_not_use_up_what_another_may_ask() {
        let limit = CrowdLimitOfValue::new(per_second(5));
        let (_, refused) = count(|| limit.pass("51"));
        assert!(refused > 0);
        for value in ["52", "51a", "", "-51"] {
            for _ in 0..5 {
                assert_eq!(limit.pass(value), Ok(()), "{value}");
            }
        }
    }

    #[test]
    fn spellings_of_a_number_are_one_value() {
        for (one, other) in [("51", "0051"), ("51", "+51"), ("0", "000")] {
            assert_eq!(canonical(one), canonical(other));
        }
        for (one, other) in [("51", "510"), ("51", " 51"), ("99999999999999999999", "99999999999999999998")] {
            assert_ne!(canonical(one), canonical(other));
        }
    }

    #[test]
    fn values_chosen_by_a_flood_are_forgotten() {
        let limit = CrowdLimitOfValue::new(per_second(u32::MAX));
        for value in 0..4 * VALUES_MAX {
            limit.pass(&value.to_string()).unwrap();
        }
        assert!(limit.limiter.len() <= 2 * VALUES_MAX, "{}", limit.limiter.len());
    }
}
