//! [`RetryTasks`] in MySQL.
//!
//! Submissions, ends of tasks and operators' calls lock the row of the kind first: limits and groups are
//! exact. A lease skips rows that others lock, and waits for nobody.

use std::collections::{BTreeMap, HashMap, HashSet};

use async_trait::async_trait;
use mallbox_storage::backend::{
    LeasedRow, ReplayedTask, SubmitPlan, plan_settlements, plan_submits, short_error,
};
use mallbox_storage::{
    FailedTask, FailedTaskCursor, LeasedTask, NewRetryTask, RetryCounts, RetryLease, RetryLimits,
    RetryReplayOutcome, RetrySettlement, RetryStep, RetryTaskId, RetryTasks, StoreError, SubmitOutcome,
    Timestamp,
};
use mysql_async::{Conn, Value};

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::multi_row::{change_by_keys, insert, select_by_values};
use super::retry_rows::{
    SELECT_FAILED, SELECT_LEASED, block, failed, head, leased, lock, lock_failed, promote, put_totals, reopen,
};

/// Length of a call from which the call has the time of a batch, instead of a waiting caller's.
const BATCH_MIN: usize = 16;

pub(super) struct MysqlRetryTasks(pub(super) Database);

#[async_trait]
impl RetryTasks for MysqlRetryTasks {
    async fn submit(
        &self,
        kind: &str,
        tasks: &[NewRetryTask],
        limits: RetryLimits,
        now: Timestamp,
    ) -> Result<Vec<SubmitOutcome>, StoreError> {
        if tasks.len() < BATCH_MIN {
            return self
                .0
                .write("submit tasks", |conn| {
                    boxed(async move { submit(conn, kind, tasks, limits, now).await })
                })
                .await;
        }
        self.0
            .try_bulk(|conn| boxed(async move { submit(conn, kind, tasks, limits, now).await }))
            .await
            .map_err(|fault| fault.into_store_error("submit tasks"))
    }

    async fn lease_due(
        &self,
        kind: &str,
        max: u32,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Vec<LeasedTask>, StoreError> {
        self.0
            .write("lease tasks", |conn| {
                boxed(async move { lease_due(conn, kind, max, now, lease_until).await })
            })
            .await
    }

    async fn settle(
        &self,
        kind: &str,
        settlements: &[RetrySettlement],
        now: Timestamp,
    ) -> Result<Vec<bool>, StoreError> {
        if settlements.len() < BATCH_MIN {
            return self
                .0
                .write("settle tasks", |conn| {
                    boxed(async move { settle(conn, kind, settlements, now).await })
                })
                .await;
        }
        self.0
            .try_bulk(|conn| boxed(async move { settle(conn, kind, settlements, now).await }))
            .await
            .map_err(|fault| fault.into_store_error("settle tasks"))
    }

    async fn next_due(&self, kind: &str) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT MIN(ready_ms) FROM retry_tasks WHERE kind = ?";
        self.0
            .read("next due task", |conn| {
                boxed(async move { first(conn, sql, (kind,), Columns::time_if_any).await })
            })
            .await
            .map(Option::flatten)
    }

    async fn failed(
        &self,
        kind: Option<&str>,
        after: Option<FailedTaskCursor>,
        max: u32,
    ) -> Result<Vec<FailedTask>, StoreError> {
        let (at, task) =
            after.map_or((i64::MAX, u64::MAX), |after| (after.failed.as_millis(), after.task.get()));
        // MySQL would not use the index for a comparison of rows.
        let of_kind = if kind.is_some() { "kind = ? AND" } else { "? IS NULL AND" };
        let sql: &str = &format!(
            "{SELECT_FAILED} WHERE {of_kind} failed_ms <= ? AND (failed_ms < ? OR id < ?)
             ORDER BY failed_ms DESC, id DESC LIMIT ?"
        );
        self.0
            .read("failed tasks", |conn| {
                boxed(async move { all(conn, sql, (kind, at, at, task, max), failed).await })
            })
            .await
    }

    async fn replay(&self, task: RetryTaskId, now: Timestamp) -> Result<RetryReplayOutcome, StoreError> {
        self.0.write("replay task", |conn| boxed(async move { replay(conn, task, now).await })).await
    }

