//! Thresholds of sales, set by operators.

use mallbox_storage::{Thresholds, VoucherId};
use serde_json::json;

use super::{SaleAdmin, subject};
use crate::mall::base::audited_action::{AuditedAction, By, run_audited};
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
        self.terms(voucher).await?;
        let action = AuditedAction {
            action: "sale.thresholds",
            subject: subject(voucher),
            detail: json!({ "thresholds": thresholds }),
        };
        let admin = self.clone();
        run_audited(&self.audit, by, action, async move {
            let vouchers = &admin.context.storage.catalogue.vouchers;
            let store = vouchers.put_thresholds(voucher, thresholds.unless_none(), by.at);
            Ok(admin.apply(voucher, by.at, store).await?.thresholds.unwrap_or_default())
        })
        .await
    }
}
