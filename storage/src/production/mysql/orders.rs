//! [`Orders`] in the record.

use std::collections::BTreeMap;

use async_trait::async_trait;
use mysql_async::{Conn, params};

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::job::run;
use super::trouble::Fault;
use super::{counts, dead_letters, persist, steps};
use crate::{
    Cents, DeadLetter, DeadReason, Logged, Order, OrderCounts, OrderId, Orders, Page, Persisted, Step,
    Stepped, StoreError, Timestamp, UserId, VoucherId,
};

pub(super) struct MysqlOrders(pub(super) Database);

/// Every query for orders begins with it; [`order`] reads it.
pub(super) const SELECT: &str =
    "SELECT id, voucher_id, user_id, status, pay_value, pay_type, created_ms, deadline_ms, paid_ms,
    used_ms, refunded_ms FROM orders";

#[async_trait]
impl Orders for MysqlOrders {
    async fn persist(&self, claims: &[Logged], now: Timestamp) -> Result<Vec<Persisted>, StoreError> {
        persist::persist(&self.0, claims, now).await
    }

    async fn bury(
        &self,
        claim: &Logged,
        reason: DeadReason,
        detail: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.0
            .write("bury", |conn| {
                run(async move {
                    match dead_letters::bury(conn, &claim.claim, reason, detail, now).await {
                        // Of an unknown sale there is nothing to lock: somebody else was quicker.
                        Err(fault) if fault.is_taken_key() => Ok(()),
                        done => done,
                    }
                })
            })
            .await
    }

    async fn insert(&self, order: &Order) -> Result<(), StoreError> {
        self.0
            .write_at_once("insert order", |conn| {
                run(async move {
                    is_ordinary(conn, order.voucher).await?;
                    match insert(conn, order).await {
                        Err(fault) if fault.is_taken_key() => is_repeat(conn, order).await,
                        done => done,
                    }
                })
            })
            .await
    }

    async fn get(&self, which: OrderId) -> Result<Option<Order>, StoreError> {
        let sql: &str = &format!("{SELECT} WHERE id = ?");
        self.0.read("order", |conn| run(async move { first(conn, sql, (which.get(),), order).await })).await
    }

    async fn of_user(&self, user: UserId, page: Page) -> Result<Vec<Order>, StoreError> {
        let sql: &str = &format!("{SELECT} WHERE user_id = ? ORDER BY id DESC LIMIT ? OFFSET ?");
        let params = (user.get(), page.size(), page.skipped());
        self.0.read("orders of user", |conn| run(async move { all(conn, sql, params, order).await })).await
    }

    async fn holding(&self, voucher: VoucherId, user: UserId) -> Result<Option<OrderId>, StoreError> {
        self.0
            .read("holding", |conn| {
                run(async move {
                    let sql = "SELECT id FROM orders WHERE user_id = ? AND voucher_id = ? AND is_live = 1";
                    let key = (user.get(), voucher.get());
                    match first(conn, sql, key, Columns::next::<u64>).await? {
                        Some(live) => Ok(Some(OrderId::new(live))),
                        None => dead_letters::holding(conn, voucher, user).await,
                    }
                })
            })
            .await
    }

    async fn step(&self, order: OrderId, step: Step, now: Timestamp) -> Result<Stepped, StoreError> {
        self.0.write("step", |conn| run(async move { steps::step(conn, order, step, now).await })).await
    }

    async fn unpaid(&self, after: OrderId, max: u32) -> Result<Vec<(OrderId, Timestamp)>, StoreError> {
        let sql = "SELECT id, deadline_ms FROM orders WHERE status = 1 AND id > ? ORDER BY id LIMIT ?";
        self.0
            .read("unpaid orders", |conn| {
                run(async move {
                    all(conn, sql, (after.get(), max), |row| Ok((OrderId::new(row.next()?), row.time()?)))
                        .await
                })
            })
            .await
    }

    async fn count(&self, voucher: VoucherId) -> Result<OrderCounts, StoreError> {
        let counted = self
            .0
            .look("count orders", |conn| run(async move { counts::count(conn, Some(voucher)).await }))
            .await?;
        Ok(counted.get(&voucher).copied().unwrap_or_default())
    }

    async fn count_all(&self) -> Result<BTreeMap<VoucherId, OrderCounts>, StoreError> {
        self.0.look("count all orders", |conn| run(async move { counts::count(conn, None).await })).await
    }

    async fn highest_counts(&self) -> Result<Vec<(u64, u64)>, StoreError> {
        self.0.look("highest counts", |conn| run(counts::highest(conn))).await
    }

    async fn dead_letters(&self, after: OrderId, max: u32) -> Result<Vec<DeadLetter>, StoreError> {
        self.0
            .read("dead letters", |conn| run(async move { dead_letters::list(conn, after, max).await }))
            .await
    }
}

async fn is_ordinary(conn: &mut Conn, voucher: VoucherId) -> Result<(), Fault> {
    let sql = "SELECT voucher_id FROM vouchers LEFT JOIN sales ON voucher_id = id WHERE id = ?";
    match first(conn, sql, (voucher.get(),), Columns::next::<Option<u64>>).await? {
        Some(None) => Ok(()),
        Some(Some(_)) => Err(Fault::refused("the voucher is a sale, which sells through claims alone")),
        None => Err(Fault::refused("no such voucher")),
    }
}

/// An order's answer was lost, and it is written again; or its id is another's.
async fn is_repeat(conn: &mut Conn, order: &Order) -> Result<(), Fault> {
    match persist::owner(conn, order.id).await? {
        Some(owner) if owner == (order.user, order.voucher) => Ok(()),
        _ => Err(Fault::refused("another order has this id")),
    }
}

async fn insert(conn: &mut Conn, order: &Order) -> Result<(), Fault> {
    let sql = "INSERT INTO orders (id, user_id, voucher_id, of_sale, status, pay_value, pay_type, created_ms,
                 deadline_ms, paid_ms, used_ms, refunded_ms)
               VALUES (:id, :user, :voucher, 0, :status, :pay_value, :pay_type, :created, :deadline, :paid, :used,
                 :refunded)";
    let params = params! {
        "id" => order.id.get(),
        "user" => order.user.get(),
        "voucher" => order.voucher.get(),
        "status" => order.status as u8,
        "pay_value" => order.pay_value.get(),
        "pay_type" => order.pay_type,
        "created" => order.created.as_millis(),
        "deadline" => order.deadline.as_millis(),
        "paid" => order.paid.map(Timestamp::as_millis),
        "used" => order.used.map(Timestamp::as_millis),
        "refunded" => order.refunded.map(Timestamp::as_millis),
    };
    execute(conn, sql, params).await.map(drop)
}

pub(super) fn order(row: &mut Columns) -> Result<Order, Fault> {
    Ok(Order {
        id: OrderId::new(row.next()?),
        voucher: VoucherId::new(row.next()?),
        user: UserId::new(row.next()?),
        status: row.status()?,
        pay_value: Cents::new(row.next()?),
        pay_type: row.next()?,
        created: row.time()?,
        deadline: row.time()?,
        paid: row.time_if_any()?,
        used: row.time_if_any()?,
        refunded: row.time_if_any()?,
    })
}
