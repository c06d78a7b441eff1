//! Allocation of order ids.
//!
//! Reasons and figures: `src/decisions/0005-order-numbers-are-reused.md`.

use crossbeam::queue::ArrayQueue;
use mallbox_storage::{OrderId, Storage, Timestamp, VoucherId};

use crate::mall::base::sparse_log::SparseLog;
use crate::mall::base::{Failure, Refusal};

/// Name of the sequence behind all order ids.
pub(in crate::mall) const SEQUENCE: &str = "order";

/// Allocates order ids.
///
/// A day has 2^28 numbers, and each refused claim consumes one too: at 80,000 refusals a second they would
/// last an hour. Numbers certainly not used by the store are therefore recycled.
#[derive(Debug)]
pub(in crate::mall) struct OrderNumbers {
    spare: ArrayQueue<Number>,
    refused: SparseLog,
}

/// A number of one day's sequence.
#[derive(Clone, Copy, Debug)]
pub(in crate::mall) struct Number {
    day: u64,
    count: u64,
}

impl OrderNumbers {
    pub(in crate::mall) fn new() -> Self {
        /// Roughly the number of concurrent claims. Beyond, unused numbers are skipped for good.
        const ROOM: usize = 4_096;
        Self { spare: ArrayQueue::new(ROOM), refused: SparseLog::default() }
    }

    /// Returns a fresh order id and its number in the day's sequence.
    pub(in crate::mall) async fn next(
        &self,
        storage: &Storage,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<(OrderId, Number), Failure> {
        let Some(day) = OrderId::day(now) else { return Err(self.out_of_numbers(now)) };
        let count = match self.spare.pop() {
            Some(spare) if spare.day == day => spare.count,
            _ => storage.base.sequences.next(SEQUENCE, day).await?,
        };
        let number = Number { day, count };
        OrderId::compose(now, count, voucher).map(|id| (id, number)).ok_or_else(|| self.out_of_numbers(now))
    }

    /// Recycles a number. No order, claim or call in progress may carry the number.
    pub(in crate::mall) fn give_back(&self, number: Number) {
        // The queue is full: the number is skipped for good.
        let _ = self.spare.push(number);
    }

    fn out_of_numbers(&self, now: Timestamp) -> Failure {
        if let Some(times) = self.refused.again() {
            tracing::error!(
                now_ms = now.as_millis(),
                times,
                "could not allocate an order id: the mall's clock is before 2022 or after 2089, or the day's numbers are used up"
            );
        }
        Refusal::Busy.into()
    }
}
