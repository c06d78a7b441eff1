//! Requests at a fixed rate, independent of the server.

use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::ready_set::ReadySet;

/// Rates accepted, in requests per second.
pub(super) const RATES: RangeInclusive<f64> = 0.001..=10_000_000.0;

/// Shortest time between two wake-ups: finer ones cost more than they gain. At high rates a request starts
/// late by up to this time, and the latency includes the delay.
const WAKE_INTERVAL_MIN: Duration = Duration::from_micros(200);

/// Schedule of the requests.
pub(super) struct Pace {
    plan: Schedule,
    sent: u64,
    /// Due instant of the next request; cached, because it is read far more often than changed.
    next: Instant,
    _metronome: PaceThread,
}

impl Pace {
    /// Starts now; the first request is due at once.
    pub fn start(rate: f64, rung: Arc<ReadySet>) -> io::Result<Self> {
        let origin = Instant::now();
        let plan = Schedule { origin, rate };
        Ok(Self { plan, sent: 0, next: origin, _metronome: PaceThread::start(plan, rung)? })
    }

    /// Returns the due instant of the next request if reached at `now`.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        (self.next <= now).then_some(self.next)
    }

    /// Records that the due request was sent.
    pub fn sent(&mut self) {
        self.sent += 1;
        self.next = self.plan.instant(self.sent);
    }

    /// Returns the number of requests due before `end` and not sent.
    pub fn unsent(&self, end: Instant) -> u64 {
        self.plan.due_by(end).saturating_sub(self.sent)
    }
}

/// Request n, from 0, is due n / rate seconds after the origin.
#[derive(Clone, Copy)]
struct Schedule {
    origin: Instant,
    rate: f64,
}

impl Schedule {
    fn instant(self, request: u64) -> Instant {
        #[expect(clippy::cast_precision_loss, reason = "exact to 2^53 requests")]
        let seconds = request as f64 / self.rate;
        // An instant beyond the clock's range is never reached; an instant one day ahead has the same effect.
        Duration::try_from_secs_f64(seconds)
            .ok()
            .and_then(|since| self.origin.checked_add(since))
            .unwrap_or_else(|| Instant::now() + Duration::from_hours(24))
    }

    /// Returns the number of requests due before `end`.
    fn due_by(self, end: Instant) -> u64 {
        let seconds = end.saturating_duration_since(self.origin).as_secs_f64();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and such a cast saturates"
        )]
        let due = (seconds * self.rate).ceil() as u64;
        due
    }
}

/// A thread that wakes the load when requests are due. The runtime's own timers have a resolution of one
/// millisecond; a sleeping thread is woken within some 60 µs. Ends on drop.
struct PaceThread {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl PaceThread {
    fn start(plan: Schedule, rung: Arc<ReadySet>) -> io::Result<Self> {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        // At high rates one wake-up serves several requests.
        let step = plan.due_by(plan.origin + WAKE_INTERVAL_MIN).max(1);
        let thread = thread::Builder::new().name("load-beat".to_owned()).spawn(move || {
            let mut request = step;
            while !seen.load(Ordering::Relaxed) {
                let (now, next) = (Instant::now(), plan.instant(request));
                if now < next {
                    thread::park_timeout(next - now);
                    continue;
                }
                rung.wake_task();
                // Wake-ups missed on a busy machine are skipped: one wake-up serves everything due. Counted
                // in requests, so that rounding errors do not accumulate.
                request = plan.due_by(now).max(request + 1).next_multiple_of(step);
            }
        })?;
        Ok(Self { over, thread: Some(thread) })
    }
}

impl Drop for PaceThread {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // The thread holds no state that a panic could have corrupted.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_fall_due_at_even_steps() {
        let mut pace = Pace::start(1_000.0, Arc::default()).unwrap();
        let origin = pace.plan.origin;
        assert_eq!(pace.due(origin), Some(origin));
        pace.sent();
        assert_eq!(pace.due(origin), None);
        assert_eq!(pace.unsent(origin + Duration::from_micros(4_500)), 4);
        let late = origin + Duration::from_millis(7);
        assert_eq!(pace.due(late), Some(origin + Duration::from_millis(1)));
    }

    #[test]
    fn the_ends_of_the_range_of_rates_hold() {
        for rate in [*RATES.start(), *RATES.end()] {
            let mut pace = Pace::start(rate, Arc::default()).unwrap();
            pace.sent();
            assert!(pace.next > pace.plan.origin);
            assert!(pace.plan.instant(u64::MAX) > pace.next);
        }
    }
}
