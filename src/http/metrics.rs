//! What has been asked and how it went, counted. Written out as Prometheus reads it.
//!
//! Each worker thread counts for itself and the sums are made when somebody looks: two cores that add to one counter
//! would pay more for that than for all of the counting.

mod sample;

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use axum::http::{Method, StatusCode};
use parking_lot::Mutex;

pub(super) use sample::Sample;

/// What kind of call it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Claim,
    User,
    Shop,
    Voucher,
    Order,
    Sale,
    OtherApi,
    Page,
    Probe,
}

const CLASSES: [(Class, &str); 9] = [
    (Class::Claim, "claim"),
    (Class::User, "user"),
    (Class::Shop, "shop"),
    (Class::Voucher, "voucher"),
    (Class::Order, "order"),
    (Class::Sale, "sale"),
    (Class::OtherApi, "other"),
    (Class::Page, "page"),
    (Class::Probe, "probe"),
];

impl Class {
    /// The class of a call of the API, by its path below the prefix.
    pub(super) fn of_api(method: &Method, path: &str) -> Self {
        let (area, rest) =
            path[path.len().min(1)..].split_once('/').unwrap_or((path.trim_start_matches('/'), ""));
        match area {
            "voucher-order" if method == Method::POST && rest.starts_with("seckill/") => Self::Claim,
            "voucher-order" => Self::Order,
            "user" => Self::User,
            "shop" | "shop-type" => Self::Shop,
            "voucher" => Self::Voucher,
            "sale" => Self::Sale,
            _ => Self::OtherApi,
        }
    }

    /// The class of anything else.
    pub(super) fn of_page(path: &str) -> Self {
        if matches!(path, "/healthz" | "/readyz" | "/metrics") { Self::Probe } else { Self::Page }
    }
}

/// Statuses that are told apart, the frequent first. Anything else is counted as 0.
const STATUSES: [u16; 17] =
    [200, 401, 429, 503, 404, 304, 400, 403, 405, 413, 500, 206, 301, 302, 307, 416, 0];

/// Outcomes of claims that are told apart, the frequent first. `""` = accepted; anything else is the last.
const OUTCOMES: [(&str, &str); 14] = [
    ("", "accepted"),
    ("SOLD_OUT", "sold_out"),
    ("ALREADY_BOUGHT", "already_bought"),
    ("RATE_LIMITED", "rate_limited"),
    ("NOT_LOGGED_IN", "not_logged_in"),
    ("NOT_OPEN", "not_open"),
    ("ENDED", "ended"),
    ("PAUSED", "paused"),
    ("UNKNOWN_SALE", "unknown_sale"),
    ("LEVEL_TOO_LOW", "level_too_low"),
    ("BUSY", "busy"),
    ("UNAVAILABLE", "unavailable"),
    ("DISK_FULL", "disk_full"),
    ("?", "other"),
];

/// Upper ends of the latency buckets, in microseconds. A durable claim takes about one fsync: 0.1 to 4 ms.
const BUCKETS_US: [u64; 13] =
    [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_500_000];

/// What one worker thread has counted.
#[derive(Debug)]
pub(super) struct Tally {
    by_status: [[AtomicU64; STATUSES.len()]; CLASSES.len()],
    by_latency: [[AtomicU64; BUCKETS_US.len() + 1]; CLASSES.len()],
    micros: [AtomicU64; CLASSES.len()],
    claims: [AtomicU64; OUTCOMES.len()],
    /// Requests numbered by this worker.
    pub(super) numbered: AtomicU64,
    /// Which worker this is, from 0.
    pub(super) worker: usize,
}

impl Tally {
    fn new(worker: usize) -> Self {
        let zeros = || AtomicU64::new(0);
        Self {
            by_status: std::array::from_fn(|_| std::array::from_fn(|_| zeros())),
            by_latency: std::array::from_fn(|_| std::array::from_fn(|_| zeros())),
            micros: std::array::from_fn(|_| zeros()),
            claims: std::array::from_fn(|_| zeros()),
            numbered: zeros(),
            worker,
        }
    }

