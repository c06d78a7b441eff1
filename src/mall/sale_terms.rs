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
/// Real time that a claim with an older copy at hand waits for a fresh one: some reads of a database that is well.
const READ_WAIT_MAX: Duration = Duration::from_millis(50);
/// Copies that no claim used during this span are not read again until one does.
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

/// Copies of the sales, read by each claim and written once in half a second while claims come.
///
/// - A copy is at most [`FRESH`] old; one reading serves all who ask at once.
/// - Stale-while-revalidate: while the database refuses or is silent, the last copy serves on, and a claim waits for a
///   fresh one no longer than [`READ_WAIT_MAX`], once in [`FRESH`]. Where the unit is taken the terms are decided again,
///   and terms are changed through the database.
/// - The copy of a sale that has not ended is never dropped, so that a database that falls silent stops no sale.
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
        self: &Arc<Self>,
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
        let found = match self.last_copy(voucher) {
            Some(last) => self.reread(voucher, last, now).await,
            None => self.flights.share(voucher, || self.find(voucher, now)).await,
        };
        found
            .inspect(|known| known.iter().for_each(|known| known.touch(now)))
            .map_err(|error| shared("sale terms", &error))
    }

    /// Keeps the copy of a sale that was just read and has not ended, so that a later claim needs no database. `changes` is
    /// the value of [`changes`](Self::changes) before the read.
    pub(super) fn keep(&self, voucher: &Voucher, changes: u64, now: Timestamp) {
        if let Some(sale) = voucher.sale.filter(|sale| now < sale.terms.end) {
            // Not used yet: read again once a claim comes.
            self.put(voucher.id, Some((voucher.clone(), sale)), changes, (now, Timestamp::from_millis(0)));
        }
    }

    /// Counts what was [forgotten](Self::forget).
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::SeqCst)
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

    /// Reads the copies in use anew and drops those of sales that have ended and are not in use.
    ///
    /// # Errors
    /// The first [`StoreError`]: all copies serve on for [`FRESH`], and none further is read.
    pub(super) async fn refresh(&self, now: Timestamp) -> Result<(), StoreError> {
        let is_used = |known: &Known| known.used_ms.load(Ordering::Relaxed) >= (now - IDLE).as_millis();
        let in_use: Vec<VoucherId> = {
            let mut known = self.known.write();
            known.retain(|_, known| is_used(known) || now < known.sale.terms.end);
            known.iter().filter(|(_, known)| is_used(known)).map(|(voucher, _)| *voucher).collect()
        };
        for voucher in in_use {
            // Its own reading, and not one that claims wait for.
            if let Err(error) = self.read(voucher, now).await {
                self.serve_on(now);
                return Err(shared("sale terms", &error));
            }
        }
        Ok(())
    }

    /// Whether there is anything to refresh.
    pub(super) fn is_empty(&self) -> bool {
        self.known.read().is_empty()
    }

    /// What the database says soon, or else the last copy. The reading goes on in a task of its own: nobody who waits for it
    /// breaks it off.
    async fn reread(self: &Arc<Self>, voucher: VoucherId, last: Arc<Known>, now: Timestamp) -> Found {
        let terms = Arc::clone(self);
        let reading =
            tokio::spawn(async move { terms.flights.share(voucher, || terms.find(voucher, now)).await });
        if let Ok(Ok(found)) = tokio::time::timeout(READ_WAIT_MAX, reading).await {
            return found;
        }
        self.serve_on(now);
        Ok(Some(last))
    }

    /// Lets every copy count as fresh at `now`: the database does not answer, and no other claim is to find that out.
    fn serve_on(&self, now: Timestamp) {
        for known in self.known.read().values() {
            known.read_ms.store(now.as_millis(), Ordering::Relaxed);
        }
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
            Err(error) if error.is_transient() => {
                self.serve_on(now);
                self.last_copy(voucher).map(Some).ok_or(error)
            }
            found => found,
        }
    }

    /// The copy there is, however old.
    fn last_copy(&self, voucher: VoucherId) -> Option<Arc<Known>> {
        self.known.read().get(&voucher).map(Arc::clone)
    }

    async fn read(&self, voucher: VoucherId, now: Timestamp) -> Found {
        self.figures.count(Counted::Rebuild);
        let changes = self.changes();
        let found = self.storage.vouchers.get(voucher).await.map_err(Arc::new)?;
        let found = found.and_then(|voucher| voucher.sale.map(|sale| (voucher, sale)));
        Ok(self.put(voucher, found, changes, (now, now)))
    }

    /// Keeps what was read at `read`, unless something was forgotten since. A copy that is there was used when it was
    /// used; another one at `used`.
    fn put(
        &self,
        voucher: VoucherId,
        found: Option<(Voucher, SaleRecord)>,
        changes: u64,
        (read, used): (Timestamp, Timestamp),
    ) -> Option<Arc<Known>> {
        let mut known = self.known.write();
        let used_ms = known.get(&voucher).map_or(used.as_millis(), |old| old.used_ms.load(Ordering::Relaxed));
        let copy = found.map(|(voucher, sale)| {
            let (read_ms, used_ms) = (read.as_millis().into(), used_ms.into());
            Arc::new(Known { voucher, sale, read_ms, used_ms })
        });
        if self.changes() == changes {
            match &copy {
                Some(copy) => drop(known.insert(voucher, Arc::clone(copy))),
                None => {
                    known.remove(&voucher);
                    self.absent.lock().insert(voucher, read);
                }
            }
        }
        copy
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
