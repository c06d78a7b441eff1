//! People, as operators see them: `/ops/users/…`.

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post, put};
use jiff::tz::TimeZone;
use mallbox_storage::{Page, Role, User, UserFilter, UserId};
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::envelope::{Answer, Reply};
use crate::http::extract::{Json, Now, Operator, Path, Query};
use crate::mall::operator::By;
use crate::mall::wall_time;

/// The routes of this area.
pub fn routes() -> Router<App> {
    Router::new()
        .route("/ops/users", get(list))
        .route("/ops/users/{id}", get(one))
        .route("/ops/users/{id}/block", post(block))
        .route("/ops/users/{id}/unblock", post(unblock))
        .route("/ops/users/{id}/role", put(set_role))
}

/// Users on a page.
const PAGE: u32 = 20;

/// A role's word in the API.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum RoleName {
    /// Buys.
    Customer,
    /// Runs the mall.
    Operator,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Customer => Self::Customer,
            RoleName::Operator => Self::Operator,
        }
    }
}

impl From<Role> for RoleName {
    fn from(role: Role) -> Self {
        match role {
            Role::Customer => Self::Customer,
            Role::Operator => Self::Operator,
        }
    }
}

/// A person, as an operator sees them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserAnswer {
    id: u64,
    phone: String,
    nick_name: String,
    icon: String,
    role: RoleName,
    create_time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked: Option<BlockAnswer>,
}

#[derive(Serialize)]
struct BlockAnswer {
    since: String,
    reason: String,
}

impl UserAnswer {
    pub(crate) fn new(user: User, zone: &TimeZone) -> Self {
        let User { id, phone, nick_name, icon, role, blocked, created } = user;
        let blocked = blocked
            .map(|block| BlockAnswer { since: wall_time::text(block.since, zone), reason: block.reason });
        let (phone, create_time) = (phone.as_str().to_owned(), wall_time::text(created, zone));
        Self { id: id.get(), phone, nick_name, icon, role: role.into(), create_time, blocked }
    }
}

/// Which users are looked for.
#[derive(Deserialize)]
pub(crate) struct Search {
    #[serde(default)]
    phone: String,
    #[serde(default)]
    name: String,
    role: Option<RoleName>,
    #[serde(default)]
    blocked: bool,
    current: Option<u32>,
}

impl Search {
    /// A page of them.
    pub(crate) async fn page(self, app: &App, size: u32) -> Reply {
        let Self { phone, name, role, blocked, current } = self;
        let filter = UserFilter { phone, name, role: role.map(Role::from), blocked };
        let users = app.people.list(&filter, Page::new(current.unwrap_or(1), size)).await?;
        let zone = &app.context.zone;
        let users: Vec<_> = users.into_iter().map(|user| UserAnswer::new(user, zone)).collect();
        Ok(Answer::ok(users).no_store())
    }
}

/// A user who was blocked, and how many sessions of theirs ended.
#[derive(Serialize)]
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

async fn list(State(app): State<App>, _: Operator, Query(search): Query<Search>) -> Reply {
    search.page(&app, PAGE).await
}

async fn one(State(app): State<App>, _: Operator, Path(id): Path<u64>) -> Reply {
    said(&app, app.people.get(UserId::new(id)).await?)
}

#[derive(Deserialize)]
struct BlockBody {
    #[serde(default)]
    reason: String,
}

async fn block(
    State(app): State<App>,
    Operator(operator): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
    Json(body): Json<BlockBody>,
) -> Reply {
    let by = By::operator(operator, now);
    let blocked = app.people.block(UserId::new(id), &body.reason, by).await?;
    Ok(Answer::ok(BlockedAnswer::new(blocked, &app.context.zone)).no_store())
}

async fn unblock(
    State(app): State<App>,
    Operator(operator): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply {
    said(&app, app.people.unblock(UserId::new(id), By::operator(operator, now)).await?)
}

#[derive(Deserialize)]
struct RoleBody {
    role: RoleName,
}

async fn set_role(
    State(app): State<App>,
    Operator(operator): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
    Json(body): Json<RoleBody>,
) -> Reply {
    let by = By::operator(operator, now);
    said(&app, app.people.set_role(UserId::new(id), body.role.into(), by).await?)
}

/// Never kept by anybody on the way: there is a phone number in it.
fn said(app: &App, user: User) -> Reply {
    Ok(Answer::ok(UserAnswer::new(user, &app.context.zone)).no_store())
}
