//! The deletion of an account by its user.
//!
//! Reasons: `src/decisions/0044-personal-data.md`.

use std::time::Duration;

use mallbox_storage::{
    DeleteOutcome, OrderFilter, OrderStatus, Page, PaidOrders, Role, StoreError, Timestamp, User, UserFilter,
    UserId,
};

use crate::mall::base::detached::detached;
use crate::mall::base::{Context, Failure, Refusal};
use crate::mall::selling::Cashier;
use crate::mall::selling::orders::cancel_unpaid_of;
use crate::mall::writing::Pictures;

/// Longest wait, in real time, for the user's pending claims to become orders.
const PENDING_CLAIMS_TIMEOUT: Duration = Duration::from_millis(700);
/// Interval of polling during the wait.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Attempts to find the user without unpaid orders, while the user goes on buying.
const ATTEMPTS_MAX: usize = 5;

/// The service for deletions. Cheap to clone.
#[derive(Clone)]
pub struct AccountDeletion {
    context: Context,
    cashier: Cashier,
    pictures: Pictures,
}

impl AccountDeletion {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, cashier: Cashier, pictures: Pictures) -> Self {
        Self { context, cashier, pictures }
    }

    /// Finishes a deletion that was interrupted after its transaction. Returns whether the account is
    /// deleted.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails: call again.
    pub async fn resume(&self, user: UserId, now: Timestamp) -> Result<bool, Failure> {
        let found = self.context.storage.people.users.get(user).await?;
        if found.is_none_or(|user| user.deleted.is_none()) {
            return Ok(false);
        }
        let deletion = self.clone();
        detached(async move { deletion.finish(user, "", now).await }).await?;
        Ok(true)
    }

    /// Checks whether a deletion would be refused, before the user's code is consumed.
    ///
    /// # Errors
    /// [`Refusal::PaidOrders`] with their number, unless `paid` forfeits them; [`Refusal::LastOperator`];
    /// [`Refusal::NotLoggedIn`] for a deleted user.
    pub async fn check(&self, user: UserId, paid: PaidOrders) -> Result<(), Failure> {
        let is = self.user(user).await?;
        if is.acts() && self.is_last_operator(user).await? {
            return Err(Refusal::LastOperator.into());
        }
        match (paid, self.count(user, OrderStatus::Paid).await?) {
            (PaidOrders::Forfeit, _) | (PaidOrders::Keep, 0) => Ok(()),
            (PaidOrders::Keep, count) => Err(Refusal::PaidOrders(count).into()),
        }
    }

    /// Deletes the account. Unpaid orders are cancelled first, so that their units are sold to others. On
    /// return no session of the user is live.
    ///
    /// The account is deleted in one transaction, after the cancellations. The sessions end after the
    /// transaction: a login that is under way checks for a deletion after creating its session. If the
    /// process dies in between, a repeat or
    /// [`settle_deleted_users`](crate::mall::selling::reconciliation::settle_deleted_users) ends them. The
    /// latter also cancels the order of a claim that was under way and appears in the database later.
    ///
    /// # Errors
    /// As [`check`](Self::check); [`Refusal::NotYet`] while claims are pending. After [`Failure::Store`] the
    /// deletion is in doubt: call again.
    pub async fn delete(&self, user: UserId, paid: PaidOrders, now: Timestamp) -> Result<(), Failure> {
        let deletion = self.clone();
        detached(async move { deletion.run(user, paid, now).await }).await
    }

    async fn run(&self, user: UserId, paid: PaidOrders, now: Timestamp) -> Result<(), Failure> {
        let is = self.user(user).await?;
        let mut is_deleted = false;
        for _ in 0..ATTEMPTS_MAX {
            self.cancel_unpaid(user, now).await?;
            match self.context.storage.people.personal_data.delete(user, paid, now).await? {
                DeleteOutcome::Deleted => {
                    is_deleted = true;
                    break;
                }
                DeleteOutcome::HasUnpaid => {}
                DeleteOutcome::HasPaid(count) => return Err(Refusal::PaidOrders(count).into()),
                DeleteOutcome::LastOperator => return Err(Refusal::LastOperator.into()),
                DeleteOutcome::NoSuchUser => return Err(Refusal::NotLoggedIn.into()),
            }
        }
        if !is_deleted {
            return Err(Refusal::Busy.into());
        }
        self.finish(user, &is.icon, now).await
    }

    /// Does what the transaction cannot: ends sessions, invalidates copies, removes the avatar, and cancels
    /// claims accepted meanwhile.
    async fn finish(&self, user: UserId, icon: &str, now: Timestamp) -> Result<(), Failure> {
        let storage = &self.context.storage;
        self.context.copies.people.changed(&[user]).await;
        storage.people.sessions.end_all(user).await?;
        storage.writing.feeds.refresh(user).await?;
        match self.pictures.remove(user, icon).await {
            // No avatar, or a portrait of the mall.
            Ok(()) | Err(Failure::Refused(_)) => {}
            Err(error) => return Err(error),
        }
        match self.cancel_unpaid(user, now).await {
            // The account is deleted all the same. A background job cancels the orders to come.
            Err(Failure::Refused(Refusal::NotYet)) => Ok(()),
            settled => settled,
        }
    }

    /// Waits for pending claims, then cancels every unpaid order.
    async fn cancel_unpaid(&self, user: UserId, now: Timestamp) -> Result<(), Failure> {
        let storage = &self.context.storage;
        let until = tokio::time::Instant::now() + PENDING_CLAIMS_TIMEOUT;
        while !storage.selling.order_log.of_user(user).await?.is_empty() {
            if tokio::time::Instant::now() >= until {
                return Err(Refusal::NotYet.into());
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        cancel_unpaid_of(&self.context, &self.cashier, user, now).await?;
        Ok(())
    }

    async fn user(&self, user: UserId) -> Result<User, Failure> {
        let found = self.context.storage.people.users.get(user).await?;
        Ok(found.filter(|user| user.deleted.is_none()).ok_or(Refusal::NotLoggedIn)?)
    }

    async fn is_last_operator(&self, user: UserId) -> Result<bool, StoreError> {
        /// Operators are few.
        const PAGE: u32 = 100;
        let filter = UserFilter { role: Some(Role::Operator), ..UserFilter::default() };
        let operators = self.context.storage.people.users.list(&filter, Page::new(1, PAGE)).await?;
        Ok(operators.iter().all(|operator| operator.id == user || !operator.acts()))
    }

    async fn count(&self, user: UserId, status: OrderStatus) -> Result<u64, StoreError> {
        let found =
            self.context.storage.selling.orders.find(of_status(user, status), Page::new(1, 1)).await?;
        Ok(found.1)
    }
}

fn of_status(user: UserId, status: OrderStatus) -> OrderFilter {
    OrderFilter { user: Some(user), status: Some(status), ..OrderFilter::default() }
}
