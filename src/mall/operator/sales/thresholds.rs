//! Thresholds of sales, set by operators.

use mallbox_storage::{Thresholds, VoucherId};
use serde_json::json;

use super::SaleAdmin;
use crate::mall::base::By;
use crate::mall::base::{Failure, Refusal};

/// Largest age that a sale may demand of an account: a year.
const ACCOUNT_HOURS_MAX: u16 = 365 * 24;

impl SaleAdmin {
    /// Returns the thresholds of a sale; none if it is for everybody.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Failure::Store`] if the store fails.
    pub async fn thresholds(&self, voucher: VoucherId) -> Result<Thresholds, Failure> {
        Ok(self.record(voucher).await?.thresholds.unwrap_or_default())
    }

    /// Sets the thresholds of a sale. A repeat succeeds. Returns the thresholds.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for an age above a year; [`Refusal::NotFound`]. After [`Failure::Store`] a
    /// repeat stores the thresholds.
    pub async fn put_thresholds(
        &self,
        by: By,
        voucher: VoucherId,
        thresholds: Thresholds,
    ) -> Result<Thresholds, Failure> {
        if thresholds.account_hours > ACCOUNT_HOURS_MAX {
            return Err(Refusal::BadValue("accountHours").into());
        }
        let (change, vouchers) = (("sale.thresholds", json!({ "thresholds": thresholds })), self.vouchers());
        let store = async move { vouchers.put_thresholds(voucher, thresholds.unless_none(), by.at).await };
        Ok(self.put_setting(by, voucher, change, store).await?.thresholds.unwrap_or_default())
    }
}
