//! The audit log: `/ops/audit` and `/ops/audit/verify`. The command line shows the same.

use std::fmt::Write as _;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use jiff::tz::TimeZone;
use mallbox_storage::{Actor, AuditCheck, AuditEntry};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::http::App;
use crate::http::envelope::{Answer, Reply};
use crate::http::extract::{Operator, Query};
use crate::mall::wall_time;

/// The routes of this area.
pub fn routes() -> Router<App> {
    Router::new().route("/ops/audit", get(list)).route("/ops/audit/verify", get(verify))
}

/// Entries on a page, unless asked otherwise.
const PAGE: u32 = 50;

/// An entry of the log.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EntryAnswer {
    number: u64,
    time: String,
    /// Absent: the command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<u64>,
    action: String,
    subject: String,
    detail: Value,
    hash: String,
}

impl EntryAnswer {
    fn new(entry: AuditEntry, zone: &TimeZone) -> Self {
        let AuditEntry { number, at, actor, action, subject, detail, hash } = entry;
        let user_id = match actor {
            Actor::User(user) => Some(user.get()),
            Actor::CommandLine => None,
        };
        let detail = serde_json::from_str(&detail).unwrap_or(Value::String(detail));
        Self { number, time: wall_time::text(at, zone), user_id, action, subject, detail, hash: hex(&hash) }
    }
}

/// Whether the chain is whole.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckAnswer {
    in_order: bool,
    /// Entries that fit, from the first on.
    entries: u64,
    /// The hash of the last of them: worth noting elsewhere.
    head: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<FaultAnswer>,
}

#[derive(Serialize)]
struct FaultAnswer {
    number: u64,
    text: String,
}

impl From<AuditCheck> for CheckAnswer {
    fn from(check: AuditCheck) -> Self {
        let AuditCheck { entries, head, fault } = check;
        let fault = fault.map(|fault| FaultAnswer { number: fault.number, text: fault.to_string() });
        Self { in_order: fault.is_none(), entries, head: hex(&head), fault }
    }
}

/// Which entries.
#[derive(Deserialize)]
pub(crate) struct Which {
    before: Option<u64>,
    max: Option<u32>,
}

impl Which {
    /// Those, newest first.
    pub(crate) async fn page(self, app: &App) -> Reply {
        let entries = app.audit.page(self.before, self.max.unwrap_or(PAGE)).await?;
        let zone = &app.context.zone;
        let entries: Vec<_> = entries.into_iter().map(|entry| EntryAnswer::new(entry, zone)).collect();
        Ok(Answer::ok(entries).no_store())
    }
}

/// Walks the whole chain.
pub(crate) async fn check(app: &App) -> Reply {
    Ok(Answer::ok(CheckAnswer::from(app.audit.verify().await?)).no_store())
}

async fn list(State(app): State<App>, _: Operator, Query(which): Query<Which>) -> Reply {
    which.page(&app).await
}

async fn verify(State(app): State<App>, _: Operator) -> Reply {
    check(&app).await
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
