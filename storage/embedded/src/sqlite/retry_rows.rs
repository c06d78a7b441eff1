//! Rows of the retry queue: totals of the kinds, and tasks.

use mallbox_storage::backend::{GroupHead, OpenTasks};
use mallbox_storage::{FailedTask, LeasedTask, RetryLease, RetryTaskId, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::columns::{get_count, get_id, get_time, id};

/// Head of every query for tasks to lease; [`leased`] reads the columns.
pub(super) const SELECT_LEASED: &str =
    "SELECT id, lease_number, task_key, task_group, payload, segment, former, attempts, opened_ms
     FROM retry_tasks";
/// Head of every query for failed tasks; [`failed`] reads the columns.
pub(super) const SELECT_FAILED: &str =
    "SELECT id, kind, task_key, task_group, segment, attempts, created_ms, failed_ms, last_error
     FROM retry_tasks";

/// Returns the totals of a kind.
pub(super) fn totals(conn: &Connection, kind: &str) -> rusqlite::Result<OpenTasks> {
    let read = |row: &Row<'_>| {
        Ok(OpenTasks { tasks: get_count(row, 0)?, bytes: get_count(row, 1)?, failed: get_count(row, 2)? })
    };
    conn.prepare_cached("SELECT open_tasks, open_bytes, failed_tasks FROM retry_kinds WHERE kind = ?1")?
        .query_row([kind], read)
        .optional()
        .map(Option::unwrap_or_default)
}

/// Writes the totals of a kind.
pub(super) fn put_totals(conn: &Connection, kind: &str, totals: OpenTasks) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "INSERT INTO retry_kinds (kind, open_tasks, open_bytes, failed_tasks) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (kind) DO UPDATE SET open_tasks = excluded.open_tasks, open_bytes = excluded.open_bytes,
           failed_tasks = excluded.failed_tasks",
    )?
    .execute(params![kind, id(totals.tasks), id(totals.bytes), id(totals.failed)])
    .map(drop)
}

/// Returns the head of a group: the open task that can be leased or is leased.
pub(super) fn head(conn: &Connection, kind: &str, group: &str) -> rusqlite::Result<Option<GroupHead>> {
    let read = |row: &Row<'_>| {
        let task = RetryTaskId::new(get_id(row, 0)?);
        Ok(GroupHead { task, is_leased: row.get(1)?, ready: get_time(row, 2)? })
    };
    conn.prepare_cached(
        "SELECT id, is_leased, ready_ms FROM retry_tasks
         WHERE kind = ?1 AND task_group = ?2 AND failed_ms IS NULL AND ready_ms IS NOT NULL",
    )?
    .query_row([kind, group], read)
    .optional()
}

/// Lets the oldest open task of a group be leased, if the group has no head.
pub(super) fn promote(conn: &Connection, kind: &str, group: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "UPDATE retry_tasks SET ready_ms = due_ms WHERE ready_ms IS NULL AND id =
           (SELECT id FROM retry_tasks WHERE kind = ?1 AND task_group = ?2 AND failed_ms IS NULL
            ORDER BY id LIMIT 1)",
    )?
    .execute([kind, group])
    .map(drop)
}

/// Returns a failed task with the length of its payload; `None` with an open task, or without a task.
pub(super) fn failed_task(
    conn: &Connection,
    task: RetryTaskId,
) -> rusqlite::Result<Option<Option<(FailedTask, u64)>>> {
    let bytes = |row: &Row<'_>| get_count(row, 0);
    let found = conn
        .prepare_cached(&format!("{SELECT_FAILED} WHERE id = ?1 AND failed_ms IS NOT NULL"))?
        .query_row([id(task.get())], failed)
        .optional()?;
    let length = conn
        .prepare_cached("SELECT LENGTH(payload) FROM retry_tasks WHERE id = ?1")?
        .query_row([id(task.get())], bytes)
        .optional()?;
    Ok(length.map(|length| found.map(|found| (found, length))))
}

/// Reads a task about to be leased: the number of the lease is the next.
pub(super) fn leased(row: &Row<'_>) -> rusqlite::Result<LeasedTask> {
    Ok(LeasedTask {
        lease: RetryLease { task: RetryTaskId::new(get_id(row, 0)?), number: get_count(row, 1)? + 1 },
        key: row.get(2)?,
        group: row.get(3)?,
        payload: row.get::<_, Vec<u8>>(4)?.into(),
        segment: row.get(5)?,
        former: row.get::<_, Vec<u8>>(6)?.into(),
        attempts: row.get(7)?,
        opened: get_time(row, 8)?,
    })
}

/// Reads a failed task.
pub(super) fn failed(row: &Row<'_>) -> rusqlite::Result<FailedTask> {
    Ok(FailedTask {
        id: RetryTaskId::new(get_id(row, 0)?),
        kind: row.get(1)?,
        key: row.get(2)?,
        group: row.get(3)?,
        segment: row.get(4)?,
        attempts: row.get(5)?,
        created: get_time(row, 6)?,
        failed: get_time(row, 7)?,
        error: row.get(8)?,
    })
}

/// Opens a failed task again. `ready` is `None` while the head of its group keeps it blocked.
pub(super) fn reopen(
    conn: &Connection,
    task: RetryTaskId,
    ready: Option<Timestamp>,
    now: Timestamp,
) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "UPDATE retry_tasks SET failed_ms = NULL, attempts = 0, due_ms = ?2, opened_ms = ?2, ready_ms = ?3,
           lease_number = lease_number + 1 WHERE id = ?1",
    )?
    .execute(params![id(task.get()), now.as_millis(), ready.map(Timestamp::as_millis)])
    .map(drop)
}

/// Takes the place as head of its group from a task. A lease of the task, expired, ends.
pub(super) fn block(conn: &Connection, task: RetryTaskId) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "UPDATE retry_tasks SET ready_ms = NULL, is_leased = 0, lease_number = lease_number + 1 WHERE id = ?1",
    )?
    .execute([id(task.get())])
    .map(drop)
}
