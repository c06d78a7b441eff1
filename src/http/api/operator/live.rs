//! Live metrics as server-sent events: `/ops/live`.
//!
//! Reasons and figures: `src/decisions/0025-live-figures.md`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use mallbox_storage::VisitsOfDay;
use schemars::JsonSchema;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::clock::ClockAnswer;
use super::server_sent::{EventSource, Places, ServerSent};
use crate::http::App;
use crate::http::api::selling::sales::counted;
use crate::http::describe::Calls;
use crate::http::request::extract::{Operator, Token};
use crate::http::response::error::ApiError;
use crate::http::server::health::{Health, Part, Readiness, RecoveryAnswer, resident_bytes};
use crate::http::server::metrics::{Metrics, Sample};
use crate::language::both;
use crate::mall::base::wall_time;
use crate::mall::operator::running_sales;
use crate::mall::selling::sales::RunningSale;

/// Sources of the metrics, and the limit on listeners.
#[derive(Clone)]
pub struct Live {
    health: Health,
    metrics: Arc<Metrics>,
    places: Places,
    event_places: Places,
}

/// Maximum number of sales in an event.
const SALES_MAX: usize = 100;

impl Live {
    /// Creates the source of a mall for at most `places` concurrent listeners, until `stop`.
    #[must_use]
    pub fn new(health: Health, metrics: Arc<Metrics>, places: usize, stop: CancellationToken) -> Self {
        let (event_places, places) = (Places::new(places, stop.clone()), Places::new(places, stop));
        Self { health, metrics, places, event_places }
    }

    /// Returns the places of listeners to the events of the mall, as many as for metrics.
    pub(super) fn event_places(&self) -> Places {
        self.event_places.clone()
    }
}

/// Returns the routes of live metrics.
pub fn routes(live: Live) -> Calls {
    Calls::of(both("实时数据", "Live figures"))
        .get("/ops/live", watch, both("实时数据，每秒一次", "Live metrics, an event a second"))
        .explained(both(
            "`text/event-stream`：抢购、延迟、积压、进行中的秒杀（标题、总数、剩余和已售）、\
                今日访问、连接、内存、就绪状态，以及商城所依赖的每一部分的状况（磁盘、\
                订单日志和SQLite，或者Redis、MySQL及其时钟）。令牌同样放在请求头里，\
                因此页面要用`fetch`读取，不能用`EventSource`。查看不会延长会话。",
            "`text/event-stream` with claims, latency, backlog, running sales (title, units, \
                left and taken), visits of the day, connections, memory, readiness, and the state \
                of each dependency (disk, order log and SQLite; or Redis, MySQL and their clock). \
                The token is in the header as usual: read with `fetch`, not with `EventSource`. \
                Watching does not extend the session.",
        ))
        .with(live)
}

async fn watch(
    State(app): State<App>,
    _: Operator,
    Token(token): Token,
    Extension(live): Extension<Live>,
) -> Result<ServerSent<Figures<'static>>, ApiError> {
    let places = live.places.clone();
    let metrics = LiveMetrics { app: Arc::clone(&app), live, last: None };
    places.listen(app, token, metrics)
}

/// Metrics for a connected listener.
struct LiveMetrics {
    app: App,
    live: Live,
    /// The last counts sent, and the time.
    last: Option<(Counts, Instant)>,
}

#[derive(Clone)]
struct Counts {
    sample: Sample,
    persisted: u64,
}

impl EventSource for LiveMetrics {
    async fn events(&mut self) -> Bytes {
        let now = self.app.context.now();
        let readiness = self.live.health.readiness().await;
        // The units left of a sale wait for a durable last claim: a slow disk delays the sales, not the
        // event.
        let running = running_sales(&self.app.context, &self.app.sales, SALES_MAX, now);
        let sales = tokio::time::timeout(self.app.context.settings.live_every, running).await;
        let sales = sales.ok().and_then(Result::ok);
        let counts = Counts { sample: self.live.metrics.sample(), persisted: self.live.health.persisted() };
        let at = Instant::now();
        let lately = self.last.as_ref().map(|(before, then)| Lately::new(&counts, before, at - *then));
        let zone = &self.app.context.zone;
        let figures = Figures {
            time: wall_time::text(now, zone),
            clock: ClockAnswer::new(self.live.health.clock(), zone),
            readiness: Ready::from(&readiness),
            connections: self.live.metrics.connections.load(std::sync::atomic::Ordering::Relaxed),
            memory_bytes: resident_bytes(),
            requests: counts.sample.requests,
            accepted: counts.sample.accepted(),
            refused: counts.sample.refused().collect(),
            persisted: counts.persisted,
            backlog: readiness.backlog,
            lately,
            visits: self.app.visits.today(now).await.ok().flatten().map(VisitsToday::from),
            sales: sales.map(|sales| sales.into_iter().map(SaleFigures::from).collect()),
        };
        self.last = Some((counts, at));
        let mut event = b"data: ".to_vec();
        // Names and numbers always serialize as JSON.
        let _ = serde_json::to_writer(&mut event, &figures);
        event.extend_from_slice(b"\n\n");
        Bytes::from(event)
    }
}

