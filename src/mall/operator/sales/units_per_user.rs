//! Units per user of sales, set by operators.

use std::num::NonZeroU8;

use mallbox_storage::VoucherId;
use serde_json::json;

use super::SaleAdmin;
use crate::mall::base::By;
use crate::mall::base::{Failure, Refusal};

/// Most units per user.
const PER_USER_MAX: u8 = 20;

impl SaleAdmin {
    /// Returns how many units of a sale a user may hold.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Failure::Store`] if the store fails.
    pub async fn per_user(&self, voucher: VoucherId) -> Result<NonZeroU8, Failure> {
        Ok(self.terms(voucher).await?.per_user)
    }

    /// Sets how many units of a sale a user may hold; `None` stands for 0. A repeat succeeds. Returns the
    /// number.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for 0 and for more than 20; [`Refusal::NotFound`]. After [`Failure::Store`] a
    /// repeat stores the number.
    pub async fn put_per_user(
        &self,
        by: By,
        voucher: VoucherId,
        per_user: Option<NonZeroU8>,
    ) -> Result<NonZeroU8, Failure> {
        let per_user = per_user.filter(|units| units.get() <= PER_USER_MAX);
        let per_user = per_user.ok_or(Refusal::BadValue("perUser"))?;
        let (change, vouchers) = (("sale.per_user", json!({ "perUser": per_user })), self.vouchers());
        let store = async move { vouchers.put_per_user(voucher, per_user, by.at).await };
        Ok(self.put_setting(by, voucher, change, store).await?.terms.per_user)
    }
}
