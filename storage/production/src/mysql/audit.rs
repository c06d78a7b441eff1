//! [`Audit`] in MySQL.

use async_trait::async_trait;
use mallbox_storage::backend::ChainVerifier;
use mallbox_storage::{Actor, Audit, AuditCheck, AuditEntry, StoreError, Timestamp, UserId};
use mysql_async::Conn;

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;

pub(super) struct MysqlAudit(pub(super) Database);

/// Start of every query for entries; [`entry`] reads the columns from the second on.
const SELECT: &str = "SELECT number, at_ms, user_id, action, subject, detail, hash FROM audit";
/// Entries per page of a chain verification.
const VERIFY_PAGE: u64 = 5_000;

/// Number and hash of an entry.
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
                boxed(async move { append(conn, at, actor, action, subject, detail).await })
            })
            .await
    }

    async fn page(&self, before: Option<u64>, max: u32) -> Result<Vec<AuditEntry>, StoreError> {
        let sql: &str = &format!("{SELECT} WHERE number < ? ORDER BY number DESC LIMIT ?");
        let which = (before.unwrap_or(u64::MAX), max);
        self.0.read("audit log", |conn| boxed(async move { all(conn, sql, which, numbered).await })).await
    }

    async fn verify(&self) -> Result<AuditCheck, StoreError> {
        self.0.look("verify audit log", |conn| boxed(verify(conn))).await
    }
}

/// Appends an entry in the caller's transaction.
pub(super) async fn append(
    conn: &mut Conn,
    at: Timestamp,
    actor: Actor,
    action: &str,
    subject: &str,
    detail: &str,
) -> Result<AuditEntry, MysqlError> {
    let (last, previous) = end(conn).await?;
    let number = last.checked_add(1).ok_or_else(|| MysqlError::refused("the audit log is full"))?;
    let (action, subject, detail) = (action.to_owned(), subject.to_owned(), detail.to_owned());
    let mut entry = AuditEntry { number, at, actor, action, subject, detail, hash: [0; 32] };
    entry.hash = entry.hash_after(&previous);
    insert(conn, &entry).await?;
    Ok(entry)
}

/// Keeps other appends out until the transaction ends.
pub(super) async fn lock_head(conn: &mut Conn) -> Result<(), MysqlError> {
    // Inserts the head if missing, and locks the row.
    let sql = "INSERT INTO audit_head (one, number, hash) VALUES (1, 0, ?) ON DUPLICATE KEY UPDATE one = one";
    execute(conn, sql, (AuditEntry::GENESIS_HASH.as_slice(),)).await.map(drop)
}

/// Keeps appends, and [`lock_head`], out until the transaction ends, and admits other calls of this function.
/// The transaction must not append.
pub(super) async fn share_head(conn: &mut Conn) -> Result<(), MysqlError> {
    let sql = "INSERT IGNORE INTO audit_head (one, number, hash) VALUES (1, 0, ?)";
    execute(conn, sql, (AuditEntry::GENESIS_HASH.as_slice(),)).await?;
    let sql = "SELECT number FROM audit_head WHERE one = 1 LOCK IN SHARE MODE";
    first(conn, sql, (), Columns::next::<u64>).await.map(drop)
}

/// Returns the place that the next entry follows, and keeps other appends out until the transaction ends.
/// Where head and entries disagree, the greater number counts, and the head if the numbers are equal: an
/// append never repairs the traces of tampering.
async fn end(conn: &mut Conn) -> Result<Place, MysqlError> {
    lock_head(conn).await?;
    let last = "SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1";
    let last = first(conn, last, (), place).await?.unwrap_or((0, AuditEntry::GENESIS_HASH));
    let head = head(conn).await?;
    Ok(if last.0 > head.0 { last } else { head })
}

async fn head(conn: &mut Conn) -> Result<Place, MysqlError> {
    let head = first(conn, "SELECT number, hash FROM audit_head", (), place).await?;
    Ok(head.unwrap_or((0, AuditEntry::GENESIS_HASH)))
}

/// Reads any stored value: a hash of the wrong length must not stop the log, and then matches no entry.
fn place(row: &mut Columns) -> Result<Place, MysqlError> {
    let (number, hash): (u64, Vec<u8>) = (row.next()?, row.next()?);
    Ok((number, hash.try_into().unwrap_or(AuditEntry::GENESIS_HASH)))
}

async fn insert(conn: &mut Conn, entry: &AuditEntry) -> Result<(), MysqlError> {
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

async fn verify(conn: &mut Conn) -> Result<AuditCheck, MysqlError> {
    let mut walk = ChainVerifier::new();
    let sql = format!("{SELECT} WHERE number >= ? ORDER BY number LIMIT ?");
    let mut from = 0;
    loop {
        let stretch = all(conn, &*sql, (from, VERIFY_PAGE), |row| {
            let number: u64 = row.next()?;
            Ok((number, entry(number, row).ok()))
        });
        let stretch = stretch.await?;
        let all_fit = stretch.iter().all(|(number, entry)| walk.meets(*number, entry.as_ref()));
        if !all_fit || (stretch.len() as u64) < VERIFY_PAGE {
            return Ok(walk.end(head(conn).await?));
        }
        from = walk.next();
    }
}

fn numbered(row: &mut Columns) -> Result<AuditEntry, MysqlError> {
    let number = row.next()?;
    entry(number, row)
}

fn entry(number: u64, row: &mut Columns) -> Result<AuditEntry, MysqlError> {
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
