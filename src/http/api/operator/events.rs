//! Events of the mall for operators: `/ops/events` and `/ops/events/stream`.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::FromRequestParts;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use mallbox_storage::{EventPage, StoredEvent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::server_sent::{EventSource, Places, ServerSent};
use crate::http::App;
use crate::http::describe::{Calls, Input, Operation, Schemas};
use crate::http::request::extract::{Operator, PollingOperator, Query, Token};
use crate::http::response::envelope::{Answer, Reply};
use crate::http::response::error::ApiError;
use crate::language::both;
use crate::mall::base::event_bus::EventEnvelope;
use crate::mall::{Failure, Refusal};

/// Returns the routes of events.
pub(super) fn routes(places: Places) -> Calls {
    Calls::of(both("事件", "Events"))
        .get("/ops/events", list, both("某个位置之后的事件，最多100条", "Up to 100 events behind a position"))
        .explained(both(
            "仅当至少有一个订阅时商城才写入事件，保留7天。`lost`是已被清理、这一页中缺少的事件数。\
             查看不会延长会话。",
            "The mall writes events while there is at least one subscriber, and keeps them for 7 days. \
             `lost` is the number of events before the page that were pruned. The call does not extend the session.",
        ))
        .get("/ops/events/stream", stream, both("事件流", "Events as they happen"))
        .explained(both(
            "`text/event-stream`：`id`是位置。从`after`或请求头`Last-Event-ID`之后开始；都没有时，从此刻开始。\
             每个读者各自收到全部事件，与进程无关。已被清理的事件以`event: lost`告知，没有任何订阅时先收到\
             `event: idle`。令牌同样放在请求头里。查看不会延长会话。",
            "`text/event-stream`; the `id` of an event is its position. Begins behind `after`, or behind the \
             header `Last-Event-ID`; without both, now. Every reader gets every event, from any process. \
             Pruned events are reported by `event: lost`; without a subscriber the first event is `event: \
             idle`. The token is in the header as usual. Watching does not extend the session.",
        ))
        .with(places)
}

/// Name of the header with the position of the last event seen.
const LAST_EVENT_ID: &str = "last-event-id";

/// Most events of a page.
pub(in crate::http) const PAGE_MAX: u32 = 100;

/// Place of a page of events.
#[derive(Deserialize, JsonSchema)]
pub(in crate::http) struct Behind {
    /// Position of the last event seen; 0 for the oldest events.
    #[schemars(example = 1_040)]
    pub(in crate::http) after: Option<u64>,
}

/// A page of events.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct EventsAnswer {
    events: Vec<EventEnvelope>,
    /// Number of events before the page that were pruned.
    #[schemars(example = 0)]
    lost: u64,
    /// Position of the newest event; 0 if there never was one.
    #[schemars(example = 1_042)]
    head: u64,
}

impl From<EventPage> for EventsAnswer {
    fn from(page: EventPage) -> Self {
        let events = page.events.iter().map(EventEnvelope::of).collect();
        Self { events, lost: page.lost, head: page.ends.head }
    }
}

async fn list(
    State(app): State<App>,
    _: PollingOperator,
    Query(behind): Query<Behind>,
) -> Reply<EventsAnswer> {
    let page = app.event_admin.after(behind.after.unwrap_or(0), PAGE_MAX).await?;
    Ok(Answer::ok(EventsAnswer::from(page)))
}

async fn stream(
    State(app): State<App>,
    _: Operator,
    Token(token): Token,
    Query(behind): Query<Behind>,
    Extension(places): Extension<Places>,
    LastEventId(resumed): LastEventId,
) -> Result<ServerSent<EventEnvelope>, ApiError> {
    let reader = Reader::begin(Arc::clone(&app), resumed.or(behind.after)).await?;
    places.listen(app, token, reader)
}

/// The header `Last-Event-ID`: the position of the last event seen.
struct LastEventId(Option<u64>);

impl<S: Send + Sync> FromRequestParts<S> for LastEventId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let Some(id) = parts.headers.get(LAST_EVENT_ID) else { return Ok(Self(None)) };
        let id = id.to_str().ok().and_then(|id| id.parse().ok());
        Ok(Self(Some(id.ok_or(Refusal::BadValue("Last-Event-ID"))?)))
    }
}

impl Input for LastEventId {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        let schema = json!({
            "type": "integer", "format": "uint64", "minimum": 0,
            "description": "Position of the last event seen, in place of `after`",
        });
        operation.takes("header", LAST_EVENT_ID, false, schema);
        operation.refuses(StatusCode::BAD_REQUEST);
    }
}

/// A reader of the events, from any process: reads the database once per interval.
struct Reader {
    app: App,
    position: u64,
    is_idle: bool,
}

impl Reader {
    async fn begin(app: App, after: Option<u64>) -> Result<Self, Failure> {
        let (subscribers, counts) = app.event_admin.list().await?;
        let head = counts.ends.head;
        // Beyond the newest event there is nothing: the position is that of a mall before it was restored.
        let position = after.filter(|after| *after <= head).unwrap_or(head);
        Ok(Self { app, position, is_idle: subscribers.is_empty() })
    }
}

impl EventSource for Reader {
    async fn events(&mut self) -> Bytes {
        let mut out = String::new();
        if std::mem::take(&mut self.is_idle) {
            out.push_str("event: idle\ndata: {\"code\":\"NO_SUBSCRIBER\"}\n\n");
        }
        // While the database is away, readers stay connected.
        if let Ok(page) = self.app.event_admin.after(self.position, PAGE_MAX).await {
            if page.lost > 0 {
                self.position = self.position.saturating_add(page.lost);
                // Writing to a String cannot fail.
                let _ =
                    write!(out, "id: {}\nevent: lost\ndata: {{\"lost\":{}}}\n\n", self.position, page.lost);
            }
            for event in &page.events {
                write_event(&mut out, event);
                self.position = event.position;
            }
        }
        if out.is_empty() {
            // A comment, by which a reader that went away is noticed, and no proxy closes the connection.
            out.push_str(": \n\n");
        }
        Bytes::from(out)
    }
}

fn write_event(out: &mut String, event: &StoredEvent) {
    // Writing to a String cannot fail.
    let _ = write!(out, "id: {}\ndata: {}\n\n", event.position, EventEnvelope::of(event).to_json());
}
