//! Release of waves: units of a sale that go on sale at a scheduled instant.
//!
//! Reasons: `src/decisions/0055-waves.md`.

use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{StoreError, Timestamp, VoucherId, Wave};
use parking_lot::Mutex;

use super::sales::FlashSales;
use crate::mall::base::Context;
use crate::mall::base::chores::{Chore, Every};

/// Interval between readings of the timetables.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Waves that come within this time are known to the millisecond, and released at their instant.
const LOOKAHEAD: Duration = Duration::from_secs(3);
/// Waves read per batch.
const BATCH: u32 = 100;

/// Releases waves at their instants, by the mall's clock. While a clock jump is in doubt, waves are held
/// back. An instance that was down releases late, unless the sale has ended.
pub(in crate::mall) struct ReleaseWaves {
    context: Context,
    sales: FlashSales,
    every: Every,
    next: Mutex<Option<Timestamp>>,
}

impl ReleaseWaves {
    pub(in crate::mall) fn new(context: &Context, sales: &FlashSales) -> Self {
        let (context, sales) = (context.clone(), sales.clone());
        Self { context, sales, every: Every::new(POLL_INTERVAL), next: Mutex::default() }
    }

    /// Releases a batch of due waves, and notes the next instant. Returns whether more waves may be due.
    async fn batch(&self, now: Timestamp) -> Result<bool, StoreError> {
        let elapsed = self.context.expiry_now(now);
        let waves = &self.context.storage.catalogue.waves;
        let pending = waves.pending(elapsed + LOOKAHEAD, now, BATCH).await?;
        let is_full = pending.len() as u64 == u64::from(BATCH);
        let (due, coming): (Vec<_>, Vec<_>) = pending.into_iter().partition(|(_, wave)| wave.at <= elapsed);
        *self.next.lock() = coming.first().map(|(_, wave)| wave.at);
        let mut released = 0;
        for (voucher, wave) in due {
            released += u64::from(self.release(voucher, wave, now).await);
        }
        Ok(is_full && released > 0)
    }

    /// Releases one wave. Returns whether the wave is done with; a failure leaves the wave to the next run.
    async fn release(&self, voucher: VoucherId, wave: Wave, now: Timestamp) -> bool {
        let (sale, number, units) = (voucher.get(), wave.number, wave.units);
        match self.sales.release_wave(voucher, number, now).await {
            Ok(true) => tracing::info!(sale, wave = number, units, "released a wave of units"),
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(sale, wave = number, %error, "could not release a wave; the next run retries");
                return false;
            }
        }
        true
    }
}

#[async_trait]
impl Chore for ReleaseWaves {
    fn name(&self) -> &'static str {
        "release waves"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        let poll = self.every.next(now);
        let wave = self.next.lock().map(|at| at + self.context.doubted());
        Some(wave.map_or(poll, |wave| wave.min(poll)))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        loop {
            match self.batch(now).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    *self.next.lock() = None;
                    tracing::warn!(%error, "could not read the timetables of sales; the next run retries");
                    return;
                }
            }
        }
    }
}
