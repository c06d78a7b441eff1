//! Health, readiness and metrics, for start-up scripts, load balancers and monitoring.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use axum::body::Bytes;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use mallbox_storage::{
    CircuitHealth, DeadState, Health as StoreHealth, Page, PageFindings, PaymentMode, Recovery, Timestamp,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::metrics::{Metrics, counter, counters, family, gauge};
use super::retry_metrics;
use crate::http::response::json::json_response;
use crate::mall::base::cache_aside::{CacheEvent, CacheMetrics};
use crate::mall::base::clock_doubt::ClockState;
use crate::mall::base::event_bus::{EventMetrics, SubscriberMetrics};
use crate::mall::base::retry::RetryQueue;
use crate::mall::base::wall_time;
use crate::mall::operator::{ClockAdmin, ClockReading, MallState};
use crate::mall::people::visits::VisitMetrics;
use crate::mall::selling::challenge_service::{ServiceCounts, WatchedService};
use crate::mall::selling::order_workers::WorkerMetrics;
use crate::mall::{Context, Mall, Visits};

/// Responds to `/healthz`, `/readyz` and `/metrics`.
#[derive(Clone)]
pub struct Health {
    context: Context,
    figures: Arc<WorkerMetrics>,
    copies: Vec<Arc<CacheMetrics>>,
    visits: Visits,
    retries: RetryQueue,
    events: Arc<EventMetrics>,
    challenge_service: Option<Arc<WatchedService>>,
    metrics: Arc<Metrics>,
    clock: ClockAdmin,
    last_run: Option<Timestamp>,
    /// The API's path prefix, for pages served elsewhere.
    prefix: String,
}

/// The response of `/readyz`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct Readiness {
    pub(in crate::http) ready: bool,
    pub(in crate::http) backend: &'static str,
    pub(in crate::http) durability: &'static str,
    /// Durability settings in force on each server of the mall.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(in crate::http) servers: BTreeMap<&'static str, &'static str>,
    /// State of each circuit breaker: `closed` (calls pass), `half-open` (trial calls), `open` (calls fail
    /// immediately). For a cluster, one entry per master address.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    circuits: BTreeMap<String, &'static str>,
    zone: String,
    /// `sure`, or `unsure`: claims and sign-ins are refused, everything else works.
    clock: &'static str,
    /// What the start recovered after a run that was not stopped in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::http) recovery: Option<RecoveryAnswer>,
    limits: bool,
    /// Payment mode of new orders: `none` or `sandbox`; absent while the database cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::http) payment: Option<&'static str>,
    /// Accepted claims not yet written to the database.
    pub(in crate::http) backlog: u64,
    /// Descriptions of current failures.
    pub(in crate::http) troubles: Vec<String>,
    /// State of each dependency, for operators.
    #[serde(skip)]
    pub(in crate::http) parts: Vec<Part>,
    /// Problems to fix although everything works.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::http) warnings: Vec<String>,
    /// The API's path prefix.
    api: String,
    /// Whether login codes can be read from the demo's inbox.
    inbox: bool,
    version: &'static str,
}

/// A dependency of the mall.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct Part {
    /// `disk`, `order log` and `SQLite`; or `Redis`, `MySQL` and `clock`.
    #[schemars(example = &"order log")]
    name: &'static str,
    ok: bool,
    /// Durability of acknowledged writes, in the dependency's own terms; absent where not applicable.
    #[schemars(example = &"power")]
    #[serde(skip_serializing_if = "Option::is_none")]
    durability: Option<&'static str>,
    /// Descriptions of failures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    troubles: Vec<String>,
}

/// What the start recovered after a run that was not stopped in order.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct RecoveryAnswer {
    /// Last stored time of that run, in the mall's time zone; absent if it stored none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2026-11-21T20:00:00")]
    last_time: Option<String>,
    /// Duration of the recovery.
    #[schemars(example = 38)]
    took_ms: u64,
    /// Commits of the order log that were read again.
    commits: u64,
    /// Claims that were queued again.
    claims: u64,
    /// Whether the whole database was checked; not from 256 MiB on.
    #[schemars(example = true)]
    database_checked: bool,
}

impl Part {
    fn new(name: &'static str, durability: Option<&'static str>, troubles: Vec<String>) -> Self {
        Self { name, ok: troubles.is_empty(), durability, troubles }
    }

