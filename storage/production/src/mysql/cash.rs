//! [`CashSessions`] in MySQL.
//!
//! A transaction that changes a session locks the session's row; a step locks the order's row first. The row
//! of the audit log's head, locked last, keeps the numbers of Z reports without a gap, the number of open
//! tills exact, and the mall's first session apart from payments that find none.

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::{
    Actor, CASH_REPORT_ACTION, CashAddOutcome, CashCount, CashDrawer, CashEntry, CashKind, CashReport,
    CashSession, CashSessionId, CashSessions, CashStepOutcome, CashTotals, Cents, CloseCashOutcome,
    NewCashEntry, OpenCashOutcome, OrderId, StoreError, StoredCashReport, TillName, Timestamp, Transition,
    TransitionOutcome, UnreadableCashReport, UserId,
};
use mysql_async::{Conn, Value};

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::event_rows::EventSwitch;
use super::job::boxed;
use super::{audit, order_rows, steps};

pub(super) struct MysqlCashSessions(pub(super) Database);

/// Start of every query for sessions; read by [`session`].
const SELECT: &str =
    "SELECT id, till, opened_ms, opened_by, float_cents, sales, sale_count, refunds, refund_count,
    paid_in, paid_in_count, paid_out, paid_out_count, first_payment_ms, last_payment_ms, head,
    CASE WHEN open_till IS NULL THEN 0 ELSE 1 END FROM cash_sessions";
/// Start of every query for entries; read by [`entry`].
const SELECT_ENTRIES: &str =
    "SELECT session_id, number, kind, amount, order_id, reason, user_id, at_ms, request FROM cash_entries";

#[async_trait]
impl CashSessions for MysqlCashSessions {
    async fn open(
        &self,
        drawer: &CashDrawer,
        float: Cents,
        tills_max: u32,
        now: Timestamp,
    ) -> Result<OpenCashOutcome, StoreError> {
        self.0
            .write("open cash session", |conn| {
                boxed(async move { open(conn, drawer, float, tills_max, now).await })
            })
            .await
    }

    async fn open_sessions(&self) -> Result<Vec<CashSession>, StoreError> {
        let sql: &str = &format!("{SELECT} WHERE open_till IS NOT NULL ORDER BY till");
        self.0
            .read("open cash sessions", |conn| boxed(async move { all(conn, sql, (), session).await }))
            .await
    }

    async fn entries(
        &self,
        of: CashSessionId,
        moves_only: bool,
        after: u64,
        max: u32,
    ) -> Result<Vec<CashEntry>, StoreError> {
        let lowest_kind = if moves_only { CashKind::PaidIn } else { CashKind::Sale }.number();
        let sql: &str = &format!(
            "{SELECT_ENTRIES} WHERE session_id = ? AND number > ? AND kind >= ? ORDER BY number LIMIT ?"
        );
        let which = (of.get(), after, lowest_kind, max);
        self.0
            .read("entries of a cash session", |conn| {
                boxed(async move { all(conn, sql, which, entry).await })
            })
            .await
    }

    async fn add(
        &self,
        to: CashSessionId,
        new: &NewCashEntry,
        now: Timestamp,
    ) -> Result<CashAddOutcome, StoreError> {
        self.0
            .write("add to cash session", |conn| boxed(async move { add(conn, to, new.clone(), now).await }))
            .await
    }

    async fn step(
        &self,
        order: OrderId,
        step: Transition,
        drawer: &CashDrawer,
        now: Timestamp,
    ) -> Result<CashStepOutcome, StoreError> {
        let events = self.0.events();
        self.0
            .write("step in cash", |conn| {
                boxed(async move { take_step(conn, order, step, drawer, now, events).await })
            })
            .await
    }

    async fn close(
        &self,
        which: CashSessionId,
        count: &CashCount,
        now: Timestamp,
    ) -> Result<CloseCashOutcome, StoreError> {
        self.0
            .write("close cash session", |conn| boxed(async move { close(conn, which, count, now).await }))
            .await
    }

