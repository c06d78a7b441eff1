//! Limits of claims per sale, set by operators.

use std::num::NonZeroU32;

use mallbox_storage::VoucherId;
use serde_json::json;

use super::SaleAdmin;
use crate::mall::base::By;
use crate::mall::base::{Failure, Refusal};

/// Largest limit: more than any machine serves.
const CLAIMS_PER_SECOND_MAX: u32 = 1_000_000;

impl SaleAdmin {
    /// Returns the limit of claims per second of a sale, if any.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Failure::Store`] if the store fails.
    pub async fn claim_limit(&self, voucher: VoucherId) -> Result<Option<NonZeroU32>, Failure> {
        Ok(self.record(voucher).await?.claims_per_second)
    }

    /// Sets or removes the limit of claims per second of a sale. A repeat succeeds. Returns the limit.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for a limit above a million; [`Refusal::NotFound`]. After [`Failure::Store`] a
    /// repeat stores the limit.
    pub async fn put_claim_limit(
        &self,
        by: By,
        voucher: VoucherId,
        per_second: Option<NonZeroU32>,
    ) -> Result<Option<NonZeroU32>, Failure> {
        if per_second.is_some_and(|limit| limit.get() > CLAIMS_PER_SECOND_MAX) {
            return Err(Refusal::BadValue("claimsPerSecond").into());
        }
        let (change, vouchers) =
            (("sale.claim_limit", json!({ "claimsPerSecond": per_second })), self.vouchers());
        let store = async move { vouchers.put_claim_limit(voucher, per_second, by.at).await };
        Ok(self.put_setting(by, voucher, change, store).await?.claims_per_second)
    }
}
