//! Loads the buyers of a sale that Redis does not know.
//!
//! 1. One loader runs at a time, and holds the sale's loading key. During the load the sale stays unknown, so
//!    nobody can claim.
//! 2. Claims of the sale in the log are holders, except claims already in the database.
//! 3. Holders in the database are holders too. Both kinds are recorded by order, so a claim that becomes an
//!    order in the meantime counts once. An order closed in the meantime is released, and the release is
//!    recorded for the loader.
//! 4. The sale is switched on in one step, if the loader still holds the loading key.
//!
//! The log is read before the database. The database is asked for settled claims before the orders are read.
//! A claim on the way from log to database is therefore seen at least once.

use std::sync::Arc;

use mallbox_storage::{FencingToken, OrderId, SaleUnits, StoreError, Terms};

use super::epochs::ServerEpochs;
use super::keys::{Keys, SaleKeys, partition_of};
use super::link::Idempotence;
use super::log_entries::claims_in;
use super::script::{LOAD, SWITCH_ON};
use crate::{Holder, Holders, ServerEpoch};

const OP: &str = "sales.put";
/// Holders recorded per script: some milliseconds of Redis' time.
const NOTED_AT_ONCE: usize = 500;

/// Time without progress after which another loader replaces a sale's loader.
pub(super) const LOADER_TIMEOUT_MS: u64 = 10_000;

/// Returns the terms as script arguments: begin, end, paused, units, waiting, units per user, fencing token.
pub(super) fn as_args(terms: &Terms, token: FencingToken) -> [String; 7] {
    [
        terms.begin.as_millis().to_string(),
        terms.end.as_millis().to_string(),
        u8::from(terms.paused).to_string(),
        terms.units.map(|units| units.to_string()).unwrap_or_default(),
        u8::from(terms.waiting).to_string(),
        terms.per_user.to_string(),
        token.to_string(),
    ]
}

/// Parses stored units. An empty string means a sale without a limit.
pub(super) fn read_units(op: &'static str, units: &str, taken: &str) -> Result<SaleUnits, StoreError> {
    let number = |text: &str| {
        text.parse().map_err(|_| StoreError::Corrupt { op, key: format!("units {units:?}, taken {taken:?}") })
    };
    let units = if units.is_empty() { None } else { Some(number(units)?) };
    Ok(SaleUnits { units, taken: number(taken)? })
}

/// One load of a sale.
pub(super) struct SaleLoad {
    pub(super) epochs: Arc<ServerEpochs>,
    /// The only epoch in which the load is valid.
    pub(super) epoch: Arc<ServerEpoch>,
    pub(super) keys: Keys,
    pub(super) holders: Arc<dyn Holders>,
    /// Random name of the load.
    pub(super) loader: String,
    pub(super) terms: Terms,
    /// Token of the put that found the sale unknown.
    pub(super) token: FencingToken,
}

impl SaleLoad {
    /// Loads the holders and switches the sale on. `None` if the sale was forgotten meanwhile, or has another
    /// loader by now.
    pub(super) async fn run(self) -> Result<Option<SaleUnits>, StoreError> {
        let keys = self.keys.sale(self.terms.voucher);
        let done = self.read(&keys).await;
        if done.is_err() {
            // Lets the next loader start before the timeout.
            let mut give_up = redis::cmd("UNLINK");
            give_up.arg(&keys.loading);
            let _: Result<(), _> = self.epochs.link.query(OP, Idempotence::Safe, &give_up).await;
        }
        done
    }

    async fn read(&self, keys: &SaleKeys) -> Result<Option<SaleUnits>, StoreError> {
        let log = self.keys.log(partition_of(self.terms.voucher));
        let mut after = None;
        loop {
            let (waiting, last) = claims_in(&self.epochs.link, OP, &log, after.as_deref()).await?;
            let waiting: Vec<_> =
                waiting.into_iter().filter(|claim| claim.voucher == self.terms.voucher).collect();
            let settled = self.holders.settled(&waiting).await?;
            let unsettled = waiting.iter().filter(|claim| !settled.contains(&claim.order));
            let holders: Vec<_> = unsettled
                .map(|claim| Holder { user: claim.user, order: claim.order, is_order: false })
                .collect();
            if !self.note(keys, &holders).await? {
                return Ok(None);
            }
            after = last;
            if after.is_none() {
                break;
            }
        }
        let mut after = OrderId::new(0);
        loop {
            let page = self.holders.page(self.terms.voucher, after).await?;
            let Some(last) = page.last() else { return self.switch_on(keys).await };
            after = last.order;
            if !self.note(keys, &page).await? {
                return Ok(None);
            }
        }
    }

    /// Records holders. `false` if the load has lost the loading key.
    async fn note(&self, keys: &SaleKeys, holders: &[Holder]) -> Result<bool, StoreError> {
        for some in holders.chunks(NOTED_AT_ONCE) {
            let mut call = LOAD
                .on([&keys.loading, &keys.loaded_buyers, &keys.loaded_further, &keys.released])
                .arg(&self.loader)
                .arg(LOADER_TIMEOUT_MS);
            for holder in some {
                call = call.arg(holder.order.get()).arg(holder.user.get()).arg(u8::from(holder.is_order));
            }
            let is_loader: Option<u64> = self.epochs.run_in(OP, Idempotence::Safe, &self.epoch, call).await?;
            if is_loader != Some(1) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn switch_on(&self, keys: &SaleKeys) -> Result<Option<SaleUnits>, StoreError> {
        let sales = self.keys.sales(partition_of(self.terms.voucher));
        let call = SWITCH_ON.on(keys.of_units().into_iter().chain([&*sales])).arg(&self.loader);
        let call = call.arg(&as_args(&self.terms, self.token)).arg(self.terms.voucher.get());
        // A repeat after a lost reply finds no loader. The caller then puts again, and finds the sale loaded.
        let units: Option<Option<(String, String)>> =
            self.epochs.run_in(OP, Idempotence::Safe, &self.epoch, call).await?;
        units.flatten().map(|(units, taken)| read_units(OP, &units, &taken)).transpose()
    }
}
