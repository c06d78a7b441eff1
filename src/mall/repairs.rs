//! What a process left half-done that was killed.
//!
//! A start puts it right. Where several processes are one mall, what they share outlives each of them, and the others do
//! not start: so one of them does the same now and then.

use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{
    LockAnswer, LockEntry, LockOwner, Page, Storage, StoreError, Timestamp, UserFilter, deadlines, geo_index,
};
use tokio::time::Instant;

use super::chores::{Chore, Every};
use super::{Context, SaleCounter};

/// Ends what sessions blocked users have: a stop may have come between a block and the end of the user's sessions.
///
/// # Errors
/// Only if the store is in trouble.
pub async fn see_out_the_blocked(storage: &Storage) -> Result<(), StoreError> {
    /// Users read at once.
    const PAGE: u32 = 500;
    let filter = UserFilter { blocked: true, ..UserFilter::default() };
    for page in 1.. {
        let blocked = storage.users.list(&filter, Page::new(page, PAGE)).await?;
        for user in &blocked {
            storage.sessions.end_all(user.id).await?;
        }
        if blocked.len() < PAGE as usize {
            break;
        }
    }
    Ok(())
}

/// Loads the sales for a start. Another process may be changing one just now, or have died while it did: that is no reason
/// not to start.
pub(super) async fn load_sales(sales: &SaleCounter, now: Timestamp) -> Result<(), StoreError> {
    const PATIENCE: Duration = Duration::from_secs(30);
    const PAUSE: Duration = Duration::from_millis(200);
    let until = Instant::now() + PATIENCE;
    loop {
        match sales.load(now).await {
            Ok(_) => return Ok(()),
            Err(error) if error.is_transient() && Instant::now() < until => {
                tracing::warn!(%error, "the sales could not be loaded yet; the start waits for them");
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Does now and then what a start does, in one of the mall's processes: in the one that did it last, until that is silent
/// for [`LEASE`](Self::LEASE).
pub(super) struct Repairs {
    every: Every,
    all_every: Every,
    context: Context,
    sales: SaleCounter,
    /// This process.
    owner: LockOwner,
}

impl Repairs {
    const LOCK: &str = "repairs";
    /// Real time; longer than the next run is away.
    const LEASE: Duration = Duration::from_secs(90);
    const SPAN: Duration = Duration::from_secs(60);
    /// All unpaid orders and all shops are read for it: some seconds of a server's time if there are a million.
    const ALL_SPAN: Duration = Duration::from_secs(600);
    /// An unpaid order that is so late is not just about to be cancelled: nobody knows its deadline.
    const LATE: Duration = Duration::from_secs(60);

    pub(super) fn new(context: &Context, sales: &SaleCounter) -> Self {
        Self {
            every: Every::new(Self::SPAN),
            all_every: Every::new(Self::ALL_SPAN),
            context: context.clone(),
            sales: sales.clone(),
            owner: LockOwner::random(),
        }
    }

    /// Whether it falls to this process. The lock is never left, and entered again by every run.
    async fn is_ours(&self) -> Result<bool, StoreError> {
        let entry = LockEntry { owner: self.owner, number: 0 };
        let answer = self.context.storage.locks.enter(Self::LOCK, entry, Self::LEASE).await?;
        Ok(matches!(answer, LockAnswer::Held(_)))
    }

    async fn look_after_sales(&self, now: Timestamp) -> Result<(), StoreError> {
        let forgotten = self.sales.forget_over(now).await?;
        if forgotten > 0 {
            tracing::info!(sales = forgotten, "sales that are over are out of memory");
        }
        self.sales.load(now).await?;
        Ok(())
    }

    async fn look_for_late_orders(&self, now: Timestamp) -> Result<(), StoreError> {
        let storage = &self.context.storage;
        let late = deadlines::restore(&*storage.deadlines, &*storage.orders, Some(now - Self::LATE)).await?;
        if late > 0 {
            tracing::warn!(orders = late, "unpaid orders had no deadline, or were not cancelled at it");
        }
        Ok(())
    }

    async fn look_for_lost_shops(&self) -> Result<(), StoreError> {
        let storage = &self.context.storage;
        let moved = geo_index::restore(&*storage.geo_index, &*storage.shops).await?;
        if moved > 0 {
            tracing::warn!(shops = moved, "shops were found where they are no longer");
        }
        Ok(())
    }

    async fn look_at_all(&self, now: Timestamp) {
        self.all_every.ran(now);
        if let Err(error) = self.look_for_late_orders(now).await {
            tracing::warn!(%error, "unpaid orders whose deadline is not known cannot be looked for");
        }
        if let Err(error) = self.look_for_lost_shops().await {
            tracing::warn!(%error, "shops may not be found where they are");
        }
    }
}

#[async_trait]
impl Chore for Repairs {
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
            Err(error) => return tracing::warn!(%error, "nobody knows whose the repairs are"),
        }
        if let Err(error) = self.look_after_sales(now).await {
            tracing::warn!(%error, "sales in memory may differ from the record, or be over");
        }
        if let Err(error) = see_out_the_blocked(&self.context.storage).await {
            tracing::warn!(%error, "sessions that blocked users may have could not be ended");
        }
        if self.all_every.next(now) <= now {
            self.look_at_all(now).await;
        }
    }
}
