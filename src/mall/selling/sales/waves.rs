//! Waves of a sale: release, timetable and the refusal between two waves.

use mallbox_storage::{ReleaseWaveOutcome, SaleRecord, StoreError, Timestamp, VoucherId};

use super::{FlashSales, Inner};
use crate::mall::base::Failure;
use crate::mall::selling::timetables::PageWave;

impl FlashSales {
    /// Releases a due wave: in the database first, then in the sales store. Returns whether this call
    /// released the units; of several instances, one does.
    ///
    /// # Errors
    /// [`StoreError`]: the wave may be released. A repeat, and a background job, put the sale's units into
    /// the sales store.
    pub(in crate::mall) async fn release_wave(
        &self,
        voucher: VoucherId,
        number: u32,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let lease = self.lease_terms().await?;
        self.mark_unsynced(voucher);
        lease.check()?;
        let outcome = self.inner.context.storage.catalogue.waves.release(voucher, number, now).await?;
        // Also if another instance released the wave, and may have died before this step.
        self.finish_change(lease, voucher, now).await?;
        self.inner.timetables.changed(voucher).await;
        Ok(matches!(outcome, ReleaseWaveOutcome::Released(..)))
    }

    /// Invalidates the copies of a timetable after a change.
    pub(in crate::mall) async fn timetable_changed(&self, voucher: VoucherId) {
        self.inner.terms.forget(voucher);
        self.inner.timetables.changed(voucher).await;
    }
}

impl Inner {
    /// Returns the timetable for a sale's page; empty once no wave is to come.
    pub(super) async fn waves_of(&self, sale: &SaleRecord, now: Timestamp) -> Result<Vec<PageWave>, Failure> {
        if sale.next_wave.is_none() {
            return Ok(Vec::new());
        }
        self.timetables.get(sale.terms.voucher, now).await
    }
}
