//! Archived days of the ledger of votes, for operators: `/ops/archive/votes…`.

use axum::extract::State;
use mallbox_storage::{ArchiveLedger, ArchivedDay, Day, LineCursor, hex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reviews::VoteLineAnswer;
use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Operator, Path, Query};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::Refusal;
use crate::mall::base::wall_time;
use crate::mall::operator::ArchiveAdmin;

/// Returns the routes of the archive for operators.
pub(super) fn routes() -> Calls {
    Calls::of(both("归档", "Archive"))
        .get(
            "/ops/archive/votes",
            days,
            both("“有用”流水的归档日，旧的在前，每页500天", "Archived days of the ledger of votes, oldest first, 500 a page"),
        )
        .explained(both(
            "`after`是上一页最后一条的`day`。一天从UTC零点算起。用mallbox archive归档。",
            "`after` is the `day` of the last entry before. Days are those of UTC. mallbox archive archives days.",
        ))
        .get(
            "/ops/archive/votes/{day}",
            lines,
            both("一个归档日的“有用”流水，旧的在前，每页50行", "An archived day of the ledger of votes, oldest first, 50 lines a page"),
        )
        .explained(both("`after`是上一页的`next`。", "`after` is `next` of the page before."))
}

#[derive(Deserialize, JsonSchema)]
struct DaysQuery {
    /// The `day` of the last entry on the page before.
    after: Option<String>,
}

/// An archived day.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ArchivedDayAnswer {
    /// The day, of UTC.
    #[schemars(example = &"2026-11-21")]
    day: String,
    /// Lines in the file.
    lines: u64,
    /// Bytes of the compressed file.
    bytes: u64,
    /// SHA-256 of the compressed file.
    #[schemars(example = &"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    sha256: String,
    /// Time of the archiving.
    #[schemars(example = &"2026-11-21T10:09:17")]
    time: String,
}

async fn days(
    State(app): State<App>,
    _: Operator,
    Query(query): Query<DaysQuery>,
) -> Reply<Vec<ArchivedDayAnswer>> {
    let after = query.after.filter(|after| !after.is_empty());
    let after = after.map(|after| Day::parse(&after).ok_or(Refusal::BadValue("archive day"))).transpose()?;
    let days = app.archive_admin.days(ArchiveLedger::Votes, after).await?;
    let answer = |day: &ArchivedDay| ArchivedDayAnswer {
        day: day.day.to_string(),
        lines: day.lines,
        bytes: day.bytes,
        sha256: hex(&day.sha256),
        time: wall_time::text(day.archived, &app.context.zone),
    };
    Ok(Answer::ok(days.iter().map(answer).collect()))
}

#[derive(Deserialize, JsonSchema)]
struct LinesQuery {
    /// `next` of the page before.
    after: Option<String>,
}

/// Lines of an archived day.
#[derive(Serialize, JsonSchema)]
struct ArchivedLinesAnswer {
    lines: Vec<VoteLineAnswer>,
    /// `after` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"0-50")]
    next: Option<String>,
}

async fn lines(
    State(app): State<App>,
    _: Operator,
    Path(day): Path<String>,
    Query(query): Query<LinesQuery>,
) -> Reply<ArchivedLinesAnswer> {
    let day = Day::parse(&day).ok_or(Refusal::NotFound("archived day"))?;
    let place = parse_place(query.after.as_deref())?;
    let page = app.archive_admin.votes(day, place, ArchiveAdmin::LINES).await?;
    let zone = &app.context.zone;
    Ok(Answer::ok(ArchivedLinesAnswer {
        lines: page.lines.iter().map(|line| VoteLineAnswer::new(line, zone)).collect(),
        next: page.next.map(place_text),
    }))
}

/// Writes a place in an archived day.
pub(in crate::http) fn place_text(place: LineCursor) -> String {
    format!("{}-{}", place.at, place.skip)
}

/// Parses a place in an archived day; nothing is the beginning.
pub(in crate::http) fn parse_place(text: Option<&str>) -> Result<LineCursor, Refusal> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(LineCursor::default()) };
    let place = text
        .split_once('-')
        .and_then(|(at, skip)| Some(LineCursor { at: at.parse().ok()?, skip: skip.parse().ok()? }));
    place.ok_or(Refusal::BadValue("after"))
}
