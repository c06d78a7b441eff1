//! `/ops/staff`: the people of the staff and their PINs.

use axum::extract::State;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, JsonIfAny, Now, Operator, Path};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::base::staff_list::StaffMember;
use crate::mall::base::{By, wall_time};
use crate::mall::operator::staff::PinnedMember;

/// Returns the routes of staff for operators.
pub(super) fn routes() -> Calls {
    Calls::of(both("店员管理", "Staff"))
        .get("/ops/staff", list, both("店员", "The staff"))
        .post("/ops/staff", add, both("添加店员", "Add a person to the staff"))
        .explained(both(
            "没有`pin`时由商城生成8位PIN，只在这个响应里出现一次。PIN不能与其他店员相同（`PIN_TAKEN`），\
                也不能太简单（`PIN_GUESSABLE`）。写入审计日志。",
            "Without a `pin`, the mall makes one of 8 digits, which only this response shows. A PIN names one \
                person (`PIN_TAKEN`) and must not be a simple one (`PIN_GUESSABLE`). The audit log records the \
                action.",
        ))
        .put("/ops/staff/{id}/pin", set_pin, both("更换店员的PIN", "Give a staff member a new PIN"))
        .explained(both(
            "立即结束此人的全部会话。其他与添加店员相同。",
            "All sessions of the person end immediately. Otherwise as for a new person.",
        ))
        .delete("/ops/staff/{id}", remove, both("移除店员", "Remove a person from the staff"))
        .explained(both(
            "立即结束此人的全部会话；姓名保留在审计日志里。",
            "All sessions of the person end immediately; the audit log keeps the name.",
        ))
}

/// A staff member.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StaffAnswer {
    #[schemars(example = 1)]
    id: u32,
    #[schemars(example = &"小安")]
    name: String,
    #[schemars(example = &"2026-11-21T10:09:17")]
    created_time: String,
    /// Time since which the present PIN is valid.
    #[schemars(example = &"2026-11-21T10:09:17")]
    pin_time: String,
}

impl StaffAnswer {
    fn new(member: StaffMember, zone: &TimeZone) -> Self {
        Self {
            id: member.id,
            created_time: wall_time::text(member.created, zone),
            pin_time: wall_time::text(member.pin_since, zone),
            name: member.name,
        }
    }
}

/// A staff member with a new PIN.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PinnedAnswer {
    #[serde(flatten)]
    person: StaffAnswer,
    /// The PIN, if the mall made it. Never shown again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"48291357")]
    pin: Option<String>,
}

impl PinnedAnswer {
    fn new(pinned: PinnedMember, zone: &TimeZone) -> Self {
        Self { person: StaffAnswer::new(pinned.member, zone), pin: pinned.pin }
    }
}

#[derive(Deserialize, JsonSchema)]
struct StaffBody {
    /// 1 to 40 characters, unique among the staff.
    #[schemars(example = &"小安")]
    #[serde(default)]
    name: String,
    /// 6 to 12 digits, chosen by the person; without it the mall makes a PIN.
    #[schemars(example = &"482913")]
    pin: Option<String>,
}

#[derive(Default, Deserialize, JsonSchema)]
struct PinBody {
    /// 6 to 12 digits, chosen by the person; without it the mall makes a PIN.
    #[schemars(example = &"482913")]
    pin: Option<String>,
}

async fn list(State(app): State<App>, _: Operator) -> Reply<Vec<StaffAnswer>> {
    let zone = &app.context.zone;
    let members = app.staff_admin.list().await?;
    Ok(Answer::ok(members.into_iter().map(|member| StaffAnswer::new(member, zone)).collect()))
}

async fn add(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Json(body): Json<StaffBody>,
) -> Reply<PinnedAnswer> {
    let by = By::operator(user, now);
    let added = app.staff_admin.add(by, &body.name, body.pin.as_deref()).await?;
    Ok(Answer::ok(PinnedAnswer::new(added, &app.context.zone)))
}

async fn set_pin(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(id): Path<u32>,
    JsonIfAny(body): JsonIfAny<PinBody>,
) -> Reply<PinnedAnswer> {
    let pinned = app.staff_admin.set_pin(By::operator(user, now), id, body.pin.as_deref()).await?;
    Ok(Answer::ok(PinnedAnswer::new(pinned, &app.context.zone)))
}

async fn remove(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(id): Path<u32>,
) -> Reply<StaffAnswer> {
    let removed = app.staff_admin.remove(By::operator(user, now), id).await?;
    Ok(Answer::ok(StaffAnswer::new(removed, &app.context.zone)))
}
