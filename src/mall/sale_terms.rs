//! The mall's own copy of each sale's terms, so that a claim need not ask the record.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use mallbox_storage::{SaleRecord, Storage, StoreError, Timestamp, Voucher, VoucherId};
use parking_lot::{Mutex, RwLock};

use super::cache_aside::{CacheFigures, Counted, IdFilter};
use super::flights::{Flights, shared};
use super::recent::Recent;

/// How old a copy, or the memory that there is no such sale, may be.
const FRESH: Duration = Duration::from_secs(1);
/// Copies that nobody asked for during this long are dropped.
const IDLE: Duration = Duration::from_secs(60);
/// Ids remembered as unknown: 2 MB at the most. More at once, and some are looked up again.
const ABSENT: usize = 32_768;

/// A sale as the record had it when it was last asked.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) voucher: Voucher,
    pub(super) sale: SaleRecord,
    read_ms: AtomicI64,
    used_ms: AtomicI64,
}

impl Known {
    fn read(&self) -> Timestamp {
        Timestamp::from_millis(self.read_ms.load(Ordering::Relaxed))
    }

    fn touch(&self, now: Timestamp) {
        // Written now and then only: the line is read by every claim on every core.
        if self.used_ms.load(Ordering::Relaxed) < now.as_millis().saturating_sub(1_000) {
            self.used_ms.store(now.as_millis(), Ordering::Relaxed);
        }
    }
}

type Found = Result<Option<Arc<Known>>, Arc<StoreError>>;

/// Copies of the sales that are asked for, read by each claim and written once in half a second.
///
/// - A copy is at most [`FRESH`] old; one reading serves all who ask at once.
/// - While the record cannot be read, the last copy serves on: what it says is decided again where the unit is taken, and
///   terms are changed through the record.
/// - An id that is no sale is remembered too, so that unknown ids cost the record one reading each a second; and hardly any
///   reading once it is known [which vouchers there are](IdFilter).
///
/// Not a [`CacheAside`](super::cache_aside::CacheAside): a claim has no time to read a copy off bytes, and the copy must serve
/// on however old it is while the record is away.
pub(super) struct SaleTerms {
    storage: Storage,
    ids: IdFilter<VoucherId>,
    figures: Arc<CacheFigures>,
    known: RwLock<HashMap<VoucherId, Arc<Known>>>,
    absent: Mutex<Recent<VoucherId, Timestamp>>,
    flights: Flights<VoucherId, Found>,
    /// Counts what was forgotten: a reading that began before is not kept.
    changes: AtomicU64,
}

impl SaleTerms {
    pub(super) fn new(storage: Storage) -> Self {
        Self {
            storage,
            ids: IdFilter::default(),
            figures: Arc::new(CacheFigures::new("sale-terms")),
            known: RwLock::default(),
            absent: Mutex::new(Recent::new(ABSENT)),
            flights: Flights::default(),
            changes: AtomicU64::new(0),
        }
    }

    /// The sale's copy; `None` if the voucher is no sale.
    pub(super) async fn get(
        &self,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<Option<Arc<Known>>, StoreError> {
        if let Some(known) = self.copy(voucher, now) {
            return Ok(Some(known));
        }
        if !self.ids.may_be(voucher) {
            self.figures.count(Counted::Filtered);
            return Ok(None);
        }
        if self.is_absent(voucher, now) {
            self.figures.count(Counted::Absent);
            if self.storage.sales.units(voucher).await?.is_none() {
                return Ok(None);
            }
            // Who adds a sale puts it in the store's memory, and need not know that its id was asked for too early.
            self.absent.lock().remove(&voucher);
        }
        let found = self.flights.share(voucher, || self.find(voucher, now)).await;
        found
            .inspect(|known| known.iter().for_each(|known| known.touch(now)))
            .map_err(|error| shared("sale terms", &error))
    }

    /// Learns anew which vouchers there are.
    pub(super) async fn learn_ids(&self) -> Result<(), StoreError> {
        self.ids.fill(&self.storage).await
    }

    /// What has been counted. Not the claims that a copy served: all of them would count at one place.
    pub(super) fn figures(&self) -> Arc<CacheFigures> {
        Arc::clone(&self.figures)
    }

    /// Forgets what is known of a voucher: it has changed.
    pub(super) fn forget(&self, voucher: VoucherId) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        self.flights.part(&voucher);
        self.known.write().remove(&voucher);
        self.absent.lock().remove(&voucher);
    }

