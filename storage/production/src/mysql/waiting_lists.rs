//! [`WaitingLists`] in MySQL.
//!
//! The sale's row is the lock of its list: users who join hold it shared, and the end of the waiting takes it
//! alone, so that nobody joins a list that is being closed.

use async_trait::async_trait;
use mallbox_storage::backend::{AcceptedOrder, Numbered as _, PromotionPlan, plan_join};
use mallbox_storage::{
    DeadReason, FirstToJoin, JoinOutcome, OrderId, PromoteOutcome, SaleRecord, StoreError, Timestamp, UserId,
    VoucherId, WaitingEntry, WaitingLists, WaitingPlace, WaitingState,
};
use mysql_async::Conn;

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::event_rows::EventSwitch;
use super::job::boxed;
use super::sale_records::{SALE, sale, sale_by_id};
use super::sale_rows::{self, Lock};
use super::{order_rows, outbox, persist};

pub(super) struct MysqlWaitingLists(pub(super) Database);

/// Head of every query for entries; read by [`entry`].
const SELECT: &str =
    "SELECT number, voucher_id, user_id, state, joined_ms, changed_ms, order_id FROM waiting_entries";

#[async_trait]
impl WaitingLists for MysqlWaitingLists {
    async fn put_max(
        &self,
        voucher: VoucherId,
        max: Option<u32>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        self.0
            .write("put maximum of waiting list", |conn| {
                boxed(async move {
                    let sql = "UPDATE sales SET waiting_max = ? WHERE voucher_id = ?";
                    execute(conn, sql, (max, voucher.get())).await?;
                    let sql = "UPDATE vouchers SET updated_ms = ? WHERE id = ?";
                    execute(conn, sql, (now.as_millis(), voucher.get())).await?;
                    sale_by_id(conn, voucher, Lock::No).await
                })
            })
            .await
    }

    async fn join(
        &self,
        voucher: VoucherId,
        user: UserId,
        first: FirstToJoin,
        now: Timestamp,
    ) -> Result<JoinOutcome, StoreError> {
        self.0
            .write("join waiting list", |conn| {
                boxed(async move { join(conn, voucher, user, first, now).await })
            })
            .await
    }

    async fn leave(
        &self,
        voucher: VoucherId,
        user: UserId,
        now: Timestamp,
    ) -> Result<Option<WaitingPlace>, StoreError> {
        let sql = "UPDATE waiting_entries SET state = ?, changed_ms = ?
                   WHERE voucher_id = ? AND user_id = ? AND state = 0";
        let change = (WaitingState::Left.number(), now.as_millis(), voucher.get(), user.get());
        self.0
            .write("leave waiting list", |conn| {
                boxed(async move {
                    execute(conn, sql, change).await?;
                    place(conn, voucher, user).await
                })
            })
            .await
    }

    async fn place(&self, voucher: VoucherId, user: UserId) -> Result<Option<WaitingPlace>, StoreError> {
        self.0
            .read("place in waiting list", |conn| boxed(async move { place(conn, voucher, user).await }))
            .await
    }

    async fn head(&self, voucher: VoucherId, max: u32) -> Result<(Vec<WaitingEntry>, u64), StoreError> {
        let sql: &str = &format!("{SELECT} WHERE voucher_id = ? AND state IN (0, 1) ORDER BY number LIMIT ?");
        self.0
            .read("head of waiting list", |conn| {
                boxed(async move {
                    let entries = all(conn, sql, (voucher.get(), max), entry).await?;
                    Ok((entries, waiting(conn, voucher, u64::MAX).await?))
                })
            })
            .await
    }

    async fn of_user(&self, user: UserId, after: u64, max: u32) -> Result<Vec<WaitingEntry>, StoreError> {
        let sql: &str = &format!("{SELECT} WHERE user_id = ? AND number > ? ORDER BY number LIMIT ?");
        let which = (user.get(), after, max);
        self.0
            .read("waiting entries of user", |conn| boxed(async move { all(conn, sql, which, entry).await }))
            .await
    }

    async fn waited_for(&self) -> Result<Vec<SaleRecord>, StoreError> {
        let sql: &str = &format!("SELECT {SALE} FROM sales WHERE waiting = 1 ORDER BY voucher_id");
        let read = |row: &mut Columns| sale(VoucherId::new(row.next()?), row);
        self.0.read("sales waited for", |conn| boxed(async move { all(conn, sql, (), read).await })).await
    }

