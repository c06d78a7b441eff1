//! The archive, for the command line.

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use mallbox_storage::{Actor, ArchiveLedger, ArchivedDay, Day, hex, vote_text};
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::api::operator::vote_archive::{parse_place, place_text};
use crate::http::request::extract::{Now, Path, Query};
use crate::http::response::envelope::{Answer, Reply};
use crate::mall::Refusal;
use crate::mall::base::{By, wall_time};

/// Returns the routes of the archive.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/control/archive/{ledger}", get(list))
        .route("/control/archive/{ledger}", post(archive))
        .route("/control/archive/{ledger}/{day}", get(show))
}

/// Lines per page of a day: several parts of a file.
const LINES_PER_PAGE: u32 = 4_096;

#[derive(Deserialize)]
struct AfterQuery {
    after: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DayAnswer {
    day: String,
    file: String,
    lines: u64,
    bytes: u64,
    text_bytes: u64,
    sha256: String,
    time: String,
}

impl DayAnswer {
    fn new(app: &App, day: &ArchivedDay) -> Self {
        Self {
            day: day.day.to_string(),
            file: day.file_name(),
            lines: day.lines,
            bytes: day.bytes,
            text_bytes: day.text_bytes,
            sha256: hex(&day.sha256),
            time: wall_time::text(day.archived, &app.context.zone),
        }
    }
}

async fn list(
    State(app): State<App>,
    Path(ledger): Path<String>,
    Query(query): Query<AfterQuery>,
) -> Reply<Vec<DayAnswer>> {
    let after = query.after.as_deref().map(parse_day).transpose()?;
    let days = app.archive_admin.days(parse_ledger(&ledger)?, after).await?;
    Ok(Answer::ok(days.iter().map(|day| DayAnswer::new(&app, day)).collect()))
}

#[derive(Deserialize)]
struct ArchiveQuery {
    before: Option<String>,
    keep: Option<u32>,
    from: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunAnswer {
    /// The first day that is kept.
    before: String,
    days: Vec<DayRunAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DayRunAnswer {
    #[serde(flatten)]
    day: DayAnswer,
    is_new: bool,
    removed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

async fn archive(
    State(app): State<App>,
    Now(now): Now,
    Path(ledger): Path<String>,
    Query(query): Query<ArchiveQuery>,
) -> Reply<RunAnswer> {
    let (ledger, by) = (parse_ledger(&ledger)?, By { actor: Actor::CommandLine, at: now });
    let before = match (&query.before, query.keep) {
        (Some(before), _) => parse_day(before)?,
        (None, Some(keep)) => app.archive_admin.first_kept(keep, by)?,
        (None, None) => return Err(Refusal::BadValue("before").into()),
    };
    let from = query.from.as_deref().map(parse_day).transpose()?;
    let run = app.archive_admin.archive(by, ledger, before, from).await?;
    let days = run.days.into_iter().map(|run| DayRunAnswer {
        day: DayAnswer::new(&app, &run.day),
        is_new: run.is_new,
        removed: run.removed,
        fault: run.fault,
    });
    Ok(Answer::ok(RunAnswer {
        before: before.to_string(),
        days: days.collect(),
        next: run.next.map(|next| next.to_string()),
    }))
}

/// Lines of an archived day, as in the file.
#[derive(Serialize)]
struct LinesAnswer {
    lines: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

async fn show(
    State(app): State<App>,
    Path((ledger, day)): Path<(String, String)>,
    Query(query): Query<AfterQuery>,
) -> Reply<LinesAnswer> {
    let ArchiveLedger::Votes = parse_ledger(&ledger)?;
    let place = parse_place(query.after.as_deref())?;
    let page = app.archive_admin.votes(parse_day(&day)?, place, LINES_PER_PAGE).await?;
    Ok(Answer::ok(LinesAnswer {
        lines: page.lines.iter().map(vote_text).collect(),
        next: page.next.map(place_text),
    }))
}

fn parse_ledger(name: &str) -> Result<ArchiveLedger, Refusal> {
    ArchiveLedger::named(name).ok_or(Refusal::NotFound("ledger"))
}

fn parse_day(text: &str) -> Result<Day, Refusal> {
    Day::parse(text).ok_or(Refusal::BadValue("archive day"))
}
