//! Security events of this process, for operators: `/ops/security`.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::Page;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{PollingOperator, Query};
use crate::http::response::envelope::{Answer, Reply};
use crate::http::response::error::ApiError;
use crate::http::server::security::{Count, EventRecord, Filter, SecurityEvent, SecurityEvents};
use crate::language::both;
use crate::mall::Refusal;
use crate::mall::base::wall_time;

/// Returns the routes of security events.
pub(super) fn routes(events: Arc<SecurityEvents>) -> Calls {
    Calls::of(both("安全", "Security"))
        .get(
            "/ops/security",
            list,
            both("安全事件，新的在前，每页50条", "Security events, newest first, 50 a page"),
        )
        .explained(both(
            "登录成功与失败、验证码、401、403、429、角色和停用等事件，以及过去24小时每小时的数量。\
             只含处理本次请求的这一个进程自启动以来的事件；有多个进程时，每个进程各有自己的列表。\
             数量总是完整的；列表每种最多保留200条，事件太密集时只列出一部分，与日志相同。查看不会延长会话。",
            "Log-ins, login codes, 401, 403, 429, changes of roles and blocks, and the counts of each of the \
             last 24 hours. The events are those of the process that responds, since its start: with \
             several processes, each has a list of its own. Counts are complete. The list keeps 200 events \
             of a kind, and like the log only a part of a flood. The call does not extend the session.",
        ))
        .with(events)
}

/// Events per page.
const PAGE_SIZE: u32 = 50;

/// Selection of events.
#[derive(Deserialize, JsonSchema)]
struct Which {
    /// Events of this kind only.
    event: Option<SecurityEvent>,
    /// Events from this IP address only.
    #[serde(default)]
    #[schemars(example = &"203.0.113.7")]
    client: String,
    /// The page, from 1.
    #[schemars(example = 1)]
    current: Option<u32>,
}

impl Which {
    fn filter(&self) -> Result<Filter, ApiError> {
        let client = match self.client.trim() {
            "" => None,
            text => Some(text.parse::<IpAddr>().map_err(|_| Refusal::BadValue("client"))?.to_canonical()),
        };
        Ok(Filter { event: self.event, client })
    }
}

/// Security events of the process that responds.
#[derive(Serialize, JsonSchema)]
struct SecurityAnswer {
    /// Start of the process; earlier events and events of other processes are not included.
    #[schemars(example = &"2026-11-21T10:09:17")]
    since: String,
    /// Every kind of event.
    counts: Vec<CountAnswer>,
    /// Number of selected events on all pages.
    total: u64,
    /// The selected events, newest first.
    events: Vec<EventAnswer>,
}

/// Number of events of a kind, complete.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CountAnswer {
    event: SecurityEvent,
    /// Since the start of the process.
    total: u64,
    /// In the last 60 minutes.
    last_hour: u64,
    /// In the last 24 hours.
    last_day: u64,
    /// In each of the last 24 hours, oldest first.
    hours: Vec<u64>,
}

impl From<Count> for CountAnswer {
    fn from(count: Count) -> Self {
        let Count { event, total, hours } = count;
        let last_hour = hours.last().copied().unwrap_or_default();
        Self { event, total, last_hour, last_day: hours.iter().sum(), hours: hours.to_vec() }
    }
}

/// A security event.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EventAnswer {
    /// Sequence number within the process.
    number: u64,
    #[schemars(example = &"2026-11-21T10:09:17")]
    time: String,
    event: SecurityEvent,
    /// The client's IP address; absent for the command line.
    #[schemars(example = &"203.0.113.7")]
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    /// The caller, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<u64>,
    /// The user whose role or block was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    subject_id: Option<u64>,
    /// A keyed hash of the phone named by the caller: equal for equal numbers.
    #[schemars(example = &"5f0c1e9a77b2")]
    #[serde(skip_serializing_if = "Option::is_none")]
    phone_hash: Option<String>,
    /// The id of the request, as in the log; absent for a refused connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'static str>,
    /// The path of the call as in the description; absent for pages and unknown paths.
    #[schemars(example = &"/user/login")]
    #[serde(skip_serializing_if = "Option::is_none")]
    route: Option<&'static str>,
    /// The code of the refusal; absent for a success.
    #[schemars(example = &"PASSWORD_WRONG")]
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
}

impl EventAnswer {
    fn new(record: EventRecord, zone: &TimeZone) -> Self {
        let EventRecord { number, at, event, client, user, subject, phone, request_id, method, route, code } =
            record;
        Self {
            number,
            time: wall_time::text(at, zone),
            event,
            client: client.map(|client| client.to_string()),
            user_id: user.map(|user| user.get()),
            subject_id: subject.map(|user| user.get()),
            phone_hash: phone.map(|phone| phone.to_string()),
            request_id: (!request_id.is_empty()).then_some(request_id),
            method,
            route,
            code,
        }
    }
}

async fn list(
    State(app): State<App>,
    _: PollingOperator,
    Extension(events): Extension<Arc<SecurityEvents>>,
    Query(which): Query<Which>,
) -> Reply<SecurityAnswer> {
    let (zone, page) = (&app.context.zone, Page::new(which.current.unwrap_or(1), PAGE_SIZE));
    let skipped = usize::try_from(page.skipped()).unwrap_or(usize::MAX);
    let (total, records) = events.recent(which.filter()?, skipped, PAGE_SIZE as usize);
    let answer = SecurityAnswer {
        since: wall_time::text(events.since(), zone),
        counts: events.counts().into_iter().map(CountAnswer::from).collect(),
        total: total as u64,
        events: records.into_iter().map(|record| EventAnswer::new(record, zone)).collect(),
    };
    Ok(Answer::ok(answer))
}