    async fn offer(&self, number: u64, order: OrderId, now: Timestamp) -> Result<bool, StoreError> {
        let sql = "UPDATE waiting_entries SET state = 1, order_id = ?, changed_ms = ?
                   WHERE number = ? AND state = 0";
        let change = (order.get(), now.as_millis(), number);
        self.0
            .write("offer to waiting user", |conn| {
                boxed(async move {
                    if execute(conn, sql, change).await? > 0 {
                        return Ok(true);
                    }
                    let stored = lock(conn, number).await?;
                    let is_offered = |entry: WaitingEntry| {
                        entry.state == WaitingState::Offered && entry.order == Some(order)
                    };
                    Ok(stored.is_some_and(is_offered))
                })
            })
            .await
    }

    async fn withdraw_offer(&self, number: u64, now: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE waiting_entries SET state = 0, changed_ms = ? WHERE number = ? AND state = 1";
        let change = (now.as_millis(), number);
        self.0
            .write("withdraw offer", |conn| boxed(async move { execute(conn, sql, change).await.map(drop) }))
            .await
    }

    async fn promote(
        &self,
        number: u64,
        order: OrderId,
        may_buy: bool,
        now: Timestamp,
    ) -> Result<PromoteOutcome, StoreError> {
        let events = self.0.events();
        self.0
            .write("promote waiting user", |conn| {
                boxed(async move { promote(conn, number, (order, may_buy), now, events).await })
            })
            .await
    }

    async fn expire(&self, voucher: VoucherId, now: Timestamp) -> Result<u64, StoreError> {
        let sql = "UPDATE waiting_entries SET state = ?, changed_ms = ? WHERE voucher_id = ? AND state = 0";
        let change = (WaitingState::Expired.number(), now.as_millis(), voucher.get());
        self.0
            .write("expire waiting list", |conn| {
                boxed(async move {
                    let sale = sale_rows::get(conn, voucher, Lock::Yes).await?;
                    if sale.is_none_or(|sale| now < sale.end) {
                        Ok(0)
                    } else {
                        execute(conn, sql, change).await
                    }
                })
            })
            .await
    }

    async fn close(&self, voucher: VoucherId) -> Result<bool, StoreError> {
        let sql = "UPDATE sales SET waiting = 0 WHERE voucher_id = ?";
        self.0
            .write("close waiting list", |conn| {
                boxed(async move {
                    sale_rows::get(conn, voucher, Lock::Yes).await?;
                    let is_empty = waiting(conn, voucher, u64::MAX).await? == 0;
                    if is_empty {
                        execute(conn, sql, (voucher.get(),)).await?;
                    }
                    Ok(is_empty)
                })
            })
            .await
    }
}

async fn join(
    conn: &mut Conn,
    voucher: VoucherId,
    user: UserId,
    may_be_first: FirstToJoin,
    now: Timestamp,
) -> Result<JoinOutcome, MysqlError> {
    let sql = match may_be_first {
        FirstToJoin::No => "SELECT voucher_id FROM sales WHERE voucher_id = ? LOCK IN SHARE MODE",
        FirstToJoin::Yes => "SELECT voucher_id FROM sales WHERE voucher_id = ? FOR UPDATE",
    };
    first(conn, sql, (voucher.get(),), Columns::next::<u64>).await?;
    let sql = format!("{SELECT} WHERE voucher_id = ? AND user_id = ? FOR UPDATE");
    let stored = first(conn, sql, (voucher.get(), user.get()), entry).await?;
    if !stored.is_some_and(|stored| stored.state.is_open()) {
        let sale = sale_by_id(conn, voucher, Lock::No).await?;
        let waiting = waiting(conn, voucher, u64::MAX).await?;
        if let Err(outcome) = plan_join(sale.as_ref(), waiting, may_be_first, now) {
            return Ok(outcome);
        }
        // A new entry takes a place at the end.
        let sql = "REPLACE INTO waiting_entries (voucher_id, user_id, state, joined_ms, changed_ms)
                   VALUES (?, ?, 0, ?, ?)";
        let now = now.as_millis();
        execute(conn, sql, (voucher.get(), user.get(), now, now)).await?;
        if sale.is_some_and(|sale| !sale.terms.waiting) {
            execute(conn, "UPDATE sales SET waiting = 1 WHERE voucher_id = ?", (voucher.get(),)).await?;
        }
    }
    let place = place(conn, voucher, user).await?;
    let lost = || MysqlError::Corrupt(format!("the entry of user {user} vanished in its transaction"));
    Ok(JoinOutcome::Joined(place.ok_or_else(lost)?))
}