    async fn reports(&self, before: Option<u64>, max: u32) -> Result<Vec<StoredCashReport>, StoreError> {
        let sql =
            "SELECT number, body, digest FROM cash_reports WHERE number < ? ORDER BY number DESC LIMIT ?";
        let which = (before.unwrap_or(u64::MAX), max);
        self.0
            .read("Z reports", |conn| boxed(async move { all(conn, sql, which, stored_report).await }))
            .await
    }
}

async fn open(
    conn: &mut Conn,
    drawer: &CashDrawer,
    float: Cents,
    tills_max: u32,
    now: Timestamp,
) -> Result<OpenCashOutcome, MysqlError> {
    // Other openings, and payments that found no session, wait until the transaction ends. No session is
    // locked afterwards: a closing locks in the other order.
    audit::lock_head(conn).await?;
    if let Some(open) = seen_of(conn, &drawer.till).await? {
        return Ok(OpenCashOutcome::AlreadyOpen(open));
    }
    let sql = "SELECT COUNT(*) FROM cash_sessions WHERE open_till IS NOT NULL";
    if first(conn, sql, (), Columns::count).await?.unwrap_or_default() >= u64::from(tills_max) {
        return Ok(OpenCashOutcome::TooManyTills);
    }
    let sql = "INSERT INTO cash_sessions (till, open_till, opened_ms, opened_by, float_cents, head)
               VALUES (?, ?, ?, ?, ?, ?)";
    let till = drawer.till.as_str();
    let row = (till, till, now.as_millis(), drawer.by.get(), float.get(), [0_u8; 32].as_slice());
    execute(conn, sql, row).await?;
    let mut opened =
        seen_of(conn, &drawer.till).await?.ok_or_else(|| MysqlError::refused("the new session is gone"))?;
    // Covers the id, which the database chose.
    opened.head = opened.opening_hash();
    let sql = "UPDATE cash_sessions SET head = ? WHERE id = ?";
    execute(conn, sql, (opened.head.as_slice(), opened.id.get())).await?;
    Ok(OpenCashOutcome::Opened(opened))
}

async fn add(
    conn: &mut Conn,
    to: CashSessionId,
    new: NewCashEntry,
    now: Timestamp,
) -> Result<CashAddOutcome, MysqlError> {
    let Some((session, is_open)) = by_session(conn, to).await? else { return Ok(CashAddOutcome::Unknown) };
    if let Some(request) = &new.request {
        let sql = format!("{SELECT_ENTRIES} WHERE session_id = ? AND request = ?");
        let key = (to.get(), request.as_bytes());
        if let Some(made) = first(conn, sql, key, entry).await? {
            return Ok(CashAddOutcome::after(&made, &new, session));
        }
    }
    if !is_open {
        let report = report_of(conn, to).await?;
        return Ok(CashAddOutcome::Closed(report.map_or(0, |(_, report)| report.number)));
    }
    match session.plan(new, now) {
        Err(limit) => Ok(CashAddOutcome::Limit(limit)),
        Ok((after, entry)) => {
            write(conn, &after, &entry).await?;
            Ok(CashAddOutcome::Added(after))
        }
    }
}

async fn take_step(
    conn: &mut Conn,
    which: OrderId,
    step: Transition,
    drawer: &CashDrawer,
    now: Timestamp,
    events: EventSwitch,
) -> Result<CashStepOutcome, MysqlError> {
    let sql = format!("{} WHERE id = ? FOR UPDATE", order_rows::SELECT);
    let Some(order) = first(conn, sql, (which.get(),), order_rows::order).await? else {
        return Ok(CashStepOutcome::Stepped(TransitionOutcome::Unknown));
    };
    // A repeat succeeds without a session too.
    if let Err(order) = step.plan(order.clone(), now) {
        return Ok(CashStepOutcome::Stepped(TransitionOutcome::Stands(order)));
    }
    let mut found = open_of(conn, &drawer.till).await?;
    if found.is_none() && !has_sessions(conn).await? {
        // The mall's first session opens after this transaction, or is seen from here on.
        audit::share_head(conn).await?;
        if !has_sessions(conn).await? {
            return steps::step(conn, which, step, now, events).await.map(CashStepOutcome::Stepped);
        }
        found = open_of(conn, &drawer.till).await?;
    }
    let Some((session, _)) = found else { return Ok(CashStepOutcome::NoSession) };
    match session.plan(NewCashEntry::of_step(&order, step, drawer.by), now) {
        Err(limit) => Ok(CashStepOutcome::Limit(limit)),
        Ok((after, entry)) => {
            let stepped = steps::step(conn, which, step, now, events).await?;
            write(conn, &after, &entry).await?;
            Ok(CashStepOutcome::Stepped(stepped))
        }
    }
}

