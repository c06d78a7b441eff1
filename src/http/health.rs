//! How the mall is: for whoever starts it, balances it, watches it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use axum::body::Bytes;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use mallbox_storage::{CircuitHealth, DeadState, Health as StoreHealth, OrderId, Page, PaymentMode};
use schemars::JsonSchema;
use serde::Serialize;

use super::json::json_response;
use super::metrics::{Metrics, counter, counters, family, gauge};
use crate::mall::cache_aside::{CacheFigures, Counted};
use crate::mall::order_workers::WorkerFigures;
use crate::mall::visits::VisitFigures;
use crate::mall::{Context, Mall, VisitBook};

/// Answers `/healthz`, `/readyz` and `/metrics`.
#[derive(Clone)]
pub struct Health {
    context: Context,
    figures: Arc<WorkerFigures>,
    copies: Vec<Arc<CacheFigures>>,
    visits: VisitBook,
    metrics: Arc<Metrics>,
    /// Where the API is, for pages that are not at its side.
    prefix: String,
}

/// What `/readyz` says.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Readiness {
    pub(super) ready: bool,
    pub(super) backend: &'static str,
    pub(super) durability: &'static str,
    /// What is in force on each server that the mall is on.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) servers: BTreeMap<&'static str, &'static str>,
    /// Whether each server is called: `closed` if so, `half-open` on trial, `open` not until it answers again. Of a cluster,
    /// each master by its address.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    circuits: BTreeMap<String, &'static str>,
    zone: String,
    limits: bool,
    /// How new orders are paid for: `none` or `sandbox`; absent while the database cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) payment: Option<&'static str>,
    /// Claims accepted that are not in the record yet.
    pub(super) backlog: u64,
    /// What does not work, in words.
    pub(super) troubles: Vec<String>,
    /// What it rests on, for those who look after it.
    #[serde(skip)]
    pub(super) parts: Vec<Part>,
    /// What works, and should be looked after all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) warnings: Vec<String>,
    /// Where the API is.
    api: String,
    /// Whether login codes can be read from the demo's inbox.
    inbox: bool,
    version: &'static str,
}

/// Something that the mall rests on, by itself.
#[derive(Serialize, JsonSchema)]
pub(super) struct Part {
    /// `disk`, `order log` and `SQLite`; or `Redis`, `MySQL` and `clock`.
    #[schemars(example = &"order log")]
    name: &'static str,
    ok: bool,
    /// What an answer is worth there, in its own words; absent where that is nobody's business.
    #[schemars(example = &"power")]
    #[serde(skip_serializing_if = "Option::is_none")]
    durability: Option<&'static str>,
    /// What does not work, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    troubles: Vec<String>,
}

impl Part {
    fn new(name: &'static str, durability: Option<&'static str>, troubles: Vec<String>) -> Self {
        Self { name, ok: troubles.is_empty(), durability, troubles }
    }

    /// The parts of a store, and the clock: it is in trouble if something is wrong with it, and is not named where nothing
    /// tells.
    fn all(health: StoreHealth, wrong_clock: &[String]) -> Vec<Self> {
        let is_known = health.clock.is_some() || !wrong_clock.is_empty();
        let clock = is_known.then(|| Self::new("clock", None, wrong_clock.to_vec()));
        let parts = health.parts.into_iter().map(|part| Self::new(part.name, part.durability, part.troubles));
        parts.chain(clock).collect()
    }
}

impl Health {
    /// Of this mall.
    #[must_use]
    pub fn new(mall: &Mall, metrics: Arc<Metrics>, prefix: &str) -> Self {
        Self {
            context: mall.context.clone(),
            figures: mall.worker_figures(),
            copies: mall.cache_figures(),
            visits: mall.visits.clone(),
            metrics,
            prefix: prefix.to_owned(),
        }
    }

    /// Where the API is.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The process is there and answers. Says nothing about the store, so that nobody restarts a mall for a full disk.
    pub(super) fn alive() -> Response {
        "ok\n".into_response()
    }

    /// Whether the mall can sell; 503 with the reasons if not.
    pub(super) async fn ready(&self) -> Response {
        let readiness = self.readiness().await;
        let status = if readiness.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        let body = serde_json::to_vec(&readiness).unwrap_or_default();
        let mut response = json_response(status, Bytes::from(body));
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }

