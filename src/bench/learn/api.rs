//! The calls of the page.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use mallbox_bench_ladder::{Failure, RungReport, Trigger, Words};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::comparisons::{COMPARISONS, Comparison};
use super::job::Job;
use super::shared::Learn;
use super::task::Task;
use crate::bench::about_way::AboutWay;
use crate::bench::ladder::{AnyRung, missing_programs};

/// Most runs of a rung under a trigger.
const REPEAT_MAX: usize = 20;

/// Everything that the page shows before a job.
#[derive(Serialize)]
struct Overview {
    rungs: Vec<ListedRung>,
    triggers: Vec<ListedTrigger>,
    comparisons: Vec<ListedComparison>,
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

#[derive(Serialize)]
struct ListedComparison {
    name: &'static str,
    ways: Vec<AboutWay>,
    /// The newest result since the server started.
    section: Option<Value>,
}

/// What is to run: rungs, or a comparison.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    rungs: Option<Vec<String>>,
    /// Runs of a rung under a trigger; 1 unless told.
    repeat: Option<usize>,
    comparison: Option<String>,
}

impl Order {
    /// Returns the task. `Err` with the reason why there is none.
    fn task(self) -> Result<Task, String> {
        match (self.rungs, self.comparison) {
            (Some(rungs), None) => rungs_task(&rungs, self.repeat.unwrap_or(1)),
            (None, Some(name)) => comparison_task(&name, self.repeat),
            (Some(_), Some(_)) => Err("both rungs and a comparison: one job runs one of them".to_owned()),
            (None, None) => Err("neither rungs nor a comparison: name one of them".to_owned()),
        }
    }
}

fn rungs_task(ids: &[String], repeat: usize) -> Result<Task, String> {
    if !(1..=REPEAT_MAX).contains(&repeat) {
        return Err(format!("repeat is {repeat}; 1 to {REPEAT_MAX} are possible"));
    }
    if ids.is_empty() {
        return Err("no rungs: name at least one".to_owned());
    }
    let rungs = ids.iter().map(|id| AnyRung::find(id).ok_or_else(|| format!("no rung {id:?}")));
    Ok(Task::Rungs { rungs: rungs.collect::<Result<_, _>>()?, repeat })
}

fn comparison_task(name: &str, repeat: Option<usize>) -> Result<Task, String> {
    if repeat.is_some() {
        return Err("repeat is for rungs: a comparison runs once".to_owned());
    }
    let names = COMPARISONS.map(|comparison| comparison.name).join(", ");
    let found =
        Comparison::find(name).ok_or_else(|| format!("no comparison {name:?}; there are: {names}"))?;
    Ok(Task::Comparison(found))
}

/// Returns the rungs with their code, the comparisons, and what was run so far.
pub(super) async fn overview(State(learn): State<Arc<Learn>>) -> Response {
    let rungs = AnyRung::all().iter().map(|rung| {
        let (source, file) = rung.source();
        let expected = |name| ExpectedFailures { name, expected: rung.expected(name) };
        let triggers = rung.triggers().map(expected).collect();
        ListedRung { id: rung.id(), title: rung.title(), instances: rung.instances(), source, file, triggers }
    });
    let triggers = Trigger::ALL.map(|name| ListedTrigger { name, about: name.about() }).into();
    let comparisons = COMPARISONS.map(|Comparison { name, ways, .. }| {
        let section = learn.jobs.section(name);
        ListedComparison { name, ways: ways(), section }
    });
    let (job, reports) = (learn.jobs.newest(), learn.jobs.reports());
    let (rungs, comparisons, missing) = (rungs.collect(), comparisons.into(), missing().await);
    Json(Overview { rungs, triggers, comparisons, missing, job, reports }).into_response()
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
    let order = serde_json::from_slice::<Order>(&body);
    let task = order.map_err(|error| format!("not an order for a job: {error}")).and_then(Order::task);
    let task = match task {
        Ok(task) => task,
        Err(why) => return (StatusCode::BAD_REQUEST, why).into_response(),
    };
    let missing = missing().await;
    if !missing.is_empty() {
        return (StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "missing": missing }))).into_response();
    }
    match learn.jobs.start(task) {
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
