//! [`Archive`] in MySQL: the parts of each file are rows, so that every instance and every backup of MySQL
//! has them.
//!
//! The row of a draft is the lock of its parts.

use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{
    Archive, ArchiveDraft, ArchiveLedger, ArchivedDay, Day, RegisterOutcome, StoreError, Timestamp, UserId,
};
use mysql_async::{Conn, Value};

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::multi_row;

pub(super) struct MysqlArchive(pub(super) Database);

/// Age from which a draft counts as left behind: a day takes minutes to write.
const DRAFT_TTL: Duration = Duration::from_secs(3600);
/// Old drafts removed at once.
const DRAFTS_PER_SWEEP: u32 = 16;
const SELECT: &str = "SELECT d.ledger, d.day, d.line_count, d.bytes, d.text_bytes, d.sha256, d.archived_ms
    FROM archived_days AS d";

impl MysqlArchive {
    /// Removes drafts that a process left behind.
    async fn sweep(&self, op: &'static str, now: Timestamp) -> Result<(), StoreError> {
        let sql = "SELECT id FROM archive_drafts WHERE begun_ms < ? LIMIT ?";
        let which = ((now - DRAFT_TTL).as_millis(), DRAFTS_PER_SWEEP);
        let left: Vec<u64> =
            self.0.read(op, |conn| boxed(async move { all(conn, sql, which, Columns::next).await })).await?;
        for draft in left {
            self.remove(op, draft).await?;
        }
        Ok(())
    }

    async fn remove(&self, op: &'static str, draft: u64) -> Result<(), StoreError> {
        self.0
            .try_bulk(|conn| boxed(async move { remove(conn, draft).await }))
            .await
            .map_err(|fault| fault.into_store_error(op))
    }
}

#[async_trait]
impl Archive for MysqlArchive {
    async fn begin(
        &self,
        ledger: ArchiveLedger,
        day: Day,
        now: Timestamp,
    ) -> Result<ArchiveDraft, StoreError> {
        const OP: &str = "begin archive";
        self.sweep(OP, now).await?;
        let draft = ArchiveDraft { ledger, day, number: crate::random::random() };
        let values = (draft.number, now.as_millis());
        let sql = "INSERT INTO archive_drafts (id, begun_ms) VALUES (?, ?)";
        self.0
            .write_at_once(OP, |conn| boxed(async move { execute(conn, sql, values).await }))
            .await
            .map(|_| draft)
    }

    async fn append(
        &self,
        draft: ArchiveDraft,
        at: u64,
        part: Vec<u8>,
        users: Vec<UserId>,
    ) -> Result<bool, StoreError> {
        let ArchiveDraft { ledger, day, number } = draft;
        let users: &Vec<[Value; 3]> = &users
            .iter()
            .map(|user| [Value::from(user.get()), Value::from(ledger.name()), Value::from(day.number())])
            .collect();
        let part = &part;
        self.0
            .try_bulk(|conn| {
                boxed(async move {
                    if !lock(conn, number).await? {
                        return Ok(false);
                    }
                    let sql = "REPLACE INTO archive_parts (draft_id, at_byte, content) VALUES (?, ?, ?)";
                    execute(conn, sql, (number, at, part)).await?;
                    let head = "INSERT IGNORE INTO archived_users (user_id, ledger, day)";
                    multi_row::insert(conn, head, "(?, ?, ?)", users).await?;
                    Ok(true)
                })
            })
            .await
            .map_err(|fault| fault.into_store_error("append to archive"))
    }

    async fn register(&self, draft: ArchiveDraft, day: ArchivedDay) -> Result<RegisterOutcome, StoreError> {
        let draft = draft.number;
        self.0
            .try_bulk(|conn| boxed(async move { register(conn, draft, &day).await }))
            .await
            .map_err(|fault| fault.into_store_error("register archive"))
    }

    async fn discard(&self, draft: ArchiveDraft) -> Result<(), StoreError> {
        self.remove("discard archive", draft.number).await
    }

    async fn days(
        &self,
        ledger: ArchiveLedger,
        after: Option<Day>,
        max: u32,
    ) -> Result<Vec<ArchivedDay>, StoreError> {
        let sql = &*format!("{SELECT} WHERE d.ledger = ? AND d.day > ? ORDER BY d.day LIMIT ?");
        let which = (ledger.name(), number_of(after), max);
        self.0
            .read("archived days", |conn| boxed(async move { all(conn, sql, which, archived_day).await }))
            .await
    }

    async fn day(&self, ledger: ArchiveLedger, day: Day) -> Result<Option<ArchivedDay>, StoreError> {
        let sql = &*format!("{SELECT} WHERE d.ledger = ? AND d.day = ?");
        let which = (ledger.name(), day.number());
        self.0
            .read("archived day", |conn| boxed(async move { first(conn, sql, which, archived_day).await }))
            .await
    }

