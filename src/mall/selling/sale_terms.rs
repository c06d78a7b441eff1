//! Copies of the sales' terms in this process, so that a claim needs no read of the database.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use mallbox_storage::{SaleRecord, Storage, StoreError, Timestamp, Voucher, VoucherId};
use parking_lot::{Mutex, RwLock};

use crate::mall::base::cache_aside::{CacheEvent, CacheMetrics, IdFilter};
use crate::mall::base::recent::Recent;
use crate::mall::base::single_flight::{SingleFlight, shared};

/// Maximum age of a copy, and of a negative cache entry.
const MAX_AGE: Duration = Duration::from_secs(1);
/// Longest wait, in real time, of a claim for a fresh copy while an older copy exists: several reads of a
/// healthy database.
const READ_WAIT_MAX: Duration = Duration::from_millis(50);
/// Copies without a claim for this span are not refreshed until the next claim.
const REFRESH_IDLE_MAX: Duration = Duration::from_secs(60);
/// Capacity of negative cache entries: 2 MB at most. Beyond, some ids are looked up again.
const NEGATIVE_ENTRIES_MAX: usize = 32_768;

/// A sale as last read from the database.
#[derive(Debug)]
pub(in crate::mall) struct CachedSale {
    pub(in crate::mall) voucher: Voucher,
    pub(in crate::mall) sale: SaleRecord,
    read_ms: AtomicI64,
    used_ms: AtomicI64,
}

impl CachedSale {
    fn read(&self) -> Timestamp {
        Timestamp::from_millis(self.read_ms.load(Ordering::Relaxed))
    }

    fn touch(&self, now: Timestamp) {
        // Written at most about once a second: every claim on every core reads this cache line.
        if self.used_ms.load(Ordering::Relaxed) < now.as_millis().saturating_sub(1_000) {
            self.used_ms.store(now.as_millis(), Ordering::Relaxed);
        }
    }
}

type Found = Result<Option<Arc<CachedSale>>, Arc<StoreError>>;

/// Copies of the sales' terms, read by each claim and written every half second while claims arrive.
///
/// - A copy is at most [`MAX_AGE`] old; concurrent reads of a sale share one read of the database
///   (single-flight).
/// - Stale-while-revalidate: while the database refuses or does not respond, the last copy is used, and a
///   claim waits for a fresh copy no longer than [`READ_WAIT_MAX`], once per [`MAX_AGE`]. The terms are
///   checked again when the unit is taken, and terms are changed through the database.
/// - The copy of a sale that has not ended is never dropped, so an unresponsive database stops no sale.
/// - Unknown ids get negative cache entries and cost the database one read per id and second. Once the [Bloom
///   filter of existing vouchers](IdFilter) is filled, unknown ids cause hardly any reads.
///
/// Not a [`CacheAside`](crate::mall::base::cache_aside::CacheAside): a claim has no time to decode a copy,
/// and a copy of any age must remain usable while the database is unavailable.
pub(in crate::mall) struct SaleTerms {
    storage: Storage,
    ids: IdFilter<VoucherId>,
    figures: Arc<CacheMetrics>,
    known: RwLock<HashMap<VoucherId, Arc<CachedSale>>>,
    absent: Mutex<Recent<VoucherId, Timestamp>>,
    loads: SingleFlight<VoucherId, Found>,
    /// Number of invalidations. A read that started before an invalidation is not kept.
    changes: AtomicU64,
}

impl SaleTerms {
    pub(in crate::mall) fn new(storage: Storage) -> Self {
        Self {
            storage,
            ids: IdFilter::default(),
            figures: Arc::new(CacheMetrics::new("sale-terms")),
            known: RwLock::default(),
            absent: Mutex::new(Recent::new(NEGATIVE_ENTRIES_MAX)),
            loads: SingleFlight::default(),
            changes: AtomicU64::new(0),
        }
    }

    /// Returns the sale's copy, or `None` if the voucher is not a flash sale.
    pub(in crate::mall) async fn get(
        self: &Arc<Self>,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<Option<Arc<CachedSale>>, StoreError> {
        if let Some(known) = self.copy(voucher, now) {
            return Ok(Some(known));
        }
        if !self.ids.may_be(voucher) {
            self.figures.count(CacheEvent::Filtered);
            return Ok(None);
        }
        if self.is_absent(voucher, now) {
            self.figures.count(CacheEvent::Absent);
            if self.storage.selling.sales.units(voucher).await?.is_none() {
                return Ok(None);
            }
            // The instance that adds a sale puts it into the sales store, and cannot know that this instance
            // holds a negative cache entry.
            self.absent.lock().remove(&voucher);
        }
        let found = match self.last_copy(voucher) {
            Some(last) => self.reread(voucher, last, now).await,
            None => self.loads.share(voucher, || self.find(voucher, now)).await,
        };
        found
            .inspect(|known| known.iter().for_each(|known| known.touch(now)))
            .map_err(|error| shared("sale terms", &error))
    }

    /// Keeps the copy of a sale that was just read and has not ended, so that a later claim needs no
    /// database. `changes` is the value of [`changes`](Self::changes) before the read.
    pub(in crate::mall) fn keep(&self, voucher: &Voucher, changes: u64, now: Timestamp) {
        if let Some(sale) = voucher.sale.filter(|sale| now < sale.terms.end) {
            // Marked as unused: not refreshed before a claim uses the copy.
            self.put(voucher.id, Some((voucher.clone(), sale)), changes, (now, Timestamp::from_millis(0)));
        }
    }

    /// Returns the number of [invalidations](Self::forget) so far.
    pub(in crate::mall) fn changes(&self) -> u64 {
        self.changes.load(Ordering::SeqCst)
    }

    /// Rebuilds the Bloom filter of existing vouchers.
    pub(in crate::mall) async fn learn_ids(&self) -> Result<(), StoreError> {
        self.ids.fill(&self.storage).await
    }

    /// Returns the cache metrics. Hits are not counted: every claim would write to the same counter.
    pub(in crate::mall) fn figures(&self) -> Arc<CacheMetrics> {
        Arc::clone(&self.figures)
    }

    /// Invalidates the copy and the negative cache entry of a changed voucher.
    pub(in crate::mall) fn forget(&self, voucher: VoucherId) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        self.loads.part(&voucher);
        self.known.write().remove(&voucher);
        self.absent.lock().remove(&voucher);
    }

