//! Users, for operators: `/ops/users/…`.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{Page, Role, User, UserFilter, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::api::people::accounts::{DELETED_USER, RoleName};
use crate::http::describe::Calls;
use crate::http::request::attempt;
use crate::http::request::attempt::Act;
use crate::http::request::extract::{Json, Now, Operator, Path, Query};
use crate::http::response::envelope::{Answer, Reply};
use crate::http::response::picture_list::PictureList;
use crate::language::{Language, both};
use crate::mall::base::{By, wall_time};

/// Returns the routes of users for operators.
pub fn routes() -> Calls {
    Calls::of(both("用户管理", "Users"))
        .get("/ops/users", list, both("查找用户，每页20人", "Find users, 20 a page"))
        .explained(both(
            "按手机号开头、名字的一部分、角色或是否停用。",
            "By the beginning of the phone number, a part of the name, role, or block.",
        ))
        .get("/ops/users/{id}", one, both("一位用户", "One user"))
        .post("/ops/users/{id}/block", block, both("停用账号", "Block a user"))
        .explained(both(
            "立即结束此人的全部会话。不能停用最后一名管理员（`LAST_OPERATOR`）。",
            "All sessions of the user end immediately. The last operator cannot be blocked \
             (`LAST_OPERATOR`).",
        ))
        .post("/ops/users/{id}/unblock", unblock, both("恢复账号", "Unblock a user"))
        .put("/ops/users/{id}/phone", set_phone, both("更换用户的手机号", "Change the phone number of a user"))
        .explained(both(
            "用于原号码已丢失的用户，请先核实身份。立即结束此人的全部会话，并写入审计日志。\
                号码属于别人时为`PHONE_TAKEN`。",
            "For a user who has lost the old number; verify the identity first. All sessions of the user end \
             immediately, and the audit log records the action. `PHONE_TAKEN` if another user has the number.",
        ))
        .put("/ops/users/{id}/role", set_role, both("设置角色", "Set the role of a user"))
        .explained(both(
            "不能撤掉最后一名管理员（`LAST_OPERATOR`）。",
            "The last operator cannot lose the role (`LAST_OPERATOR`).",
        ))
}

/// Users per page.
const PAGE_SIZE: u32 = 20;

/// A user, for operators.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserAnswer {
    id: u64,
    phone: String,
    nick_name: String,
    icon: PictureList,
    role: RoleName,
    #[schemars(example = &"2026-11-21T10:09:17")]
    create_time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked: Option<BlockAnswer>,
    /// Time at which the user deleted the account.
    #[schemars(example = &"2026-11-21T10:09:17")]
    #[serde(skip_serializing_if = "Option::is_none")]
    delete_time: Option<String>,
    /// Time since which the user has a second factor.
    #[schemars(example = &"2026-11-21T10:09:17")]
    #[serde(skip_serializing_if = "Option::is_none")]
    second_factor_time: Option<String>,
}

/// Time and reason of a block.
#[derive(Serialize, JsonSchema)]
struct BlockAnswer {
    #[schemars(example = &"2026-11-21T10:09:17")]
    since: String,
    reason: String,
}

impl UserAnswer {
    pub(crate) fn new(user: User, zone: &TimeZone) -> Self {
        let User { id, phone, nick_name, icon, role, blocked, created, deleted, second_factor } = user;
        let blocked = blocked
            .map(|block| BlockAnswer { since: wall_time::text(block.since, zone), reason: block.reason });
        let (phone, create_time) = (phone.as_str().to_owned(), wall_time::text(created, zone));
        let nick_name =
            if deleted.is_some() { DELETED_USER.spoken(Language::current()).to_owned() } else { nick_name };
        let delete_time = deleted.map(|at| wall_time::text(at, zone));
        Self {
            id: id.get(),
            phone,
            nick_name,
            icon: icon.into(),
            role: role.into(),
            create_time,
            blocked,
            delete_time,
            second_factor_time: second_factor.map(|since| wall_time::text(since, zone)),
        }
    }
}

