//! Rows of archived days.

use mallbox_storage::{ArchiveLedger, ArchivedDay, Day, UserId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::columns::{get_count, get_time, id};
use super::errors::unreadable;

const SELECT: &str =
    "SELECT ledger, day, line_count, bytes, text_bytes, sha256, archived_ms FROM archived_days AS d";

/// Returns an archived day.
pub(super) fn find(
    conn: &Connection,
    ledger: ArchiveLedger,
    day: Day,
) -> rusqlite::Result<Option<ArchivedDay>> {
    conn.prepare_cached(&format!("{SELECT} WHERE ledger = ?1 AND day = ?2"))?
        .query_row(params![ledger.name(), day.number()], archived_day)
        .optional()
}

/// Returns archived days behind `after`, by day.
pub(super) fn list(
    conn: &Connection,
    ledger: ArchiveLedger,
    after: Option<Day>,
    max: u32,
) -> rusqlite::Result<Vec<ArchivedDay>> {
    conn.prepare_cached(&format!("{SELECT} WHERE ledger = ?1 AND day > ?2 ORDER BY day LIMIT ?3"))?
        .query_map(params![ledger.name(), number_of(after), max], archived_day)?
        .collect()
}

/// Returns archived days of a user behind `after`, by day.
pub(super) fn list_of(
    conn: &Connection,
    ledger: ArchiveLedger,
    user: UserId,
    after: Option<Day>,
    max: u32,
) -> rusqlite::Result<Vec<ArchivedDay>> {
    let sql = format!(
        "{SELECT} WHERE ledger = ?1 AND day > ?2 AND day IN
           (SELECT u.day FROM archived_users AS u WHERE u.user_id = ?4 AND u.ledger = ?1)
         ORDER BY day LIMIT ?3"
    );
    conn.prepare_cached(&sql)?
        .query_map(params![ledger.name(), number_of(after), max, id(user.get())], archived_day)?
        .collect()
}

/// Inserts an archived day.
pub(super) fn insert(conn: &Connection, day: &ArchivedDay) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "INSERT INTO archived_days (ledger, day, line_count, bytes, text_bytes, sha256, archived_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        day.ledger.name(),
        day.day.number(),
        id(day.lines),
        id(day.bytes),
        id(day.text_bytes),
        day.sha256,
        day.archived.as_millis(),
    ])
    .map(drop)
}

/// Notes users whose lines are in a day's file.
pub(super) fn insert_users(
    conn: &Connection,
    ledger: ArchiveLedger,
    day: Day,
    users: &[UserId],
) -> rusqlite::Result<()> {
    let mut insert = conn
        .prepare_cached("INSERT OR IGNORE INTO archived_users (user_id, ledger, day) VALUES (?1, ?2, ?3)")?;
    for user in users {
        insert.execute(params![id(user.get()), ledger.name(), day.number()])?;
    }
    Ok(())
}

fn number_of(after: Option<Day>) -> i32 {
    after.map_or(i32::MIN, Day::number)
}

fn archived_day(row: &Row<'_>) -> rusqlite::Result<ArchivedDay> {
    let (name, day): (String, i32) = (row.get(0)?, row.get(1)?);
    Ok(ArchivedDay {
        ledger: ArchiveLedger::named(&name).ok_or_else(|| unreadable(0, name))?,
        day: Day::from_number(day).ok_or_else(|| unreadable(1, day))?,
        lines: get_count(row, 2)?,
        bytes: get_count(row, 3)?,
        text_bytes: get_count(row, 4)?,
        sha256: row.get(5)?,
        archived: get_time(row, 6)?,
    })
}
