//! The [`WaitingLists`] port on SQLite.

use async_trait::async_trait;
use mallbox_storage::backend::{AcceptedOrder, Numbered as _, PromotionPlan, plan_join};
use mallbox_storage::{
    DeadReason, FirstToJoin, JoinOutcome, OrderId, PromoteOutcome, SaleRecord, StoreError, Timestamp, UserId,
    VoucherId, WaitingEntry, WaitingLists, WaitingPlace, WaitingState,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::columns::{get_count, get_id, get_known, get_time, id};
use super::errors::unreadable;
use super::sale_rows::{SALE, sale, sale_by_id};
use super::{Database, columns, event_rows, order_rows, outbox, persist};

pub(crate) struct EmbeddedWaitingLists(Database);

impl EmbeddedWaitingLists {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

/// Head of every query for entries; [`entry`] reads the columns.
const SELECT: &str =
    "SELECT number, voucher_id, user_id, state, joined_ms, changed_ms, order_id FROM waiting_entries";

#[async_trait]
impl WaitingLists for EmbeddedWaitingLists {
    async fn put_max(
        &self,
        voucher: VoucherId,
        max: Option<u32>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError> {
        let job = move |conn: &Connection| {
            let key = id(voucher.get());
            conn.prepare_cached("UPDATE sales SET waiting_max = ?2 WHERE voucher_id = ?1")?
                .execute(params![key, max])?;
            conn.prepare_cached("UPDATE vouchers SET updated_ms = ?2 WHERE id = ?1")?
                .execute([key, now.as_millis()])?;
            sale_by_id(conn, voucher)
        };
        self.0.write("put maximum of waiting list", job).await
    }

    async fn join(
        &self,
        voucher: VoucherId,
        user: UserId,
        first: FirstToJoin,
        now: Timestamp,
    ) -> Result<JoinOutcome, StoreError> {
        self.0.write("join waiting list", move |conn| join(conn, (voucher, user), first, now)).await
    }

    async fn leave(
        &self,
        voucher: VoucherId,
        user: UserId,
        now: Timestamp,
    ) -> Result<Option<WaitingPlace>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "UPDATE waiting_entries SET state = ?3, changed_ms = ?4
                 WHERE voucher_id = ?1 AND user_id = ?2 AND state = 0",
            )?
            .execute([
                id(voucher.get()),
                id(user.get()),
                WaitingState::Left.number(),
                now.as_millis(),
            ])?;
            place(conn, voucher, user)
        };
        self.0.write("leave waiting list", job).await
    }

    async fn place(&self, voucher: VoucherId, user: UserId) -> Result<Option<WaitingPlace>, StoreError> {
        self.0.read("place in waiting list", move |conn| place(conn, voucher, user)).await
    }

    async fn head(&self, voucher: VoucherId, max: u32) -> Result<(Vec<WaitingEntry>, u64), StoreError> {
        let job = move |conn: &Connection| {
            let entries = conn
                .prepare_cached(&format!(
                    "{SELECT} WHERE voucher_id = ?1 AND state <= 1 ORDER BY number LIMIT ?2"
                ))?
                .query_map(params![id(voucher.get()), max], entry)?
                .collect::<rusqlite::Result<_>>()?;
            Ok((entries, waiting(conn, voucher, i64::MAX)?))
        };
        self.0.read("head of waiting list", job).await
    }

    async fn of_user(&self, user: UserId, after: u64, max: u32) -> Result<Vec<WaitingEntry>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(&format!(
                "{SELECT} WHERE user_id = ?1 AND number > ?2 ORDER BY number LIMIT ?3"
            ))?
            .query_map(params![id(user.get()), columns::after(after), max], entry)?
            .collect()
        };
        self.0.read("waiting entries of user", job).await
    }

    async fn waited_for(&self) -> Result<Vec<SaleRecord>, StoreError> {
        let job = |conn: &Connection| {
            conn.prepare_cached(&format!("SELECT {SALE} FROM sales WHERE waiting = 1 ORDER BY voucher_id"))?
                .query_map([], sale)?
                .collect()
        };
        self.0.read("sales waited for", job).await
    }

    async fn offer(&self, number: u64, order: OrderId, now: Timestamp) -> Result<bool, StoreError> {
        let job = move |conn: &Connection| {
            let changed = conn
                .prepare_cached(
                    "UPDATE waiting_entries SET state = 1, order_id = ?2, changed_ms = ?3
                     WHERE number = ?1 AND state = 0",
                )?
                .execute([id(number), id(order.get()), now.as_millis()])?;
            if changed > 0 {
                return Ok(true);
            }
            let stored = by_number(conn, number)?;
            Ok(stored.is_some_and(|entry| is_offered(&entry, order)))
        };
        self.0.write("offer to waiting user", job).await
    }

    async fn withdraw_offer(&self, number: u64, now: Timestamp) -> Result<(), StoreError> {
        let job = move |conn: &Connection| match by_number(conn, number)? {
            Some(entry) if entry.state == WaitingState::Offered => {
                set_state(conn, number, WaitingState::Waiting, now)
            }
            _ => Ok(()),
        };
        self.0.write("withdraw offer", job).await
    }

    async fn promote(
        &self,
        number: u64,
        order: OrderId,
        may_buy: bool,
        now: Timestamp,
    ) -> Result<PromoteOutcome, StoreError> {
        self.0.write("promote waiting user", move |conn| promote(conn, number, order, may_buy, now)).await
    }

    async fn expire(&self, voucher: VoucherId, now: Timestamp) -> Result<u64, StoreError> {
        let job = move |conn: &Connection| {
            let expired = conn
                .prepare_cached(
                    "UPDATE waiting_entries SET state = ?2, changed_ms = ?3 WHERE voucher_id = ?1 AND state = 0
                       AND EXISTS (SELECT 1 FROM sales WHERE sales.voucher_id = ?1 AND end_ms <= ?3)",
                )?
                .execute([id(voucher.get()), WaitingState::Expired.number(), now.as_millis()])?;
            Ok(expired as u64)
        };
        self.0.write("expire waiting list", job).await
    }

    async fn close(&self, voucher: VoucherId) -> Result<bool, StoreError> {
        let job = move |conn: &Connection| {
            let is_empty = waiting(conn, voucher, i64::MAX)? == 0;
            if is_empty {
                conn.prepare_cached("UPDATE sales SET waiting = 0 WHERE voucher_id = ?1")?
                    .execute([id(voucher.get())])?;
            }
            Ok(is_empty)
        };
        self.0.write("close waiting list", job).await
    }
}

