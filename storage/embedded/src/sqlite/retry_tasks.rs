//! The [`RetryTasks`] port on SQLite.

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
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::Database;
use super::columns::{get_count, get_id, get_time_if_any, id};
use super::errors::refuse;
use super::retry_rows::{
    SELECT_FAILED, SELECT_LEASED, block, failed, failed_task, head, leased, promote, put_totals, reopen,
    totals,
};

pub(crate) struct EmbeddedRetryTasks(Database);

impl EmbeddedRetryTasks {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl RetryTasks for EmbeddedRetryTasks {
    async fn submit(
        &self,
        kind: &str,
        tasks: &[NewRetryTask],
        limits: RetryLimits,
        now: Timestamp,
    ) -> Result<Vec<SubmitOutcome>, StoreError> {
        let (kind, tasks) = (kind.to_owned(), tasks.to_vec());
        self.0.write("submit tasks", move |conn| submit(conn, &kind, &tasks, limits, now)).await
    }

    async fn lease_due(
        &self,
        kind: &str,
        max: u32,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Vec<LeasedTask>, StoreError> {
        let kind = kind.to_owned();
        self.0.write("lease tasks", move |conn| lease_due(conn, &kind, max, now, lease_until)).await
    }

    async fn settle(
        &self,
        kind: &str,
        settlements: &[RetrySettlement],
        now: Timestamp,
    ) -> Result<Vec<bool>, StoreError> {
        let (kind, settlements) = (kind.to_owned(), settlements.to_vec());
        self.0.write("settle tasks", move |conn| settle(conn, &kind, &settlements, now)).await
    }

    async fn next_due(&self, kind: &str) -> Result<Option<Timestamp>, StoreError> {
        let kind = kind.to_owned();
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "SELECT MIN(ready_ms) FROM retry_tasks WHERE kind = ?1 AND ready_ms IS NOT NULL",
            )?
            .query_row([kind], |row| get_time_if_any(row, 0))
        };
        self.0.read("next due task", job).await
    }

    async fn failed(
        &self,
        kind: Option<&str>,
        after: Option<FailedTaskCursor>,
        max: u32,
    ) -> Result<Vec<FailedTask>, StoreError> {
        let kind = kind.map(str::to_owned);
        let (at, task) = after.map_or((i64::MAX, i64::MAX), |after| {
            (after.failed.as_millis(), super::columns::after(after.task.get()))
        });
        let of_kind = if kind.is_some() { "kind = ?4 AND" } else { "?4 IS NULL AND" };
        let sql = format!(
            "{SELECT_FAILED} WHERE {of_kind} failed_ms IS NOT NULL AND (failed_ms, id) < (?1, ?2)
             ORDER BY failed_ms DESC, id DESC LIMIT ?3"
        );
        let job = move |conn: &Connection| {
            conn.prepare_cached(&sql)?.query_map(params![at, task, max, kind], failed)?.collect()
        };
        self.0.read("failed tasks", job).await
    }

    async fn replay(&self, task: RetryTaskId, now: Timestamp) -> Result<RetryReplayOutcome, StoreError> {
        self.0.write("replay task", move |conn| replay(conn, task, now)).await
    }

    async fn discard(&self, task: RetryTaskId) -> Result<RetryReplayOutcome, StoreError> {
        self.0.write("discard task", move |conn| discard(conn, task)).await
    }

    async fn prune(&self, kind: &str, until: Timestamp, max: u32) -> Result<u64, StoreError> {
        let kind = kind.to_owned();
        self.0.write_bulk("prune failed tasks", move |conn| prune(conn, &kind, until, max)).await
    }

    async fn counts(&self) -> Result<Vec<RetryCounts>, StoreError> {
        self.0.read("counts of tasks", counts).await
    }
}

fn submit(
    conn: &Connection,
    kind: &str,
    tasks: &[NewRetryTask],
    limits: RetryLimits,
    now: Timestamp,
) -> rusqlite::Result<Vec<SubmitOutcome>> {
    let before = totals(conn, kind)?;
    let mut open = before;
    let plans =
        plan_submits(kind, tasks, limits, &mut open, &stored(conn, kind, tasks)?, groups(conn, kind, tasks)?)
            .map_err(refuse)?;
    let mut outcomes: Vec<SubmitOutcome> = Vec::with_capacity(tasks.len());
    for (task, plan) in tasks.iter().zip(plans) {
        outcomes.push(match plan {
            SubmitPlan::Refuse(outcome) => outcome,
            SubmitPlan::SameAs(first) => SubmitPlan::repeat_of(outcomes[first]),
            SubmitPlan::Insert { .. } => plan.stored(task, insert(conn, kind, task, plan, now)?),
        });
    }
    if open != before {
        put_totals(conn, kind, open)?;
    }
    Ok(outcomes)
}

