//! Limits of claims per sale, of all users together: one hot sale leaves room for the others.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use mallbox_storage::{SaleRecord, VoucherId};
use parking_lot::RwLock;

use crate::mall::base::Refusal;
use crate::mall::base::crowd_limit::CrowdLimit;

/// The limits of sales with claims in this process.
#[derive(Default)]
pub(super) struct ClaimLimits(RwLock<HashMap<VoucherId, (NonZeroU32, Arc<CrowdLimit>)>>);

impl ClaimLimits {
    /// Counts a claim of a sale.
    ///
    /// # Errors
    /// [`Refusal::Crowded`] above the limit of the sale.
    pub(super) fn pass(&self, sale: &SaleRecord) -> Result<(), Refusal> {
        match sale.claims_per_second {
            None => Ok(()),
            Some(per_second) => self.of(sale.terms.voucher, per_second).pass(),
        }
    }

    /// Drops the limit of an ended sale.
    pub(super) fn forget(&self, voucher: VoucherId) {
        self.0.write().remove(&voucher);
    }

    fn of(&self, voucher: VoucherId, per_second: NonZeroU32) -> Arc<CrowdLimit> {
        if let Some((known, limit)) = self.0.read().get(&voucher)
            && *known == per_second
        {
            return Arc::clone(limit);
        }
        let mut limits = self.0.write();
        let (known, limit) =
            limits.entry(voucher).or_insert_with(|| (per_second, Arc::new(CrowdLimit::new(per_second))));
        if *known != per_second {
            (*known, *limit) = (per_second, Arc::new(CrowdLimit::new(per_second)));
        }
        Arc::clone(limit)
    }
}
