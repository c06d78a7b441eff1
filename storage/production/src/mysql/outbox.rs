//! [`Outbox`] in MySQL.

use async_trait::async_trait;
use mallbox_storage::{OrderId, Outbox, OutboxEntry, StoreError, UserId, VoucherId};
use mysql_async::Conn;

use super::columns::{Columns, all, execute};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::multi_row;

pub(super) struct MysqlOutbox(pub(super) Database);

#[async_trait]
impl Outbox for MysqlOutbox {
    async fn open(&self, max: u32) -> Result<Vec<OutboxEntry>, StoreError> {
        let sql = "SELECT voucher_id, user_id, order_id FROM outbox_releases ORDER BY number LIMIT ?";
        self.0.read("errands", |conn| boxed(async move { all(conn, sql, (max,), release).await })).await
    }

    async fn done(&self, entries: &[OutboxEntry]) -> Result<(), StoreError> {
        let mut orders: Vec<u64> =
            entries.iter().map(|OutboxEntry::Release { order, .. }| order.get()).collect();
        // Sorted, so that two instances with the same entries do not deadlock.
        orders.sort_unstable();
        let orders = &*orders;
        self.0
            .write("errands done", |conn| {
                boxed(async move {
                    let sql = "DELETE FROM outbox_releases WHERE order_id IN ({keys})";
                    multi_row::change_by_keys(conn, sql, &[], orders).await.map(drop)
                })
            })
            .await
    }
}

/// Inserts an outbox entry in the caller's transaction. Returns `false`, without an entry, if the voucher is
/// no sale.
pub(super) async fn insert_release(
    conn: &mut Conn,
    voucher: VoucherId,
    user: UserId,
    order: OrderId,
) -> Result<bool, MysqlError> {
    // An order is closed once; for two dead letters with one id, one entry at a time is enough.
    let sql = "INSERT INTO outbox_releases (order_id, voucher_id, user_id)
               SELECT ?, voucher_id, ? FROM sales WHERE voucher_id = ? ON DUPLICATE KEY UPDATE order_id = order_id";
    Ok(execute(conn, sql, (order.get(), user.get(), voucher.get())).await? > 0)
}

/// Inserts outbox entries for orders closed in the caller's transaction; none for orders of ordinary
/// vouchers.
pub(super) async fn leave_releases(conn: &mut Conn, orders: &[u64]) -> Result<(), MysqlError> {
    let sql = "INSERT INTO outbox_releases (order_id, voucher_id, user_id)
               SELECT orders.id, orders.voucher_id, orders.user_id FROM orders
               JOIN sales ON sales.voucher_id = orders.voucher_id WHERE orders.id IN ({keys})
               ON DUPLICATE KEY UPDATE order_id = order_id";
    multi_row::change_by_keys(conn, sql, &[], orders).await.map(drop)
}

fn release(row: &mut Columns) -> Result<OutboxEntry, MysqlError> {
    Ok(OutboxEntry::Release {
        voucher: VoucherId::new(row.next()?),
        user: UserId::new(row.next()?),
        order: OrderId::new(row.next()?),
    })
}