fn stored(
    conn: &Connection,
    kind: &str,
    tasks: &[NewRetryTask],
) -> rusqlite::Result<HashMap<String, (RetryTaskId, bool)>> {
    let mut by_key = conn.prepare_cached(
        "SELECT id, failed_ms IS NOT NULL FROM retry_tasks WHERE kind = ?1 AND task_key = ?2",
    )?;
    let mut found = HashMap::new();
    for NewRetryTask { key, .. } in tasks {
        let read = |row: &Row<'_>| Ok((RetryTaskId::new(get_id(row, 0)?), row.get(1)?));
        if let Some(task) = by_key.query_row([kind, key], read).optional()? {
            found.insert(key.clone(), task);
        }
    }
    Ok(found)
}

/// Returns the groups of `tasks` that have an open task.
fn groups(conn: &Connection, kind: &str, tasks: &[NewRetryTask]) -> rusqlite::Result<HashSet<String>> {
    let mut by_group = conn.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM retry_tasks WHERE kind = ?1 AND task_group = ?2 AND failed_ms IS NULL)",
    )?;
    let mut found = HashSet::new();
    for group in tasks.iter().filter_map(|task| task.group.as_ref()) {
        if by_group.query_row([kind, group], |row| row.get(0))? {
            found.insert(group.clone());
        }
    }
    Ok(found)
}

fn insert(
    conn: &Connection,
    kind: &str,
    task: &NewRetryTask,
    plan: SubmitPlan,
    now: Timestamp,
) -> rusqlite::Result<RetryTaskId> {
    let is_leased = plan.is_leased(task);
    let ready = plan.ready(task).map(Timestamp::as_millis);
    conn.prepare_cached(
        "INSERT INTO retry_tasks (kind, task_key, task_group, payload, due_ms, ready_ms, is_leased, lease_number,
           created_ms, opened_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)",
    )?
    .insert(params![
        kind,
        task.key,
        task.group,
        &task.payload[..],
        task.due.as_millis(),
        ready,
        is_leased,
        i64::from(is_leased),
        now.as_millis(),
    ])
    .map(|row| RetryTaskId::new(row.cast_unsigned()))
}

fn lease_due(
    conn: &Connection,
    kind: &str,
    max: u32,
    now: Timestamp,
    lease_until: Timestamp,
) -> rusqlite::Result<Vec<LeasedTask>> {
    let due: Vec<LeasedTask> = conn
        .prepare_cached(&format!(
            "{SELECT_LEASED} WHERE kind = ?1 AND ready_ms IS NOT NULL AND ready_ms <= ?2
             ORDER BY ready_ms, id LIMIT ?3"
        ))?
        .query_map(params![kind, now.as_millis(), max], leased)?
        .collect::<rusqlite::Result<_>>()?;
    let mut lease = conn.prepare_cached(
        "UPDATE retry_tasks SET is_leased = 1, lease_number = ?2, ready_ms = ?3 WHERE id = ?1",
    )?;
    for LeasedTask { lease: RetryLease { task, number }, .. } in &due {
        lease.execute([id(task.get()), id(*number), lease_until.as_millis()])?;
    }
    Ok(due)
}

fn settle(
    conn: &Connection,
    kind: &str,
    settlements: &[RetrySettlement],
    now: Timestamp,
) -> rusqlite::Result<Vec<bool>> {
    let plan = plan_settlements(settlements, &leased_rows(conn, kind, settlements)?).map_err(refuse)?;
    for (settlement, in_force) in settlements.iter().zip(&plan.in_force) {
        if *in_force {
            write_step(conn, settlement, now)?;
        }
    }
    if plan.closed > 0 {
        let mut open = totals(conn, kind)?;
        open.settle(&plan);
        put_totals(conn, kind, open)?;
    }
    for group in &plan.groups {
        promote(conn, kind, group)?;
    }
    Ok(plan.in_force)
}

fn leased_rows(
    conn: &Connection,
    kind: &str,
    settlements: &[RetrySettlement],
) -> rusqlite::Result<BTreeMap<RetryTaskId, LeasedRow>> {
    let mut by_id = conn.prepare_cached(
        "SELECT lease_number, task_group, LENGTH(payload) FROM retry_tasks
         WHERE id = ?1 AND kind = ?2 AND is_leased = 1",
    )?;
    let mut rows = BTreeMap::new();
    for task in settlements.iter().map(|settlement| settlement.lease.task) {
        let read = |row: &Row<'_>| {
            let lease = RetryLease { task, number: get_count(row, 0)? };
            Ok(LeasedRow { lease, group: row.get(1)?, bytes: get_count(row, 2)? })
        };
        if let Some(row) = by_id.query_row(params![id(task.get()), kind], read).optional()? {
            rows.insert(task, row);
        }
    }
    Ok(rows)
}