    /// Whether it can, and why not.
    pub(super) async fn readiness(&self) -> Readiness {
        let order_log = &self.context.storage.order_log;
        let ((health, gap), log, payment) =
            tokio::join!(self.context.health(), order_log.state(), self.context.payment_mode());
        let settings = &self.context.settings;
        let mut troubles: Vec<String> = health.troubles().cloned().collect();
        troubles.extend(log.trouble.filter(|trouble| !troubles.contains(trouble)));
        if OrderId::day(self.context.now()).is_none() {
            let text =
                "the clock stands before 2022 or after 2089: no order can be numbered; set it and go on";
            troubles.push(text.to_owned());
        }
        if log.pending >= settings.max_backlog {
            troubles.push(format!("{} claims wait for the record: no more are taken", log.pending));
        }
        let jump = self.context.clock.doubt();
        let wrong_clock: Vec<String> =
            gap.iter().map(ToString::to_string).chain(jump.iter().map(ToString::to_string)).collect();
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
            limits: settings.claim_limit.is_some(),
            payment: payment.ok().map(PaymentMode::name),
            backlog: log.pending,
            troubles,
            parts: Part::all(health, &wrong_clock),
            warnings: wrong_clock,
            api: self.prefix.clone(),
            inbox: settings.inbox,
            version: env!("CARGO_PKG_VERSION"),
        }
    }

    /// Claims written as orders since the start.
    pub(super) fn persisted(&self) -> u64 {
        self.figures.persisted.load(Relaxed)
    }

    /// Everything that is counted, as Prometheus reads it.
    pub(super) async fn metrics(&self) -> Response {
        let mut out = String::with_capacity(8 * 1024);
        self.metrics.write(&mut out);
        self.write_store(&mut out).await;
        self.write_workers(&mut out);
        self.write_copies(&mut out);
        self.write_visits(&mut out);
        if let Some(bytes) = resident_bytes() {
            gauge(&mut out, "process_resident_memory_bytes", "Memory of the process.", bytes);
        }
        let _ = writeln!(
            out,
            "# HELP mallbox_info Which mallbox this is.\n# TYPE mallbox_info gauge\nmallbox_info{{version=\"{}\"}} 1",
            env!("CARGO_PKG_VERSION")
        );
        ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], out).into_response()
    }

    fn write_copies(&self, out: &mut String) {
        let rows = self.copies.iter().flat_map(|figures| {
            Counted::ALL
                .iter()
                .map(|(what, name)| (format!(r#"of="{}",what="{name}""#, figures.kind()), figures.of(*what)))
        });
        counters(out, "mallbox_cache_total", "Questions answered from copies of the record, or not.", rows);
    }

    fn write_visits(&self, out: &mut String) {
        let VisitFigures { noted, dropped, lost } = self.visits.figures();
        let rows = [("noted", noted), ("dropped", dropped), ("lost", lost)]
            .map(|(became, figure)| (format!(r#"became="{became}""#), figure.load(Relaxed)));
        let help = "Visits by what became of them: dropped where too many waited, lost where a store was in trouble.";
        counters(out, "mallbox_visits_total", help, rows);
    }

    async fn write_store(&self, out: &mut String) {
        let storage = &self.context.storage;
        let log = storage.order_log.state().await;
        gauge(
            out,
            "mallbox_order_log_pending",
            "Accepted claims that are not in the record yet.",
            log.pending,
        );
        let age = log.oldest.map_or(0, |oldest| self.context.now().since(oldest).as_secs());
        gauge(out, "mallbox_order_log_oldest_seconds", "Age of the oldest of them.", age);
        gauge(
            out,
            "mallbox_claims_refused_by_trouble",
            "1 while no claim can be taken.",
            u8::from(log.trouble.is_some()),
        );
        // No number is better than a wrong one.
        if let Ok((_, open)) = storage.dead_letters.page(Some(DeadState::Open), Page::new(1, 0)).await {
            let help = "Claims that did not become orders, and that nobody has decided about.";
            gauge(out, "mallbox_dead_letters", help, open);
        }
        let health = storage.upkeep.health().await;
        let troubles = health.troubles().count();
        gauge(out, "mallbox_troubles", "Things that do not work; /readyz names them.", troubles);
        write_circuits(out, &health);
    }
}

impl Health {
    fn write_workers(&self, out: &mut String) {
        let WorkerFigures { persisted, repeats, dead_letters, refused, troubles, batches, restarts } =
            &*self.figures;
        for (name, help, figure) in [
            ("mallbox_orders_persisted_total", "Claims written as orders.", persisted),
            ("mallbox_order_repeats_total", "Claims handed out again after they were settled.", repeats),
            ("mallbox_claims_buried_total", "Claims that became dead letters since the start.", dead_letters),
            ("mallbox_orders_refused_total", "Attempts that the record refused for one claim.", refused),
            ("mallbox_order_troubles_total", "Rounds that ended in trouble of the store.", troubles),
            ("mallbox_order_batches_total", "Transactions that wrote claims.", batches),
            ("mallbox_order_worker_restarts_total", "Workers started anew.", restarts),
        ] {
            counter(out, name, help, figure.load(Relaxed));
        }
    }
}

/// The circuit breakers, each with its server's name, and its address where there are several.
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
            "How often the circuit breaker before a server opened.",
            |circuit| circuit.opened,
        ),
        (
            "mallbox_circuit_refused_total",
            "counter",
            "Calls that failed at once since the circuit breaker was open.",
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

/// What Linux says about this process; `None` elsewhere.
pub(super) fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
