//! When each pending payment is to be queried at its gateway.

use std::collections::HashMap;
use std::time::Duration;

use mallbox_storage::{Payment, PaymentId, Timestamp};
use parking_lot::Mutex;

/// Age of a payment before the first query: most callbacks have arrived by then.
const FIRST_POLL_AFTER: Duration = Duration::from_secs(20);
/// Longest time between two queries of a payment. The time is a quarter of the payment's age until then.
const POLL_INTERVAL_MAX: Duration = Duration::from_secs(60);

/// Time of the last query of each payment, in memory: after a restart every payment is queried once.
#[derive(Debug, Default)]
pub(super) struct PollTimes {
    last: Mutex<HashMap<PaymentId, Timestamp>>,
}

impl PollTimes {
    /// Returns whether a payment is to be queried at `now`, and if so remembers the query.
    pub(super) fn is_due(&self, payment: &Payment, now: Timestamp) -> bool {
        let mut last = self.last.lock();
        let due = match last.get(&payment.id) {
            // After the clock was set back, the next query is not postponed.
            Some(last) if *last <= now => {
                let age_ms = last.as_millis().saturating_sub(payment.started.as_millis());
                let quarter = Duration::from_millis(age_ms.max(0).unsigned_abs() / 4);
                *last + quarter.clamp(FIRST_POLL_AFTER / 4, POLL_INTERVAL_MAX)
            }
            Some(_) => now,
            None => payment.started + FIRST_POLL_AFTER,
        };
        if due <= now {
            last.insert(payment.id, now);
        }
        due <= now
    }

    /// Forgets the payments that `is_open` does not name.
    pub(super) fn retain(&self, is_open: impl Fn(PaymentId) -> bool) {
        self.last.lock().retain(|payment, _| is_open(*payment));
    }
}

#[cfg(test)]
mod tests {
    use mallbox_storage::{Cents, OrderId, PaymentMode, PaymentState};

    use super::*;

    #[test]
    fn a_payment_is_queried_less_and_less_often_but_every_minute() {
        let started = Timestamp::from_millis(1_000_000);
        let payment = Payment {
            id: PaymentId::new(1),
            order: OrderId::new(1),
            amount: Cents::new(1),
            state: PaymentState::Started,
            started,
            gateway: PaymentMode::Webhook,
        };
        let polls = PollTimes::default();
        let is_due = |second| polls.is_due(&payment, started + Duration::from_secs(second));
        let queried: Vec<u64> = (0..600).filter(|second| is_due(*second)).collect();
        assert_eq!(queried[..5], [20, 25, 32, 40, 50]);
        assert!(queried.windows(2).all(|pair| pair[1] - pair[0] <= 61), "{queried:?}");
        assert!(queried.len() < 25, "{queried:?}");
        polls.retain(|_| false);
        assert!(is_due(600), "queried once after a restart");
    }
}
