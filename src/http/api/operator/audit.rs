//! The audit log: `/ops/audit` and `/ops/audit/verify`, also used by the command line.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{Actor, AuditCheck, AuditEntry, UserId, hex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Operator, Query};
use crate::http::response::envelope::{Answer, Reply};
use crate::http::response::messages;
use crate::http::server::call_limits::VERIFY_AUDIT_LOG;
use crate::language::{Language, both};
use crate::mall::base::audit::STAFF_NAME;
use crate::mall::base::wall_time;

/// Returns the routes of the audit log.
pub fn routes() -> Calls {
    Calls::of(both("审计日志", "Audit log"))
        .get(
            "/ops/audit",
            list,
            both("管理员和店员的操作记录，新的在前", "Actions of operators and staff, newest first"),
        )
        .get(VERIFY_AUDIT_LOG, verify, both("核对日志是否完整", "Whether the log is complete and unchanged"))
}

/// Default number of entries per page.
const PAGE: u32 = 50;

/// An entry of the audit log.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EntryAnswer {
    #[schemars(example = 1)]
    number: u64,
    #[schemars(example = &"2026-11-21T10:09:17")]
    time: String,
    /// The id of the operator or staff member; absent for the command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<u64>,
    /// The person's name, for an action of staff.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"小安")]
    staff_name: Option<String>,
    #[schemars(example = &"user.block")]
    action: String,
    /// The object of the action.
    #[schemars(example = &"user 7")]
    subject: String,
    /// Details of the action.
    detail: Value,
    /// SHA-256 over the entry and the hash of the previous entry.
    hash: String,
}

impl EntryAnswer {
    fn new(entry: AuditEntry, zone: &TimeZone) -> Self {
        let AuditEntry { number, at, actor, action, subject, detail, hash } = entry;
        let user = match actor {
            Actor::User(user) => Some(user),
            Actor::CommandLine => None,
        };
        let detail = serde_json::from_str(&detail).unwrap_or(Value::String(detail));
        let is_staff = user.and_then(UserId::staff_number).is_some();
        Self {
            number,
            time: wall_time::text(at, zone),
            user_id: user.map(UserId::get),
            staff_name: detail[STAFF_NAME].as_str().filter(|_| is_staff).map(str::to_owned),
            action,
            subject,
            detail,
            hash: hex(&hash),
        }
    }
}

/// Result of the verification of the audit log.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckAnswer {
    in_order: bool,
    /// Number of valid entries, from the first.
    entries: u64,
    /// Hash of the last valid entry; worth storing elsewhere.
    head: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<FaultAnswer>,
}

/// First break of the hash chain.
#[derive(Serialize, JsonSchema)]
struct FaultAnswer {
    /// Number of the first entry that does not fit.
    number: u64,
    /// Description of the fault, for people.
    text: String,
}

impl From<AuditCheck> for CheckAnswer {
    fn from(check: AuditCheck) -> Self {
        let AuditCheck { entries, head, fault } = check;
        let fault = fault.map(|fault| FaultAnswer {
            number: fault.number,
            text: messages::of_audit_fault(fault, Language::current()),
        });
        Self { in_order: fault.is_none(), entries, head: hex(&head), fault }
    }
}

/// Selection of entries.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Which {
    /// Entries before this number only.
    before: Option<u64>,
    /// Maximum number of entries; default 50.
    #[schemars(example = 50)]
    max: Option<u32>,
}

impl Which {
    /// Returns the selected entries, newest first.
    pub(crate) async fn page(self, app: &App) -> Reply<Vec<EntryAnswer>> {
        let entries = app.audit.page(self.before, self.max.unwrap_or(PAGE)).await?;
        let zone = &app.context.zone;
        let entries: Vec<_> = entries.into_iter().map(|entry| EntryAnswer::new(entry, zone)).collect();
        Ok(Answer::ok(entries))
    }
}

/// Verifies the whole hash chain.
pub(crate) async fn check(app: &App) -> Reply<CheckAnswer> {
    Ok(Answer::ok(CheckAnswer::from(app.audit.verify().await?)))
}

async fn list(State(app): State<App>, _: Operator, Query(which): Query<Which>) -> Reply<Vec<EntryAnswer>> {
    which.page(&app).await
}

async fn verify(State(app): State<App>, _: Operator) -> Reply<CheckAnswer> {
    check(&app).await
}
