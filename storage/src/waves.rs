//! Waves: releases of units of a sale at scheduled instants.

use async_trait::async_trait;

use crate::{SaleRecord, StoreError, Timestamp, VoucherId, Wave};

/// A wave to schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewWave {
    /// Instant of the release.
    pub at: Timestamp,
    /// Units to release, at least 1.
    pub units: u64,
}

/// A wave with the time of its release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaveRecord {
    /// The wave.
    pub wave: Wave,
    /// Time at which the units entered the sale; `None` for a wave still to come.
    pub released: Option<Timestamp>,
}

/// Outcome of [`Waves::put`].
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PutWavesOutcome {
    /// The timetable is stored: released waves, then the waves to come.
    Stored(Vec<WaveRecord>),
    /// The sale is unlimited; no units to release. Nothing changed.
    Unlimited,
    /// The sale does not exist.
    Unknown,
}

/// Outcome of [`Waves::release`].
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReleaseWaveOutcome {
    /// This call released the units; the sale after the release.
    Released(Wave, SaleRecord),
    /// Nothing to release: the wave was released or withdrawn before, is not due, or the sale has ended.
    Stands,
}

/// Timetables of sales, in the database.
///
/// - A wave is released once: units and mark are one transaction. Of concurrent calls exactly one is
///   [`Released`](ReleaseWaveOutcome::Released).
/// - Numbers ascend in time within a sale. A released wave keeps its number for ever; [`put`](Waves::put)
///   numbers the waves to come anew.
/// - The end of a sale withholds later waves. A later end makes them due again.
/// - [`SaleRecord::next_wave`] shows the first wave to come without a further read.
#[async_trait]
pub trait Waves: Send + Sync {
    /// Replaces the waves to come of a sale; released waves stay. `waves` ascend in time. A repeat stores the
    /// same timetable.
    ///
    /// # Errors
    /// - [`StoreError::Refused`]: the number of units would overflow.
    /// - Any other [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put(
        &self,
        voucher: VoucherId,
        waves: &[NewWave],
        now: Timestamp,
    ) -> Result<PutWavesOutcome, StoreError>;

    /// Returns the timetable of a sale by number; empty without waves, and for an unknown sale.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn of(&self, voucher: VoucherId) -> Result<Vec<WaveRecord>, StoreError>;

    /// Returns up to `max` waves to come at or before `until`, by instant, then voucher, of sales that end
    /// after `now`.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn pending(
        &self,
        until: Timestamp,
        now: Timestamp,
        max: u32,
    ) -> Result<Vec<(VoucherId, Wave)>, StoreError>;

    /// Releases a wave that is due at `now`: adds the units to the sale, and marks the wave.
    ///
    /// # Errors
    /// - [`StoreError::Refused`]: the number of units would overflow.
    /// - Any other [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn release(
        &self,
        voucher: VoucherId,
        number: u32,
        now: Timestamp,
    ) -> Result<ReleaseWaveOutcome, StoreError>;
}

/// Decides about a new timetable of a stored sale: `released` waves stay. Returns the numbered waves to come.
///
/// # Errors
/// The rule that the units break: a sale counts at most `i64::MAX` units.
pub fn plan_waves(
    sale: &SaleRecord,
    released: &[WaveRecord],
    waves: &[NewWave],
) -> Result<Vec<Wave>, &'static str> {
    const TOO_MANY: &str = "too many units";
    let mut units = sale.terms.units.unwrap_or_default();
    let first = released.last().map_or(0, |record| record.wave.number);
    let mut planned = Vec::with_capacity(waves.len());
    for (number, wave) in (first.saturating_add(1)..).zip(waves) {
        units =
            units.checked_add(wave.units).filter(|units| i64::try_from(*units).is_ok()).ok_or(TOO_MANY)?;
        planned.push(Wave { number, at: wave.at, units: wave.units });
    }
    Ok(planned)
}

impl WaveRecord {
    /// Returns whether the wave can be released at `now` in a sale with this record.
    #[must_use]
    pub fn is_due(&self, sale: &SaleRecord, now: Timestamp) -> bool {
        self.released.is_none() && self.wave.at <= now && now < sale.terms.end
    }
}