/// Writes an entry, and the session after the entry.
async fn write(conn: &mut Conn, after: &CashSession, entry: &CashEntry) -> Result<(), MysqlError> {
    let CashEntry { session, number, kind, amount, order, reason, by, at, request } = entry;
    let sql =
        "INSERT INTO cash_entries (session_id, number, kind, amount, order_id, reason, user_id, at_ms, request)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let row = (
        session.get(),
        number,
        kind.number(),
        amount.get(),
        order.map(OrderId::get),
        reason,
        by.get(),
        at.as_millis(),
        request.as_ref().map(String::as_bytes),
    );
    execute(conn, sql, row).await?;
    let sql = "UPDATE cash_sessions SET sales = ?, sale_count = ?, refunds = ?, refund_count = ?, paid_in = ?,
                 paid_in_count = ?, paid_out = ?, paid_out_count = ?, first_payment_ms = ?, last_payment_ms = ?,
                 head = ? WHERE id = ?";
    let totals = &after.totals;
    let values: Vec<Value> = vec![
        totals.sales.get().into(),
        totals.sale_count.into(),
        totals.refunds.get().into(),
        totals.refund_count.into(),
        totals.paid_in.get().into(),
        totals.paid_in_count.into(),
        totals.paid_out.get().into(),
        totals.paid_out_count.into(),
        after.first_payment.map(Timestamp::as_millis).into(),
        after.last_payment.map(Timestamp::as_millis).into(),
        after.head.as_slice().into(),
        after.id.get().into(),
    ];
    execute(conn, sql, values).await.map(drop)
}

async fn close(
    conn: &mut Conn,
    which: CashSessionId,
    count: &CashCount,
    now: Timestamp,
) -> Result<CloseCashOutcome, MysqlError> {
    let Some((session, is_open)) = by_session(conn, which).await? else {
        return Ok(CloseCashOutcome::Unknown);
    };
    if let Some((request, report)) = report_of(conn, which).await? {
        return Ok(count.after(&request, report));
    }
    if !is_open {
        return Ok(CloseCashOutcome::ClosedBefore(0));
    }
    let expected = session.expected();
    if expected != count.expected {
        return Ok(CloseCashOutcome::Changed(expected));
    }
    // Until the end of the transaction, no other report gets a number.
    audit::lock_head(conn).await?;
    let last = first(conn, "SELECT MAX(number) FROM cash_reports", (), Columns::next::<Option<u64>>);
    let last = last.await?.flatten().unwrap_or(0);
    let number =
        last.checked_add(1).ok_or_else(|| MysqlError::refused("no number is left for a Z report"))?;
    let report = count.report(number, session, now);
    let sql = "INSERT INTO cash_reports (number, session_id, request, body, digest) VALUES (?, ?, ?, ?, ?)";
    let digest = report.digest();
    let row = (number, which.get(), count.request.as_bytes(), report.body(), digest.as_slice());
    execute(conn, sql, row).await?;
    execute(conn, "UPDATE cash_sessions SET open_till = NULL WHERE id = ?", (which.get(),)).await?;
    let (subject, detail) = report.audit_text();
    audit::append(conn, now, Actor::User(count.by), CASH_REPORT_ACTION, &subject, &detail).await?;
    Ok(CloseCashOutcome::Closed(report))
}

/// Returns whether the mall ever opened a session.
async fn has_sessions(conn: &mut Conn) -> Result<bool, MysqlError> {
    let sql = "SELECT id FROM cash_sessions LIMIT 1";
    Ok(first(conn, sql, (), Columns::next::<u64>).await?.is_some())
}

