//! Backpressure on valid claims: a limit on the order log's length, and short holds during the ledger check.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mallbox_storage::{OrderLog, VoucherId};
use parking_lot::Mutex;
use tokio::sync::Notify;

/// Shortest interval between reads of the log's length, used when the log is nearly too long. Every claim
/// needs the length.
const POLL_MIN_MS: u64 = 20;
/// Longest interval, used when the log is far from its limit. Each read costs Redis one call per partition.
const POLL_MAX_MS: u64 = 1_000;
/// Upper bound of the log's growth, in claims per millisecond.
const GROWTH_MAX_PER_MS: u64 = 1_000;

/// Cached length of the order log, at most [`POLL_MAX_MS`] old.
#[derive(Debug)]
pub(in crate::mall) struct Backlog {
    start: Instant,
    /// Real milliseconds since `start` of the last read, plus 1; 0 before the first read.
    checked_ms: AtomicU64,
    pending: AtomicU64,
}

impl Backlog {
    pub(in crate::mall) fn new() -> Self {
        Self { start: Instant::now(), checked_ms: AtomicU64::new(0), pending: AtomicU64::new(0) }
    }

    /// Returns whether more than `most` claims are in the log.
    pub(in crate::mall) async fn exceeds(&self, most: u64, log: &dyn OrderLog) -> bool {
        let now_ms = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX - 1) + 1;
        let checked_ms = self.checked_ms.load(Ordering::Relaxed);
        let room = most.saturating_sub(self.pending.load(Ordering::Relaxed));
        let is_due = checked_ms == 0 || now_ms >= checked_ms + rest_ms(room);
        // The first caller to find the read due does the read. If cancelled midway, another caller reads
        // soon.
        if is_due
            && self
                .checked_ms
                .compare_exchange(checked_ms, now_ms, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        {
            self.pending.store(log.state().await.pending, Ordering::Relaxed);
        }
        self.pending.load(Ordering::Relaxed) > most
    }
}

/// Returns how long a read stays valid that found room for `room` more claims.
fn rest_ms(room: u64) -> u64 {
    (room / GROWTH_MAX_PER_MS).clamp(POLL_MIN_MS, POLL_MAX_MS)
}

/// Sales whose claims are delayed while the ledger check reads them.
#[derive(Debug, Default)]
pub(in crate::mall) struct Holds {
    /// Number of held sales: the only value that a claim reads when nothing is held.
    count: AtomicUsize,
    held: Mutex<HashSet<VoucherId>>,
    released: Notify,
}

impl Holds {
    /// Delays the claims of the sale until the returned hold is dropped. At most one hold per sale at a time.
    pub(in crate::mall) fn hold(&self, voucher: VoucherId) -> Hold<'_> {
        if self.held.lock().insert(voucher) {
            self.count.fetch_add(1, Ordering::SeqCst);
        }
        Hold { holds: self, voucher }
    }

    /// Waits until the sale is not held, or until the longest wait for a claim is over.
    pub(in crate::mall) async fn pass(&self, voucher: VoucherId) {
        /// A request must get its response within 1.5 s, and the ledger check must not keep anybody from
        /// buying.
        const HOLD_WAIT_MAX: Duration = Duration::from_millis(700);
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let freed = async {
            loop {
                let released = self.released.notified();
                if !self.held.lock().contains(&voucher) {
                    return;
                }
                released.await;
            }
        };
        // The claim continues in either case.
        let _ = tokio::time::timeout(HOLD_WAIT_MAX, freed).await;
    }
}

/// Delays a sale's claims until dropped.
#[derive(Debug)]
pub(in crate::mall) struct Hold<'a> {
    holds: &'a Holds,
    voucher: VoucherId,
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        if self.holds.held.lock().remove(&self.voucher) {
            self.holds.count.fetch_sub(1, Ordering::SeqCst);
        }
        self.holds.released.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_is_nearly_too_long_is_looked_at_more_often() {
        assert_eq!([0, 100_000, 2_000_000].map(rest_ms), [20, 100, 1_000]);
    }

    #[tokio::test]
    async fn a_held_sale_lets_claims_through_when_it_is_released_and_others_at_once() {
        let holds = Holds::default();
        let hold = holds.hold(VoucherId::new(1));
        holds.pass(VoucherId::new(2)).await;
        let waiting = holds.pass(VoucherId::new(1));
        tokio::pin!(waiting);
        let early = tokio::time::timeout(Duration::from_millis(20), &mut waiting).await;
        assert!(early.is_err(), "a held sale let a claim through");
        drop(hold);
        waiting.await;
        assert_eq!(holds.count.load(Ordering::SeqCst), 0);
    }
}
