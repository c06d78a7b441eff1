//! The audit log: `/ops/audit` and `/ops/audit/verify`. The command line shows the same.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{Actor, AuditCheck, AuditEntry, hex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::envelope::{Answer, Reply};
use crate::http::extract::{Operator, Query};
use crate::http::words;
use crate::language::{Language, both};
use crate::mall::wall_time;

/// The routes of this area.
pub fn routes() -> Calls {
    Calls::of(both("审计日志", "Audit log"))
        .get("/ops/audit", list, both("管理员做过的事，最新在前", "Actions of operators, newest first"))
        .get(VERIFY_AUDIT_LOG, verify, both("核对日志是否完整", "Whether the log is complete and unchanged"))
}

/// Reads and hashes the whole log.
pub(in crate::http) const VERIFY_AUDIT_LOG: &str = "/ops/audit/verify";
/// Entries on a page, unless asked otherwise.
const PAGE: u32 = 50;

/// An entry of the log.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EntryAnswer {
    #[schemars(example = 1)]
    number: u64,
    #[schemars(example = &"2026-11-21T10:09:17")]
    time: String,
    /// Absent: the command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<u64>,
    #[schemars(example = &"user.block")]
    action: String,
    /// What it was done to.
    #[schemars(example = &"user 7")]
    subject: String,
    /// Whatever is worth knowing of it.
    detail: Value,
    /// Of what the entry says and of the hash before it.
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
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckAnswer {
    in_order: bool,
    /// Entries that fit, from the first on.
    entries: u64,
    /// The hash of the last of them: worth noting elsewhere.
    head: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<FaultAnswer>,
}

/// Where the chain is broken.
#[derive(Serialize, JsonSchema)]
struct FaultAnswer {
    /// The first entry that does not fit.
    number: u64,
    /// In what way, for people.
    text: String,
}

impl From<AuditCheck> for CheckAnswer {
    fn from(check: AuditCheck) -> Self {
        let AuditCheck { entries, head, fault } = check;
        let fault = fault.map(|fault| FaultAnswer {
            number: fault.number,
            text: words::of_audit_fault(fault, Language::spoken()),
        });
        Self { in_order: fault.is_none(), entries, head: hex(&head), fault }
    }
}

/// Which entries.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Which {
    /// Entries before this one.
    before: Option<u64>,
    /// How many at the most; 50 unless told.
    #[schemars(example = 50)]
    max: Option<u32>,
}

impl Which {
    /// Those, newest first.
    pub(crate) async fn page(self, app: &App) -> Reply<Vec<EntryAnswer>> {
        let entries = app.audit.page(self.before, self.max.unwrap_or(PAGE)).await?;
        let zone = &app.context.zone;
        let entries: Vec<_> = entries.into_iter().map(|entry| EntryAnswer::new(entry, zone)).collect();
        Ok(Answer::ok(entries).no_store())
    }
}

/// Walks the whole chain.
pub(crate) async fn check(app: &App) -> Reply<CheckAnswer> {
    Ok(Answer::ok(CheckAnswer::from(app.audit.verify().await?)).no_store())
}

async fn list(State(app): State<App>, _: Operator, Query(which): Query<Which>) -> Reply<Vec<EntryAnswer>> {
    which.page(&app).await
}

async fn verify(State(app): State<App>, _: Operator) -> Reply<CheckAnswer> {
    check(&app).await
}
