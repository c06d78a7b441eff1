//! The caller's own sessions, `/user/sessions…`.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{SessionOrigin, SessionRecord};
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::attempt::{self, Act};
use crate::http::request::extract::{LoginSession, Now, Path};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::base::wall_time;
use crate::mall::people::accounts::OwnSession;

/// Returns the routes of the caller's sessions.
pub fn routes() -> Calls {
    Calls::of(both("登录设备", "Sessions"))
        .get("/user/sessions", list, both("我的登录，新的在前", "The caller's sessions, newest first"))
        .explained(both(
            "最多50个；再登录时最早的一个退出。`seenTime`误差不到一分钟。\
                升级前开始的登录，首次使用之前没有时间。",
            "At most 50: one more log-in ends the oldest. `seenTime` is less than a minute too early. A session \
             of an older version has no times before its first use.",
        ))
        .delete(
            "/user/sessions",
            end_others,
            both("退出其他所有登录，返回个数", "End all other sessions; returns their number"),
        )
        .delete("/user/sessions/{id}", end, both("退出我的一个登录", "End one of the caller's sessions"))
}

/// How a session began.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum OriginName {
    Code,
    Password,
    Other,
}

impl From<SessionOrigin> for OriginName {
    fn from(origin: SessionOrigin) -> Self {
        match origin {
            SessionOrigin::Code => Self::Code,
            SessionOrigin::Password => Self::Password,
            SessionOrigin::Other => Self::Other,
        }
    }
}

/// A session of the caller.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SessionAnswer {
    /// Names the session; no token can be computed from the id.
    #[schemars(example = &"3f0c9a5be1d24f7786a1c0de52b4e6f9")]
    id: String,
    /// Whether the session made this call.
    current: bool,
    /// Log-in by `code` or `password`; `other` if unknown.
    origin: OriginName,
    #[serde(flatten)]
    part: SessionPart,
}

/// A live session, without anything that would name the session to the mall.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2026-11-21T10:09:17")]
    create_time: Option<String>,
    /// Last use.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2026-11-21T10:09:17")]
    seen_time: Option<String>,
    /// Address of the client at the log-in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"203.0.113.7")]
    address: Option<String>,
    /// Browser and system at the log-in, or empty.
    #[schemars(example = &"Chrome 138 · Windows")]
    browser: String,
}

impl SessionPart {
    pub(super) fn new(record: SessionRecord, zone: &TimeZone) -> Self {
        let SessionRecord { session, seen, address, browser, .. } = record;
        Self {
            create_time: session.created.map(|created| wall_time::text(created, zone)),
            seen_time: seen.map(|seen| wall_time::text(seen, zone)),
            address: address.map(|address| address.to_string()),
            browser,
        }
    }
}

impl SessionAnswer {
    fn new(own: OwnSession, zone: &TimeZone) -> Self {
        let OwnSession { id, is_current, record } = own;
        Self {
            id,
            current: is_current,
            origin: record.session.origin.into(),
            part: SessionPart::new(record, zone),
        }
    }
}

async fn list(
    State(app): State<App>,
    LoginSession(session): LoginSession,
    Now(now): Now,
) -> Reply<Vec<SessionAnswer>> {
    let own = app.accounts.own_sessions(&session, now).await?;
    let zone = &app.context.zone;
    let answers: Vec<_> = own.into_iter().map(|own| SessionAnswer::new(own, zone)).collect();
    Ok(Answer::ok(answers))
}

async fn end_others(State(app): State<App>, LoginSession(session): LoginSession) -> Reply<u64> {
    attempt::note_act(Act::LogOut);
    Ok(Answer::ok(app.accounts.end_other_sessions(&session).await?))
}

async fn end(
    State(app): State<App>,
    LoginSession(session): LoginSession,
    Now(now): Now,
    Path(id): Path<String>,
) -> Reply {
    attempt::note_act(Act::LogOut);
    app.accounts.end_own_session(&session, &id, now).await?;
    Ok(Answer::done())
}
