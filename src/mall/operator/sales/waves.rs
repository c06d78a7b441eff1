//! Timetables of sales: units released in waves.

use mallbox_storage::{NewWave, PutWavesOutcome, Terms, Timestamp, VoucherId, WaveRecord};
use serde_json::json;

use super::{SaleAdmin, subject};
use crate::mall::base::audited_action::{AuditedAction, By, run_audited};
use crate::mall::base::{Failure, Refusal};
use crate::mall::catalogue::vouchers::JS_INTEGER_MAX;

/// Maximum number of waves to come of a sale.
const WAVES_MAX: usize = 50;

impl SaleAdmin {
    /// Returns the timetable of a sale: released waves, then the waves to come.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Failure::Store`] if the store fails.
    pub async fn waves(&self, voucher: VoucherId) -> Result<Vec<WaveRecord>, Failure> {
        self.terms(voucher).await?;
        Ok(self.context.storage.catalogue.waves.of(voucher).await?)
    }

    /// Replaces the waves to come of a sale; released waves stay. A repeat succeeds. Returns the timetable.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for `waves` that do not ascend in time between now and the sale's end, or with
    /// units out of range, or more than 50; [`Refusal::Unlimited`], [`Refusal::NotFound`]. After
    /// [`Failure::Store`] a repeat stores the timetable.
    pub async fn put_waves(
        &self,
        by: By,
        voucher: VoucherId,
        waves: Vec<NewWave>,
    ) -> Result<Vec<WaveRecord>, Failure> {
        check(&waves, &self.terms(voucher).await?, by.at)?;
        let listed = waves.iter().map(|wave| json!({ "atMs": wave.at.as_millis(), "units": wave.units }));
        let detail = json!({ "waves": listed.collect::<Vec<_>>() });
        let action = AuditedAction { action: "sale.waves", subject: subject(voucher), detail };
        let admin = self.clone();
        run_audited(&self.audit, by, action, async move {
            let lease = admin.sales.lease_terms().await?;
            check(&waves, &admin.terms(voucher).await?, by.at)?;
            lease.check()?;
            let stored = admin.context.storage.catalogue.waves.put(voucher, &waves, by.at).await;
            admin.sales.timetable_changed(voucher).await;
            match stored? {
                PutWavesOutcome::Stored(waves) => Ok(waves),
                PutWavesOutcome::Unlimited => Err(Refusal::Unlimited.into()),
                PutWavesOutcome::Unknown => Err(Refusal::NotFound("sale").into()),
            }
        })
        .await
    }
}

/// Checks waves to come against the window of the sale.
fn check(waves: &[NewWave], terms: &Terms, now: Timestamp) -> Result<(), Refusal> {
    let units = terms.units.ok_or(Refusal::Unlimited)?;
    let mut total = units;
    let mut before = now;
    for wave in waves {
        total = total.saturating_add(wave.units);
        let is_fit = wave.at > before && wave.at < terms.end && wave.units > 0;
        if !is_fit || total > JS_INTEGER_MAX.unsigned_abs() {
            return Err(Refusal::BadValue("waves"));
        }
        before = wave.at;
    }
    if waves.len() > WAVES_MAX { Err(Refusal::BadValue("waves")) } else { Ok(()) }
}