    /// Reads the copies in use anew and drops the others.
    pub(super) async fn refresh(&self, now: Timestamp) -> Result<(), StoreError> {
        let idle_ms = (now - IDLE).as_millis();
        let in_use: Vec<VoucherId> = {
            let mut known = self.known.write();
            known.retain(|_, known| known.used_ms.load(Ordering::Relaxed) >= idle_ms);
            known.keys().copied().collect()
        };
        for voucher in in_use {
            self.flights
                .share(voucher, || self.read(voucher, now))
                .await
                .map_err(|error| shared("sale terms", &error))?;
        }
        Ok(())
    }

    /// Whether there is anything to refresh.
    pub(super) fn is_empty(&self) -> bool {
        self.known.read().is_empty()
    }

    fn copy(&self, voucher: VoucherId, now: Timestamp) -> Option<Arc<Known>> {
        let known = self.known.read();
        let known = known.get(&voucher).filter(|known| is_fresh(known.read(), now))?;
        known.touch(now);
        Some(Arc::clone(known))
    }

    fn is_absent(&self, voucher: VoucherId, now: Timestamp) -> bool {
        self.absent.lock().get(&voucher).is_some_and(|read| is_fresh(read, now))
    }

    /// The copy if another flight brought it just before this one began, else what the record says.
    async fn find(&self, voucher: VoucherId, now: Timestamp) -> Found {
        if let Some(known) = self.copy(voucher, now) {
            return Ok(Some(known));
        }
        if self.is_absent(voucher, now) {
            return Ok(None);
        }
        match self.read(voucher, now).await {
            Err(error) if error.is_transient() => self.last_copy(voucher, now).map(Some).ok_or(error),
            found => found,
        }
    }

    /// The copy there is, however old; it counts as fresh, so that not every claim waits for a record that is away.
    fn last_copy(&self, voucher: VoucherId, now: Timestamp) -> Option<Arc<Known>> {
        let known = self.known.read();
        let known = known.get(&voucher)?;
        known.read_ms.store(now.as_millis(), Ordering::Relaxed);
        Some(Arc::clone(known))
    }

    async fn read(&self, voucher: VoucherId, now: Timestamp) -> Found {
        self.figures.count(Counted::Rebuild);
        let changes = self.changes.load(Ordering::SeqCst);
        let found = self.storage.vouchers.get(voucher).await.map_err(Arc::new)?;
        let found = found.and_then(|voucher| voucher.sale.map(|sale| (voucher, sale)));
        let mut known = self.known.write();
        let used_ms = known.get(&voucher).map_or(now.as_millis(), |old| old.used_ms.load(Ordering::Relaxed));
        let copy = found.map(|(voucher, sale)| {
            let (read_ms, used_ms) = (now.as_millis().into(), used_ms.into());
            Arc::new(Known { voucher, sale, read_ms, used_ms })
        });
        if self.changes.load(Ordering::SeqCst) == changes {
            match &copy {
                Some(copy) => drop(known.insert(voucher, Arc::clone(copy))),
                None => {
                    known.remove(&voucher);
                    self.absent.lock().insert(voucher, now);
                }
            }
        }
        Ok(copy)
    }
}

/// Young enough, whichever way the clock went since.
fn is_fresh(read: Timestamp, now: Timestamp) -> bool {
    now.since(read) < FRESH && read.since(now) < FRESH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_fresh_for_less_than_a_second_and_a_clock_that_went_back_makes_it_old() {
        let at = Timestamp::from_millis(10_000);
        for (now_ms, fresh) in
            [(10_000, true), (10_999, true), (11_000, false), (9_001, true), (9_000, false)]
        {
            assert_eq!(is_fresh(at, Timestamp::from_millis(now_ms)), fresh, "at {now_ms}");
        }
    }
}
