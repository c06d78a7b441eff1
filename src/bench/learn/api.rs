//! The calls of the page.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use mallbox_bench_ladder::{Failure, RungReport, Trigger, Words};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::job::Job;
use super::shared::Learn;
use crate::bench::ladder::{AnyRung, missing_programs};

/// Most runs of a rung under a trigger.
const REPEAT_MAX: usize = 20;

/// Everything that the page shows before a job.
#[derive(Serialize)]
struct Overview {
    rungs: Vec<ListedRung>,
    triggers: Vec<ListedTrigger>,
    /// Programs that have to be installed before a job can run.
    missing: Vec<&'static str>,
    job: Option<Job>,
    reports: Vec<RungReport>,
}

#[derive(Serialize)]
struct ListedRung {
    id: &'static str,
    title: Words,
    instances: u8,
    source: &'static str,
    file: &'static str,
    triggers: Vec<ExpectedFailures>,
}

#[derive(Serialize)]
struct ExpectedFailures {
    name: Trigger,
    expected: &'static [Failure],
}

#[derive(Serialize)]
struct ListedTrigger {
    name: Trigger,
    about: Words,
}

/// What is to run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    rungs: Vec<String>,
    #[serde(default = "once")]
    repeat: usize,
}

fn once() -> usize {
    1
}

/// Returns the rungs with their code, and what was run so far.
pub(super) async fn overview(State(learn): State<Arc<Learn>>) -> Response {
    let rungs = AnyRung::all().iter().map(|rung| {
        let (source, file) = rung.source();
        let expected = |name| ExpectedFailures { name, expected: rung.expected(name) };
        let triggers = rung.triggers().map(expected).collect();
        ListedRung { id: rung.id(), title: rung.title(), instances: rung.instances(), source, file, triggers }
    });
    let triggers = Trigger::ALL.map(|name| ListedTrigger { name, about: name.about() }).into();
    let (job, reports) = (learn.jobs.newest(), learn.jobs.reports());
    Json(Overview { rungs: rungs.collect(), triggers, missing: missing().await, job, reports })
        .into_response()
}

/// Returns the programs that are missing; each is started to find out.
async fn missing() -> Vec<&'static str> {
    tokio::task::spawn_blocking(missing_programs).await.unwrap_or_default()
}

/// Returns the newest job.
pub(super) async fn job(State(learn): State<Arc<Learn>>) -> Response {
    learn.jobs.newest().map_or_else(|| StatusCode::NOT_FOUND.into_response(), |job| Json(job).into_response())
}

/// Starts a job.
pub(super) async fn start(State(learn): State<Arc<Learn>>, body: Bytes) -> Response {
    let refused = |why: String| (StatusCode::BAD_REQUEST, why).into_response();
    let order: Order = match serde_json::from_slice(&body) {
        Ok(order) => order,
        Err(error) => return refused(format!("not an order for a job: {error}")),
    };
    if !(1..=REPEAT_MAX).contains(&order.repeat) {
        return refused(format!("repeat is {}; 1 to {REPEAT_MAX} are possible", order.repeat));
    }
    let mut rungs = Vec::new();
    for id in &order.rungs {
        match AnyRung::find(id) {
            Some(rung) => rungs.push(rung),
            None => return refused(format!("no rung {id:?}")),
        }
    }
    if rungs.is_empty() {
        return refused("no rungs: name at least one".to_owned());
    }
    let missing = missing().await;
    if !missing.is_empty() {
        return (StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "missing": missing }))).into_response();
    }
    match learn.jobs.start(rungs, order.repeat) {
        Ok(job) => (StatusCode::ACCEPTED, Json(job)).into_response(),
        Err(running) => (StatusCode::CONFLICT, Json(*running)).into_response(),
    }
}

/// Cancels the job after its current step.
pub(super) async fn cancel(State(learn): State<Arc<Learn>>) -> StatusCode {
    learn.jobs.cancel();
    StatusCode::NO_CONTENT
}

/// Returns the page or one of its files.
pub(super) async fn page(State(learn): State<Arc<Learn>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    learn.pages.answer(&parts)
}
