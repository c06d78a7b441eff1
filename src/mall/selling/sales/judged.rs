//! Judged sales: the judgement of a claim, and the decision log.

use mallbox_storage::{SaleRecord, StoreError, Timestamp, UserId};

use super::{FlashSales, Inner};
use crate::mall::base::Failure;
use crate::mall::selling::guard::CheckedPass;
use crate::mall::selling::judgement::OpenAttempt;

impl FlashSales {
    /// Returns whether attempts wait to be written to the decision log.
    #[must_use]
    pub fn has_attempts(&self) -> bool {
        self.inner.judge.has_to_store()
    }

    /// Writes attempts to the decision log: a bounded number per call.
    ///
    /// # Errors
    /// [`StoreError`]: some attempts are lost and counted.
    pub async fn store_attempts(&self) -> Result<(), StoreError> {
        self.inner.judge.store().await
    }

    /// Deletes attempts older than seven days, and the oldest beyond a million.
    ///
    /// # Errors
    /// [`StoreError`]: the next call continues.
    pub async fn sweep_attempts(&self, now: Timestamp) -> Result<(), StoreError> {
        self.inner.judge.sweep(now).await
    }

    /// Returns the number of attempts that this process could not log.
    #[must_use]
    pub fn lost_attempts(&self) -> u64 {
        self.inner.judge.lost()
    }
}

impl Inner {
    /// Judges a claim that passed every other check.
    pub(super) async fn check_judgement(
        &self,
        user: UserId,
        sale: &SaleRecord,
        (attempt, pass): (&mut OpenAttempt, Option<&CheckedPass>),
        now: Timestamp,
    ) -> Result<(), Failure> {
        // An unknown age gives no points: the judgement never keeps a sale from selling.
        let registered = if attempt.asks_for_age() { self.registered(user, now).await.ok() } else { None };
        Ok(self.judge.judge(attempt, sale, pass, registered)?)
    }
}
