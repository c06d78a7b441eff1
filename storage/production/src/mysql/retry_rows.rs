//! Rows of the retry queue: totals of the kinds, and tasks.
//!
//! The row of a kind is locked first, before any task. A task's row is the lock of its lease.

use mallbox_storage::backend::{GroupHead, OpenTasks};
use mallbox_storage::{FailedTask, LeasedTask, RetryLease, RetryTaskId, Timestamp};
use mysql_async::Conn;

use super::columns::{Columns, execute, first};
use super::errors::MysqlError;

/// Head of every query for tasks to lease; [`leased`] reads the columns.
pub(super) const SELECT_LEASED: &str =
    "SELECT id, lease_number, task_key, task_group, payload, segment, former, attempts, opened_ms
     FROM retry_tasks";
/// Head of every query for failed tasks; [`failed`] reads the columns.
pub(super) const SELECT_FAILED: &str =
    "SELECT id, kind, task_key, task_group, segment, attempts, created_ms, failed_ms, last_error
     FROM retry_tasks";

/// Locks a kind until the transaction ends, and returns its totals. Inserts the row of a new kind.
pub(super) async fn lock(conn: &mut Conn, kind: &str) -> Result<OpenTasks, MysqlError> {
    if let Some(totals) = totals(conn, kind).await? {
        return Ok(totals);
    }
    let sql = "INSERT INTO retry_kinds (kind) VALUES (?) ON DUPLICATE KEY UPDATE kind = kind";
    execute(conn, sql, (kind,)).await?;
    Ok(totals(conn, kind).await?.unwrap_or_default())
}

async fn totals(conn: &mut Conn, kind: &str) -> Result<Option<OpenTasks>, MysqlError> {
    let sql = "SELECT open_tasks, open_bytes, failed_tasks FROM retry_kinds WHERE kind = ? FOR UPDATE";
    let read =
        |row: &mut Columns| Ok(OpenTasks { tasks: row.count()?, bytes: row.count()?, failed: row.count()? });
    first(conn, sql, (kind,), read).await
}

/// Writes the totals of a locked kind.
pub(super) async fn put_totals(conn: &mut Conn, kind: &str, totals: OpenTasks) -> Result<(), MysqlError> {
    let sql = "UPDATE retry_kinds SET open_tasks = ?, open_bytes = ?, failed_tasks = ? WHERE kind = ?";
    execute(conn, sql, (totals.tasks, totals.bytes, totals.failed, kind)).await.map(drop)
}

/// Returns the head of a group: the open task that can be leased or is leased. Call with the kind locked.
pub(super) async fn head(conn: &mut Conn, kind: &str, group: &str) -> Result<Option<GroupHead>, MysqlError> {
    // Locked, since a lease is no matter of the kind.
    let sql = "SELECT id, is_leased, ready_ms FROM retry_tasks
               WHERE kind = ? AND task_group = ? AND failed_ms IS NULL AND ready_ms IS NOT NULL FOR UPDATE";
    let read = |row: &mut Columns| {
        let task = RetryTaskId::new(row.next()?);
        Ok(GroupHead { task, is_leased: row.next()?, ready: row.time()? })
    };
    first(conn, sql, (kind, group), read).await
}

/// Lets the oldest open task of a group be leased, if the group has no head. Call with the kind locked.
pub(super) async fn promote(conn: &mut Conn, kind: &str, group: &str) -> Result<(), MysqlError> {
    let sql = "SELECT id FROM retry_tasks WHERE kind = ? AND task_group = ? AND failed_ms IS NULL
               ORDER BY id LIMIT 1";
    let Some(oldest) = first(conn, sql, (kind, group), |row| row.next::<u64>()).await? else { return Ok(()) };
    let sql = "UPDATE retry_tasks SET ready_ms = due_ms WHERE id = ? AND ready_ms IS NULL";
    execute(conn, sql, (oldest,)).await.map(drop)
}

/// Locks the kind of a task, then the task. Returns the kind's totals, and the task with the length of its
/// payload: `None` while the task is open. Returns nothing without a task.
pub(super) async fn lock_failed(
    conn: &mut Conn,
    task: RetryTaskId,
) -> Result<Option<(OpenTasks, Option<(FailedTask, u64)>)>, MysqlError> {
    let sql = "SELECT kind FROM retry_tasks WHERE id = ?";
    let Some(kind) = first(conn, sql, (task.get(),), |row| row.next::<String>()).await? else {
        return Ok(None);
    };
    let totals = lock(conn, &kind).await?;
    let sql = "SELECT LENGTH(payload) FROM retry_tasks WHERE id = ? FOR UPDATE";
    let Some(bytes) = first(conn, sql, (task.get(),), Columns::count).await? else { return Ok(None) };
    let sql = format!("{SELECT_FAILED} WHERE id = ? AND failed_ms IS NOT NULL");
    let found = first(conn, &*sql, (task.get(),), failed).await?;
    Ok(Some((totals, found.map(|found| (found, bytes)))))
}

/// Opens a failed task again. `ready` is `None` while the head of its group keeps it blocked.
pub(super) async fn reopen(
    conn: &mut Conn,
    task: RetryTaskId,
    ready: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), MysqlError> {
    let sql =
        "UPDATE retry_tasks SET failed_ms = NULL, attempts = 0, due_ms = ?, opened_ms = ?, ready_ms = ?,
                 lease_number = lease_number + 1 WHERE id = ?";
    let (now, ready) = (now.as_millis(), ready.map(Timestamp::as_millis));
    execute(conn, sql, (now, now, ready, task.get())).await.map(drop)
}

/// Takes the place as head of its group from a locked task. A lease of the task, expired, ends.
pub(super) async fn block(conn: &mut Conn, task: RetryTaskId) -> Result<(), MysqlError> {
    let sql = "UPDATE retry_tasks SET ready_ms = NULL, is_leased = 0, lease_number = lease_number + 1
               WHERE id = ?";
    execute(conn, sql, (task.get(),)).await.map(drop)
}

/// Reads a task about to be leased: the number of the lease is the next.
pub(super) fn leased(row: &mut Columns) -> Result<LeasedTask, MysqlError> {
    Ok(LeasedTask {
        lease: RetryLease { task: RetryTaskId::new(row.next()?), number: row.count()? + 1 },
        key: row.next()?,
        group: row.next()?,
        payload: row.next::<Vec<u8>>()?.into(),
        segment: row.next()?,
        former: row.next::<Vec<u8>>()?.into(),
        attempts: row.next()?,
        opened: row.time()?,
    })
}

/// Reads a failed task.
pub(super) fn failed(row: &mut Columns) -> Result<FailedTask, MysqlError> {
    Ok(FailedTask {
        id: RetryTaskId::new(row.next()?),
        kind: row.next()?,
        key: row.next()?,
        group: row.next()?,
        segment: row.next()?,
        attempts: row.next()?,
        created: row.time()?,
        failed: row.time()?,
        error: row.next()?,
    })
}