fn write_step(conn: &Connection, settlement: &RetrySettlement, now: Timestamp) -> rusqlite::Result<()> {
    let task = id(settlement.lease.task.get());
    match &settlement.step {
        RetryStep::Passed { result, lease_until } => conn
            .prepare_cached(
                "UPDATE retry_tasks SET segment = segment + 1, former = ?2, attempts = 0, ready_ms = ?3,
                   last_error = '' WHERE id = ?1",
            )?
            .execute(params![task, &result[..], lease_until.as_millis()]),
        RetryStep::Retry { due, error } => conn
            .prepare_cached(
                "UPDATE retry_tasks SET attempts = attempts + 1, due_ms = ?2, ready_ms = ?2, is_leased = 0,
                   last_error = ?3 WHERE id = ?1",
            )?
            .execute(params![task, due.as_millis(), short_error(error)]),
        RetryStep::Released { due } => conn
            .prepare_cached("UPDATE retry_tasks SET due_ms = ?2, ready_ms = ?2, is_leased = 0 WHERE id = ?1")?
            .execute([task, due.as_millis()]),
        RetryStep::Done => conn.prepare_cached("DELETE FROM retry_tasks WHERE id = ?1")?.execute([task]),
        RetryStep::Failed { error } => conn
            .prepare_cached(
                "UPDATE retry_tasks SET attempts = attempts + 1, ready_ms = NULL, is_leased = 0, failed_ms = ?2,
                   last_error = ?3 WHERE id = ?1",
            )?
            .execute(params![task, now.as_millis(), short_error(error)]),
    }
    .map(drop)
}

fn replay(conn: &Connection, task: RetryTaskId, now: Timestamp) -> rusqlite::Result<RetryReplayOutcome> {
    let Some(found) = failed_task(conn, task)? else { return Ok(RetryReplayOutcome::Unknown) };
    let Some((found, bytes)) = found else { return Ok(RetryReplayOutcome::Open) };
    let head = match &found.group {
        Some(group) => head(conn, &found.kind, group)?,
        None => None,
    };
    let plan = ReplayedTask::plan(task, head, now);
    if let ReplayedTask::InsteadOf(younger) = plan {
        block(conn, younger)?;
    }
    reopen(conn, task, (plan != ReplayedTask::Blocked).then_some(now), now)?;
    let open = totals(conn, &found.kind)?.replayed(bytes);
    put_totals(conn, &found.kind, open)?;
    Ok(RetryReplayOutcome::Done(found))
}

fn discard(conn: &Connection, task: RetryTaskId) -> rusqlite::Result<RetryReplayOutcome> {
    let Some(found) = failed_task(conn, task)? else { return Ok(RetryReplayOutcome::Unknown) };
    let Some((found, _)) = found else { return Ok(RetryReplayOutcome::Open) };
    conn.prepare_cached("DELETE FROM retry_tasks WHERE id = ?1")?.execute([id(task.get())])?;
    forget_failed(conn, &found.kind, 1)?;
    Ok(RetryReplayOutcome::Done(found))
}

fn prune(conn: &Connection, kind: &str, until: Timestamp, max: u32) -> rusqlite::Result<u64> {
    let pruned = conn
        .prepare_cached(
            "DELETE FROM retry_tasks WHERE id IN
               (SELECT id FROM retry_tasks WHERE kind = ?1 AND failed_ms IS NOT NULL AND failed_ms < ?2
                ORDER BY failed_ms, id LIMIT ?3)",
        )?
        .execute(params![kind, until.as_millis(), max])? as u64;
    if pruned > 0 {
        forget_failed(conn, kind, pruned)?;
    }
    Ok(pruned)
}

fn forget_failed(conn: &Connection, kind: &str, tasks: u64) -> rusqlite::Result<()> {
    let open = totals(conn, kind)?.forgotten(tasks);
    put_totals(conn, kind, open)
}

fn counts(conn: &Connection) -> rusqlite::Result<Vec<RetryCounts>> {
    let read = |row: &Row<'_>| {
        Ok(RetryCounts {
            kind: row.get(0)?,
            open: get_count(row, 1)?,
            open_bytes: get_count(row, 2)?,
            failed: get_count(row, 3)?,
            oldest: get_time_if_any(row, 4)?,
        })
    };
    conn.prepare_cached(
        "SELECT kind, open_tasks, open_bytes, failed_tasks, (SELECT created_ms FROM retry_tasks AS task
           WHERE task.kind = retry_kinds.kind AND task.failed_ms IS NULL ORDER BY task.id LIMIT 1)
         FROM retry_kinds WHERE open_tasks > 0 OR failed_tasks > 0 ORDER BY kind",
    )?
    .query_map([], read)?
    .collect()
}