fn join(
    conn: &Connection,
    (voucher, user): (VoucherId, UserId),
    first: FirstToJoin,
    now: Timestamp,
) -> rusqlite::Result<JoinOutcome> {
    if let Some(place) = place(conn, voucher, user)?.filter(|place| place.entry.state.is_open()) {
        return Ok(JoinOutcome::Joined(place));
    }
    let sale = sale_by_id(conn, voucher)?;
    if let Err(outcome) = plan_join(sale.as_ref(), waiting(conn, voucher, i64::MAX)?, first, now) {
        return Ok(outcome);
    }
    let key = [id(voucher.get()), id(user.get())];
    // A new entry takes a place at the end.
    conn.prepare_cached("DELETE FROM waiting_entries WHERE voucher_id = ?1 AND user_id = ?2")?
        .execute(key)?;
    conn.prepare_cached(
        "INSERT INTO waiting_entries (voucher_id, user_id, state, joined_ms, changed_ms)
         VALUES (?1, ?2, 0, ?3, ?3)",
    )?
    .execute([key[0], key[1], now.as_millis()])?;
    conn.prepare_cached("UPDATE sales SET waiting = 1 WHERE voucher_id = ?1 AND waiting = 0")?
        .execute([key[0]])?;
    let place = place(conn, voucher, user)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    Ok(JoinOutcome::Joined(place))
}

