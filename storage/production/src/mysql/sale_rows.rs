//! The row of a sale: terms for its orders, and stock.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mallbox_storage::{LoggedClaim, Order, OrderId, PaymentMode, Timestamp, UserId, VoucherId};
use mysql_async::Conn;

use super::columns::{execute, first};
use super::errors::MysqlError;
use super::outbox;

/// Terms of a sale for its orders, and the stock.
#[derive(Clone, Copy)]
pub(super) struct SaleRow {
    pub(super) pay_value: i64,
    pub(super) pay_within: Duration,
    pub(super) end: Timestamp,
    pub(super) payment: PaymentMode,
    /// `None` = unlimited.
    pub(super) stock: Option<u64>,
    /// Live orders that a user may have.
    pub(super) slots: u8,
}

impl SaleRow {
    /// Returns the payment deadline of a buyer's claim whose order is written `now`.
    pub(super) fn deadline(&self, buyer: UserId, claimed: Timestamp, now: Timestamp) -> Option<Timestamp> {
        self.payment.deadline(buyer, claimed, self.pay_within, self.end, now)
    }
}

/// Units that orders or dead letters take from a sale, and the range of their ids.
#[derive(Clone, Copy)]
pub(super) struct UnitsTaken {
    pub(super) units: u64,
    first: OrderId,
    last: OrderId,
}

impl Default for UnitsTaken {
    fn default() -> Self {
        Self { units: 0, first: OrderId::new(u64::MAX), last: OrderId::new(0) }
    }
}

impl UnitsTaken {
    /// Returns a taking of one unit, for `order`.
    pub(super) fn one(order: OrderId) -> Self {
        let mut one = Self::default();
        one.add(order);
        one
    }

    /// Adds a unit for `order`.
    pub(super) fn add(&mut self, order: OrderId) {
        self.units += 1;
        self.first = self.first.min(order);
        self.last = self.last.max(order);
    }
}

/// Whether to lock a row until the transaction ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    No,
    /// Callers lock sales by id, so that two transactions with the same sales do not deadlock.
    Yes,
}

/// Returns the sales of all vouchers in `claims`.
pub(super) async fn of_claims(
    conn: &mut Conn,
    claims: &[LoggedClaim],
    lock: Lock,
) -> Result<BTreeMap<VoucherId, SaleRow>, MysqlError> {
    let vouchers: BTreeSet<VoucherId> = claims.iter().map(|logged| logged.claim.voucher).collect();
    let mut sales = BTreeMap::new();
    for voucher in vouchers {
        let sale = get(conn, voucher, lock).await?;
        sales.insert(
            voucher,
            sale.ok_or_else(|| MysqlError::refused(format!("voucher {voucher} is not a flash sale")))?,
        );
    }
    Ok(sales)
}

/// Returns a sale; `None` if the voucher is no sale.
pub(super) async fn get(
    conn: &mut Conn,
    voucher: VoucherId,
    lock: Lock,
) -> Result<Option<SaleRow>, MysqlError> {
    // `FOR UPDATE` does not lock the row of the setting, since a nested query reads without a lock.
    let sql = match lock {
        Lock::No => {
            "SELECT pay_value, pay_within_ms, end_ms, (SELECT value FROM settings WHERE name = 'payment'), stock, slots
             FROM sales JOIN vouchers ON id = voucher_id WHERE voucher_id = ?"
        }
        Lock::Yes => {
            "SELECT pay_value, pay_within_ms, end_ms, (SELECT value FROM settings WHERE name = 'payment'), stock, slots
             FROM sales JOIN vouchers ON id = voucher_id WHERE voucher_id = ? FOR UPDATE"
        }
    };
    first(conn, sql, (voucher.get(),), |row| {
        Ok(SaleRow {
            pay_value: row.next()?,
            pay_within: row.span()?,
            end: row.time()?,
            payment: row.payment_setting()?,
            stock: row.next()?,
            slots: row.next()?,
        })
    })
    .await
}

/// Takes units from a sale's stock. Returns `false`, and changes nothing, if the stock does not suffice.
pub(super) async fn take(
    conn: &mut Conn,
    voucher: VoucherId,
    taking: UnitsTaken,
) -> Result<bool, MysqlError> {
    let sql = "UPDATE sales SET stock = stock - ?, first_order = LEAST(COALESCE(first_order, ?), ?),
                 last_order = GREATEST(COALESCE(last_order, ?), ?)
               WHERE voucher_id = ? AND (stock IS NULL OR stock >= ?)";
    let UnitsTaken { units, first, last } = taking;
    let (first, last) = (first.get(), last.get());
    Ok(execute(conn, sql, (units, first, first, last, last, voucher.get(), units)).await? > 0)
}

/// Gives a unit back, in the database and, through an outbox entry, in Redis. Changes nothing for an ordinary
/// voucher, which has no stock.
pub(super) async fn give_back(
    conn: &mut Conn,
    voucher: VoucherId,
    user: UserId,
    order: OrderId,
) -> Result<(), MysqlError> {
    // The sale comes last: all its sellers wait for the row from here to the commit.
    if outbox::insert_release(conn, voucher, user, order).await? {
        let sql = "UPDATE sales SET stock = stock + 1 WHERE voucher_id = ?";
        execute(conn, sql, (voucher.get(),)).await?;
    }
    Ok(())
}

/// Gives back the units of closed orders, in the database and, through outbox entries, in Redis. Orders of
/// ordinary vouchers change nothing.
pub(super) async fn give_back_all(conn: &mut Conn, closed: &[Order]) -> Result<(), MysqlError> {
    let ids: Vec<u64> = closed.iter().map(|order| order.id.get()).collect();
    outbox::leave_releases(conn, &ids).await?;
    let mut units = BTreeMap::<VoucherId, u64>::new();
    for order in closed {
        *units.entry(order.voucher).or_default() += 1;
    }
    for (voucher, units) in units {
        let sql = "UPDATE sales SET stock = stock + ? WHERE voucher_id = ?";
        execute(conn, sql, (units, voucher.get())).await?;
    }
    Ok(())
}
