//! The retry queue for operators: `/ops/retries…`.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{FailedTaskCursor, RetryTaskId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Now, Operator, Path, PollingOperator, Query};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::Refusal;
use crate::mall::base::retry::RetryMetrics;
use crate::mall::base::retry::breaker::BreakerState;
use crate::mall::base::{By, wall_time};
use crate::mall::operator::retries::FailedView;

/// Returns the routes of the retry queue.
pub(super) fn routes() -> Calls {
    Calls::of(both("重试任务", "Retries"))
        .get(
            "/ops/retries",
            list,
            both("重试队列的数量，和最终失败的任务", "Numbers of the retry queue, and the tasks that failed for good"),
        )
        .explained(both(
            "失败的任务，后失败的在前，每页50个。`after`是上一页最后一个任务的`cursor`。任务的内容不会显示。\
             查看不会延长会话。",
            "Failed tasks, latest failure first, 50 a page. `after` is the `cursor` of the last task before. Payloads \
             are not shown. The call does not extend the session.",
        ))
        .post(
            "/ops/retries/{id}/replay",
            replay,
            both("从失败的步骤起重新运行任务", "Run a failed task again, at the segment that failed"),
        )
        .explained(both("写入审计日志。", "The audit log records the action."))
        .post("/ops/retries/{id}/discard", discard, both("放弃失败的任务", "Discard a failed task"))
        .explained(both("任务被删除。写入审计日志。", "The task is deleted. The audit log records the action."))
}

#[derive(Deserialize, JsonSchema)]
struct ListQuery {
    /// Only failed tasks of this kind.
    #[schemars(example = &"refund")]
    kind: Option<String>,
    /// The `cursor` of the last task on the page before.
    after: Option<String>,
}

/// A breaker that is not closed.
#[derive(Serialize, JsonSchema)]
struct BreakerAnswer {
    /// The segment, and the remote party if the segment has several.
    name: String,
    /// `OPEN` or `HALF_OPEN`.
    #[schemars(example = &"OPEN")]
    state: &'static str,
}

/// Numbers of a kind of task.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct KindAnswer {
    #[schemars(example = &"refund")]
    kind: String,
    /// Tasks that wait or run.
    open: u64,
    /// Their payloads, in bytes.
    open_bytes: u64,
    /// Tasks that failed for good.
    failed: u64,
    /// When the oldest open task was submitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    oldest_time: Option<String>,
    /// Breakers of this instance that are not closed.
    breakers: Vec<BreakerAnswer>,
}

impl KindAnswer {
    fn new(metrics: RetryMetrics, zone: &TimeZone) -> Self {
        let RetryMetrics { counts, breakers, .. } = metrics;
        let word = |state| match state {
            BreakerState::Closed => "CLOSED",
            BreakerState::HalfOpen => "HALF_OPEN",
            BreakerState::Open => "OPEN",
        };
        Self {
            kind: counts.kind,
            open: counts.open,
            open_bytes: counts.open_bytes,
            failed: counts.failed,
            oldest_time: counts.oldest.map(|oldest| wall_time::text(oldest, zone)),
            breakers: breakers
                .into_iter()
                .map(|breaker| BreakerAnswer { name: breaker.name, state: word(breaker.state) })
                .collect(),
        }
    }
}

/// A task that failed for good.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FailedAnswer {
    id: u64,
    #[schemars(example = &"refund")]
    kind: String,
    /// The idempotency key.
    key: String,
    /// The segment that failed.
    #[schemars(example = &"refund at the gateway")]
    segment: String,
    /// Failed attempts of the segment.
    attempts: u32,
    #[schemars(example = &"no response within 800 ms")]
    error: String,
    #[schemars(example = &"2026-11-21T10:09:17")]
    create_time: String,
    #[schemars(example = &"2026-11-21T13:17:02")]
    fail_time: String,
    /// The place of the task in the list: `after` for the next page.
    #[schemars(example = &"1795262400000-17")]
    cursor: String,
}

impl FailedAnswer {
    fn new(view: FailedView, zone: &TimeZone) -> Self {
        let FailedView { task, segment } = view;
        Self {
            id: task.id.get(),
            cursor: format!("{}-{}", task.failed.as_millis(), task.id),
            kind: task.kind,
            key: task.key,
            segment: segment.map_or_else(|| task.segment.to_string(), str::to_owned),
            attempts: task.attempts,
            error: task.error,
            create_time: wall_time::text(task.created, zone),
            fail_time: wall_time::text(task.failed, zone),
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct RetriesAnswer {
    kinds: Vec<KindAnswer>,
    failed: Vec<FailedAnswer>,
}

async fn list(
    State(app): State<App>,
    _: PollingOperator,
    Query(query): Query<ListQuery>,
) -> Reply<RetriesAnswer> {
    let after = query.after.filter(|after| !after.is_empty()).as_deref().map(parse_cursor).transpose()?;
    let kind = query.kind.filter(|kind| !kind.is_empty());
    let zone = &app.context.zone;
    let kinds = app.retry_admin.kinds().await?;
    let failed = app.retry_admin.failed(kind.as_deref(), after).await?;
    Ok(Answer::ok(RetriesAnswer {
        kinds: kinds.into_iter().map(|metrics| KindAnswer::new(metrics, zone)).collect(),
        failed: failed.into_iter().map(|view| FailedAnswer::new(view, zone)).collect(),
    }))
}

fn parse_cursor(text: &str) -> Result<FailedTaskCursor, Refusal> {
    let cursor = text.split_once('-').and_then(|(failed, task)| {
        let failed = Timestamp::from_millis(failed.parse().ok()?);
        Some(FailedTaskCursor { failed, task: RetryTaskId::new(task.parse().ok()?) })
    });
    cursor.ok_or(Refusal::BadValue("after"))
}

async fn replay(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply {
    app.retry_admin.replay(By::operator(user, now), RetryTaskId::new(id)).await?;
    Ok(Answer::done())
}

async fn discard(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply {
    app.retry_admin.discard(By::operator(user, now), RetryTaskId::new(id)).await?;
    Ok(Answer::done())
}