    /// Counts a call that was answered. `code` is that of its refusal, `""` if it was none.
    pub(super) fn count(&self, class: Class, status: StatusCode, code: &str, elapsed: Duration) {
        let class_at = class as usize;
        let last = STATUSES.len() - 1;
        let status_at = STATUSES.iter().position(|known| *known == status.as_u16()).unwrap_or(last);
        self.by_status[class_at][status_at].fetch_add(1, Relaxed);
        let micros = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKETS_US.iter().position(|end| micros <= *end).unwrap_or(BUCKETS_US.len());
        self.by_latency[class_at][bucket].fetch_add(1, Relaxed);
        self.micros[class_at].fetch_add(micros, Relaxed);
        if class == Class::Claim {
            let last = OUTCOMES.len() - 1;
            // A failure without a code, such as a 500, is no acceptance.
            let accepted = code.is_empty() && status == StatusCode::OK;
            let known = OUTCOMES.iter().position(|(known, _)| *known == code);
            let at = known.filter(|_| accepted || !code.is_empty()).unwrap_or(last);
            self.claims[at].fetch_add(1, Relaxed);
        }
    }
}

/// All that has been counted for one mall.
#[derive(Debug, Default)]
pub struct Metrics {
    tallies: Mutex<Vec<Arc<Tally>>>,
    /// Connections open now.
    pub(super) connections: AtomicU64,
    /// Connections taken since the start.
    pub(super) connections_taken: AtomicU64,
    /// Connections turned away since the start, because too many were open.
    pub(super) connections_refused: AtomicU64,
}

impl Metrics {
    /// A worker's own counters.
    pub(super) fn worker(&self) -> Arc<Tally> {
        let mut tallies = self.tallies.lock();
        let tally = Arc::new(Tally::new(tallies.len()));
        tallies.push(tally.clone());
        tally
    }