fn promote(
    conn: &Connection,
    number: u64,
    order: OrderId,
    may_buy: bool,
    now: Timestamp,
) -> rusqlite::Result<PromoteOutcome> {
    let Some(entry) = by_number(conn, number)? else { return Ok(PromoteOutcome::Stands) };
    let end = sale_by_id(conn, entry.voucher)?.map(|sale| sale.terms.end);
    let claim = match entry.plan_promotion(order, may_buy, end, now) {
        PromotionPlan::Stands => return Ok(PromoteOutcome::Stands),
        PromotionPlan::ReturnOrder => return promoted(conn, order, None),
        PromotionPlan::Close(state) => {
            release(conn, &entry, state, now)?;
            return Ok(PromoteOutcome::Dropped);
        }
        PromotionPlan::Insert(claim) => claim,
    };
    match persist::replay(conn, &claim, false, now)? {
        Ok(()) => {
            set_state(conn, number, WaitingState::Promoted, now)?;
            promoted(conn, order, Some(now))
        }
        Err((DeadReason::Double, _)) => {
            release(conn, &entry, WaitingState::Dropped, now)?;
            Ok(PromoteOutcome::Dropped)
        }
        Err((reason, _)) => {
            release(conn, &entry, WaitingState::Waiting, now)?;
            Ok(PromoteOutcome::Postponed(reason))
        }
    }
}

/// Returns the order of a promotion. Writes the events of one that happens `now`.
fn promoted(conn: &Connection, order: OrderId, now: Option<Timestamp>) -> rusqlite::Result<PromoteOutcome> {
    let order = order_rows::by_id(conn, order)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    if let Some(now) = now {
        event_rows::write(conn, now, || AcceptedOrder::of(&order).promotion_events(now))?;
    }
    Ok(PromoteOutcome::Promoted(order))
}

/// Ends an offer that became no order, and adds a release of the reserved unit to the outbox.
fn release(
    conn: &Connection,
    entry: &WaitingEntry,
    state: WaitingState,
    now: Timestamp,
) -> rusqlite::Result<()> {
    set_state(conn, entry.number, state, now)?;
    match entry.order {
        Some(order) => outbox::add_release(conn, entry.voucher, entry.user, order),
        None => Ok(()),
    }
}

fn set_state(conn: &Connection, number: u64, state: WaitingState, now: Timestamp) -> rusqlite::Result<()> {
    conn.prepare_cached("UPDATE waiting_entries SET state = ?2, changed_ms = ?3 WHERE number = ?1")?
        .execute([id(number), state.number(), now.as_millis()])
        .map(drop)
}

fn is_offered(entry: &WaitingEntry, order: OrderId) -> bool {
    entry.state == WaitingState::Offered && entry.order == Some(order)
}

/// Counts the users who wait with a number below `before`.
fn waiting(conn: &Connection, voucher: VoucherId, before: i64) -> rusqlite::Result<u64> {
    conn.prepare_cached(
        "SELECT COUNT(*) FROM waiting_entries WHERE voucher_id = ?1 AND state <= 1 AND number < ?2",
    )?
    .query_row([id(voucher.get()), before], |row| get_count(row, 0))
}

fn place(conn: &Connection, voucher: VoucherId, user: UserId) -> rusqlite::Result<Option<WaitingPlace>> {
    let stored = conn
        .prepare_cached(&format!("{SELECT} WHERE voucher_id = ?1 AND user_id = ?2"))?
        .query_row([id(voucher.get()), id(user.get())], entry)
        .optional()?;
    let Some(entry) = stored else { return Ok(None) };
    let ahead = if entry.state.is_open() { waiting(conn, voucher, id(entry.number))? } else { 0 };
    Ok(Some(WaitingPlace { entry, ahead, waiting: waiting(conn, voucher, i64::MAX)? }))
}

fn by_number(conn: &Connection, number: u64) -> rusqlite::Result<Option<WaitingEntry>> {
    conn.prepare_cached(&format!("{SELECT} WHERE number = ?1"))?.query_row([id(number)], entry).optional()
}

fn entry(row: &Row<'_>) -> rusqlite::Result<WaitingEntry> {
    let order = match row.get::<_, Option<i64>>(6)? {
        None => None,
        Some(order) => Some(u64::try_from(order).map_err(|_| unreadable(6, order))?),
    };
    Ok(WaitingEntry {
        number: get_id(row, 0)?,
        voucher: VoucherId::new(get_id(row, 1)?),
        user: UserId::new(get_id(row, 2)?),
        state: get_known(row, 3)?,
        joined: get_time(row, 4)?,
        changed: get_time(row, 5)?,
        order: order.map(OrderId::new),
    })
}