    async fn days_of(
        &self,
        ledger: ArchiveLedger,
        user: UserId,
        after: Option<Day>,
        max: u32,
    ) -> Result<Vec<ArchivedDay>, StoreError> {
        let sql = &*format!(
            "{SELECT} JOIN archived_users AS u ON u.ledger = d.ledger AND u.day = d.day
             WHERE u.user_id = ? AND u.ledger = ? AND u.day > ? ORDER BY d.day LIMIT ?"
        );
        let which = (user.get(), ledger.name(), number_of(after), max);
        self.0
            .read("archived days of user", |conn| {
                boxed(async move { all(conn, sql, which, archived_day).await })
            })
            .await
    }

    async fn read(&self, ledger: ArchiveLedger, day: Day, at: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let of_day = "FROM archived_days AS d JOIN archive_parts AS p ON p.draft_id = d.draft_id
                      WHERE d.ledger = ? AND d.day = ?";
        let sql = &*format!(
            "SELECT p.content, COALESCE((SELECT MIN(n.at_byte) FROM archive_parts AS n
               WHERE n.draft_id = p.draft_id AND n.at_byte > p.at_byte), d.bytes) {of_day} AND p.at_byte = ?"
        );
        let any = &*format!("SELECT 1 {of_day} LIMIT 1");
        let which = (ledger.name(), day.number());
        self.0
            .read("read archive", |conn| {
                boxed(async move {
                    if let Some((part, end)) = first(conn, sql, (which.0, which.1, at), part).await? {
                        // A part that does not reach to the next part is not what the mall wrote: bytes
                        // behind a compressed part would change nothing in its text.
                        return Ok((at + part.len() as u64 == end).then_some(part));
                    }
                    let has_file = first(conn, any, which, Columns::next::<i64>).await?.is_some();
                    Ok(has_file.then(Vec::new))
                })
            })
            .await
    }

    async fn strays(&self, _: u32) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }
}

/// Reads a part, and the byte at which the next part begins or the file ends.
fn part(row: &mut Columns) -> Result<(Vec<u8>, u64), MysqlError> {
    Ok((row.next()?, row.count()?))
}

async fn register(conn: &mut Conn, draft: u64, day: &ArchivedDay) -> Result<RegisterOutcome, MysqlError> {
    if !lock(conn, draft).await? {
        return Ok(RegisterOutcome::DraftGone);
    }
    let sql =
        "SELECT CAST(COALESCE(SUM(LENGTH(content)), 0) AS SIGNED) FROM archive_parts WHERE draft_id = ?";
    if first(conn, sql, (draft,), Columns::count).await? != Some(day.bytes) {
        return Ok(RegisterOutcome::DraftGone);
    }
    let sql = "INSERT IGNORE INTO archived_days
                 (ledger, day, draft_id, line_count, bytes, text_bytes, sha256, archived_ms)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    let name = day.ledger.name();
    let values: Vec<Value> = vec![
        name.into(),
        day.day.number().into(),
        draft.into(),
        day.lines.into(),
        day.bytes.into(),
        day.text_bytes.into(),
        day.sha256.to_vec().into(),
        day.archived.as_millis().into(),
    ];
    if execute(conn, sql, values).await? == 0 {
        remove(conn, draft).await?;
        return Ok(RegisterOutcome::AlreadyArchived);
    }
    execute(conn, "DELETE FROM archive_drafts WHERE id = ?", (draft,)).await?;
    Ok(RegisterOutcome::Registered)
}

/// Locks a draft. Returns false if the draft does not exist.
async fn lock(conn: &mut Conn, draft: u64) -> Result<bool, MysqlError> {
    let sql = "SELECT id FROM archive_drafts WHERE id = ? FOR UPDATE";
    Ok(first(conn, sql, (draft,), Columns::next::<u64>).await?.is_some())
}

/// Removes a draft with its parts, unless registered.
async fn remove(conn: &mut Conn, draft: u64) -> Result<(), MysqlError> {
    if execute(conn, "DELETE FROM archive_drafts WHERE id = ?", (draft,)).await? > 0 {
        execute(conn, "DELETE FROM archive_parts WHERE draft_id = ?", (draft,)).await?;
    }
    Ok(())
}

fn number_of(after: Option<Day>) -> i32 {
    after.map_or(i32::MIN, Day::number)
}

fn archived_day(row: &mut Columns) -> Result<ArchivedDay, MysqlError> {
    let name: String = row.next()?;
    let ledger = ArchiveLedger::named(&name).ok_or_else(|| row.unreadable_last(&name))?;
    let number: i32 = row.next()?;
    let day = Day::from_number(number).ok_or_else(|| row.unreadable_last(number))?;
    let (lines, bytes, text_bytes) = (row.count()?, row.count()?, row.count()?);
    let hash: Vec<u8> = row.next()?;
    let sha256 = <[u8; 32]>::try_from(&*hash).map_err(|_| row.unreadable_last(hash.len()))?;
    Ok(ArchivedDay { ledger, day, lines, bytes, text_bytes, sha256, archived: row.time()? })
}
