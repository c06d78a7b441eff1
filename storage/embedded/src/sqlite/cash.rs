//! The [`CashSessions`] port on SQLite.

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::{
    Actor, CASH_REPORT_ACTION, CashAddOutcome, CashCount, CashDrawer, CashEntry, CashKind, CashReport,
    CashSession, CashSessionId, CashSessions, CashStepOutcome, CashTotals, Cents, CloseCashOutcome,
    NewCashEntry, OpenCashOutcome, OrderId, StoreError, StoredCashReport, TillName, Timestamp, Transition,
    TransitionOutcome, UnreadableCashReport, UserId,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::columns::{after as page_after, get_count, get_id, get_known, get_time, get_time_if_any, id};
use super::errors::{refuse, unreadable};
use super::order_rows::by_id;
use super::{Database, audit, steps};

pub(crate) struct EmbeddedCashSessions(Database);

impl EmbeddedCashSessions {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

/// Head of every query for sessions; [`session`] reads the columns.
const SELECT: &str = "SELECT id, till, opened_ms, opened_by, float_cents, sales, sale_count, refunds, refund_count,
    paid_in, paid_in_count, paid_out, paid_out_count, first_payment_ms, last_payment_ms, head, open_till IS NOT NULL
    FROM cash_sessions";
/// Head of every query for entries; [`entry`] reads the columns.
const SELECT_ENTRIES: &str =
    "SELECT session_id, number, kind, amount, order_id, reason, user_id, at_ms, request FROM cash_entries";

#[async_trait]
impl CashSessions for EmbeddedCashSessions {
    async fn open(
        &self,
        drawer: &CashDrawer,
        float: Cents,
        tills_max: u32,
        now: Timestamp,
    ) -> Result<OpenCashOutcome, StoreError> {
        let drawer = drawer.clone();
        let job = move |conn: &Connection| open(conn, &drawer, float, tills_max, now);
        self.0.write("open cash session", job).await
    }

    async fn open_sessions(&self) -> Result<Vec<CashSession>, StoreError> {
        let job = |conn: &Connection| {
            conn.prepare_cached(&format!("{SELECT} WHERE open_till IS NOT NULL ORDER BY till"))?
                .query_map([], session)?
                .collect()
        };
        self.0.read("open cash sessions", job).await
    }

    async fn entries(
        &self,
        of: CashSessionId,
        moves_only: bool,
        after: u64,
        max: u32,
    ) -> Result<Vec<CashEntry>, StoreError> {
        let lowest_kind = if moves_only { CashKind::PaidIn } else { CashKind::Sale }.number();
        let job = move |conn: &Connection| {
            conn.prepare_cached(&format!(
                "{SELECT_ENTRIES} WHERE session_id = ?1 AND number > ?2 AND kind >= ?3 ORDER BY number LIMIT ?4"
            ))?
            .query_map(params![id(of.get()), page_after(after), lowest_kind, max], entry)?
            .collect()
        };
        self.0.read("entries of a cash session", job).await
    }

    async fn add(
        &self,
        to: CashSessionId,
        new: &NewCashEntry,
        now: Timestamp,
    ) -> Result<CashAddOutcome, StoreError> {
        let new = new.clone();
        self.0.write("add to cash session", move |conn| add(conn, to, new, now)).await
    }

    async fn step(
        &self,
        order: OrderId,
        step: Transition,
        drawer: &CashDrawer,
        now: Timestamp,
    ) -> Result<CashStepOutcome, StoreError> {
        let drawer = drawer.clone();
        let job = move |conn: &Connection| take_step(conn, order, step, drawer, now);
        self.0.write("step in cash", job).await
    }

    async fn close(
        &self,
        which: CashSessionId,
        count: &CashCount,
        now: Timestamp,
    ) -> Result<CloseCashOutcome, StoreError> {
        let count = count.clone();
        self.0.write("close cash session", move |conn| close(conn, which, &count, now)).await
    }

    async fn reports(&self, before: Option<u64>, max: u32) -> Result<Vec<StoredCashReport>, StoreError> {
        let below = page_after(before.unwrap_or(u64::MAX));
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "SELECT number, body, digest FROM cash_reports WHERE number BETWEEN 1 AND ?1 - 1 ORDER BY number DESC LIMIT ?2",
            )?
            .query_map(params![below, max], stored_report)?
            .collect()
        };
        self.0.read("Z reports", job).await
    }
}