    /// Re-reads the copies in use. Drops the copies of ended sales without recent claims.
    ///
    /// # Errors
    /// The first [`StoreError`]. All copies stay in use for [`MAX_AGE`], and no further copy is read.
    pub(in crate::mall) async fn refresh(&self, now: Timestamp) -> Result<(), StoreError> {
        let is_used = |known: &CachedSale| {
            known.used_ms.load(Ordering::Relaxed) >= (now - REFRESH_IDLE_MAX).as_millis()
        };
        let in_use: Vec<VoucherId> = {
            let mut known = self.known.write();
            known.retain(|_, known| is_used(known) || now < known.sale.terms.end);
            known.iter().filter(|(_, known)| is_used(known)).map(|(voucher, _)| *voucher).collect()
        };
        for voucher in in_use {
            // A separate read, not shared with waiting claims.
            if let Err(error) = self.read(voucher, now).await {
                self.extend_stale(now);
                return Err(shared("sale terms", &error));
            }
        }
        Ok(())
    }

    /// Returns whether no copies exist, so that a refresh has no work.
    pub(in crate::mall) fn is_empty(&self) -> bool {
        self.known.read().is_empty()
    }

    /// Returns a fresh copy, or `last` after [`READ_WAIT_MAX`]. The read runs in its own task, so a cancelled
    /// waiter does not abort the read.
    async fn reread(self: &Arc<Self>, voucher: VoucherId, last: Arc<CachedSale>, now: Timestamp) -> Found {
        let terms = Arc::clone(self);
        let reading =
            tokio::spawn(async move { terms.loads.share(voucher, || terms.find(voucher, now)).await });
        if let Ok(Ok(found)) = tokio::time::timeout(READ_WAIT_MAX, reading).await {
            return found;
        }
        self.extend_stale(now);
        Ok(Some(last))
    }

    /// Marks every copy as fresh at `now`: the database does not respond, and further claims need not wait to
    /// learn the same.
    fn extend_stale(&self, now: Timestamp) {
        for known in self.known.read().values() {
            known.read_ms.store(now.as_millis(), Ordering::Relaxed);
        }
    }

    fn copy(&self, voucher: VoucherId, now: Timestamp) -> Option<Arc<CachedSale>> {
        let known = self.known.read();
        let known = known.get(&voucher).filter(|known| is_fresh(known.read(), now))?;
        known.touch(now);
        Some(Arc::clone(known))
    }

    fn is_absent(&self, voucher: VoucherId, now: Timestamp) -> bool {
        self.absent.lock().get(&voucher).is_some_and(|read| is_fresh(read, now))
    }

    /// Returns the copy if another flight has just fetched it, otherwise reads the database.
    async fn find(&self, voucher: VoucherId, now: Timestamp) -> Found {
        if let Some(known) = self.copy(voucher, now) {
            return Ok(Some(known));
        }
        if self.is_absent(voucher, now) {
            return Ok(None);
        }
        match self.read(voucher, now).await {
            Err(error) if error.is_transient() => {
                self.extend_stale(now);
                self.last_copy(voucher).map(Some).ok_or(error)
            }
            found => found,
        }
    }

    /// Returns the copy at any age.
    fn last_copy(&self, voucher: VoucherId) -> Option<Arc<CachedSale>> {
        self.known.read().get(&voucher).map(Arc::clone)
    }

    async fn read(&self, voucher: VoucherId, now: Timestamp) -> Found {
        self.figures.count(CacheEvent::Rebuild);
        let changes = self.changes();
        let found = self.storage.catalogue.vouchers.get(voucher).await.map_err(Arc::new)?;
        let found = found.and_then(|voucher| voucher.sale.map(|sale| (voucher, sale)));
        Ok(self.put(voucher, found, changes, (now, now)))
    }

    /// Keeps the result of a read at `read`, unless an invalidation happened since the read. An existing copy
    /// keeps its time of last use; a new copy gets `used`.
    fn put(
        &self,
        voucher: VoucherId,
        found: Option<(Voucher, SaleRecord)>,
        changes: u64,
        (read, used): (Timestamp, Timestamp),
    ) -> Option<Arc<CachedSale>> {
        let mut known = self.known.write();
        let used_ms = known.get(&voucher).map_or(used.as_millis(), |old| old.used_ms.load(Ordering::Relaxed));
        let copy = found.map(|(voucher, sale)| {
            let (read_ms, used_ms) = (read.as_millis().into(), used_ms.into());
            Arc::new(CachedSale { voucher, sale, read_ms, used_ms })
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

/// Returns whether a copy is younger than [`MAX_AGE`], in either direction of a clock change.
fn is_fresh(read: Timestamp, now: Timestamp) -> bool {
    now.since(read) < MAX_AGE && read.since(now) < MAX_AGE
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