    /// Returns the parts of a store, and the clock. The clock is omitted if its state is unknown.
    fn all(health: StoreHealth, wrong_clock: &[String]) -> Vec<Self> {
        let is_known = health.clock.is_some() || !wrong_clock.is_empty();
        let clock = is_known.then(|| Self::new("clock", None, wrong_clock.to_vec()));
        let parts = health.parts.into_iter().map(|part| Self::new(part.name, part.durability, part.troubles));
        parts.chain(clock).collect()
    }
}

impl Health {
    /// Creates the health endpoints of a mall.
    #[must_use]
    pub fn new(mall: &Mall, metrics: Arc<Metrics>, prefix: &str) -> Self {
        Self {
            context: mall.context.clone(),
            figures: mall.worker_figures(),
            copies: mall.cache_figures(),
            visits: mall.visits.clone(),
            retries: mall.retries.clone(),
            events: mall.event_metrics(),
            challenge_service: mall.sales.challenge_service().cloned(),
            metrics,
            clock: mall.clock_admin.clone(),
            last_run: mall.last_run,
            prefix: prefix.to_owned(),
        }
    }

    /// Returns the API's path prefix.
    pub(in crate::http) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Responds 200 while the process runs. Ignores the store, so that no supervisor restarts a mall because
    /// of a full disk.
    pub(in crate::http) fn alive() -> Response {
        "ok\n".into_response()
    }

    /// Responds 200 if the mall can sell; 503 with the reasons if not.
    pub(in crate::http) async fn ready(&self) -> Response {
        let readiness = self.readiness().await;
        readiness_response(readiness.ready, &readiness)
    }

    /// Responds as [`ready`](Self::ready) does, without reasons: for strangers.
    pub(in crate::http) async fn ready_or_not(&self) -> Response {
        let ready = self.readiness().await.ready;
        readiness_response(ready, &serde_json::json!({ "ready": ready }))
    }

    /// Returns whether the mall can sell, and the reasons if not.
    pub(in crate::http) async fn readiness(&self) -> Readiness {
        let (state, payment) = tokio::join!(
            MallState::read(&self.context, self.challenge_service.as_deref()),
            self.context.payment_mode()
        );
        let warnings = state.warnings().cloned().collect();
        let MallState { health, backlog, troubles, clock, wrong_clock, defects: _ } = state;
        Readiness {
            ready: troubles.is_empty(),
            backend: health.backend,
            durability: health.durability.name(),
            servers: health
                .servers()
                .filter_map(|(server, _)| Some((server.name, server.durability?)))
                .collect(),
            circuits: circuits(&health).map(|(server, circuit)| (server, circuit.state.name())).collect(),
            zone: self.context.zone.iana_name().unwrap_or("local").to_owned(),
            clock: clock.name(),
            recovery: health.recovery.map(|recovery| self.recovery(recovery)),
            limits: self.context.settings.claim_limit.is_some(),
            payment: payment.ok().map(PaymentMode::name),
            backlog,
            troubles,
            parts: Part::all(health, &wrong_clock),
            warnings,
            api: self.prefix.clone(),
            inbox: self.context.settings.inbox,
            version: env!("CARGO_PKG_VERSION"),
        }
    }

    fn recovery(&self, recovery: Recovery) -> RecoveryAnswer {
        let Recovery { took, commits, claims, is_database_checked } = recovery;
        RecoveryAnswer {
            last_time: self.last_run.map(|at| wall_time::text(at, &self.context.zone)),
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            commits,
            claims,
            database_checked: is_database_checked,
        }
    }

    /// Reads the clock of the machine.
    pub(in crate::http) fn clock(&self) -> ClockReading {
        self.clock.reading()
    }

    /// Returns the number of claims written as orders since the start.
    pub(in crate::http) fn persisted(&self) -> u64 {
        self.figures.persisted.load(Relaxed)
    }

