//! Waiting lists of sales, set by operators.

use mallbox_storage::{VoucherId, WaitingEntry};
use serde_json::json;

use super::{SaleAdmin, subject};
use crate::mall::base::audited_action::{AuditedAction, By, run_audited};
use crate::mall::base::{Failure, Refusal};

/// Largest maximum of a list: a place is counted from the rows before it.
const WAITING_MAX: u32 = 10_000;
/// Entries shown to operators.
const HEAD: u32 = 50;

/// The waiting list of a sale.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitingListView {
    /// Maximum number of users; `None` = off.
    pub max: Option<u32>,
    /// Number of users who wait.
    pub waiting: u64,
    /// The first users, at most 50.
    pub head: Vec<WaitingEntry>,
}

impl SaleAdmin {
    /// Returns the waiting list of a sale.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Failure::Store`] if the store fails.
    pub async fn waiting_list(&self, voucher: VoucherId) -> Result<WaitingListView, Failure> {
        let max = self.record(voucher).await?.waiting_max;
        let (head, waiting) = self.context.storage.selling.waiting_lists.head(voucher, HEAD).await?;
        Ok(WaitingListView { max, waiting, head })
    }

    /// Sets the maximum of a waiting list; `None` turns the list off, and users who wait keep their places. A
    /// repeat succeeds.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for a `max` above 10,000; [`Refusal::Unlimited`], [`Refusal::NotFound`]. After
    /// [`Failure::Store`] a repeat stores the maximum.
    pub async fn put_waiting_list(
        &self,
        by: By,
        voucher: VoucherId,
        max: Option<u32>,
    ) -> Result<WaitingListView, Failure> {
        if max.is_some_and(|max| max > WAITING_MAX) {
            return Err(Refusal::BadValue("max").into());
        }
        self.terms(voucher).await?.units.ok_or(Refusal::Unlimited)?;
        let action = AuditedAction {
            action: "sale.waiting_list",
            subject: subject(voucher),
            detail: json!({ "max": max }),
        };
        let admin = self.clone();
        run_audited(&self.audit, by, action, async move {
            let store = admin.context.storage.selling.waiting_lists.put_max(voucher, max, by.at);
            admin.apply(voucher, by.at, store).await?;
            Ok(())
        })
        .await?;
        self.waiting_list(voucher).await
    }
}
