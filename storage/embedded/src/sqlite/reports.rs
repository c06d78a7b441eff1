//! The [`Reports`] port on SQLite.

use std::collections::HashMap;

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::{
    OpenReports, Page, Post, ReportOutcome, Reports, StoreError, Timestamp, UserId, Visibility,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::Database;
use super::columns::{get_count, get_id, get_known, get_time, id};
use super::errors::unreadable;

pub(crate) struct EmbeddedReports(Database);

impl EmbeddedReports {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl Reports for EmbeddedReports {
    async fn report(
        &self,
        user: UserId,
        target: Post,
        reason: &str,
        now: Timestamp,
    ) -> Result<ReportOutcome, StoreError> {
        let reason = reason.to_owned();
        self.0.write("report", move |conn| report(conn, user, target, &reason, now)).await
    }

    async fn open(&self, page: Page) -> Result<(Vec<OpenReports>, u64), StoreError> {
        self.0.read("open reports", move |conn| open(conn, page)).await
    }
}

/// Marks all open reports about `target` as decided.
pub(super) fn decide(conn: &Connection, target: Post, now: Timestamp) -> rusqlite::Result<()> {
    let (kind, target) = target.in_row();
    conn.prepare_cached(
        "UPDATE reports SET decided_ms = ?3 WHERE kind = ?1 AND target_id = ?2 AND decided_ms IS NULL",
    )?
    .execute([kind, id(target), now.as_millis()])
    .map(drop)
}

fn report(
    conn: &Connection,
    user: UserId,
    target: Post,
    reason: &str,
    now: Timestamp,
) -> rusqlite::Result<ReportOutcome> {
    let table = target.table();
    let (kind, which) = target.in_row();
    let visibility: Option<Visibility> = conn
        .prepare_cached(&format!("SELECT status FROM {table} WHERE id = ?1"))?
        .query_row([id(which)], |row| get_known(row, 0))
        .optional()?;
    if !visibility.is_some_and(Visibility::is_seen) {
        return Ok(ReportOutcome::NotThere);
    }
    let written = conn
        .prepare_cached(
            "INSERT INTO reports (kind, target_id, user_id, reason, created_ms) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![kind, id(which), id(user.get()), reason, now.as_millis()])?;
    if written == 0 {
        return Ok(ReportOutcome::Repeat);
    }
    conn.prepare_cached(&format!("UPDATE {table} SET status = ?2 WHERE id = ?1"))?
        .execute([id(which), Visibility::Reported.number()])?;
    Ok(ReportOutcome::Taken)
}

fn open(conn: &Connection, page: Page) -> rusqlite::Result<(Vec<OpenReports>, u64)> {
    let mut found: Vec<OpenReports> = conn
        .prepare_cached(
            "SELECT kind, target_id, COUNT(*) AS persons, MAX(created_ms) AS latest FROM reports
             WHERE decided_ms IS NULL GROUP BY kind, target_id
             ORDER BY persons DESC, latest DESC, kind, target_id DESC LIMIT ?1 OFFSET ?2",
        )?
        .query_map([i64::from(page.size()), id(page.skipped())], |row| {
            let (target, count, latest) = (target(row)?, get_count(row, 2)?, get_time(row, 3)?);
            Ok(OpenReports { target, count, reasons: Vec::new(), latest })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut reasons = reasons(conn, &found)?;
    for reports in &mut found {
        reports.reasons = reasons.remove(&reports.target).unwrap_or_default();
    }
    let total = conn
        .prepare_cached(
            "SELECT COUNT(*) FROM (SELECT 1 FROM reports WHERE decided_ms IS NULL GROUP BY kind, target_id)",
        )?
        .query_row([], |row| get_count(row, 0))?;
    Ok((found, total))
}

/// Returns the last few reasons per target, newest first.
fn reasons(conn: &Connection, of: &[OpenReports]) -> rusqlite::Result<HashMap<Post, Vec<String>>> {
    let ids: Vec<i64> = of.iter().map(|reports| id(reports.target.in_row().1)).collect();
    let mut select = conn.prepare_cached(
        "SELECT kind, target_id, reason FROM (
           SELECT kind, target_id, reason, ROW_NUMBER() OVER
             (PARTITION BY kind, target_id ORDER BY created_ms DESC, id DESC) AS place FROM reports
           WHERE decided_ms IS NULL AND reason <> '' AND target_id IN (SELECT value FROM json_each(?1)))
         WHERE place <= ?2 ORDER BY kind, target_id, place",
    )?;
    let rows = select.query_map(params![format!("{ids:?}"), OpenReports::REASONS_MAX], |row| {
        Ok((target(row)?, row.get(2)?))
    })?;
    let mut reasons: HashMap<Post, Vec<String>> = HashMap::new();
    for row in rows {
        let (target, reason) = row?;
        reasons.entry(target).or_default().push(reason);
    }
    Ok(reasons)
}

fn target(row: &Row<'_>) -> rusqlite::Result<Post> {
    let (kind, which) = (row.get(0)?, get_id(row, 1)?);
    Post::from_row(kind, which).ok_or_else(|| unreadable(0, kind))
}
