//! [`Audit`] in the record.

use async_trait::async_trait;
use mysql_async::Conn;

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::job::run;
use super::trouble::Fault;
use crate::audit::ChainWalk;
use crate::{Actor, Audit, AuditCheck, AuditEntry, StoreError, Timestamp, UserId};

pub(super) struct MysqlAudit(pub(super) Database);

/// Every query for entries begins with it; [`entry`] reads it, from the second column on.
const SELECT: &str = "SELECT number, at_ms, user_id, action, subject, detail, hash FROM audit";
/// Entries that are read at once on a walk along the chain.
const STRETCH: u64 = 5_000;

/// An entry's number and hash.
type Place = (u64, [u8; 32]);

#[async_trait]
impl Audit for MysqlAudit {
    async fn append(
        &self,
        at: Timestamp,
        actor: Actor,
        action: &str,
        subject: &str,
        detail: &str,
    ) -> Result<AuditEntry, StoreError> {
        self.0
            .write("append to audit log", |conn| {
                run(async move {
                    let (last, previous) = end(conn).await?;
                    let number =
                        last.checked_add(1).ok_or_else(|| Fault::refused("the audit log is full"))?;
                    let (action, subject, detail) =
                        (action.to_owned(), subject.to_owned(), detail.to_owned());
                    let mut entry = AuditEntry { number, at, actor, action, subject, detail, hash: [0; 32] };
                    entry.hash = entry.hash_after(&previous);
                    insert(conn, &entry).await?;
                    Ok(entry)
                })
            })
            .await
    }

    async fn page(&self, before: Option<u64>, max: u32) -> Result<Vec<AuditEntry>, StoreError> {
        let sql: &str = &format!("{SELECT} WHERE number < ? ORDER BY number DESC LIMIT ?");
        let which = (before.unwrap_or(u64::MAX), max);
        self.0.read("audit log", |conn| run(async move { all(conn, sql, which, numbered).await })).await
    }

    async fn verify(&self) -> Result<AuditCheck, StoreError> {
        self.0.look("verify audit log", |conn| run(verify(conn))).await
    }
}

/// What the next entry follows. Where head and entries disagree, whichever goes further, and the head if neither does:
/// so an append never makes good what was tampered with. Nobody else appends until the transaction ends.
async fn end(conn: &mut Conn) -> Result<Place, Fault> {
    // This locks the head, made here if it is not there.
    let sql = "INSERT INTO audit_head (one, number, hash) VALUES (1, 0, ?) ON DUPLICATE KEY UPDATE one = one";
    execute(conn, sql, (AuditEntry::BEGINNING.as_slice(),)).await?;
    let last = "SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1";
    let last = first(conn, last, (), place).await?.unwrap_or((0, AuditEntry::BEGINNING));
    let head = head(conn).await?;
    Ok(if last.0 > head.0 { last } else { head })
}

async fn head(conn: &mut Conn) -> Result<Place, Fault> {
    let head = first(conn, "SELECT number, hash FROM audit_head", (), place).await?;
    Ok(head.unwrap_or((0, AuditEntry::BEGINNING)))
}

/// Whatever was put there: what no mall wrote must not stop the log, and fits nothing.
fn place(row: &mut Columns) -> Result<Place, Fault> {
    let (number, hash): (u64, Vec<u8>) = (row.next()?, row.next()?);
    Ok((number, hash.try_into().unwrap_or(AuditEntry::BEGINNING)))
}

async fn insert(conn: &mut Conn, entry: &AuditEntry) -> Result<(), Fault> {
    let user = match entry.actor {
        Actor::User(user) => Some(user.get()),
        Actor::CommandLine => None,
    };
    let AuditEntry { number, at, action, subject, detail, hash, .. } = entry;
    let sql = "INSERT INTO audit (number, at_ms, user_id, action, subject, detail, hash) VALUES (?, ?, ?, ?, ?, ?, ?)";
    let row = (number, at.as_millis(), user, action, subject, detail, hash.as_slice());
    execute(conn, sql, row).await?;
    let sql = "UPDATE audit_head SET number = ?, hash = ? WHERE one = 1";
    execute(conn, sql, (number, hash.as_slice())).await.map(drop)
}

async fn verify(conn: &mut Conn) -> Result<AuditCheck, Fault> {
    let mut walk = ChainWalk::new();
    let sql = format!("{SELECT} WHERE number >= ? ORDER BY number LIMIT ?");
    let mut from = 0;
    loop {
        let stretch = all(conn, &*sql, (from, STRETCH), |row| {
            let number: u64 = row.next()?;
            Ok((number, entry(number, row).ok()))
        });
        let stretch = stretch.await?;
        let all_fit = stretch.iter().all(|(number, entry)| walk.meets(*number, entry.as_ref()));
        if !all_fit || (stretch.len() as u64) < STRETCH {
            return Ok(walk.end(head(conn).await?));
        }
        from = walk.next();
    }
}

fn numbered(row: &mut Columns) -> Result<AuditEntry, Fault> {
    let number = row.next()?;
    entry(number, row)
}

fn entry(number: u64, row: &mut Columns) -> Result<AuditEntry, Fault> {
    Ok(AuditEntry {
        number,
        at: row.time()?,
        actor: match row.next::<Option<u64>>()? {
            None => Actor::CommandLine,
            Some(user) => Actor::User(UserId::new(user)),
        },
        action: row.next()?,
        subject: row.next()?,
        detail: row.next()?,
        hash: match <[u8; 32]>::try_from(row.next::<Vec<u8>>()?) {
            Ok(hash) => hash,
            Err(other) => return Err(row.unreadable_last(format_args!("{} bytes", other.len()))),
        },
    })
}
