//! Terms of sales from the database to the sales store, under the lease on terms.
//!
//! Reasons: `src/decisions/0009-many-instances.md`, `storage/decisions/0034-fenced-terms.md`.

use std::sync::Arc;

use mallbox_storage::{SaleRecord, StoreError, Timestamp, Voucher, VoucherId};

use super::{FlashSales, Inner};
use crate::mall::base::single_flight::shared;
use crate::mall::selling::terms_lease::HeldTermsLease;

impl FlashSales {
    /// Acquires the exclusive lease for changing the terms of sales. Terms put into the sales store are
    /// absolute, so an outdated number of units would undo a change. Without the lease nobody reads terms
    /// from the database and puts them into the store.
    ///
    /// # Errors
    /// [`StoreError`] if another instance holds the lease for too long, or the lock cannot be reached.
    pub(in crate::mall) async fn lease_terms(&self) -> Result<HeldTermsLease, StoreError> {
        self.inner.terms_lease.next().await
    }

    /// Marks a sale whose terms are about to change in the database or the sales store. The caller holds the
    /// lease. Until [`sync_to_store`](Self::sync_to_store) succeeds, a background job retries.
    pub(in crate::mall) fn mark_unsynced(&self, voucher: VoucherId) {
        self.inner.out_of_step.lock().insert(voucher);
    }

    /// Returns whether a change of the sale is in progress in this process. During a change the database and
    /// the sales store may legitimately differ.
    pub(in crate::mall) fn is_changing(&self, voucher: VoucherId) -> bool {
        self.inner.out_of_step.lock().contains(&voucher)
    }

    /// Puts the sale's terms from the database into the sales store. The caller holds the lease. An ended
    /// sale is put only if the store still has the sale in memory. Returns the sale, or `None` if the
    /// database has no such sale.
    ///
    /// # Errors
    /// Any [`StoreError`], also for a lost lease. A background job retries.
    pub(in crate::mall) async fn sync_to_store(
        &self,
        lease: &HeldTermsLease,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        // Invalidated before the read, because the read below keeps a new copy.
        self.inner.terms.forget(voucher);
        let recorded = self.put_as_recorded(lease, voucher, now).await?;
        if let Some(Voucher { text, .. }) = &recorded {
            self.shelf_changed(text.shop).await;
        }
        self.inner.out_of_step.lock().remove(&voucher);
        Ok(recorded.and_then(|recorded| recorded.sale))
    }

    /// Ends a change of a sale's terms as [`sync_to_store`](Self::sync_to_store) does. Takes a lost lease
    /// anew, once: the terms are read again, so a late repeat puts the newest.
    pub(in crate::mall) async fn finish_change(
        &self,
        lease: HeldTermsLease,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        match self.sync_to_store(&lease, voucher, now).await {
            Err(_) if lease.is_lost() => {
                drop(lease);
                let lease = self.lease_terms().await?;
                self.sync_to_store(&lease, voucher, now).await
            }
            synced => synced,
        }
    }

    /// Reloads a sale from the database and the pending claims. Repairs a sales store that outlives the
    /// process and has wrong counts.
    ///
    /// # Errors
    /// [`StoreError`]: the sale may be unloaded; the next claim loads it.
    pub(in crate::mall) async fn reload(&self, voucher: VoucherId, now: Timestamp) -> Result<(), StoreError> {
        let lease = self.lease_terms().await?;
        self.inner.context.storage.selling.sales.forget(voucher).await?;
        self.finish_change(lease, voucher, now).await?;
        Ok(())
    }

    /// Puts the sale's terms from the database into the sales store, unless the sale has ended and left
    /// memory.
    pub(super) async fn put_as_recorded(
        &self,
        lease: &HeldTermsLease,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<Option<Voucher>, StoreError> {
        let (storage, terms) = (&self.inner.context.storage, &self.inner.terms);
        let changes = terms.changes();
        let found = storage.catalogue.vouchers.get(voucher).await?;
        if let Some(found) = &found {
            terms.keep(found, changes, now);
        }
        if let Some(sale) = found.as_ref().and_then(|found| found.sale)
            && (now < sale.terms.end || storage.selling.sales.units(voucher).await?.is_some())
        {
            lease.check()?;
            lease.checked(storage.selling.sales.put(sale.terms, lease.token()).await?)?;
        }
        Ok(found)
    }
}

impl Inner {
    /// Puts a sale's terms from the database into the sales store. Returns `false` if the database has no
    /// such sale.
    ///
    /// Reads the database, not the copy: [`put`](mallbox_storage::Sales::put) sets absolute values, and an
    /// outdated number of units would undo a change. Takes a lost lease anew, once.
    pub(super) async fn put(&self, voucher: VoucherId) -> Result<bool, StoreError> {
        let put = self.puts.share(voucher, || async {
            let lease = self.terms_lease.next().await.map_err(Arc::new)?;
            let put = match self.put_once(&lease, voucher).await {
                Err(_) if lease.is_lost() => {
                    drop(lease);
                    let lease = self.terms_lease.next().await.map_err(Arc::new)?;
                    self.put_once(&lease, voucher).await
                }
                put => put,
            };
            put.map_err(Arc::new)
        });
        put.await.map_err(|error| shared("sale terms", &error))
    }

    async fn put_once(&self, lease: &HeldTermsLease, voucher: VoucherId) -> Result<bool, StoreError> {
        let storage = &self.context.storage;
        let changes = self.terms.changes();
        let found = storage.catalogue.vouchers.get(voucher).await?;
        let Some((found, sale)) = found.and_then(|found| found.sale.map(|sale| (found, sale))) else {
            return Ok(false);
        };
        self.terms.keep(&found, changes, self.context.now());
        lease.check()?;
        lease.checked(storage.selling.sales.put(sale.terms, lease.token()).await?)?;
        Ok(true)
    }
}
