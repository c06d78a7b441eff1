//! [`DeadLetters`] in MySQL: listing, replay and voiding.

use async_trait::async_trait;
use mallbox_storage::backend::{AcceptedOrder, Numbered as _, ReplayPlan, VoidPlan};
use mallbox_storage::{
    DeadLetter, DeadLetterId, DeadLetters, DeadState, OrderId, Page, ReplayOutcome, StoreError, Timestamp,
    UserId, VoidOutcome, VoucherId,
};
use mysql_async::{Conn, params};

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::event_rows::EventSwitch;
use super::job::boxed;
use super::sale_rows::{self, Lock};
use super::{order_rows, persist};

pub(super) struct MysqlDeadLetters(pub(super) Database);

/// Start of every query for dead letters; read by [`dead_letter`].
const SELECT: &str =
    "SELECT entry, order_id, voucher_id, user_id, claimed_ms, reason, detail, attempts, holds_unit, buried_ms,
    state, closed_ms FROM dead_letters";

#[async_trait]
impl DeadLetters for MysqlDeadLetters {
    async fn page(&self, state: Option<DeadState>, page: Page) -> Result<(Vec<DeadLetter>, u64), StoreError> {
        let state = state.map(DeadState::number);
        let filter = if state.is_some() { "state = :state" } else { ":state IS NULL" };
        let sql: &str = &format!("{SELECT} WHERE {filter} ORDER BY entry DESC LIMIT :size OFFSET :skipped");
        let count: &str = &format!("SELECT COUNT(*) FROM dead_letters WHERE {filter}");
        let params = || params! { "state" => state, "size" => page.size(), "skipped" => page.skipped() };
        self.0
            .read("dead letters", |conn| {
                boxed(async move {
                    let letters = all(conn, sql, params(), dead_letter).await?;
                    let total = first(conn, count, params! { "state" => state }, Columns::count).await?;
                    Ok((letters, total.unwrap_or_default()))
                })
            })
            .await
    }

    async fn of_order(&self, order: OrderId) -> Result<Vec<DeadLetter>, StoreError> {
        let sql: &str = &format!("{SELECT} WHERE order_id = ? ORDER BY entry");
        self.0
            .read("dead letters of order", |conn| {
                boxed(async move { all(conn, sql, (order.get(),), dead_letter).await })
            })
            .await
    }

    async fn replay(&self, letter: DeadLetterId, now: Timestamp) -> Result<ReplayOutcome, StoreError> {
        let events = self.0.events();
        self.0.write("replay", |conn| boxed(async move { replay(conn, letter, now, events).await })).await
    }

    async fn void(&self, letter: DeadLetterId, now: Timestamp) -> Result<VoidOutcome, StoreError> {
        self.0.write("void dead letter", |conn| boxed(async move { void(conn, letter, now).await })).await
    }
}

async fn replay(
    conn: &mut Conn,
    which: DeadLetterId,
    now: Timestamp,
    events: EventSwitch,
) -> Result<ReplayOutcome, MysqlError> {
    let Some(letter) = lock(conn, which).await? else { return Ok(ReplayOutcome::Unknown) };
    match letter.plan_replay() {
        ReplayPlan::Stands(outcome) => return Ok(outcome),
        ReplayPlan::ReturnOrder => {}
        ReplayPlan::Insert(claim) => {
            let revived = persist::revive(conn, &claim, letter.holds_unit, now).await?;
            let sql = "UPDATE dead_letters SET attempts = attempts + 1 WHERE entry = ?";
            execute(conn, sql, (which.get(),)).await?;
            if let Err((reason, detail)) = revived {
                return Ok(ReplayOutcome::Refused(reason, detail));
            }
            close(conn, which, DeadState::Replayed, now).await?;
            let order = order_rows::by_id(conn, letter.order).await?;
            let accepted = || order.iter().flat_map(|order| AcceptedOrder::of(order).events(now));
            events.write(conn, now, accepted).await?;
        }
    }
    let order = order_rows::by_id(conn, letter.order).await?;
    Ok(order.map_or(ReplayOutcome::Unknown, ReplayOutcome::Order))
}

async fn void(conn: &mut Conn, which: DeadLetterId, now: Timestamp) -> Result<VoidOutcome, MysqlError> {
    let Some(letter) = lock(conn, which).await? else { return Ok(VoidOutcome::Unknown) };
    match letter.plan_void(now) {
        VoidPlan::Stands(outcome) => Ok(outcome),
        VoidPlan::Close { returns_unit, letter } => {
            if returns_unit {
                sale_rows::give_back(conn, letter.voucher, letter.user, letter.order).await?;
            }
            close(conn, which, DeadState::Voided, now).await?;
            Ok(VoidOutcome::Void(letter))
        }
    }
}

/// Locks and returns the letter. Locks its sale first, in the order of dead-lettering.
async fn lock(conn: &mut Conn, which: DeadLetterId) -> Result<Option<DeadLetter>, MysqlError> {
    let sql = "SELECT voucher_id FROM dead_letters WHERE entry = ?";
    let Some(voucher) = first(conn, sql, (which.get(),), Columns::next::<u64>).await? else {
        return Ok(None);
    };
    sale_rows::get(conn, VoucherId::new(voucher), Lock::Yes).await?;
    first(conn, format!("{SELECT} WHERE entry = ? FOR UPDATE"), (which.get(),), dead_letter).await
}

/// Closes the letter. A closed letter holds no unit: the unit belongs to the order or was given back.
async fn close(
    conn: &mut Conn,
    which: DeadLetterId,
    state: DeadState,
    now: Timestamp,
) -> Result<(), MysqlError> {
    let sql = "UPDATE dead_letters SET state = ?, holds_unit = 0, closed_ms = ? WHERE entry = ?";
    execute(conn, sql, (state.number(), now.as_millis(), which.get())).await.map(drop)
}

fn dead_letter(row: &mut Columns) -> Result<DeadLetter, MysqlError> {
    Ok(DeadLetter {
        id: DeadLetterId::new(row.next()?),
        order: OrderId::new(row.next()?),
        voucher: VoucherId::new(row.next()?),
        user: UserId::new(row.next()?),
        claimed: row.time()?,
        reason: row.next()?,
        detail: row.next()?,
        attempts: row.next()?,
        holds_unit: row.next()?,
        created: row.time()?,
        state: row.known()?,
        closed: row.time_if_any()?,
    })
}