/// Filter of users.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Search {
    /// Prefix of the phone number.
    #[serde(default)]
    #[schemars(example = &"139")]
    phone: String,
    /// Part of the name.
    #[serde(default)]
    name: String,
    role: Option<RoleName>,
    /// Blocked users only.
    #[serde(default)]
    blocked: bool,
    /// The page, from 1.
    #[schemars(example = 1)]
    current: Option<u32>,
}

impl Search {
    /// Returns a page of matching users.
    pub(crate) async fn page(self, app: &App, size: u32) -> Reply<Vec<UserAnswer>> {
        let Self { phone, name, role, blocked, current } = self;
        let filter = UserFilter { phone, name, role: role.map(Role::from), blocked };
        let users = app.people.list(&filter, Page::new(current.unwrap_or(1), size)).await?;
        let zone = &app.context.zone;
        let users: Vec<_> = users.into_iter().map(|user| UserAnswer::new(user, zone)).collect();
        Ok(Answer::ok(users))
    }
}

/// A user, and the number of ended sessions.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlockedAnswer {
    #[serde(flatten)]
    user: UserAnswer,
    sessions_ended: u64,
}

impl BlockedAnswer {
    pub(crate) fn new((user, sessions_ended): (User, u64), zone: &TimeZone) -> Self {
        Self { user: UserAnswer::new(user, zone), sessions_ended }
    }
}

async fn list(State(app): State<App>, _: Operator, Query(search): Query<Search>) -> Reply<Vec<UserAnswer>> {
    search.page(&app, PAGE_SIZE).await
}

async fn one(State(app): State<App>, _: Operator, Path(id): Path<u64>) -> Reply<UserAnswer> {
    user_reply(&app, app.people.get(UserId::new(id)).await?)
}

#[derive(Deserialize, JsonSchema)]
struct BlockBody {
    /// The reason, 1 to 200 characters, for operators and for the audit log.
    #[serde(default)]
    reason: String,
}

async fn block(
    State(app): State<App>,
    Operator(operator): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
    Json(body): Json<BlockBody>,
) -> Reply<BlockedAnswer> {
    let by = By::operator(operator, now);
    note(Act::Block, id);
    let blocked = app.people.block(UserId::new(id), &body.reason, by).await?;
    Ok(Answer::ok(BlockedAnswer::new(blocked, &app.context.zone)))
}

#[derive(Deserialize, JsonSchema)]
struct NewPhoneBody {
    /// The new number.
    #[schemars(example = &"13900000003")]
    #[serde(default)]
    phone: String,
    /// The reason, 1 to 200 characters, for the audit log.
    #[serde(default)]
    reason: String,
}

async fn set_phone(
    State(app): State<App>,
    Operator(operator): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
    Json(body): Json<NewPhoneBody>,
) -> Reply<BlockedAnswer> {
    attempt::note_act(Act::ChangePhone);
    attempt::note_subject(UserId::new(id));
    let by = By::operator(operator, now);
    let changed = app.people.set_phone(UserId::new(id), &body.phone, &body.reason, by).await?;
    Ok(Answer::ok(BlockedAnswer::new(changed, &app.context.zone)))
}

async fn unblock(
    State(app): State<App>,
    Operator(operator): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply<UserAnswer> {
    note(Act::Unblock, id);
    user_reply(&app, app.people.unblock(UserId::new(id), By::operator(operator, now)).await?)
}

#[derive(Deserialize, JsonSchema)]
struct RoleBody {
    role: RoleName,
}

async fn set_role(
    State(app): State<App>,
    Operator(operator): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
    Json(body): Json<RoleBody>,
) -> Reply<UserAnswer> {
    let by = By::operator(operator, now);
    note(Act::of_role(body.role.into()), id);
    user_reply(&app, app.people.set_role(UserId::new(id), body.role.into(), by).await?)
}

fn note(act: Act, subject: u64) {
    attempt::note_act(act);
    attempt::note_subject(UserId::new(subject));
}

/// Returns a user. Never cached, because the response contains a phone number.
fn user_reply(app: &App, user: User) -> Reply<UserAnswer> {
    Ok(Answer::ok(UserAnswer::new(user, &app.context.zone)))
}
