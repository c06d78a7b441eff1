//! Group claims: claims of a sale that arrive while a script call runs share the next call.
//!
//! Reasons and figures: `storage/decisions/0016-claims-on-redis.md`.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use mallbox_storage::{BatchCall, Batcher, Claim, Pass, StoreError, UserId, VoucherId};
use parking_lot::RwLock;
use tokio::runtime::Handle;

use super::epochs::{RequiredEpoch, ServerEpochs};
use super::keys::{Keys, partition_of};
use super::link::Idempotence;
use super::script::{CLAIM, Call};
use super::wake_ups::ReadySet;
use crate::EpochScope;
use crate::spans::{EXPIRY_GRACE, millis};

const OP: &str = "sales.claim";

/// Arguments of the script per claim: without a pass, and with one.
const WIDTH: usize = 4;
const WIDTH_WITH_PASS: usize = 7;

/// One claim of a group, or one look-up.
#[derive(Clone, Copy, Debug)]
pub(super) enum GroupItem {
    /// Take a unit for the user, and spend the pass, if one is given.
    Unit {
        claim: Claim,
        /// Units that the user says to hold.
        holding: u8,
        pass: Option<Pass>,
    },
    /// Look up the newest order of a user who holds more than `holding` units.
    Held { user: UserId, holding: u8 },
}

impl GroupItem {
    fn pass(&self) -> Option<Pass> {
        match self {
            Self::Unit { pass, .. } => *pass,
            Self::Held { .. } => None,
        }
    }

    /// Adds the item's arguments to a call of the script, `width` of them.
    fn arguments(&self, call: Call, width: usize) -> Call {
        let call = match self {
            Self::Held { user, holding } => call.arg(0).arg(user.get()).arg("").arg(*holding),
            Self::Unit { claim: Claim { order, user, at, .. }, holding, pass } => {
                let call = call.arg(order.get()).arg(user.get()).arg(at.as_millis()).arg(*holding);
                if let Some(pass) = pass {
                    let left_ms = pass.expires.as_millis().saturating_sub(at.as_millis());
                    // The clock of another instance may be behind.
                    let kept = millis(pass.expires.since(*at).saturating_add(EXPIRY_GRACE));
                    return call.arg(pass.epoch).arg(left_ms).arg(kept);
                }
                call
            }
        };
        (WIDTH..width).fold(call, |call, _| call.arg(""))
    }
}

/// The group claims of all sales with calls in this process.
pub(super) struct ClaimGroups {
    epochs: Arc<ServerEpochs>,
    keys: Keys,
    wake_ups: Arc<ReadySet>,
    sales: RwLock<HashMap<VoucherId, Arc<Batcher<SaleClaims>>>>,
}

impl ClaimGroups {
    pub(super) fn new(epochs: Arc<ServerEpochs>, keys: Keys, wake_ups: Arc<ReadySet>) -> Self {
        Self { epochs, keys, wake_ups, sales: RwLock::default() }
    }

    /// Runs the claim script for an item, together with items that arrive meanwhile. Returns the item's part
    /// of the script's reply.
    pub(super) async fn run(&self, voucher: VoucherId, item: GroupItem) -> Result<String, StoreError> {
        let known = self.sales.read().get(&voucher).map(Arc::clone);
        let sale = known.unwrap_or_else(|| {
            Arc::clone(self.sales.write().entry(voucher).or_insert_with(|| self.of(voucher)))
        });
        sale.call(item).await
    }

    /// Drops the groups of an ended sale. Items that wait are still run.
    pub(super) fn forget(&self, voucher: VoucherId) {
        self.sales.write().remove(&voucher);
    }

    fn of(&self, voucher: VoucherId) -> Arc<Batcher<SaleClaims>> {
        let (epochs, keys, wake_ups) =
            (Arc::clone(&self.epochs), self.keys.clone(), Arc::clone(&self.wake_ups));
        Batcher::new(SaleClaims { epochs, keys, wake_ups, voucher })
    }
}

/// The claim script's calls for one sale.
struct SaleClaims {
    epochs: Arc<ServerEpochs>,
    keys: Keys,
    wake_ups: Arc<ReadySet>,
    voucher: VoucherId,
}

#[async_trait]
impl BatchCall for SaleClaims {
    const OP: &'static str = OP;
    /// The script holds up other clients of Redis for a millisecond at most.
    const ITEMS_MAX: usize = 128;
    type Item = GroupItem;
    type Outcome = String;

    /// The runtime of a caller's thread may end sooner.
    fn runtime(&self) -> Handle {
        self.epochs.link.runtime().clone()
    }

    async fn call(&self, items: Vec<GroupItem>) -> Result<Vec<String>, StoreError> {
        let voucher = self.voucher;
        let (partition, scope) = (partition_of(voucher), EpochScope::of(voucher));
        let (sale, log) = (self.keys.sale(voucher), self.keys.log(partition));
        let marks: Vec<String> = items
            .iter()
            .filter_map(|item| item.pass().map(|pass| self.keys.pass_mark(voucher, pass.nonce)))
            .collect();
        let width = if marks.is_empty() { WIDTH } else { WIDTH_WITH_PASS };
        let epoch_of_passes = self.keys.pass_epoch(partition);
        let compared = self.keys.epoch_compared(partition);
        let keys =
            [&sale.sale, &sale.buyers, &sale.further, &log.log, &log.pending, &log.by_user, &epoch_of_passes];
        let call = CLAIM.on(keys.into_iter().chain(&marks).chain([&compared])).arg(voucher.get()).arg(width);
        let call = items.iter().fold(call, |call, item| item.arguments(call, width));
        let (outcomes, number): (Vec<String>, _) =
            self.epochs.run((OP, Idempotence::Safe), (scope, RequiredEpoch::Open), call).await?;
        if self.epochs.known().is_over(scope, number) {
            // A reply from a finished epoch no longer counts.
            let source = "Redis was replaced while it answered".into();
            return Err(StoreError::Unavailable { op: OP, source });
        }
        if outcomes.len() != items.len() {
            let key = format!("{} outcomes for {} claims", outcomes.len(), items.len());
            return Err(StoreError::Corrupt { op: OP, key });
        }
        let takes = |(item, outcome): (&GroupItem, &String)| {
            matches!(item, GroupItem::Unit { .. }) && outcome == "accepted"
        };
        if items.iter().zip(&outcomes).any(takes) {
            self.wake_ups.fill(partition);
        }
        Ok(outcomes)
    }
}