    /// Everything as Prometheus reads it.
    pub(super) fn write(&self, out: &mut String) {
        let tallies = self.tallies.lock().clone();
        let sum = |of: &dyn Fn(&Tally) -> &AtomicU64| {
            tallies.iter().map(|tally| of(tally).load(Relaxed)).sum::<u64>()
        };
        head(out, "mallbox_requests_total", "counter", "Requests answered.");
        for (at, (_, class)) in CLASSES.iter().enumerate() {
            for (status_at, status) in STATUSES.iter().enumerate() {
                let count = sum(&|tally| &tally.by_status[at][status_at]);
                if count > 0 {
                    line(
                        out,
                        "mallbox_requests_total",
                        &format!(r#"class="{class}",status="{status}""#),
                        count,
                    );
                }
            }
        }
        head(out, "mallbox_claims_total", "counter", "Claims answered, by outcome.");
        for (at, (_, outcome)) in OUTCOMES.iter().enumerate() {
            let count = sum(&|tally| &tally.claims[at]);
            line(out, "mallbox_claims_total", &format!(r#"outcome="{outcome}""#), count);
        }
        head(out, "mallbox_request_seconds", "histogram", "Time from a request's head to its answer's.");
        for (at, (_, class)) in CLASSES.iter().enumerate() {
            write_histogram(
                out,
                class,
                |bucket| sum(&|tally| &tally.by_latency[at][bucket]),
                || sum(&|tally| &tally.micros[at]),
            );
        }
        gauge(out, "mallbox_connections", "Connections open.", self.connections.load(Relaxed));
        counter(out, "mallbox_connections_total", "Connections taken.", self.connections_taken.load(Relaxed));
        let refused = self.connections_refused.load(Relaxed);
        counter(
            out,
            "mallbox_connections_refused_total",
            "Connections turned away: too many were open.",
            refused,
        );
    }
}

fn write_histogram(out: &mut String, class: &str, bucket: impl Fn(usize) -> u64, micros: impl Fn() -> u64) {
    let counts: Vec<u64> = (0..=BUCKETS_US.len()).map(bucket).collect();
    let total: u64 = counts.iter().sum();
    if total == 0 {
        return;
    }
    let mut below = 0;
    for (end_us, count) in BUCKETS_US.iter().zip(&counts) {
        below += count;
        let label = format!(r#"class="{class}",le="{}""#, seconds(*end_us));
        line(out, "mallbox_request_seconds_bucket", &label, below);
    }
    line(out, "mallbox_request_seconds_bucket", &format!(r#"class="{class}",le="+Inf""#), total);
    line(out, "mallbox_request_seconds_sum", &format!(r#"class="{class}""#), seconds(micros()));
    line(out, "mallbox_request_seconds_count", &format!(r#"class="{class}""#), total);
}

#[expect(clippy::cast_precision_loss, reason = "a sum of seconds need not be exact to the microsecond")]
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// One number that goes up and down.
pub(super) fn gauge(out: &mut String, name: &str, help: &str, value: impl std::fmt::Display) {
    head(out, name, "gauge", help);
    line(out, name, "", value);
}

/// One number that goes up.
pub(super) fn counter(out: &mut String, name: &str, help: &str, value: impl std::fmt::Display) {
    head(out, name, "counter", help);
    line(out, name, "", value);
}

/// Numbers that go up, each with its labels.
pub(super) fn counters(
    out: &mut String,
    name: &str,
    help: &str,
    rows: impl IntoIterator<Item = (String, u64)>,
) {
    family(out, (name, "counter"), help, rows);
}

/// Numbers of any kind, each with its labels.
pub(super) fn family(
    out: &mut String,
    (name, kind): (&str, &str),
    help: &str,
    rows: impl IntoIterator<Item = (String, u64)>,
) {
    head(out, name, kind, help);
    rows.into_iter().for_each(|(labels, value)| line(out, name, &labels, value));
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn line(out: &mut String, name: &str, labels: &str, value: impl std::fmt::Display) {
    let _ = if labels.is_empty() {
        writeln!(out, "{name} {value}")
    } else {
        writeln!(out, "{name}{{{labels}}} {value}")
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_stand_where_their_number_says() {
        for (at, (class, _)) in CLASSES.iter().enumerate() {
            assert_eq!(*class as usize, at);
        }
    }

    #[test]
    fn a_path_has_its_class() {
        let post = Method::POST;
        assert_eq!(Class::of_api(&post, "/voucher-order/seckill/7"), Class::Claim);
        assert_eq!(Class::of_api(&Method::GET, "/voucher-order/seckill/7"), Class::Order);
        assert_eq!(Class::of_api(&post, "/voucher-order/7"), Class::Order);
        assert_eq!(Class::of_api(&post, "/shop-type/list"), Class::Shop);
        assert_eq!(Class::of_api(&post, "/user"), Class::User);
        for odd in ["", "/", "//", "/茶"] {
            assert_eq!(Class::of_api(&post, odd), Class::OtherApi, "{odd}");
        }
    }

    #[test]
    fn workers_are_summed_and_buckets_are_cumulative() {
        let metrics = Metrics::default();
        let (one, two) = (metrics.worker(), metrics.worker());
        one.count(Class::Claim, StatusCode::OK, "", Duration::from_micros(90));
        two.count(Class::Claim, StatusCode::OK, "SOLD_OUT", Duration::from_micros(700));
        two.count(Class::Claim, StatusCode::INTERNAL_SERVER_ERROR, "", Duration::from_secs(9));
        let mut out = String::new();
        metrics.write(&mut out);
        for want in [
            r#"mallbox_requests_total{class="claim",status="200"} 2"#,
            r#"mallbox_claims_total{outcome="accepted"} 1"#,
            r#"mallbox_claims_total{outcome="sold_out"} 1"#,
            r#"mallbox_claims_total{outcome="other"} 1"#,
            r#"mallbox_request_seconds_bucket{class="claim",le="0.0001"} 1"#,
            r#"mallbox_request_seconds_bucket{class="claim",le="0.001"} 2"#,
            r#"mallbox_request_seconds_bucket{class="claim",le="1.5"} 2"#,
            r#"mallbox_request_seconds_bucket{class="claim",le="+Inf"} 3"#,
            r#"mallbox_request_seconds_count{class="claim"} 3"#,
        ] {
            assert!(out.lines().any(|line| line == want), "{want}\n{out}");
        }
    }
}
