//! Order ids for the mall's sellers.

use crossbeam::queue::ArrayQueue;
use mallbox_storage::{OrderId, Storage, Timestamp, VoucherId};

use super::sparse_log::SparseLog;
use super::{Failure, Refusal};

/// The counter that all order ids come from.
pub(super) const SEQUENCE: &str = "order";

/// Gives out order ids.
///
/// A day has 2^28 numbers, and each claim that is refused needs one too: at 80,000 refusals a second they would last an
/// hour. So a number that the store certainly did not use is used again.
#[derive(Debug)]
pub(super) struct OrderNumbers {
    spare: ArrayQueue<Number>,
    refused: SparseLog,
}

/// A number of a day's counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    day: u64,
    count: u64,
}

impl OrderNumbers {
    pub(super) fn new() -> Self {
        /// As many as there are claims under way at once, about; past that, numbers are left out.
        const ROOM: usize = 4_096;
        Self { spare: ArrayQueue::new(ROOM), refused: SparseLog::default() }
    }

    /// A fresh order id, and the number in it.
    pub(super) async fn next(
        &self,
        storage: &Storage,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<(OrderId, Number), Failure> {
        let Some(day) = OrderId::day(now) else { return Err(self.out_of_numbers(now)) };
        let count = match self.spare.pop() {
            Some(spare) if spare.day == day => spare.count,
            _ => storage.sequences.next(SEQUENCE, day).await?,
        };
        let number = Number { day, count };
        OrderId::compose(now, count, voucher).map(|id| (id, number)).ok_or_else(|| self.out_of_numbers(now))
    }

    /// A number that no order, no claim and no call under way carries.
    pub(super) fn give_back(&self, number: Number) {
        // No room: the number is left out.
        let _ = self.spare.push(number);
    }

    fn out_of_numbers(&self, now: Timestamp) -> Failure {
        if let Some(times) = self.refused.again() {
            tracing::error!(
                now_ms = now.as_millis(),
                times,
                "no order can be numbered: the mall's clock stands before 2022 or after 2089, or the day's numbers are used up"
            );
        }
        Refusal::Busy.into()
    }
}