/// State of the mall at one instant. Counts are since the start.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Figures<'a> {
    #[schemars(example = &"2026-11-21T10:09:17")]
    time: String,
    clock: ClockAnswer,
    #[serde(flatten)]
    readiness: Ready<'a>,
    connections: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_bytes: Option<u64>,
    requests: u64,
    accepted: u64,
    refused: BTreeMap<&'static str, u64>,
    /// Claims written as orders.
    persisted: u64,
    /// Accepted claims not yet written as orders.
    backlog: u64,
    /// Counts since the previous event; absent in the first event.
    #[serde(skip_serializing_if = "Option::is_none")]
    lately: Option<Lately>,
    /// Visits of the mall today, over all processes; absent while the counts cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    visits: Option<VisitsToday>,
    /// Running sales; absent while they cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    sales: Option<Vec<SaleFigures>>,
}

#[derive(Serialize, JsonSchema)]
struct Ready<'a> {
    ready: bool,
    troubles: &'a [String],
    /// State of each dependency of the mall.
    parts: &'a [Part],
    /// Absent if the last run was stopped in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery: Option<&'a RecoveryAnswer>,
    backend: &'static str,
    durability: &'static str,
    /// Payment mode of new orders: `none` or `sandbox`; absent while the database cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment: Option<&'static str>,
}

impl<'a> From<&'a Readiness> for Ready<'a> {
    fn from(readiness: &'a Readiness) -> Self {
        let Readiness { ready, troubles, parts, backend, durability, payment, recovery, .. } = readiness;
        let recovery = recovery.as_ref();
        Self { ready: *ready, troubles, parts, recovery, backend, durability, payment: *payment }
    }
}

/// Counts between two events.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Lately {
    /// Length of the interval in real time.
    millis: u64,
    requests: u64,
    accepted: u64,
    refused: BTreeMap<&'static str, u64>,
    persisted: u64,
    /// Latency of all claims, including refused claims; absent without claims.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim_millis: Option<Percentiles>,
}

#[derive(Serialize, JsonSchema)]
struct Percentiles {
    p50: f64,
    p90: f64,
    p99: f64,
}

impl Lately {
    fn new(counts: &Counts, before: &Counts, span: Duration) -> Self {
        let sample = counts.sample.since(&before.sample);
        let percentile = |percent| sample.latency_ms(percent);
        Self {
            millis: u64::try_from(span.as_millis()).unwrap_or(u64::MAX),
            requests: sample.requests,
            accepted: sample.accepted(),
            refused: sample.refused().collect(),
            persisted: counts.persisted.saturating_sub(before.persisted),
            claim_millis: percentile(50)
                .zip(percentile(90))
                .zip(percentile(99))
                .map(|((p50, p90), p99)| Percentiles { p50, p90, p99 }),
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct VisitsToday {
    /// Distinct visitors today.
    uv: u64,
    /// Page views today.
    pv: u64,
}

impl From<VisitsOfDay> for VisitsToday {
    fn from(today: VisitsOfDay) -> Self {
        Self { uv: today.visitors, pv: today.views }
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SaleFigures {
    voucher_id: u64,
    title: String,
    /// Units left; −1 = unlimited.
    stock: i64,
    /// Total units, including sold units; −1 = unlimited.
    units: i64,
    /// Units held by orders, and by accepted claims not yet written as orders.
    taken: u64,
    state: &'static str,
}

impl From<RunningSale> for SaleFigures {
    fn from(sale: RunningSale) -> Self {
        let RunningSale { title, live, taken } = sale;
        Self {
            voucher_id: live.voucher.get(),
            title,
            stock: counted(live.stock),
            // Both counts come from one read, so that a progress bar never exceeds the total.
            units: counted(live.stock.map(|left| left.saturating_add(taken))),
            taken,
            state: live.state.name(),
        }
    }
}