fn open(
    conn: &Connection,
    drawer: &CashDrawer,
    float: Cents,
    tills_max: u32,
    now: Timestamp,
) -> rusqlite::Result<OpenCashOutcome> {
    if let Some(open) = open_of(conn, &drawer.till)? {
        return Ok(OpenCashOutcome::AlreadyOpen(open));
    }
    let count = conn
        .prepare_cached("SELECT COUNT(*) FROM cash_sessions WHERE open_till IS NOT NULL")?
        .query_row([], |row| get_count(row, 0))?;
    if count >= u64::from(tills_max) {
        return Ok(OpenCashOutcome::TooManyTills);
    }
    let till = drawer.till.as_str();
    conn.prepare_cached(
        "INSERT INTO cash_sessions (till, open_till, opened_ms, opened_by, float_cents, head)
         VALUES (?1, ?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![till, now.as_millis(), id(drawer.by.get()), float.get(), [0_u8; 32]])?;
    let mut opened = open_of(conn, &drawer.till)?.ok_or_else(|| refuse("the new session is gone"))?;
    // Covers the id, which the database chose.
    opened.head = opened.opening_hash();
    conn.prepare_cached("UPDATE cash_sessions SET head = ?2 WHERE id = ?1")?
        .execute(params![id(opened.id.get()), opened.head])?;
    Ok(OpenCashOutcome::Opened(opened))
}

fn add(
    conn: &Connection,
    to: CashSessionId,
    new: NewCashEntry,
    now: Timestamp,
) -> rusqlite::Result<CashAddOutcome> {
    let Some((session, is_open)) = by_session(conn, to)? else { return Ok(CashAddOutcome::Unknown) };
    let made = conn
        .prepare_cached(&format!("{SELECT_ENTRIES} WHERE session_id = ?1 AND request = ?2"))?
        .query_row(params![id(to.get()), new.request], entry)
        .optional()?;
    if let Some(made) = made {
        return Ok(CashAddOutcome::after(&made, &new, session));
    }
    if !is_open {
        return Ok(CashAddOutcome::Closed(report_of(conn, to)?.map_or(0, |(_, report)| report.number)));
    }
    match session.plan(new, now) {
        Err(limit) => Ok(CashAddOutcome::Limit(limit)),
        Ok((after, entry)) => {
            write(conn, &after, &entry)?;
            Ok(CashAddOutcome::Added(after))
        }
    }
}

fn take_step(
    conn: &Connection,
    which: OrderId,
    step: Transition,
    drawer: CashDrawer,
    now: Timestamp,
) -> rusqlite::Result<CashStepOutcome> {
    let Some(order) = by_id(conn, which)? else {
        return Ok(CashStepOutcome::Stepped(TransitionOutcome::Unknown));
    };
    // A repeat succeeds without a session too.
    if let Err(order) = step.plan(order.clone(), now) {
        return Ok(CashStepOutcome::Stepped(TransitionOutcome::Stands(order)));
    }
    let Some(session) = open_of(conn, &drawer.till)? else {
        if conn.prepare_cached("SELECT 1 FROM cash_sessions LIMIT 1")?.exists([])? {
            return Ok(CashStepOutcome::NoSession);
        }
        return steps::step(conn, which, step, now).map(CashStepOutcome::Stepped);
    };
    match session.plan(NewCashEntry::of_step(&order, step, drawer.by), now) {
        Err(limit) => Ok(CashStepOutcome::Limit(limit)),
        Ok((after, entry)) => {
            let stepped = steps::step(conn, which, step, now)?;
            write(conn, &after, &entry)?;
            Ok(CashStepOutcome::Stepped(stepped))
        }
    }
}

/// Writes an entry, and the session after the entry.
fn write(conn: &Connection, after: &CashSession, entry: &CashEntry) -> rusqlite::Result<()> {
    let CashEntry { session, number, kind, amount, order, reason, by, at, request } = entry;
    conn.prepare_cached(
        "INSERT INTO cash_entries (session_id, number, kind, amount, order_id, reason, user_id, at_ms, request)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        id(session.get()),
        id(*number),
        kind.number(),
        amount.get(),
        order.map(|order| id(order.get())),
        reason,
        id(by.get()),
        at.as_millis(),
        request
    ])?;
    let totals = &after.totals;
    conn.prepare_cached(
        "UPDATE cash_sessions SET sales = ?2, sale_count = ?3, refunds = ?4, refund_count = ?5, paid_in = ?6,
           paid_in_count = ?7, paid_out = ?8, paid_out_count = ?9, first_payment_ms = ?10, last_payment_ms = ?11,
           head = ?12 WHERE id = ?1",
    )?
    .execute(params![
        id(after.id.get()),
        totals.sales.get(),
        id(totals.sale_count),
        totals.refunds.get(),
        id(totals.refund_count),
        totals.paid_in.get(),
        id(totals.paid_in_count),
        totals.paid_out.get(),
        id(totals.paid_out_count),
        after.first_payment.map(Timestamp::as_millis),
        after.last_payment.map(Timestamp::as_millis),
        after.head
    ])
    .map(drop)
}