/// Locks the sale, then the entry, in the order of joining.
async fn promote(
    conn: &mut Conn,
    number: u64,
    (order, may_buy): (OrderId, bool),
    now: Timestamp,
    events: EventSwitch,
) -> Result<PromoteOutcome, MysqlError> {
    let sql = "SELECT voucher_id FROM waiting_entries WHERE number = ?";
    let Some(voucher) = first(conn, sql, (number,), Columns::next::<u64>).await? else {
        return Ok(PromoteOutcome::Stands);
    };
    let sale = sale_rows::get(conn, VoucherId::new(voucher), Lock::Yes).await?;
    let Some(entry) = lock(conn, number).await? else { return Ok(PromoteOutcome::Stands) };
    let claim = match entry.plan_promotion(order, may_buy, sale.map(|sale| sale.end), now) {
        PromotionPlan::Stands => return Ok(PromoteOutcome::Stands),
        PromotionPlan::ReturnOrder => {
            return promoted(order_rows::by_id(conn, order).await?, order);
        }
        PromotionPlan::Close(state) => {
            release(conn, &entry, state, now).await?;
            return Ok(PromoteOutcome::Dropped);
        }
        PromotionPlan::Insert(claim) => claim,
    };
    match persist::revive(conn, &claim, false, now).await? {
        Ok(()) => {
            set_state(conn, number, WaitingState::Promoted, now).await?;
            let written = order_rows::by_id(conn, order).await?;
            let promotion =
                || written.iter().flat_map(|order| AcceptedOrder::of(order).promotion_events(now));
            events.write(conn, now, promotion).await?;
            promoted(written, order)
        }
        Err((DeadReason::Double, _)) => {
            release(conn, &entry, WaitingState::Dropped, now).await?;
            Ok(PromoteOutcome::Dropped)
        }
        Err((reason, _)) => {
            release(conn, &entry, WaitingState::Waiting, now).await?;
            Ok(PromoteOutcome::Postponed(reason))
        }
    }
}

fn promoted(found: Option<mallbox_storage::Order>, order: OrderId) -> Result<PromoteOutcome, MysqlError> {
    let lost = || MysqlError::Corrupt(format!("order {order} of a promoted entry does not exist"));
    Ok(PromoteOutcome::Promoted(found.ok_or_else(lost)?))
}

/// Ends an offer that became no order, and leaves an outbox entry for the reserved unit.
async fn release(
    conn: &mut Conn,
    entry: &WaitingEntry,
    state: WaitingState,
    now: Timestamp,
) -> Result<(), MysqlError> {
    set_state(conn, entry.number, state, now).await?;
    if let Some(order) = entry.order {
        outbox::insert_release(conn, entry.voucher, entry.user, order).await?;
    }
    Ok(())
}

async fn set_state(
    conn: &mut Conn,
    number: u64,
    state: WaitingState,
    now: Timestamp,
) -> Result<(), MysqlError> {
    let sql = "UPDATE waiting_entries SET state = ?, changed_ms = ? WHERE number = ?";
    execute(conn, sql, (state.number(), now.as_millis(), number)).await.map(drop)
}

/// Counts the users who wait with a number below `before`.
async fn waiting(conn: &mut Conn, voucher: VoucherId, before: u64) -> Result<u64, MysqlError> {
    let sql = "SELECT COUNT(*) FROM waiting_entries WHERE voucher_id = ? AND state IN (0, 1) AND number < ?";
    Ok(first(conn, sql, (voucher.get(), before), Columns::count).await?.unwrap_or_default())
}

async fn place(
    conn: &mut Conn,
    voucher: VoucherId,
    user: UserId,
) -> Result<Option<WaitingPlace>, MysqlError> {
    let sql = format!("{SELECT} WHERE voucher_id = ? AND user_id = ?");
    let Some(entry) = first(conn, sql, (voucher.get(), user.get()), entry).await? else { return Ok(None) };
    let ahead = if entry.state.is_open() { waiting(conn, voucher, entry.number).await? } else { 0 };
    Ok(Some(WaitingPlace { entry, ahead, waiting: waiting(conn, voucher, u64::MAX).await? }))
}

async fn lock(conn: &mut Conn, number: u64) -> Result<Option<WaitingEntry>, MysqlError> {
    first(conn, format!("{SELECT} WHERE number = ? FOR UPDATE"), (number,), entry).await
}

fn entry(row: &mut Columns) -> Result<WaitingEntry, MysqlError> {
    Ok(WaitingEntry {
        number: row.next()?,
        voucher: VoucherId::new(row.next()?),
        user: UserId::new(row.next()?),
        state: row.known()?,
        joined: row.time()?,
        changed: row.time()?,
        order: row.next::<Option<u64>>()?.map(OrderId::new),
    })
}
