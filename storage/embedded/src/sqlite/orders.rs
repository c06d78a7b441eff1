//! The [`Orders`] port on SQLite.
//!
//! The unique index on voucher, user and slot is the second lock of a sale, and finds a buyer's order. The
//! orders of a user come from [`orders_by_user`](super::orders_by_user).
//!
//! Reasons and figures: `storage/decisions/0037-orders-by-user-in-sorted-runs.md`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{
    DeadReason, LoggedClaim, Order, OrderCounts, OrderFilter, OrderId, Orders, Page, PersistOutcome,
    PurchaseOutcome, StoreError, Timestamp, Transition, TransitionOutcome, UserId, VoucherId,
};
use rusqlite::{Connection, params};

use super::columns::{after, get_count, get_id, get_time, id};
use super::meta::LogMarks;
use super::order_rows::{self, by_id, holdings};
use super::{Database, counts, dead_letter_rows, holders, meta, order_lists, persist, purchases, steps};
use crate::settled::Settled;

pub(crate) struct EmbeddedOrders {
    database: Database,
    settled: Arc<Settled>,
}

impl EmbeddedOrders {
    /// Makes the port. `settled` tracks the settled commits of the log; its mark is written in the settling
    /// transactions.
    pub(crate) fn new(database: Database, settled: Arc<Settled>) -> Self {
        Self { database, settled }
    }
}

#[async_trait]
impl Orders for EmbeddedOrders {
    /// There is a single writer: logins and payments wait behind a batch.
    fn batch_takes(&self) -> Duration {
        Duration::from_millis(10)
    }

    async fn persist(
        &self,
        claims: &[LoggedClaim],
        now: Timestamp,
    ) -> Result<Vec<PersistOutcome>, StoreError> {
        let (claims, settled) = (claims.to_vec(), Arc::clone(&self.settled));
        let job = move |conn: &Connection| {
            let answers = persist::persist(conn, &claims, now)?;
            meta::raise_log_marks(conn, marks(&settled, &claims))?;
            Ok(answers)
        };
        self.database.write_bulk("persist", job).await
    }

    async fn insert_dead_letter(
        &self,
        claim: &LoggedClaim,
        reason: DeadReason,
        detail: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (logged, settled, detail) = (*claim, Arc::clone(&self.settled), detail.to_owned());
        let job = move |conn: &Connection| {
            // The order may have been written although the result was lost; then it must not become a dead
            // letter as well.
            if order_rows::owner(conn, logged.claim.order)? != Some((logged.claim.user, logged.claim.voucher))
            {
                dead_letter_rows::dead_letter(conn, &logged, reason, &detail, now)?;
            }
            meta::raise_log_marks(conn, marks(&settled, &[logged]))
        };
        self.database.write("insert dead letter", job).await
    }

    async fn insert(
        &self,
        order: &Order,
        request: Option<&str>,
        unpaid_max: Option<u32>,
    ) -> Result<PurchaseOutcome, StoreError> {
        const OP: &str = "insert order";
        self.database.check_sale_room(OP)?;
        let (order, request) = (order.clone(), request.map(str::to_owned));
        let job = move |conn: &Connection| purchases::insert(conn, &order, request.as_deref(), unpaid_max);
        self.database.write(OP, job).await
    }

    async fn requested(
        &self,
        user: UserId,
        voucher: VoucherId,
        request: &str,
    ) -> Result<Option<OrderId>, StoreError> {
        let request = request.to_owned();
        self.database
            .read("requested order", move |conn| purchases::find(conn, user, voucher, &request))
            .await
    }

    async fn get(&self, which: OrderId) -> Result<Option<Order>, StoreError> {
        self.database.read("order", move |conn| by_id(conn, which)).await
    }

    async fn of_user(&self, user: UserId, page: Page) -> Result<Vec<Order>, StoreError> {
        self.database.read("orders of user", move |conn| order_lists::of_user(conn, user, page)).await
    }

    async fn find(&self, filter: OrderFilter, page: Page) -> Result<(Vec<Order>, u64), StoreError> {
        self.database.read("find orders", move |conn| order_lists::find(conn, &filter, page)).await
    }