fn close(
    conn: &Connection,
    which: CashSessionId,
    count: &CashCount,
    now: Timestamp,
) -> rusqlite::Result<CloseCashOutcome> {
    let Some((session, is_open)) = by_session(conn, which)? else { return Ok(CloseCashOutcome::Unknown) };
    if let Some((request, report)) = report_of(conn, which)? {
        return Ok(count.after(request.as_bytes(), report));
    }
    if !is_open {
        return Ok(CloseCashOutcome::ClosedBefore(0));
    }
    let expected = session.expected();
    if expected != count.expected {
        return Ok(CloseCashOutcome::Changed(expected));
    }
    let last = conn
        .prepare_cached("SELECT COALESCE(MAX(number), 0) FROM cash_reports")?
        .query_row([], |row| get_count(row, 0))?;
    let number = last.checked_add(1).ok_or_else(|| refuse("no number is left for a Z report"))?;
    let report = count.report(number, session, now);
    conn.prepare_cached(
        "INSERT INTO cash_reports (number, session_id, request, body, digest) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![id(number), id(which.get()), count.request, report.body(), report.digest()])?;
    conn.prepare_cached("UPDATE cash_sessions SET open_till = NULL WHERE id = ?1")?
        .execute([id(which.get())])?;
    let (subject, detail) = report.audit_text();
    audit::append(conn, now, Actor::User(count.by), CASH_REPORT_ACTION.to_owned(), subject, detail)?;
    Ok(CloseCashOutcome::Closed(report))
}

fn open_of(conn: &Connection, till: &TillName) -> rusqlite::Result<Option<CashSession>> {
    conn.prepare_cached(&format!("{SELECT} WHERE open_till = ?1"))?
        .query_row([till.as_str()], session)
        .optional()
}

/// Returns a session, and whether the session is open.
fn by_session(conn: &Connection, which: CashSessionId) -> rusqlite::Result<Option<(CashSession, bool)>> {
    conn.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?
        .query_row([id(which.get())], |row| Ok((session(row)?, row.get(16)?)))
        .optional()
}

/// Returns the report of a session, with the key under which the report was written.
fn report_of(conn: &Connection, which: CashSessionId) -> rusqlite::Result<Option<(String, CashReport)>> {
    conn.prepare_cached("SELECT number, body, digest, request FROM cash_reports WHERE session_id = ?1")?
        .query_row([id(which.get())], |row| Ok((row.get(3)?, report(row)?)))
        .optional()
}

fn session(row: &Row<'_>) -> rusqlite::Result<CashSession> {
    let till: String = row.get(1)?;
    let cents = |column| row.get(column).map(Cents::new);
    Ok(CashSession {
        id: CashSessionId::new(get_id(row, 0)?),
        till: TillName::parse(&till).ok_or_else(|| unreadable(1, till))?,
        opened: get_time(row, 2)?,
        opened_by: UserId::new(get_id(row, 3)?),
        float: cents(4)?,
        totals: CashTotals {
            sales: cents(5)?,
            sale_count: get_count(row, 6)?,
            refunds: cents(7)?,
            refund_count: get_count(row, 8)?,
            paid_in: cents(9)?,
            paid_in_count: get_count(row, 10)?,
            paid_out: cents(11)?,
            paid_out_count: get_count(row, 12)?,
        },
        first_payment: get_time_if_any(row, 13)?,
        last_payment: get_time_if_any(row, 14)?,
        head: row.get(15)?,
    })
}

fn entry(row: &Row<'_>) -> rusqlite::Result<CashEntry> {
    Ok(CashEntry {
        session: CashSessionId::new(get_id(row, 0)?),
        number: get_count(row, 1)?,
        kind: get_known(row, 2)?,
        amount: Cents::new(row.get(3)?),
        order: row.get::<_, Option<i64>>(4)?.map(|order| OrderId::new(order.cast_unsigned())),
        reason: row.get(5)?,
        by: UserId::new(get_id(row, 6)?),
        at: get_time(row, 7)?,
        request: row.get(8)?,
    })
}

fn report(row: &Row<'_>) -> rusqlite::Result<CashReport> {
    stored_report(row)?.map_err(|error| unreadable(1, error))
}

/// Reads any stored text: an unreadable one must not hide the other reports.
fn stored_report(row: &Row<'_>) -> rusqlite::Result<StoredCashReport> {
    let number = get_count(row, 0)?;
    let (body, digest): (Option<String>, Option<Vec<u8>>) = (row.get(1).ok(), row.get(2).ok());
    let whole = body.zip(digest).and_then(|(body, digest)| CashReport::of_body(number, &body, &digest));
    Ok(whole.ok_or(UnreadableCashReport { number }))
}
