//! Subscribers of events: `/ops/events/subscribers…`.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{EventCounts, EventTarget, Subscriber, SubscriberId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, Path, PollingOperator};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::base::{By, wall_time};
use crate::mall::operator::event_subscribers::{NewSubscription, SubscriptionForm};

/// Returns the routes of subscribers.
pub(super) fn routes() -> Calls {
    Calls::of(both("事件", "Events"))
        .get("/ops/events/subscribers", list, both("事件订阅列表", "The subscribers of events"))
        .explained(both(
            "每个订阅的目标、进度、落后的事件数、状态和最近一次错误。不返回URL和密钥。查看不会延长会话。",
            "Target, cursor, lag, state and last error of each subscriber, without URL and secret. The call \
             does not extend the session.",
        ))
        .post("/ops/events/subscribers", create, both("创建事件订阅", "Create a subscriber of events"))
        .explained(both(
            "从此刻起的事件。`target`为`webhook`（HTTP请求，须填`url`）、`stream`（商城的Redis中的流）\
             或`log`（只保留事件，供读取）。未填`secret`时由商城生成。密钥只在这次响应中返回。写入审计日志。",
            "Events from now on. `target` is `webhook` (HTTP requests to `url`), `stream` (a stream in the \
             mall's Redis) or `log` (keeps events for readers). Without a `secret` the mall makes one; the \
             response is the only one with the secret. The audit log records the action.",
        ))
        .post("/ops/events/subscribers/{id}/pause", pause, both("暂停事件订阅", "Pause a subscriber"))
        .post(
            "/ops/events/subscribers/{id}/resume",
            resume,
            both("恢复事件订阅，从暂停处继续", "Resume a subscriber where it stopped"),
        )
        .delete("/ops/events/subscribers/{id}", remove, both("删除事件订阅", "Delete a subscriber"))
        .explained(both(
            "`stream`的流一并删除；尚未送达`webhook`的事件不再发送。没有任何订阅时，商城不再写入事件。",
            "With its stream; events on their way to a webhook are dropped. Without a subscriber the mall \
             writes no events.",
        ))
}

/// The subscribers of events.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SubscribersAnswer {
    /// Position of the newest event; 0 if there never was one.
    #[schemars(example = 1_042)]
    head: u64,
    /// Position of the newest event that was pruned.
    #[schemars(example = 40)]
    pruned: u64,
    /// Events written and without a position yet.
    #[schemars(example = 0)]
    waiting: u64,
    /// Whether the mall has streams: in Redis.
    has_streams: bool,
    subscribers: Vec<SubscriberAnswer>,
}

/// A subscriber of events.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SubscriberAnswer {
    #[schemars(example = 1)]
    id: u64,
    #[schemars(example = &"erp")]
    name: String,
    /// `log`, `webhook` or `stream`.
    #[schemars(example = &"webhook")]
    target: &'static str,
    /// Kinds of events; all if empty.
    #[schemars(example = &["order.paid"])]
    kinds: Vec<&'static str>,
    /// Position of the last event handed over.
    #[schemars(example = 1_040)]
    cursor: u64,
    /// Number of events not handed over yet; 0 for a log.
    #[schemars(example = 2)]
    lag: u64,
    paused: bool,
    /// Number of events that were pruned before they were handed over.
    #[schemars(example = 0)]
    lost: u64,
    /// Why the last attempt to hand events over failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"the retry queue is full")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2026-11-21T10:09:17")]
    error_time: Option<String>,
    #[schemars(example = &"2026-11-21T10:09:17")]
    create_time: String,
}

impl SubscriberAnswer {
    fn new(subscriber: Subscriber, counts: EventCounts, zone: &TimeZone) -> Self {
        let lag = match subscriber.target {
            EventTarget::Log => 0,
            EventTarget::Webhook { .. } | EventTarget::Stream => {
                counts.ends.head.saturating_sub(subscriber.cursor)
            }
        };
        let (error, at) = subscriber.error.unzip();
        Self {
            id: subscriber.id.get(),
            name: subscriber.name,
            target: subscriber.target.name(),
            kinds: subscriber.kinds.iter().map(|kind| kind.name()).collect(),
            cursor: subscriber.cursor,
            lag,
            paused: subscriber.is_paused,
            lost: subscriber.lost,
            error,
            error_time: at.map(|at| wall_time::text(at, zone)),
            create_time: wall_time::text(subscriber.created, zone),
        }
    }
}

async fn list(State(app): State<App>, _: PollingOperator) -> Reply<SubscribersAnswer> {
    let (subscribers, counts) = app.event_admin.list().await?;
    let zone = &app.context.zone;
    let answer = |subscriber| SubscriberAnswer::new(subscriber, counts, zone);
    Ok(Answer::ok(SubscribersAnswer {
        head: counts.ends.head,
        pruned: counts.ends.pruned,
        waiting: counts.waiting,
        has_streams: app.event_admin.has_streams(),
        subscribers: subscribers.into_iter().map(answer).collect(),
    }))
}

#[derive(Deserialize, JsonSchema)]
struct SubscriptionBody {
    /// 1 to 40 letters, digits and `-_.`, unique among the subscribers.
    #[serde(default)]
    #[schemars(example = &"erp")]
    name: String,
    /// `log`, `webhook` or `stream`.
    #[serde(default)]
    #[schemars(example = &"webhook")]
    target: String,
    /// URL of a webhook: `https://`, or `http://` on the mall's machine.
    #[schemars(example = &"https://erp.example/mallbox")]
    url: Option<String>,
    /// Key of the signature of a webhook, 16 to 200 bytes; made by the mall if absent.
    secret: Option<String>,
    /// Kinds of events; all if absent or empty.
    #[serde(default)]
    #[schemars(example = &["order.paid"])]
    kinds: Vec<String>,
}

/// A new subscriber.
#[derive(Serialize, JsonSchema)]
struct SubscribedAnswer {
    #[schemars(example = 1)]
    id: u64,
    /// Key of the signature of a webhook. No other response contains the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

async fn create(
    State(app): State<App>,
    Operator(operator): Operator,
    Now(now): Now,
    Json(body): Json<SubscriptionBody>,
) -> Reply<SubscribedAnswer> {
    let SubscriptionBody { name, target, url, secret, kinds } = body;
    let form = SubscriptionForm { name, target, url, secret, kinds };
    let NewSubscription { id, secret } = app.event_admin.subscribe(By::operator(operator, now), form).await?;
    Ok(Answer::ok(SubscribedAnswer { id: id.get(), secret }).no_store())
}

async fn pause(
    State(app): State<App>,
    Operator(operator): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply {
    app.event_admin.put_paused(By::operator(operator, now), SubscriberId::new(id), true).await?;
    Ok(Answer::done())
}

async fn resume(
    State(app): State<App>,
    Operator(operator): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply {
    app.event_admin.put_paused(By::operator(operator, now), SubscriberId::new(id), false).await?;
    Ok(Answer::done())
}

async fn remove(
    State(app): State<App>,
    Operator(operator): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply {
    app.event_admin.unsubscribe(By::operator(operator, now), SubscriberId::new(id)).await?;
    Ok(Answer::done())
}