    async fn holding(&self, voucher: VoucherId, user: UserId) -> Result<Option<OrderId>, StoreError> {
        let job = move |conn: &Connection| match order_rows::live(conn, voucher, user)? {
            Some(live) => Ok(Some(live)),
            None => dead_letter_rows::holding(conn, voucher, user),
        };
        self.database.read("holding", job).await
    }

    async fn holdings(&self, voucher: VoucherId, user: UserId) -> Result<Vec<OrderId>, StoreError> {
        self.database.read("holdings", move |conn| holdings(conn, voucher, user)).await
    }

    async fn step(
        &self,
        order: OrderId,
        step: Transition,
        now: Timestamp,
    ) -> Result<TransitionOutcome, StoreError> {
        self.database.write("step", move |conn| steps::step(conn, order, step, now)).await
    }

    async fn cancel(&self, orders: &[OrderId], now: Timestamp) -> Result<Vec<TransitionOutcome>, StoreError> {
        let orders = orders.to_vec();
        let job = move |conn: &Connection| {
            orders.iter().map(|order| steps::step(conn, *order, Transition::Cancel, now)).collect()
        };
        self.database.write("cancel", job).await
    }

    async fn unpaid(&self, from: OrderId, max: u32) -> Result<Vec<(OrderId, Timestamp)>, StoreError> {
        let job = move |conn: &Connection| {
            // The literal 1 lets SQLite use its partial index of unpaid orders.
            conn.prepare_cached(
                "SELECT id, deadline_ms FROM orders WHERE status = 1 AND id > ?1 ORDER BY id LIMIT ?2",
            )?
            .query_map(params![after(from.get()), max], |row| {
                Ok((OrderId::new(get_id(row, 0)?), get_time(row, 1)?))
            })?
            .collect()
        };
        self.database.read("unpaid orders", job).await
    }

    async fn count(&self, voucher: VoucherId) -> Result<OrderCounts, StoreError> {
        let counted = self
            .database
            .read("count orders", move |conn| counts::count(conn, Some(voucher), counts::ALL))
            .await?;
        Ok(counted.get(&voucher).copied().unwrap_or_default())
    }

    async fn tally(&self, voucher: VoucherId) -> Result<OrderCounts, StoreError> {
        let job = move |conn: &Connection| {
            // An empty range for a sale without a first order.
            let ends = holders::ends(conn, voucher)?.unwrap_or((0, -1));
            counts::count(conn, Some(voucher), ends)
        };
        let counted = self.database.read("tally orders", job).await?;
        Ok(counted.get(&voucher).copied().unwrap_or_default())
    }

    async fn count_all(&self) -> Result<BTreeMap<VoucherId, OrderCounts>, StoreError> {
        self.database.read("count all orders", |conn| counts::count(conn, None, counts::ALL)).await
    }

    async fn highest_counts(&self) -> Result<Vec<(u64, u64)>, StoreError> {
        self.database.read("highest counts", highest_counts).await
    }
}

/// Returns the marks after settling `claims`. Duplicates in the batch count once.
fn marks(settled: &Settled, claims: &[LoggedClaim]) -> LogMarks {
    let mut claims = claims.to_vec();
    claims.sort_unstable_by_key(|logged| logged.position);
    claims.dedup_by_key(|logged| logged.position);
    let acked = claims.last().map_or(0, |logged| logged.position.major);
    LogMarks { applied: settled.mark_with(&claims), acked }
}

/// Returns the highest count encoded by [`OrderId::compose`], per day. An imported order may have an id of
/// another form: ids whose encoded second differs from the order's time by more than a day are ignored.
pub(super) fn highest_counts(conn: &Connection) -> rusqlite::Result<Vec<(u64, u64)>> {
    conn.prepare_cached(
        "SELECT (id >> 32) / 86400 AS day, MAX((id >> 4) & ?1)
         FROM (SELECT id, created_ms FROM orders UNION ALL SELECT order_id, claimed_ms FROM dead_letters) AS ids
         WHERE ABS((id >> 32) - (created_ms - ?2) / 1000) <= 86400
         GROUP BY day ORDER BY day",
    )?
    .query_map([id(OrderId::MAX_COUNT), OrderId::EPOCH.as_millis()], |row| {
        Ok((get_count(row, 0)?, get_count(row, 1)?))
    })?
    .collect()
}
