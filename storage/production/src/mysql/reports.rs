//! [`Reports`] in MySQL.

use std::collections::HashMap;

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::{
    OpenReports, Page, Post, ReportOutcome, Reports, StoreError, Timestamp, UserId, Visibility,
};
use mysql_async::Conn;

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::multi_row;

pub(super) struct MysqlReports(pub(super) Database);

#[async_trait]
impl Reports for MysqlReports {
    async fn report(
        &self,
        user: UserId,
        target: Post,
        reason: &str,
        now: Timestamp,
    ) -> Result<ReportOutcome, StoreError> {
        self.0.write("report", |conn| boxed(report(conn, user, target, reason, now))).await
    }

    async fn open(&self, page: Page) -> Result<(Vec<OpenReports>, u64), StoreError> {
        self.0.read("open reports", |conn| boxed(open(conn, page))).await
    }
}

/// Marks the open reports of `target` as decided.
pub(super) async fn decide(conn: &mut Conn, target: Post, now: Timestamp) -> Result<(), MysqlError> {
    let (kind, target) = target.in_row();
    let sql = "UPDATE reports SET decided_ms = ? WHERE kind = ? AND target_id = ? AND decided_ms IS NULL";
    execute(conn, sql, (now.as_millis(), kind, target)).await.map(drop)
}

/// Inserts a report. Locks the row of `target` first, so that concurrent reports of a target run in sequence.
async fn report(
    conn: &mut Conn,
    user: UserId,
    target: Post,
    reason: &str,
    now: Timestamp,
) -> Result<ReportOutcome, MysqlError> {
    let table = target.table();
    let (kind, which) = target.in_row();
    let sql = format!("SELECT status FROM {table} WHERE id = ? FOR UPDATE");
    let visibility: Option<Visibility> = first(conn, sql, (which,), Columns::known).await?;
    if !visibility.is_some_and(Visibility::is_seen) {
        return Ok(ReportOutcome::NotThere);
    }
    let sql = "SELECT 1 FROM reports WHERE kind = ? AND target_id = ? AND user_id = ?";
    if first(conn, sql, (kind, which, user.get()), Columns::next::<i64>).await?.is_some() {
        return Ok(ReportOutcome::Repeat);
    }
    let sql = "INSERT INTO reports (kind, target_id, user_id, reason, created_ms) VALUES (?, ?, ?, ?, ?)";
    execute(conn, sql, (kind, which, user.get(), reason, now.as_millis())).await?;
    let sql = format!("UPDATE {table} SET status = ? WHERE id = ?");
    execute(conn, sql, (Visibility::Reported.number(), which)).await?;
    Ok(ReportOutcome::Taken)
}

async fn open(conn: &mut Conn, page: Page) -> Result<(Vec<OpenReports>, u64), MysqlError> {
    let sql = "SELECT kind, target_id, COUNT(*) AS persons, MAX(created_ms) AS latest FROM reports
               WHERE decided_ms IS NULL GROUP BY kind, target_id
               ORDER BY persons DESC, latest DESC, kind, target_id DESC LIMIT ? OFFSET ?";
    let read = |row: &mut Columns| {
        let (target, count, latest) = (target(row)?, row.count()?, row.time()?);
        Ok(OpenReports { target, count, reasons: Vec::new(), latest })
    };
    let mut found = all(conn, sql, (page.size(), page.skipped()), read).await?;
    let mut reasons = reasons(conn, &found).await?;
    for reports in &mut found {
        reports.reasons = reasons.remove(&reports.target).unwrap_or_default();
    }
    let sql = "SELECT COUNT(*) FROM
                 (SELECT 1 FROM reports WHERE decided_ms IS NULL GROUP BY kind, target_id) AS things";
    let total = first(conn, sql, (), Columns::count).await?;
    Ok((found, total.unwrap_or_default()))
}

/// Returns the latest reasons for each target, newest first.
async fn reasons(conn: &mut Conn, of: &[OpenReports]) -> Result<HashMap<Post, Vec<String>>, MysqlError> {
    let ids: Vec<u64> = of.iter().map(|reports| reports.target.in_row().1).collect();
    let sql = format!(
        "SELECT kind, target_id, reason FROM (
                 SELECT kind, target_id, reason, ROW_NUMBER() OVER
                   (PARTITION BY kind, target_id ORDER BY created_ms DESC, id DESC) AS place FROM reports
                 WHERE decided_ms IS NULL AND reason <> '' AND target_id IN ({{keys}})) AS last
               WHERE place <= {} ORDER BY kind, target_id, place",
        OpenReports::REASONS_MAX
    );
    let mut reasons: HashMap<Post, Vec<String>> = HashMap::new();
    let read = |row: &mut Columns| Ok((target(row)?, row.next()?));
    for (target, reason) in multi_row::select_by_keys(conn, &sql, &[], &ids, read).await? {
        reasons.entry(target).or_default().push(reason);
    }
    Ok(reasons)
}

fn target(row: &mut Columns) -> Result<Post, MysqlError> {
    let (kind, which) = (row.next()?, row.next()?);
    Post::from_row(kind, which).ok_or_else(|| row.unreadable_last("of no known kind"))
}
