//! [`LedgerRows`] in MySQL.

use std::collections::BTreeMap;

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::backend::{SELECT_LETTERS, SELECT_PAYMENTS, select_orders};
use mallbox_storage::{
    Cents, DeadLetterId, LedgerRows, LetterFacts, OrderFacts, OrderId, OrderPage, PaymentFacts, PaymentId,
    PaymentMode, RowCheck, SaleFacts, StoreError, UserId, Violations, VoucherId,
};
use mysql_async::Conn;

use super::columns::{Columns, all, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;

pub(super) struct MysqlLedgerRows(pub(super) Database);

/// `is_live` needs no check: the server computes the column from the order's status.
const SLOT_FITS: &str =
    "o.of_sale = (s.voucher_id IS NOT NULL) AND o.slot BETWEEN 1 AND COALESCE(s.slots, 1)";

#[async_trait]
impl LedgerRows for MysqlLedgerRows {
    async fn orders(&self, after: Option<OrderId>, max: u32) -> Result<OrderPage, StoreError> {
        self.0
            .look("orders for the ledger", |conn| boxed(async move { orders(conn, after, max).await }))
            .await
    }

    async fn letters(&self, after: DeadLetterId, max: u32) -> Result<Vec<LetterFacts>, StoreError> {
        self.0
            .look("dead letters for the ledger", |conn| {
                boxed(async move { all(conn, SELECT_LETTERS, (after.get(), max), letter).await })
            })
            .await
    }

    async fn broken(&self, check: RowCheck, max: u32) -> Result<Violations, StoreError> {
        self.0.look("check of rows", |conn| boxed(async move { broken(conn, check.sql(), max).await })).await
    }

    /// Returns no gaps: a rolled-back transaction leaves a gap too, which looks like a deleted row.
    async fn gone(&self) -> Result<BTreeMap<&'static str, u64>, StoreError> {
        Ok(BTreeMap::new())
    }
}

async fn orders(conn: &mut Conn, after: Option<OrderId>, max: u32) -> Result<OrderPage, MysqlError> {
    let from = after.map_or(0, |after| after.get().saturating_add(1));
    let orders = all(conn, select_orders(SLOT_FITS), (from, max), order).await?;
    let is_full = orders.len() as u64 >= u64::from(max);
    let more_after = orders.last().filter(|_| is_full).map(|last| last.id);
    let to = more_after.map_or(u64::MAX, OrderId::get);
    let payments = all(conn, SELECT_PAYMENTS, (from, to), payment).await?;
    Ok(OrderPage::join(orders, payments, more_after))
}

fn order(row: &mut Columns) -> Result<OrderFacts, MysqlError> {
    let (id, user, voucher) = (row.next()?, row.next()?, row.next()?);
    let (status, payment, pay_value) = (row.next()?, PaymentMode::numbered(row.next()?), row.next()?);
    let (created, deadline) = (row.time()?, row.time()?);
    let (paid, used, refunded) = (row.time_if_any()?, row.time_if_any()?, row.time_if_any()?);
    let (slot_fits, has_user) = (flag(row)?, flag(row)?);
    let price = row.next::<Option<i64>>()?.map(Cents::new).zip(row.time_if_any()?);
    let is_sale = flag(row)?;
    let range = row.next::<Option<u64>>()?.zip(row.next::<Option<u64>>()?);
    let range = range.map(|(first, last)| (OrderId::new(first), OrderId::new(last)));
    Ok(OrderFacts {
        id: OrderId::new(id),
        user: UserId::new(user),
        voucher: VoucherId::new(voucher),
        status,
        payment,
        pay_value: Cents::new(pay_value),
        created,
        deadline,
        paid,
        used,
        refunded,
        slot_fits,
        has_user,
        price,
        sale: is_sale.then_some(SaleFacts { range }),
        payments: Vec::new(),
    })
}

fn payment(row: &mut Columns) -> Result<PaymentFacts, MysqlError> {
    Ok(PaymentFacts {
        id: PaymentId::new(row.next()?),
        order: OrderId::new(row.next()?),
        amount: Cents::new(row.next()?),
        state: row.next()?,
        gateway: PaymentMode::numbered(row.next()?),
        updated: row.time()?,
        needs_look: flag(row)?,
    })
}

fn letter(row: &mut Columns) -> Result<LetterFacts, MysqlError> {
    Ok(LetterFacts {
        id: DeadLetterId::new(row.next()?),
        order: OrderId::new(row.next()?),
        voucher: VoucherId::new(row.next()?),
        claimed: row.time()?,
        reason: row.next()?,
        holds_unit: flag(row)?,
        state: row.next()?,
        closed: row.time_if_any()?,
        has_user: flag(row)?,
        has_sale: flag(row)?,
        is_order: flag(row)?,
    })
}

fn flag(row: &mut Columns) -> Result<bool, MysqlError> {
    Ok(row.next::<i64>()? != 0)
}

async fn broken(conn: &mut Conn, sql: &str, max: u32) -> Result<Violations, MysqlError> {
    let count = first(conn, format!("SELECT COUNT(*) FROM ({sql}) AS broken"), (), Columns::count).await?;
    let count = count.unwrap_or_default();
    if count == 0 {
        return Ok(Violations::default());
    }
    let sql = format!("SELECT CAST(broken.id AS CHAR) FROM ({sql}) AS broken LIMIT ?");
    let examples = all(conn, sql, (max,), Columns::next::<String>).await?;
    Ok(Violations { count, examples })
}
