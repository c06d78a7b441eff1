//! The [`Audit`] port on SQLite.

use async_trait::async_trait;
use mallbox_storage::backend::ChainVerifier;
use mallbox_storage::{Actor, Audit, AuditCheck, AuditEntry, StoreError, Timestamp, UserId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::Database;
use super::columns::{after, get_count, get_id, get_time, id};
use super::errors::refuse;

pub(crate) struct EmbeddedAudit(Database);

impl EmbeddedAudit {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

/// Head of every query for entries; [`entry`] reads the columns.
const SELECT: &str = "SELECT number, at_ms, user_id, action, subject, detail, hash FROM audit";

#[async_trait]
impl Audit for EmbeddedAudit {
    async fn append(
        &self,
        at: Timestamp,
        actor: Actor,
        action: &str,
        subject: &str,
        detail: &str,
    ) -> Result<AuditEntry, StoreError> {
        let (action, subject, detail) = (action.to_owned(), subject.to_owned(), detail.to_owned());
        let job = move |conn: &Connection| append(conn, at, actor, action, subject, detail);
        self.0.write("append to audit log", job).await
    }

    async fn page(&self, before: Option<u64>, max: u32) -> Result<Vec<AuditEntry>, StoreError> {
        let below = after(before.unwrap_or(u64::MAX));
        let job = move |conn: &Connection| {
            conn.prepare_cached(&format!("{SELECT} WHERE number < ?1 ORDER BY number DESC LIMIT ?2"))?
                .query_map(params![below, max], entry)?
                .collect()
        };
        self.0.read("audit log", job).await
    }

    async fn verify(&self) -> Result<AuditCheck, StoreError> {
        self.0.read("verify audit log", verify).await
    }
}

/// Appends an entry in the caller's transaction.
pub(super) fn append(
    conn: &Connection,
    at: Timestamp,
    actor: Actor,
    action: String,
    subject: String,
    detail: String,
) -> rusqlite::Result<AuditEntry> {
    let (last, previous) = end(conn)?;
    let number = last.checked_add(1).ok_or_else(|| refuse("the audit log is full"))?;
    let mut entry = AuditEntry { number, at, actor, action, subject, detail, hash: [0; 32] };
    entry.hash = entry.hash_after(&previous);
    insert(conn, &entry)?;
    Ok(entry)
}

/// Returns number and hash of the entry that the next entry follows. If head and entries disagree, the
/// higher number wins, and the head wins a tie: an append never hides tampering.
fn end(conn: &Connection) -> rusqlite::Result<(u64, [u8; 32])> {
    let last = conn
        .prepare_cached("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1")?
        .query_row([], place)
        .optional()?;
    let head = head(conn)?;
    let further = match (head, last) {
        (Some(head), Some(last)) if last.0 > head.0 => Some(last),
        (Some(head), _) => Some(head),
        (None, last) => last,
    };
    Ok(further.unwrap_or((0, AuditEntry::GENESIS_HASH)))
}

fn head(conn: &Connection) -> rusqlite::Result<Option<(u64, [u8; 32])>> {
    conn.prepare_cached("SELECT number, hash FROM audit_head")?.query_row([], place).optional()
}

/// Reads number and hash, tolerating any value: rows not written by a mall must not stop the log, and match
/// no chain.
fn place(row: &Row<'_>) -> rusqlite::Result<(u64, [u8; 32])> {
    let (number, hash): (i64, Vec<u8>) = (row.get(0)?, row.get(1)?);
    Ok((u64::try_from(number).unwrap_or(0), hash.try_into().unwrap_or(AuditEntry::GENESIS_HASH)))
}

fn insert(conn: &Connection, entry: &AuditEntry) -> rusqlite::Result<()> {
    let user = match entry.actor {
        Actor::User(user) => Some(id(user.get())),
        Actor::CommandLine => None,
    };
    let AuditEntry { number, at, action, subject, detail, hash, .. } = entry;
    conn.prepare_cached(
        "INSERT INTO audit (number, at_ms, user_id, action, subject, detail, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![id(*number), at.as_millis(), user, action, subject, detail, hash])?;
    conn.prepare_cached(
        "INSERT INTO audit_head (one, number, hash) VALUES (1, ?1, ?2)
         ON CONFLICT (one) DO UPDATE SET number = excluded.number, hash = excluded.hash",
    )?
    .execute(params![id(*number), hash])
    .map(drop)
}

fn verify(conn: &Connection) -> rusqlite::Result<AuditCheck> {
    let mut walk = ChainVerifier::new();
    let mut statement = conn.prepare_cached(&format!("{SELECT} ORDER BY number"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        // A negative number is neither the next number nor a gap.
        let number = u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0);
        if !walk.meets(number, entry(row).ok().as_ref()) {
            break;
        }
    }
    Ok(walk.end(head(conn)?.unwrap_or((0, AuditEntry::GENESIS_HASH))))
}

fn entry(row: &Row<'_>) -> rusqlite::Result<AuditEntry> {
    Ok(AuditEntry {
        number: get_count(row, 0)?,
        at: get_time(row, 1)?,
        actor: match row.get::<_, Option<i64>>(2)? {
            None => Actor::CommandLine,
            Some(_) => Actor::User(UserId::new(get_id(row, 2)?)),
        },
        action: row.get(3)?,
        subject: row.get(4)?,
        detail: row.get(5)?,
        hash: row.get(6)?,
    })
}
