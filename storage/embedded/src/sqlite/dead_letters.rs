//! The [`DeadLetters`] port on SQLite: replaying and voiding dead letters.

use async_trait::async_trait;
use mallbox_storage::backend::{AcceptedOrder, Numbered as _, ReplayPlan, VoidPlan};
use mallbox_storage::{
    DeadLetter, DeadLetterId, DeadLetters, DeadState, OrderId, Page, ReplayOutcome, StoreError, Timestamp,
    UserId, VoidOutcome, VoucherId,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::columns::{get_count, get_id, get_known, get_time, get_time_if_any, id};
use super::{Database, event_rows, order_rows, persist, sale_rows};

pub(crate) struct EmbeddedDeadLetters(Database);

impl EmbeddedDeadLetters {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

/// Head of every query for dead letters; [`dead_letter`] reads the columns.
const SELECT: &str =
    "SELECT entry, order_id, voucher_id, user_id, claimed_ms, reason, detail, attempts, holds_unit, buried_ms,
    state, closed_ms FROM dead_letters";

#[async_trait]
impl DeadLetters for EmbeddedDeadLetters {
    async fn page(&self, state: Option<DeadState>, page: Page) -> Result<(Vec<DeadLetter>, u64), StoreError> {
        let job = move |conn: &Connection| {
            let state = state.map(DeadState::number);
            let letters = conn
                .prepare_cached(&format!(
                    "{SELECT} WHERE ?1 IS NULL OR state = ?1 ORDER BY entry DESC LIMIT ?2 OFFSET ?3"
                ))?
                .query_map(params![state, page.size(), id(page.skipped())], dead_letter)?
                .collect::<rusqlite::Result<_>>()?;
            let count = "SELECT COUNT(*) FROM dead_letters WHERE ?1 IS NULL OR state = ?1";
            let total = conn.prepare_cached(count)?.query_row([state], |row| get_count(row, 0))?;
            Ok((letters, total))
        };
        self.0.read("dead letters", job).await
    }

    async fn of_order(&self, order: OrderId) -> Result<Vec<DeadLetter>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(&format!("{SELECT} WHERE order_id = ?1 ORDER BY entry"))?
                .query_map([id(order.get())], dead_letter)?
                .collect()
        };
        self.0.read("dead letters of order", job).await
    }

    async fn replay(&self, letter: DeadLetterId, now: Timestamp) -> Result<ReplayOutcome, StoreError> {
        self.0.write("replay", move |conn| replay(conn, letter, now)).await
    }

    async fn void(&self, letter: DeadLetterId, now: Timestamp) -> Result<VoidOutcome, StoreError> {
        self.0.write("void dead letter", move |conn| void(conn, letter, now)).await
    }
}

fn replay(conn: &Connection, which: DeadLetterId, now: Timestamp) -> rusqlite::Result<ReplayOutcome> {
    let Some(letter) = by_id(conn, which)? else { return Ok(ReplayOutcome::Unknown) };
    match letter.plan_replay() {
        ReplayPlan::Stands(outcome) => return Ok(outcome),
        ReplayPlan::ReturnOrder => {}
        ReplayPlan::Insert(claim) => {
            let revived = persist::replay(conn, &claim, letter.holds_unit, now)?;
            conn.prepare_cached("UPDATE dead_letters SET attempts = attempts + 1 WHERE entry = ?1")?
                .execute([id(which.get())])?;
            if let Err((reason, detail)) = revived {
                return Ok(ReplayOutcome::Refused(reason, detail));
            }
            close(conn, which, DeadState::Replayed, now)?;
            let order = order_rows::by_id(conn, letter.order)?;
            event_rows::write(conn, now, || {
                order.iter().flat_map(|order| AcceptedOrder::of(order).events(now))
            })?;
        }
    }
    let order = order_rows::by_id(conn, letter.order)?;
    Ok(order.map_or(ReplayOutcome::Unknown, ReplayOutcome::Order))
}

fn void(conn: &Connection, which: DeadLetterId, now: Timestamp) -> rusqlite::Result<VoidOutcome> {
    let Some(letter) = by_id(conn, which)? else { return Ok(VoidOutcome::Unknown) };
    match letter.plan_void(now) {
        VoidPlan::Stands(outcome) => Ok(outcome),
        VoidPlan::Close { returns_unit, letter } => {
            if returns_unit {
                sale_rows::return_unit(conn, letter.voucher, letter.user, letter.order)?;
            }
            close(conn, which, DeadState::Voided, now)?;
            Ok(VoidOutcome::Void(letter))
        }
    }
}

/// Closes a dead letter. The dead letter holds no unit any more: its unit belongs to the order, or was
/// released.
fn close(conn: &Connection, which: DeadLetterId, state: DeadState, now: Timestamp) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "UPDATE dead_letters SET state = ?2, holds_unit = 0, closed_ms = ?3 WHERE entry = ?1",
    )?
    .execute([id(which.get()), state.number(), now.as_millis()])
    .map(drop)
}

fn by_id(conn: &Connection, which: DeadLetterId) -> rusqlite::Result<Option<DeadLetter>> {
    conn.prepare_cached(&format!("{SELECT} WHERE entry = ?1"))?
        .query_row([id(which.get())], dead_letter)
        .optional()
}

fn dead_letter(row: &Row<'_>) -> rusqlite::Result<DeadLetter> {
    Ok(DeadLetter {
        id: DeadLetterId::new(get_id(row, 0)?),
        order: OrderId::new(get_id(row, 1)?),
        voucher: VoucherId::new(get_id(row, 2)?),
        user: UserId::new(get_id(row, 3)?),
        claimed: get_time(row, 4)?,
        reason: row.get(5)?,
        detail: row.get(6)?,
        attempts: row.get(7)?,
        holds_unit: row.get(8)?,
        created: get_time(row, 9)?,
        state: get_known(row, 10)?,
        closed: get_time_if_any(row, 11)?,
    })
}