/// Returns the open session of a till, without a lock.
async fn seen_of(conn: &mut Conn, till: &TillName) -> Result<Option<CashSession>, MysqlError> {
    first(conn, format!("{SELECT} WHERE open_till = ?"), (till.as_str(),), session).await
}

/// Returns the open session of a till, and locks the row.
async fn open_of(conn: &mut Conn, till: &TillName) -> Result<Option<(CashSession, bool)>, MysqlError> {
    let sql = format!("{SELECT} WHERE open_till = ? FOR UPDATE");
    first(conn, sql, (till.as_str(),), session_and_state).await
}

/// Returns a session and whether the session is open, and locks the row.
async fn by_session(
    conn: &mut Conn,
    which: CashSessionId,
) -> Result<Option<(CashSession, bool)>, MysqlError> {
    first(conn, format!("{SELECT} WHERE id = ? FOR UPDATE"), (which.get(),), session_and_state).await
}

/// Returns the report of a session, with the key under which the report was written.
async fn report_of(
    conn: &mut Conn,
    which: CashSessionId,
) -> Result<Option<(Vec<u8>, CashReport)>, MysqlError> {
    let sql = "SELECT number, body, digest, request FROM cash_reports WHERE session_id = ?";
    let read = |row: &mut Columns| {
        let report = report(row)?;
        Ok((row.next()?, report))
    };
    first(conn, sql, (which.get(),), read).await
}

fn session_and_state(row: &mut Columns) -> Result<(CashSession, bool), MysqlError> {
    Ok((session(row)?, row.next::<i64>()? == 1))
}

fn session(row: &mut Columns) -> Result<CashSession, MysqlError> {
    Ok(CashSession {
        id: CashSessionId::new(row.next()?),
        till: {
            let till: String = row.next()?;
            TillName::parse(&till).ok_or_else(|| row.unreadable_last(till))?
        },
        opened: row.time()?,
        opened_by: UserId::new(row.next()?),
        float: Cents::new(row.next()?),
        totals: CashTotals {
            sales: Cents::new(row.next()?),
            sale_count: row.count()?,
            refunds: Cents::new(row.next()?),
            refund_count: row.count()?,
            paid_in: Cents::new(row.next()?),
            paid_in_count: row.count()?,
            paid_out: Cents::new(row.next()?),
            paid_out_count: row.count()?,
        },
        first_payment: row.time_if_any()?,
        last_payment: row.time_if_any()?,
        head: match <[u8; 32]>::try_from(row.next::<Vec<u8>>()?) {
            Ok(head) => head,
            Err(other) => return Err(row.unreadable_last(format_args!("{} bytes", other.len()))),
        },
    })
}

fn entry(row: &mut Columns) -> Result<CashEntry, MysqlError> {
    Ok(CashEntry {
        session: CashSessionId::new(row.next()?),
        number: row.next()?,
        kind: row.known()?,
        amount: Cents::new(row.next()?),
        order: row.next::<Option<u64>>()?.map(OrderId::new),
        reason: row.next()?,
        by: UserId::new(row.next()?),
        at: row.time()?,
        request: match row.next::<Option<Vec<u8>>>()?.map(String::from_utf8).transpose() {
            Ok(request) => request,
            Err(error) => return Err(row.unreadable_last(error)),
        },
    })
}

fn report(row: &mut Columns) -> Result<CashReport, MysqlError> {
    stored_report(row)?.map_err(|error| row.unreadable_last(error))
}

/// Reads any stored text: an unreadable one must not hide the other reports.
fn stored_report(row: &mut Columns) -> Result<StoredCashReport, MysqlError> {
    let number = row.next()?;
    let (body, digest): (Option<String>, Option<Vec<u8>>) = (row.next().ok(), row.next().ok());
    let whole = body.zip(digest).and_then(|(body, digest)| CashReport::of_body(number, &body, &digest));
    Ok(whole.ok_or(UnreadableCashReport { number }))
}
