//! Users and the audit log, for the command line. Users are identified by phone number.

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use mallbox_storage::codes::MACHINE_CODE_TTL;
use mallbox_storage::{Actor, Role, Timestamp, User};
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::api::operator::audit;
use crate::http::api::operator::audit::{CheckAnswer, EntryAnswer, Which};
use crate::http::api::operator::users::{BlockedAnswer, Search, UserAnswer};
use crate::http::request::attempt;
use crate::http::request::attempt::Act;
use crate::http::request::extract::{Json, Now, Path, Query};
use crate::http::response::envelope::{Answer, Reply};
use crate::http::response::error::ApiError;
use crate::mall::base::By;

/// Returns the routes of users and of the audit log.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/control/users", get(users))
        .route("/control/users/{phone}", get(user))
        .route("/control/users/{phone}/grant", post(grant))
        .route("/control/users/{phone}/revoke", post(revoke))
        .route("/control/users/{phone}/block", post(block))
        .route("/control/users/{phone}/unblock", post(unblock))
        .route("/control/users/{phone}/code", post(code))
        .route("/control/users/{phone}/password", post(set_password))
        .route("/control/users/{phone}/end-sessions", post(end_sessions))
        .route("/control/users/{phone}/remove-second-factor", post(remove_second_factor))
        .route("/control/audit", get(audit_log))
        .route("/control/audit/verify", get(verify_audit_log))
}

/// Users per page of the list.
pub const USERS_PER_PAGE: u32 = 500;

fn by(now: Timestamp) -> By {
    By { actor: Actor::CommandLine, at: now }
}

/// Returns the user with this phone, and notes the act for the security log.
async fn subject(app: &App, phone: &str, act: Act) -> Result<User, ApiError> {
    attempt::note_act(act);
    let user = app.people.by_phone(phone).await?;
    attempt::note_subject(user.id);
    Ok(user)
}

fn user_response(app: &App, user: User) -> Reply<UserAnswer> {
    Ok(Answer::ok(UserAnswer::new(user, &app.context.zone)))
}

async fn users(State(app): State<App>, Query(search): Query<Search>) -> Reply<Vec<UserAnswer>> {
    search.page(&app, USERS_PER_PAGE).await
}

async fn user(State(app): State<App>, Path(phone): Path<String>) -> Reply<UserAnswer> {
    user_response(&app, app.people.by_phone(&phone).await?)
}

async fn grant(State(app): State<App>, Now(now): Now, Path(phone): Path<String>) -> Reply<UserAnswer> {
    attempt::note_act(Act::GrantRole);
    let user = app.people.grant(&phone, by(now)).await?;
    attempt::note_subject(user.id);
    user_response(&app, user)
}

async fn revoke(State(app): State<App>, Now(now): Now, Path(phone): Path<String>) -> Reply<UserAnswer> {
    let user = subject(&app, &phone, Act::RevokeRole).await?;
    user_response(&app, app.people.set_role(user.id, Role::Customer, by(now)).await?)
}

#[derive(Deserialize)]
struct Why {
    #[serde(default)]
    reason: String,
}

async fn block(
    State(app): State<App>,
    Now(now): Now,
    Path(phone): Path<String>,
    Query(why): Query<Why>,
) -> Reply<BlockedAnswer> {
    let user = subject(&app, &phone, Act::Block).await?;
    let blocked = app.people.block(user.id, &why.reason, by(now)).await?;
    Ok(Answer::ok(BlockedAnswer::new(blocked, &app.context.zone)))
}

async fn unblock(State(app): State<App>, Now(now): Now, Path(phone): Path<String>) -> Reply<UserAnswer> {
    let user = subject(&app, &phone, Act::Unblock).await?;
    user_response(&app, app.people.unblock(user.id, by(now)).await?)
}

/// A login code made on the machine.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CodeAnswer {
    code: String,
    valid_minutes: u64,
}

async fn code(State(app): State<App>, Now(now): Now, Path(phone): Path<String>) -> Reply<CodeAnswer> {
    let user = app.people.by_phone(&phone).await?;
    let (code, request) = app.accounts.code_of_machine(&user.phone).await?;
    app.people.put_code(user.id, request, by(now)).await?;
    Ok(Answer::ok(CodeAnswer { code, valid_minutes: MACHINE_CODE_TTL.as_secs() / 60 }))
}

#[derive(Deserialize)]
struct NewPassword {
    #[serde(default)]
    password: String,
}

async fn set_password(
    State(app): State<App>,
    Now(now): Now,
    Path(phone): Path<String>,
    Json(new): Json<NewPassword>,
) -> Reply<UserAnswer> {
    let user = app.people.by_phone(&phone).await?;
    let hash = app.accounts.hash_password(&new.password, &user).await?;
    app.people.put_password(user.id, hash, by(now)).await?;
    user_response(&app, user)
}

async fn end_sessions(
    State(app): State<App>,
    Now(now): Now,
    Path(phone): Path<String>,
) -> Reply<BlockedAnswer> {
    let user = app.people.by_phone(&phone).await?;
    let ended = app.people.end_sessions(user.id, by(now)).await?;
    Ok(Answer::ok(BlockedAnswer::new((user, ended), &app.context.zone)))
}

async fn remove_second_factor(
    State(app): State<App>,
    Now(now): Now,
    Path(phone): Path<String>,
) -> Reply<BlockedAnswer> {
    let user = subject(&app, &phone, Act::RemoveSecondFactor).await?;
    let ended = app.people.remove_second_factor(user.id, by(now)).await?;
    let user = app.people.get(user.id).await?;
    Ok(Answer::ok(BlockedAnswer::new((user, ended), &app.context.zone)))
}

async fn audit_log(State(app): State<App>, Query(which): Query<Which>) -> Reply<Vec<EntryAnswer>> {
    which.page(&app).await
}

async fn verify_audit_log(State(app): State<App>) -> Reply<CheckAnswer> {
    audit::check(&app).await
}
