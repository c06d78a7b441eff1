//! Allocation of order ids.
//!
//! Reasons and figures: `src/decisions/0005-order-numbers-are-reused.md` and
//! `src/decisions/0045-order-ids-hide-the-days-count.md`.

mod offsets;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam::queue::ArrayQueue;
use mallbox_storage::{CLOSED_COUNTER, OrderId, Storage, StoreError, Timestamp, VoucherId};
use tokio::sync::OnceCell;

use crate::mall::base::single_flight::{SingleFlight, shared};
use crate::mall::base::sparse_log::SparseLog;
use crate::mall::base::{Failure, Random, Refusal};

pub(in crate::mall) use offsets::Offsets;

/// Sequence of the days with plain counts; closed on all other days. The only sequence of older versions.
const PLAIN: &str = "order";
/// Sequence of the days with hidden counts.
const HIDDEN: &str = "hidden order";

/// Allocates order ids.
///
/// A day has 2^28 numbers, and each refused claim consumes one too: at 80,000 refusals a second they would
/// last an hour. Numbers certainly not used by the store are therefore recycled.
///
/// An id carries its number plus an [offset](Offsets) of its second, so that buyers learn nothing about the
/// sales of the day.
pub(in crate::mall) struct OrderNumbers {
    random: Arc<Random>,
    offsets: OnceCell<Offsets>,
    days: DayForms,
    spare: ArrayQueue<Number>,
    refused: SparseLog,
}

/// A number of one day's sequence.
#[derive(Clone, Copy, Debug)]
pub(in crate::mall) struct Number {
    day: u64,
    count: u64,
}

/// How the ids of a day carry their count. Decided once per day, for all instances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::mall) enum CountForm {
    /// As it is: an older version, or an import, has used numbers of the day.
    Plain,
    /// With the offset of the id's second.
    Hidden,
}

/// The forms of the latest two days in use, and the decision of further days.
struct DayForms {
    /// `day << 1 | is_hidden`, by the parity of the day: claims of two days alternate around midnight.
    known: [AtomicU64; 2],
    deciding: SingleFlight<u64, Result<CountForm, Arc<StoreError>>>,
}

impl OrderNumbers {
    /// Creates the allocator. `random` provides the secret of a mall that has none yet.
    pub(in crate::mall) fn new(random: Arc<Random>) -> Self {
        /// Roughly the number of concurrent claims. Beyond, unused numbers are skipped for good.
        const ROOM: usize = 4_096;
        Self {
            random,
            offsets: OnceCell::new(),
            days: DayForms::default(),
            spare: ArrayQueue::new(ROOM),
            refused: SparseLog::default(),
        }
    }

    /// Returns a fresh order id and its number in the day's sequence.
    pub(in crate::mall) async fn next(
        &self,
        storage: &Storage,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<(OrderId, Number), Failure> {
        let Some(day) = OrderId::day(now) else { return Err(self.out_of_numbers(now)) };
        // Before the form of the day is decided: a day with hidden counts has a secret.
        let offsets = self.offsets.get_or_try_init(|| Offsets::kept(storage, &self.random)).await?;
        let form = self.days.form(storage, day).await?;
        let count = match self.spare.pop() {
            Some(spare) if spare.day == day => spare.count,
            _ => storage.base.sequences.next(form.sequence(), day).await?,
        };
        let Some(id) = OrderId::compose(now, count, voucher) else { return Err(self.out_of_numbers(now)) };
        let id = match form {
            CountForm::Plain => id,
            CountForm::Hidden => offsets.hide(id),
        };
        Ok((id, Number { day, count }))
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

impl CountForm {
    fn sequence(self) -> &'static str {
        match self {
            Self::Plain => PLAIN,
            Self::Hidden => HIDDEN,
        }
    }

    /// Returns the form of a day, and an upper bound of the numbers assigned on the day; for the ledger
    /// check. The form of a day without any number is [`CountForm::Hidden`].
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    pub(in crate::mall) async fn of_day(
        storage: &Storage,
        day: u64,
    ) -> Result<(Self, Option<u64>), StoreError> {
        let sequences = &storage.base.sequences;
        match sequences.high_water(PLAIN, day).await? {
            Some(mark) if mark < CLOSED_COUNTER - 1 => Ok((Self::Plain, Some(mark))),
            _ => Ok((Self::Hidden, sequences.high_water(HIDDEN, day).await?)),
        }
    }
}

impl Default for DayForms {
    fn default() -> Self {
        Self {
            known: [AtomicU64::new(u64::MAX), AtomicU64::new(u64::MAX)],
            deciding: SingleFlight::default(),
        }
    }
}

impl DayForms {
    /// Returns the form of a day. The first call for a day decides, by closing the sequence of plain counts
    /// unless an instance of any version has drawn from the sequence.
    async fn form(&self, storage: &Storage, day: u64) -> Result<CountForm, StoreError> {
        let known = &self.known[usize::from(day % 2 == 1)];
        let last = known.load(Ordering::Relaxed);
        if last >> 1 == day {
            return Ok(if last & 1 == 1 { CountForm::Hidden } else { CountForm::Plain });
        }
        let form = self.deciding.share(day, || decide(storage, day)).await;
        let form = form.map_err(|error| shared("form of a day's order ids", &error))?;
        known.store(day << 1 | u64::from(form == CountForm::Hidden), Ordering::Relaxed);
        Ok(form)
    }
}

async fn decide(storage: &Storage, day: u64) -> Result<CountForm, Arc<StoreError>> {
    if storage.base.sequences.close(PLAIN, day).await.map_err(Arc::new)? {
        return Ok(CountForm::Hidden);
    }
    tracing::info!(
        day,
        "order ids show the count of this UTC day, begun by an older version or an import; those of the next day will not"
    );
    Ok(CountForm::Plain)
}