    async fn discard(&self, task: RetryTaskId) -> Result<RetryReplayOutcome, StoreError> {
        self.0.write("discard task", |conn| boxed(async move { discard(conn, task).await })).await
    }

    async fn prune(&self, kind: &str, until: Timestamp, max: u32) -> Result<u64, StoreError> {
        self.0
            .write("prune failed tasks", |conn| boxed(async move { prune(conn, kind, until, max).await }))
            .await
    }

    async fn counts(&self) -> Result<Vec<RetryCounts>, StoreError> {
        let sql =
            "SELECT kind, open_tasks, open_bytes, failed_tasks, (SELECT created_ms FROM retry_tasks AS task
                     WHERE task.kind = retry_kinds.kind AND task.failed_ms IS NULL ORDER BY task.id LIMIT 1)
                   FROM retry_kinds WHERE open_tasks > 0 OR failed_tasks > 0 ORDER BY kind";
        self.0.read("counts of tasks", |conn| boxed(async move { all(conn, sql, (), counts).await })).await
    }
}

fn refused(rule: &'static str) -> MysqlError {
    MysqlError::refused(rule)
}

async fn submit(
    conn: &mut Conn,
    kind: &str,
    tasks: &[NewRetryTask],
    limits: RetryLimits,
    now: Timestamp,
) -> Result<Vec<SubmitOutcome>, MysqlError> {
    let before = lock(conn, kind).await?;
    let mut open = before;
    let keys: Vec<Value> = tasks.iter().map(|task| Value::from(&task.key)).collect();
    let stored = stored(conn, kind, &keys).await?;
    let stored = stored.into_iter().map(|(key, id, has_failed)| (key, (id, has_failed))).collect();
    let plans = plan_submits(kind, tasks, limits, &mut open, &stored, groups(conn, kind, tasks).await?)
        .map_err(refused)?;
    let new = tasks.iter().zip(&plans).filter(|(_, plan)| matches!(plan, SubmitPlan::Insert { .. }));
    let rows: Vec<[Value; 11]> = new.clone().map(|(task, plan)| row(kind, task, *plan, now)).collect();
    let head =
        "INSERT INTO retry_tasks (kind, task_key, task_group, payload, former, due_ms, ready_ms, is_leased,
                  lease_number, created_ms, opened_ms, last_error)";
    insert(conn, head, "(?, ?, ?, ?, '', ?, ?, ?, ?, ?, ?, ?)", &rows).await?;
    if open != before {
        put_totals(conn, kind, open).await?;
    }
    let keys: Vec<Value> = new.map(|(task, _)| Value::from(&task.key)).collect();
    let ids: HashMap<String, RetryTaskId> =
        self::stored(conn, kind, &keys).await?.into_iter().map(|(key, id, _)| (key, id)).collect();
    let mut outcomes = Vec::with_capacity(tasks.len());
    for (task, plan) in tasks.iter().zip(plans) {
        outcomes.push(match plan {
            SubmitPlan::Refuse(outcome) => outcome,
            SubmitPlan::SameAs(first) => SubmitPlan::repeat_of(outcomes[first]),
            SubmitPlan::Insert { .. } => plan.stored(task, *ids.get(&task.key).ok_or(MysqlError::Overtaken)?),
        });
    }
    Ok(outcomes)
}

/// Returns the stored tasks with these keys: key, id, and whether it failed for good.
async fn stored(
    conn: &mut Conn,
    kind: &str,
    keys: &[Value],
) -> Result<Vec<(String, RetryTaskId, bool)>, MysqlError> {
    let sql = "SELECT task_key, id, failed_ms IS NOT NULL FROM retry_tasks
               WHERE kind = ? AND task_key IN ({keys})";
    let read = |row: &mut Columns| Ok((row.next()?, RetryTaskId::new(row.next()?), row.next()?));
    select_by_values(conn, sql, &[kind.into()], keys, read).await
}

