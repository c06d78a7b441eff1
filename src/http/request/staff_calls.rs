//! The calls that staff may make: one table, and the extractors that obey it.
//!
//! A session of staff counts as none on public calls, and is refused on every other call outside of the
//! table: a call added later is closed to staff until its line is added here.

use axum::extract::{FromRequestParts, MatchedPath};
use axum::http::Method;
use axum::http::request::Parts;
use mallbox_storage::UserId;

use super::extract::{Operator, PollingOperator, session, unextended_session};
use crate::http::App;
use crate::http::response::error::ApiError;
use crate::mall::Refusal;
use crate::mall::base::staff_list::StaffMember;
use crate::mall::people::accounts::CurrentSession;

/// Method and path of each call, as in the API description.
pub(in crate::http) const STAFF_CALLS: &[(Method, &str)] = &[
    (Method::GET, "/staff/me"),
    (Method::POST, "/staff/log-in-codes"),
    (Method::POST, "/staff/sales"),
    (Method::GET, "/staff/orders"),
    (Method::GET, "/staff/orders/{id}"),
    (Method::GET, "/ops/vouchers"),
    (Method::GET, "/ops/receipts/{code}"),
    (Method::POST, "/ops/receipts/{code}/use"),
    (Method::POST, "/voucher-order/{id}/use"),
    (Method::POST, "/ops/orders/{id}/pay"),
    (Method::POST, "/ops/orders/{id}/print"),
    (Method::GET, "/ops/printer"),
    (Method::POST, "/ops/printer/test"),
    (Method::GET, "/ops/cash"),
    (Method::POST, "/ops/cash"),
    (Method::GET, "/ops/cash/{id}"),
    (Method::POST, "/ops/cash/{id}/in"),
    (Method::POST, "/ops/cash/{id}/out"),
    (Method::POST, "/ops/cash/{id}/close"),
    (Method::POST, "/ops/cash/{id}/print"),
    (Method::GET, "/ops/cash/reports"),
    (Method::GET, "/ops/cash/reports/{number}"),
    (Method::POST, "/ops/cash/reports/{number}/print"),
];

/// A staff member, by the request's valid token; 401 without a valid token, 403 for anybody else.
///
/// The list of staff is read from the database on each request, so that a removal takes effect immediately.
#[derive(Clone, Debug)]
pub(in crate::http) struct OnlyStaff(pub(in crate::http) StaffMember);

/// A staff member or an operator, by the request's valid token; 401 without a valid token, 403 for anybody
/// else, as for [`Operator`].
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct StaffOrOperator(pub(in crate::http) UserId);

/// Like [`StaffOrOperator`], without extending the session: for calls that pages poll.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct PollingStaffOrOperator;

impl StaffOrOperator {
    /// Returns whether the caller is a staff member.
    pub(in crate::http) fn is_staff(self) -> bool {
        self.0.staff_number().is_some()
    }
}

/// Returns the staff member who makes the request; `None` for any other caller.
async fn staff(parts: &Parts, app: &App) -> Result<Option<StaffMember>, ApiError> {
    staff_of(session(parts, app).await?, parts, app).await
}

async fn staff_of(
    session: Option<CurrentSession>,
    parts: &Parts,
    app: &App,
) -> Result<Option<StaffMember>, ApiError> {
    let Some(session) = session else { return Ok(None) };
    if session.user().staff_number().is_none() {
        return Ok(None);
    }
    let member = app.staff.member(&session, app.context.now()).await?.ok_or(Refusal::NotLoggedIn)?;
    if is_staff_call(parts) { Ok(Some(member)) } else { Err(Refusal::Forbidden.into()) }
}

fn is_staff_call(parts: &Parts) -> bool {
    let path = parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str);
    STAFF_CALLS.iter().any(|(method, of)| *method == parts.method && Some(*of) == path)
}

impl FromRequestParts<App> for OnlyStaff {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        match staff(parts, app).await? {
            Some(member) => Ok(Self(member)),
            None => match session(parts, app).await? {
                Some(_) => Err(Refusal::Forbidden.into()),
                None => Err(Refusal::NotLoggedIn.into()),
            },
        }
    }
}

impl FromRequestParts<App> for StaffOrOperator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        match staff(parts, app).await? {
            Some(member) => Ok(Self(member.user())),
            None => Operator::from_request_parts(parts, app).await.map(|Operator(user)| Self(user)),
        }
    }
}

impl FromRequestParts<App> for PollingStaffOrOperator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        match staff_of(unextended_session(parts, app).await?, parts, app).await? {
            Some(_) => Ok(Self),
            None => PollingOperator::from_request_parts(parts, app).await.map(|_| Self),
        }
    }
}
