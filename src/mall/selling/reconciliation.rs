//! Reconciliation of work left half-done by a killed process.
//!
//! A start reconciles everything. Where several processes form one mall, shared state outlives each process,
//! and the surviving processes do not restart. So one process, the leader, reconciles periodically.
//!
//! Reasons and figures: `src/decisions/0009-many-instances.md`.

use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{
    LockEntry, LockOutcome, LockOwner, Page, Storage, StoreError, Timestamp, UserFilter, UserId, deadlines,
    geo_index,
};
use tokio::time::Instant;

use super::FlashSales;
use super::cashier::Cashier;
use super::orders::cancel_unpaid_of;
use crate::mall::base::chores::{Chore, Every};
use crate::mall::base::{Context, Failure};

/// Ends all sessions of blocked users: a process may have stopped between blocking a user and ending the
/// user's sessions.
///
/// # Errors
/// [`StoreError`] if the store fails: the remaining sessions may still be live.
pub async fn end_blocked_sessions(storage: &Storage) -> Result<(), StoreError> {
    /// Users read per page.
    const PAGE: u32 = 500;
    let filter = UserFilter { blocked: true, ..UserFilter::default() };
    for page in 1.. {
        let blocked = storage.people.users.list(&filter, Page::new(page, PAGE)).await?;
        for user in &blocked {
            storage.people.sessions.end_all(user.id).await?;
        }
        if blocked.len() < PAGE as usize {
            break;
        }
    }
    Ok(())
}

/// Ends the sessions of recently deleted users, and cancels their unpaid orders. This runs every minute.
///
/// A process may have stopped between deleting a user and ending the user's sessions; a session that outlived
/// its user for longer than the period below has expired. A claim of the user may have been under way during
/// the deletion, and its order appears in the database once a worker has written the claim.
///
/// # Errors
/// [`Failure`] if the store fails: the remaining sessions may still be live, and orders unpaid.
pub async fn settle_deleted_users(
    context: &Context,
    cashier: &Cashier,
    now: Timestamp,
) -> Result<(), Failure> {
    /// Users read per page.
    const PAGE: u32 = 500;
    /// Beyond the lifetime of a session: runs may be late, and clocks of processes differ.
    const SLACK: Duration = Duration::from_secs(60 * 60);
    let storage = &context.storage;
    let since = now - context.settings.session_ttl - SLACK;
    let mut after = UserId::new(0);
    loop {
        let deleted = storage.people.personal_data.deleted(since, after, PAGE).await?;
        let Some(last) = deleted.last() else { return Ok(()) };
        after = *last;
        for user in deleted {
            storage.people.sessions.end_all(user).await?;
            let cancelled = cancel_unpaid_of(context, cashier, user, now).await?;
            if cancelled > 0 {
                tracing::info!(user = user.get(), orders = cancelled, "cancelled orders of a deleted user");
            }
        }
    }
}

/// Loads the sales at start. Retries transient errors for 30 s: another process may be changing a sale, or
/// may have died during a change, and neither is a reason not to start.
pub(in crate::mall) async fn load_sales(sales: &FlashSales, now: Timestamp) -> Result<(), StoreError> {
    const RETRY_FOR: Duration = Duration::from_secs(30);
    const PAUSE: Duration = Duration::from_millis(200);
    let until = Instant::now() + RETRY_FOR;
    loop {
        match sales.load(now).await {
            Ok(_) => return Ok(()),
            Err(error) if error.is_transient() && Instant::now() < until => {
                tracing::warn!(%error, "could not load the sales yet; the start waits and retries");
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Periodic reconciliation by a leader: the process that ran last, until its lease of [`LEASE`](Self::LEASE)
/// expires.
pub(in crate::mall) struct Reconciliation {
    every: Every,
    all_every: Every,
    context: Context,
    cashier: Cashier,
    sales: FlashSales,
    /// Lock owner id of this process.
    owner: LockOwner,
}

impl Reconciliation {
    const LOCK: &str = "repairs";
    /// Lease of the leader, in real time; longer than the interval between runs.
    const LEASE: Duration = Duration::from_secs(90);
    const SPAN: Duration = Duration::from_secs(60);
    /// A full pass reads all unpaid orders and all shops: for a million, some seconds of a server's time.
    const ALL_SPAN: Duration = Duration::from_secs(600);
    /// An unpaid order this late is not merely waiting to be cancelled: its deadline has been lost.
    const LATE: Duration = Duration::from_secs(60);

    pub(in crate::mall) fn new(context: &Context, sales: &FlashSales, cashier: &Cashier) -> Self {
        Self {
            every: Every::new(Self::SPAN),
            all_every: Every::new(Self::ALL_SPAN),
            context: context.clone(),
            cashier: cashier.clone(),
            sales: sales.clone(),
            owner: LockOwner::random(),
        }
    }

    /// Returns whether this process is the leader. A leader renews the lease on every run and never releases
    /// it.
    async fn is_ours(&self) -> Result<bool, StoreError> {
        let entry = LockEntry { owner: self.owner, number: 0 };
        let answer = self.context.storage.base.locks.enter(Self::LOCK, entry, Self::LEASE).await?;
        Ok(matches!(answer, LockOutcome::Held(_)))
    }

    async fn look_after_sales(&self, now: Timestamp) -> Result<(), StoreError> {
        let forgotten = self.sales.evict_ended(now).await?;
        if forgotten > 0 {
            tracing::info!(sales = forgotten, "evicted ended sales");
        }
        self.sales.load(now).await?;
        Ok(())
    }

    async fn look_for_late_orders(&self, now: Timestamp) -> Result<(), StoreError> {
        let storage = &self.context.storage;
        let late =
            deadlines::restore(&*storage.selling.deadlines, &*storage.selling.orders, Some(now - Self::LATE))
                .await?;
        if late > 0 {
            tracing::warn!(orders = late, "restored lost or missed deadlines of unpaid orders");
        }
        Ok(())
    }

    async fn look_for_lost_shops(&self) -> Result<(), StoreError> {
        let storage = &self.context.storage;
        let moved = geo_index::restore(&*storage.catalogue.geo_index, &*storage.catalogue.shops).await?;
        if moved > 0 {
            tracing::warn!(shops = moved, "corrected shops in the geo index");
        }
        Ok(())
    }

    async fn look_at_all(&self, now: Timestamp) {
        self.all_every.ran(now);
        if let Err(error) = self.look_for_late_orders(now).await {
            tracing::warn!(%error, "could not restore the deadlines of unpaid orders");
        }
        if let Err(error) = self.look_for_lost_shops().await {
            tracing::warn!(%error, "could not reconcile the geo index");
        }
    }
}

#[async_trait]
impl Chore for Reconciliation {
    fn name(&self) -> &'static str {
        "repairs"
    }

    async fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.every.next(now))
    }

    async fn run(&self, now: Timestamp) {
        self.every.ran(now);
        match self.is_ours().await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => return tracing::warn!(%error, "could not acquire the repair lease"),
        }
        if let Err(error) = self.look_after_sales(now).await {
            tracing::warn!(%error, "could not reconcile the sales in memory with the database");
        }
        if let Err(error) = end_blocked_sessions(&self.context.storage).await {
            tracing::warn!(%error, "could not end the sessions of blocked users");
        }
        if let Err(error) = settle_deleted_users(&self.context, &self.cashier, now).await {
            tracing::warn!(%error, "could not settle sessions and orders of deleted users");
        }
        if self.all_every.next(now) <= now {
            self.look_at_all(now).await;
        }
    }
}