/// Returns the groups of `tasks` that have an open task.
async fn groups(conn: &mut Conn, kind: &str, tasks: &[NewRetryTask]) -> Result<HashSet<String>, MysqlError> {
    let groups: HashSet<&String> = tasks.iter().filter_map(|task| task.group.as_ref()).collect();
    let groups: Vec<Value> = groups.into_iter().map(Value::from).collect();
    let sql = "SELECT DISTINCT task_group FROM retry_tasks
               WHERE kind = ? AND task_group IN ({keys}) AND failed_ms IS NULL";
    let found = select_by_values(conn, sql, &[kind.into()], &groups, Columns::next).await?;
    Ok(found.into_iter().collect())
}

fn row(kind: &str, task: &NewRetryTask, plan: SubmitPlan, now: Timestamp) -> [Value; 11] {
    let is_leased = plan.is_leased(task);
    [
        kind.into(),
        Value::from(&task.key),
        task.group.as_ref().into(),
        task.payload[..].into(),
        task.due.as_millis().into(),
        plan.ready(task).map(Timestamp::as_millis).into(),
        is_leased.into(),
        is_leased.into(),
        now.as_millis().into(),
        now.as_millis().into(),
        "".into(),
    ]
}

async fn lease_due(
    conn: &mut Conn,
    kind: &str,
    max: u32,
    now: Timestamp,
    lease_until: Timestamp,
) -> Result<Vec<LeasedTask>, MysqlError> {
    let sql = format!(
        "{SELECT_LEASED} WHERE kind = ? AND ready_ms <= ? ORDER BY ready_ms, id LIMIT ? FOR UPDATE SKIP LOCKED"
    );
    let due = all(conn, &*sql, (kind, now.as_millis(), max), leased).await?;
    let ids: Vec<u64> = due.iter().map(|task| task.lease.task.get()).collect();
    let sql = "UPDATE retry_tasks SET is_leased = 1, lease_number = lease_number + 1, ready_ms = ?
               WHERE id IN ({keys})";
    change_by_keys(conn, sql, &[lease_until.as_millis()], &ids).await?;
    Ok(due)
}

async fn settle(
    conn: &mut Conn,
    kind: &str,
    settlements: &[RetrySettlement],
    now: Timestamp,
) -> Result<Vec<bool>, MysqlError> {
    let closes =
        |settlement: &RetrySettlement| matches!(settlement.step, RetryStep::Done | RetryStep::Failed { .. });
    let open = if settlements.iter().any(closes) { Some(lock(conn, kind).await?) } else { None };
    let plan =
        plan_settlements(settlements, &leased_rows(conn, kind, settlements).await?).map_err(refused)?;
    let in_force = settlements.iter().zip(&plan.in_force).filter(|(_, in_force)| **in_force);
    let mut done = Vec::new();
    for (RetrySettlement { lease, step }, _) in in_force {
        if *step == RetryStep::Done {
            done.push(lease.task.get());
        } else {
            write_step(conn, lease.task, step, now).await?;
        }
    }
    change_by_keys(conn, "DELETE FROM retry_tasks WHERE id IN ({keys})", &[], &done).await?;
    if let (Some(mut open), true) = (open, plan.closed > 0) {
        open.settle(&plan);
        put_totals(conn, kind, open).await?;
    }
    for group in &plan.groups {
        promote(conn, kind, group).await?;
    }
    Ok(plan.in_force)
}

/// Locks the leased rows of a settlement, by id.
async fn leased_rows(
    conn: &mut Conn,
    kind: &str,
    settlements: &[RetrySettlement],
) -> Result<BTreeMap<RetryTaskId, LeasedRow>, MysqlError> {
    let mut ids: Vec<u64> = settlements.iter().map(|settlement| settlement.lease.task.get()).collect();
    // Sorted, so that two instances with expired leases do not deadlock.
    ids.sort_unstable();
    let ids: Vec<Value> = ids.into_iter().map(Value::from).collect();
    let sql = "SELECT id, lease_number, task_group, LENGTH(payload) FROM retry_tasks
               WHERE kind = ? AND id IN ({keys}) AND is_leased = 1 ORDER BY id FOR UPDATE";
    let read = |row: &mut Columns| {
        let task = RetryTaskId::new(row.next()?);
        let lease = RetryLease { task, number: row.count()? };
        Ok((task, LeasedRow { lease, group: row.next()?, bytes: row.count()? }))
    };
    Ok(select_by_values(conn, sql, &[kind.into()], &ids, read).await?.into_iter().collect())
}

