//! [`Orders`] in MySQL.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{
    DeadReason, LoggedClaim, Order, OrderCounts, OrderFilter, OrderId, Orders, Page, PersistOutcome,
    PurchaseOutcome, StoreError, Timestamp, Transition, TransitionOutcome, UserId, VoucherId,
};
use mysql_async::{Conn, Value, params};

use super::columns::{Columns, all, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::order_rows::{SELECT, by_id, order};
use super::{counts, dead_letter_rows, holders, persist, purchases, steps};

pub(super) struct MysqlOrders(pub(super) Database);

#[async_trait]
impl Orders for MysqlOrders {
    /// Returns 50 ms. Other calls have connections of their own, and wait at most for the row of a sale,
    /// locked only at the end of a batch. The fixed cost of a batch (a dozen round trips and a sync of the
    /// disk) should be a small part of the time. Meanwhile, a buyer sees the order as pending.
    fn batch_takes(&self) -> Duration {
        Duration::from_millis(50)
    }

    async fn persist(
        &self,
        claims: &[LoggedClaim],
        now: Timestamp,
    ) -> Result<Vec<PersistOutcome>, StoreError> {
        persist::persist(&self.0, claims, now).await
    }

    async fn insert_dead_letter(
        &self,
        claim: &LoggedClaim,
        reason: DeadReason,
        detail: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.0
            .write("insert dead letter", |conn| {
                boxed(async move {
                    match dead_letter_rows::dead_letter(conn, claim, reason, detail, now).await {
                        // An unknown sale has no row to lock: a concurrent call was quicker.
                        Err(fault) if fault.is_duplicate_key() => Ok(()),
                        done => done,
                    }
                })
            })
            .await
    }

    async fn insert(
        &self,
        order: &Order,
        request: Option<&str>,
        unpaid_max: Option<u32>,
    ) -> Result<PurchaseOutcome, StoreError> {
        let events = self.0.events();
        self.0
            .write("insert order", |conn| {
                boxed(async move { purchases::insert(conn, order, request, unpaid_max, events).await })
            })
            .await
    }

    async fn requested(
        &self,
        user: UserId,
        voucher: VoucherId,
        request: &str,
    ) -> Result<Option<OrderId>, StoreError> {
        self.0
            .read("requested order", |conn| {
                boxed(async move { purchases::find(conn, user, voucher, request).await })
            })
            .await
    }

    async fn get(&self, which: OrderId) -> Result<Option<Order>, StoreError> {
        self.0.read("order", |conn| boxed(by_id(conn, which))).await
    }

    async fn of_user(&self, user: UserId, page: Page) -> Result<Vec<Order>, StoreError> {
        let sql: &str = &format!("{SELECT} WHERE user_id = ? ORDER BY id DESC LIMIT ? OFFSET ?");
        let params = (user.get(), page.size(), page.skipped());
        self.0.read("orders of user", |conn| boxed(async move { all(conn, sql, params, order).await })).await
    }

    async fn find(&self, filter: OrderFilter, page: Page) -> Result<(Vec<Order>, u64), StoreError> {
        self.0.look("find orders", |conn| boxed(async move { find(conn, &filter, page).await })).await
    }

    async fn holding(&self, voucher: VoucherId, user: UserId) -> Result<Option<OrderId>, StoreError> {
        self.0
            .read("holding", |conn| {
                boxed(async move {
                    let sql = "SELECT MAX(id) FROM orders WHERE user_id = ? AND voucher_id = ? AND is_live IS NOT NULL";
                    let key = (user.get(), voucher.get());
                    match first(conn, sql, key, Columns::next::<Option<u64>>).await?.flatten() {
                        Some(live) => Ok(Some(OrderId::new(live))),
                        None => dead_letter_rows::holding(conn, voucher, user).await,
                    }
                })
            })
            .await
    }

    async fn holdings(&self, voucher: VoucherId, user: UserId) -> Result<Vec<OrderId>, StoreError> {
        let sql =
            "SELECT id FROM orders WHERE user_id = :user AND voucher_id = :voucher AND is_live IS NOT NULL
                   UNION ALL SELECT order_id FROM dead_letters
                   WHERE user_id = :user AND voucher_id = :voucher AND holds_unit = 1";
        self.0
            .read("holdings", |conn| {
                boxed(async move {
                    let key = params! { "user" => user.get(), "voucher" => voucher.get() };
                    all(conn, sql, key, |row| row.next().map(OrderId::new)).await
                })
            })
            .await
    }

    async fn step(
        &self,
        order: OrderId,
        step: Transition,
        now: Timestamp,
    ) -> Result<TransitionOutcome, StoreError> {
        let events = self.0.events();
        self.0
            .write("step", |conn| boxed(async move { steps::step(conn, order, step, now, events).await }))
            .await
    }

    async fn cancel(&self, orders: &[OrderId], now: Timestamp) -> Result<Vec<TransitionOutcome>, StoreError> {
        let events = self.0.events();
        self.0
            .write("cancel", |conn| boxed(async move { steps::cancel(conn, orders, now, events).await }))
            .await
    }

    async fn unpaid(&self, after: OrderId, max: u32) -> Result<Vec<(OrderId, Timestamp)>, StoreError> {
        let sql = "SELECT id, deadline_ms FROM orders WHERE status = 1 AND id > ? ORDER BY id LIMIT ?";
        self.0
            .read("unpaid orders", |conn| {
                boxed(async move {
                    all(conn, sql, (after.get(), max), |row| Ok((OrderId::new(row.next()?), row.time()?)))
                        .await
                })
            })
            .await
    }

    async fn count(&self, voucher: VoucherId) -> Result<OrderCounts, StoreError> {
        let counted = self
            .0
            .look("count orders", |conn| {
                boxed(async move { counts::count(conn, Some(voucher), counts::ALL).await })
            })
            .await?;
        Ok(counted.get(&voucher).copied().unwrap_or_default())
    }

    async fn tally(&self, voucher: VoucherId) -> Result<OrderCounts, StoreError> {
        let counted = self
            .0
            .look("tally orders", |conn| {
                boxed(async move {
                    // Without a first order, the range is empty.
                    let ends = holders::ends(conn, voucher).await?.unwrap_or((1, 0));
                    counts::count(conn, Some(voucher), ends).await
                })
            })
            .await?;
        Ok(counted.get(&voucher).copied().unwrap_or_default())
    }

    async fn count_all(&self) -> Result<BTreeMap<VoucherId, OrderCounts>, StoreError> {
        self.0
            .look("count all orders", |conn| {
                boxed(async move { counts::count(conn, None, counts::ALL).await })
            })
            .await
    }

    async fn highest_counts(&self) -> Result<Vec<(u64, u64)>, StoreError> {
        self.0.look("highest counts", |conn| boxed(counts::highest(conn))).await
    }
}

async fn find(conn: &mut Conn, filter: &OrderFilter, page: Page) -> Result<(Vec<Order>, u64), MysqlError> {
    let (mut wheres, mut values) = (vec!["TRUE"], Vec::<Value>::new());
    if let Some(user) = filter.user {
        wheres.push("user_id = ?");
        values.push(user.get().into());
    }
    if let Some(voucher) = filter.voucher {
        wheres.push("voucher_id = ?");
        values.push(voucher.get().into());
        // An ordinary voucher has no first and last order, and a user's orders are found without them.
        if filter.user.is_none()
            && let Some((first, last)) = holders::ends(conn, voucher).await?
        {
            wheres.push("id BETWEEN ? AND ?");
            values.extend([first.into(), last.into()]);
        }
    }
    if let Some(status) = filter.status {
        wheres.push("status = ?");
        values.push((status as u8).into());
    }
    let wheres = wheres.join(" AND ");
    let sql = format!("SELECT COUNT(*) FROM orders WHERE {wheres}");
    let total = first(conn, sql, values.clone(), Columns::count).await?;
    values.extend([page.size().into(), page.skipped().into()]);
    let sql = format!("{SELECT} WHERE {wheres} ORDER BY id DESC LIMIT ? OFFSET ?");
    Ok((all(conn, sql, values, order).await?, total.unwrap_or_default()))
}
