//! What may keep a claim from going on although nothing is wrong with it: too long a log, and books being read.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mallbox_storage::{OrderLog, VoucherId};
use parking_lot::Mutex;
use tokio::sync::Notify;

/// The log itself is asked at most this often, since each claim looks at its length: when it is nearly too long,
const SHORTEST_MS: u64 = 20;
/// and when it is far from it. Each look costs Redis a call a partition.
const LONGEST_MS: u64 = 1_000;
/// Claims a millisecond by which the log grows at the very most.
const FASTEST: u64 = 1_000;

/// The length of the order log as it was a moment ago.
#[derive(Debug)]
pub(super) struct Backlog {
    start: Instant,
    /// Real milliseconds since `start` of the last look, plus 1; 0 before the first.
    looked_ms: AtomicU64,
    pending: AtomicU64,
}

impl Backlog {
    pub(super) fn new() -> Self {
        Self { start: Instant::now(), looked_ms: AtomicU64::new(0), pending: AtomicU64::new(0) }
    }

    /// Whether more than `most` claims are in the log.
    pub(super) async fn exceeds(&self, most: u64, log: &dyn OrderLog) -> bool {
        let now_ms = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX - 1) + 1;
        let looked_ms = self.looked_ms.load(Ordering::Relaxed);
        let room = most.saturating_sub(self.pending.load(Ordering::Relaxed));
        let is_due = looked_ms == 0 || now_ms >= looked_ms + rest_ms(room);
        // One of those who find it due looks; should that one go away half-way, another does soon.
        if is_due
            && self
                .looked_ms
                .compare_exchange(looked_ms, now_ms, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        {
            self.pending.store(log.state().await.pending, Ordering::Relaxed);
        }
        self.pending.load(Ordering::Relaxed) > most
    }
}

/// How long a look is good for that found room for so many claims.
fn rest_ms(room: u64) -> u64 {
    (room / FASTEST).clamp(SHORTEST_MS, LONGEST_MS)
}

/// Sales whose claims wait a moment, because their books are being read.
#[derive(Debug, Default)]
pub(super) struct Holds {
    /// How many there are: what a claim looks at when nothing is held.
    count: AtomicUsize,
    held: Mutex<HashSet<VoucherId>>,
    released: Notify,
}

impl Holds {
    /// Claims of the sale wait from now on until the hold is dropped. One hold a sale at a time.
    pub(super) fn hold(&self, voucher: VoucherId) -> Hold<'_> {
        if self.held.lock().insert(voucher) {
            self.count.fetch_add(1, Ordering::SeqCst);
        }
        Hold { holds: self, voucher }
    }

    /// Returns when the sale is not held, or when a claim has waited long enough.
    pub(super) async fn pass(&self, voucher: VoucherId) {
        /// A call has to answer within 1.5 s, and books must not keep anybody from buying.
        const LONGEST: Duration = Duration::from_millis(700);
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
        // Either way the claim goes on.
        let _ = tokio::time::timeout(LONGEST, freed).await;
    }
}

/// Keeps a sale's claims waiting while it lives.
#[derive(Debug)]
pub(super) struct Hold<'a> {
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