async fn write_step(
    conn: &mut Conn,
    task: RetryTaskId,
    step: &RetryStep,
    now: Timestamp,
) -> Result<(), MysqlError> {
    let task = task.get();
    match step {
        RetryStep::Passed { result, lease_until } => {
            let sql = "UPDATE retry_tasks SET segment = segment + 1, former = ?, attempts = 0, ready_ms = ?,
                         last_error = '' WHERE id = ?";
            execute(conn, sql, (&result[..], lease_until.as_millis(), task)).await
        }
        RetryStep::Retry { due, error } => {
            let sql =
                "UPDATE retry_tasks SET attempts = attempts + 1, due_ms = ?, ready_ms = ?, is_leased = 0,
                         last_error = ? WHERE id = ?";
            execute(conn, sql, (due.as_millis(), due.as_millis(), short_error(error), task)).await
        }
        RetryStep::Released { due } => {
            let sql = "UPDATE retry_tasks SET due_ms = ?, ready_ms = ?, is_leased = 0 WHERE id = ?";
            execute(conn, sql, (due.as_millis(), due.as_millis(), task)).await
        }
        RetryStep::Done => execute(conn, "DELETE FROM retry_tasks WHERE id = ?", (task,)).await,
        RetryStep::Failed { error } => {
            let sql = "UPDATE retry_tasks SET attempts = attempts + 1, ready_ms = NULL, is_leased = 0,
                         failed_ms = ?, last_error = ? WHERE id = ?";
            execute(conn, sql, (now.as_millis(), short_error(error), task)).await
        }
    }
    .map(drop)
}

async fn replay(
    conn: &mut Conn,
    task: RetryTaskId,
    now: Timestamp,
) -> Result<RetryReplayOutcome, MysqlError> {
    let Some((open, found)) = lock_failed(conn, task).await? else { return Ok(RetryReplayOutcome::Unknown) };
    let Some((found, bytes)) = found else { return Ok(RetryReplayOutcome::Open) };
    let head = match &found.group {
        Some(group) => head(conn, &found.kind, group).await?,
        None => None,
    };
    let plan = ReplayedTask::plan(task, head, now);
    if let ReplayedTask::InsteadOf(younger) = plan {
        block(conn, younger).await?;
    }
    reopen(conn, task, (plan != ReplayedTask::Blocked).then_some(now), now).await?;
    put_totals(conn, &found.kind, open.replayed(bytes)).await?;
    Ok(RetryReplayOutcome::Done(found))
}

async fn discard(conn: &mut Conn, task: RetryTaskId) -> Result<RetryReplayOutcome, MysqlError> {
    let Some((open, found)) = lock_failed(conn, task).await? else { return Ok(RetryReplayOutcome::Unknown) };
    let Some((found, _)) = found else { return Ok(RetryReplayOutcome::Open) };
    execute(conn, "DELETE FROM retry_tasks WHERE id = ?", (task.get(),)).await?;
    put_totals(conn, &found.kind, open.forgotten(1)).await?;
    Ok(RetryReplayOutcome::Done(found))
}

async fn prune(conn: &mut Conn, kind: &str, until: Timestamp, max: u32) -> Result<u64, MysqlError> {
    let open = lock(conn, kind).await?;
    let sql = "DELETE FROM retry_tasks WHERE kind = ? AND failed_ms < ? ORDER BY failed_ms, id LIMIT ?";
    let pruned = execute(conn, sql, (kind, until.as_millis(), max)).await?;
    if pruned > 0 {
        put_totals(conn, kind, open.forgotten(pruned)).await?;
    }
    Ok(pruned)
}

fn counts(row: &mut Columns) -> Result<RetryCounts, MysqlError> {
    Ok(RetryCounts {
        kind: row.next()?,
        open: row.count()?,
        open_bytes: row.count()?,
        failed: row.count()?,
        oldest: row.time_if_any()?,
    })
}