    /// Responds with all metrics in the Prometheus text format.
    pub(in crate::http) async fn metrics(&self) -> Response {
        let mut out = String::with_capacity(8 * 1024);
        self.metrics.write(&mut out);
        self.write_store(&mut out).await;
        self.write_workers(&mut out);
        self.write_copies(&mut out);
        self.write_visits(&mut out);
        // Missing values are better than wrong ones.
        if let Ok(kinds) = self.retries.metrics().await {
            retry_metrics::write(&mut out, &kinds, self.context.now());
        }
        write_events(&mut out, &self.events);
        if let Some(watched) = &self.challenge_service {
            write_challenge_service(&mut out, watched);
        }
        if let Some(bytes) = resident_bytes() {
            gauge(&mut out, "process_resident_memory_bytes", "Resident memory of the process.", bytes);
        }
        let _ = writeln!(
            out,
            "# HELP mallbox_info Version of mallbox.\n# TYPE mallbox_info gauge\nmallbox_info{{version=\"{}\"}} 1",
            env!("CARGO_PKG_VERSION")
        );
        ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], out).into_response()
    }

    fn write_copies(&self, out: &mut String) {
        let rows = self.copies.iter().flat_map(|figures| {
            CacheEvent::ALL
                .iter()
                .map(|(what, name)| (format!(r#"of="{}",what="{name}""#, figures.kind()), figures.of(*what)))
        });
        counters(out, "mallbox_cache_total", "Cache lookups by kind and outcome.", rows);
    }

    fn write_visits(&self, out: &mut String) {
        let VisitMetrics { noted, dropped, lost } = self.visits.figures();
        let rows = [("noted", noted), ("dropped", dropped), ("lost", lost)]
            .map(|(became, figure)| (format!(r#"became="{became}""#), figure.load(Relaxed)));
        let help = "Visits by outcome: noted, dropped (full queue), lost (store unavailable).";
        counters(out, "mallbox_visits_total", help, rows);
    }

    async fn write_store(&self, out: &mut String) {
        let storage = &self.context.storage;
        let log = storage.selling.order_log.state().await;
        gauge(
            out,
            "mallbox_order_log_pending",
            "Accepted claims not yet written to the database.",
            log.pending,
        );
        let age = log.oldest.map_or(0, |oldest| self.context.now().since(oldest).as_secs());
        gauge(
            out,
            "mallbox_order_log_oldest_seconds",
            "Age of the oldest claim not yet written to the database.",
            age,
        );
        gauge(
            out,
            "mallbox_claims_refused_by_trouble",
            "1 while the order log accepts no claims.",
            u8::from(log.trouble.is_some()),
        );
        // A missing value is better than a wrong one.
        if let Ok((_, open)) = storage.selling.dead_letters.page(Some(DeadState::Open), Page::new(1, 0)).await
        {
            let help = "Open dead letters: claims that did not become orders, without a decision.";
            gauge(out, "mallbox_dead_letters", help, open);
        }
        let health = storage.base.upkeep.health().await;
        let troubles = health.troubles().count();
        gauge(out, "mallbox_troubles", "Current failures; /readyz lists them.", troubles);
        let is_unsure = self.clock.reading().state != ClockState::Sure;
        gauge(out, "mallbox_clock_unsure", "1 while the machine's clock is unsure.", u8::from(is_unsure));
        if let Some(Recovery { took, commits, claims, .. }) = health.recovery {
            for (name, help, value) in [
                (
                    "mallbox_recovery_milliseconds",
                    "Duration of the recovery at the start, after a run that was not stopped in order.",
                    u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
                ),
                (
                    "mallbox_recovery_commits",
                    "Commits of the order log that the recovery read again.",
                    commits,
                ),
                ("mallbox_recovery_claims", "Claims that the recovery queued again.", claims),
            ] {
                gauge(out, name, help, value);
            }
        }
        write_circuits(out, &health);
        if let Some(PageFindings { damaged, repaired, changed }) = health.pages {
            let rows = [("damaged", damaged), ("repaired", repaired), ("changed", changed)]
                .map(|(finding, count)| (format!(r#"finding="{finding}""#), count));
            let help = "Pages of the database that did not match their checksum since the start, by finding.";
            counters(out, "mallbox_database_pages_total", help, rows);
        }
    }
}

fn write_challenge_service(out: &mut String, watched: &WatchedService) {
    let help = "1 while visitors are sent to the external challenge service.";
    gauge(out, "mallbox_challenge_service_available", help, u8::from(watched.is_available()));
    let ServiceCounts { accepted, refused, failed } = watched.counts();
    let rows = [("accepted", accepted), ("refused", refused), ("failed", failed)]
        .map(|(outcome, count)| (format!(r#"outcome="{outcome}""#), count));
    let help = "Verifications at the external challenge service by outcome; failed: no verdict.";
    counters(out, "mallbox_challenge_service_total", help, rows);
}

fn write_events(out: &mut String, events: &EventMetrics) {
    for (name, help, count) in [
        ("mallbox_events_numbered_total", "Events given a position by this process.", events.numbered()),
        (
            "mallbox_events_handed_over_total",
            "Events appended to streams or queued for webhooks by this process.",
            events.handed_over(),
        ),
        ("mallbox_event_requests_delivered_total", "Requests received by webhooks.", events.delivered()),
        ("mallbox_event_requests_failed_total", "Requests to webhooks that failed.", events.failed()),
    ] {
        counter(out, name, help, count);
    }
    let (waiting, subscribers) = events.state();
    gauge(out, "mallbox_events_waiting", "Events without a position yet.", waiting);
    let rows = |value: fn(&SubscriberMetrics) -> u64| {
        let row = move |of: &SubscriberMetrics| (format!(r#"subscriber="{}""#, of.name), value(of));
        subscribers.iter().map(row).collect::<Vec<_>>()
    };
    let help = "Events not handed over to a subscriber yet.";
    family(out, ("mallbox_event_subscriber_lag", "gauge"), help, rows(|of| of.lag));
    let help = "Events pruned before a subscriber got them.";
    counters(out, "mallbox_event_subscriber_lost_total", help, rows(|of| of.lost));
}

impl Health {
    fn write_workers(&self, out: &mut String) {
        let WorkerMetrics { persisted, repeats, dead_letters, refused, troubles, batches, restarts } =
            &*self.figures;
        for (name, help, figure) in [
            ("mallbox_orders_persisted_total", "Claims written as orders.", persisted),
            ("mallbox_order_repeats_total", "Claims delivered again after completion.", repeats),
            ("mallbox_claims_buried_total", "Claims that became dead letters since the start.", dead_letters),
            ("mallbox_orders_refused_total", "Writes of one claim refused by the database.", refused),
            ("mallbox_order_troubles_total", "Batches failed because the store was unavailable.", troubles),
            ("mallbox_order_batches_total", "Transactions that wrote claims.", batches),
            ("mallbox_order_worker_restarts_total", "Worker restarts.", restarts),
        ] {
            counter(out, name, help, figure.load(Relaxed));
        }
    }
}

fn readiness_response(ready: bool, body: &impl Serialize) -> Response {
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let body = serde_json::to_vec(body).unwrap_or_default();
    let mut response = json_response(status, Bytes::from(body));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Returns the circuit breakers, each named by its server, with the address if the server has several.
fn circuits(health: &StoreHealth) -> impl Iterator<Item = (String, &CircuitHealth)> {
    health.parts.iter().flat_map(|part| {
        let is_alone = part.circuits.len() == 1;
        part.circuits.iter().map(move |circuit| {
            let (server, node) = (part.name, &circuit.node);
            (if is_alone { server.to_owned() } else { format!("{server} {node}") }, circuit)
        })
    })
}

fn write_circuits(out: &mut String, health: &StoreHealth) {
    type Figure = fn(&CircuitHealth) -> u64;
    let figures: [(&str, &str, &str, Figure); 3] = [
        (
            "mallbox_circuit_state",
            "gauge",
            "The circuit breaker before a server: 0 closed, 1 half-open, 2 open.",
            |circuit| circuit.state as u64,
        ),
        (
            "mallbox_circuit_opened_total",
            "counter",
            "Times the circuit breaker before a server opened.",
            |circuit| circuit.opened,
        ),
        (
            "mallbox_circuit_refused_total",
            "counter",
            "Calls failed immediately because the circuit breaker was open.",
            |circuit| circuit.refused,
        ),
    ];
    if circuits(health).next().is_none() {
        return;
    }
    for (name, kind, help, figure) in figures {
        let rows =
            circuits(health).map(|(server, circuit)| (format!(r#"server="{server}""#), figure(circuit)));
        family(out, (name, kind), help, rows);
    }
}

/// Reads the resident memory from Linux's `/proc`, in bytes; `None` on other systems.
pub(in crate::http) fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
