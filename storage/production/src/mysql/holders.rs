//! [`Holders`] in MySQL.

use std::collections::HashSet;

use async_trait::async_trait;
use mallbox_storage::{Claim, OrderId, StoreError, UserId, VoucherId};
use mysql_async::Conn;

use super::columns::{Columns, all, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::{dead_letter_rows, order_rows};
use crate::{Holder, Holders};

/// Rows per page, for orders and for dead letters each.
const PAGE: u32 = 10_000;

pub(super) struct MysqlHolders(pub(super) Database);

#[async_trait]
impl Holders for MysqlHolders {
    async fn page(&self, voucher: VoucherId, after: OrderId) -> Result<Vec<Holder>, StoreError> {
        self.0.look("holders", |conn| boxed(async move { page(conn, voucher, after).await })).await
    }

    async fn settled(&self, claims: &[Claim]) -> Result<HashSet<OrderId>, StoreError> {
        let ids: &[OrderId] = &claims.iter().map(|claim| claim.order).collect::<Vec<_>>();
        let (owners, dead) = self
            .0
            .look("settled claims", |conn| {
                boxed(async move {
                    Ok((order_rows::owners(conn, ids).await?, dead_letter_rows::among(conn, ids).await?))
                })
            })
            .await?;
        let is_settled = |claim: &&Claim| {
            owners.get(&claim.order) == Some(&(claim.user, claim.voucher))
                || dead.contains(&(claim.order, claim.user, claim.voucher))
        };
        Ok(claims.iter().filter(is_settled).map(|claim| claim.order).collect())
    }
}

async fn page(conn: &mut Conn, voucher: VoucherId, after: OrderId) -> Result<Vec<Holder>, MysqlError> {
    let Some((first, last)) = ends(conn, voucher).await? else { return Ok(Vec::new()) };
    let from = first.max(after.get().saturating_add(1));
    let orders =
        "SELECT user_id, id FROM orders WHERE id BETWEEN ? AND ? AND voucher_id = ? AND status NOT IN (4, 6)
                  ORDER BY id LIMIT ?";
    let dead = "SELECT user_id, order_id FROM dead_letters WHERE order_id BETWEEN ? AND ? AND voucher_id = ?
                  AND holds_unit = 1 ORDER BY order_id, user_id LIMIT ?";
    let mut holders = Vec::new();
    let mut complete_to = last;
    for (sql, is_order) in [(orders, true), (dead, false)] {
        let span = (from, complete_to, voucher.get(), PAGE);
        let found = all(conn, sql, span, |row| holder(row, is_order)).await?;
        if found.len() == PAGE as usize {
            // The shorter list ends the page for both.
            complete_to = found.last().map_or(complete_to, |last| last.order.get());
        }
        holders.extend(found);
    }
    holders.retain(|holder| holder.order.get() <= complete_to);
    holders.sort_by_key(|holder| (holder.order, holder.user));
    Ok(holders)
}

/// Returns the ids of a sale's first and last order. All orders, and all dead letters that hold a unit, lie
/// within.
pub(super) async fn ends(conn: &mut Conn, voucher: VoucherId) -> Result<Option<(u64, u64)>, MysqlError> {
    let sql = "SELECT first_order, last_order FROM sales WHERE voucher_id = ?";
    let ends = first(conn, sql, (voucher.get(),), |row| {
        Ok(row.next::<Option<u64>>()?.zip(row.next::<Option<u64>>()?))
    });
    Ok(ends.await?.flatten())
}

fn holder(row: &mut Columns, is_order: bool) -> Result<Holder, MysqlError> {
    Ok(Holder { user: UserId::new(row.next()?), order: OrderId::new(row.next()?), is_order })
}
