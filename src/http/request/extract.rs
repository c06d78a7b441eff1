//! Extractors of handlers. A rejection is an envelope.

use axum::extract::path::ErrorKind;
use axum::extract::rejection::{BytesRejection, PathRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use mallbox_storage::{Timestamp, UserId};
use serde::de::DeserializeOwned;

use super::{attempt, body_text, query_text};
use crate::http::App;
use crate::http::response::bad_request::{BadRequest, Expected};
use crate::http::response::error::ApiError;
use crate::mall::Refusal;
use crate::mall::people::accounts::CurrentSession;
use crate::mall::writing::Remover;

/// Maximum bytes of a body, uploads excepted: no form of the API comes near.
pub(in crate::http) const FORM_MAX_BYTES: usize = 1 << 20;

/// The user of the request's valid token; 401 without a valid token, 403 for staff, who have no account.
#[derive(Clone, Copy, Debug)]
pub struct Login(pub UserId);

/// The session of the request's valid token; 401 without a valid token.
#[derive(Clone, Copy, Debug)]
pub struct LoginSession(pub CurrentSession);

/// The user of the request's valid token, if any. An expired token counts as none.
#[derive(Clone, Copy, Debug)]
pub struct MaybeLogin(pub Option<UserId>);

/// The user of the request's valid token, for a deletion allowed to the author and to operators; 401 without
/// a valid token. The service checks the permission and responds with 403.
#[derive(Clone, Debug)]
pub struct AuthorOrOperator(pub Remover);

/// The operator of the request's valid token; 401 without a valid token, 403 for other users, and for
/// operators who have not given their second factor.
///
/// The role is read from the database on each request, so that a revocation takes effect immediately.
#[derive(Clone, Copy, Debug)]
pub struct Operator(pub UserId);

/// Like [`Operator`], without extending the session: for calls that pages poll. An open page therefore does
/// not stay logged in for ever.
#[derive(Clone, Copy, Debug)]
pub struct PollingOperator(pub UserId);

/// The request's token, valid or not.
#[derive(Clone, Debug)]
pub struct Token(pub Option<String>);

/// The mall's time, read once per request.
#[derive(Clone, Copy, Debug)]
pub struct Now(pub Timestamp);

/// A JSON object, with any content type; 400 with the name of the wrong field, 413 if too large.
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

/// A JSON object, or `T::default()` for a request without a body.
#[derive(Clone, Copy, Debug)]
pub struct JsonIfAny<T>(pub T);

/// The query string in the pages' syntax; 400 with the name of the wrong parameter.
#[derive(Clone, Copy, Debug)]
pub struct Query<T>(pub T);

/// Values in the path; 400 with the name of the wrong value.
#[derive(Clone, Copy, Debug)]
pub struct Path<T>(pub T);

/// Returns the token of the `Authorization` header; the `Bearer ` prefix is optional.
pub(in crate::http) fn token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?.trim();
    let token = match value.split_at_checked(7) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("bearer ") => rest.trim_start(),
        _ => value,
    };
    (!token.is_empty()).then_some(token)
}

pub(super) async fn session(parts: &Parts, app: &App) -> Result<Option<CurrentSession>, ApiError> {
    let session = match token(&parts.headers) {
        Some(token) => app.accounts.session(token, app.context.now()).await?,
        None => None,
    };
    Ok(noted(session))
}

/// Notes the user of a request for the security log.
fn noted(session: Option<CurrentSession>) -> Option<CurrentSession> {
    session.inspect(|session| attempt::note_user(session.user()))
}

pub(super) async fn unextended_session(parts: &Parts, app: &App) -> Result<Option<CurrentSession>, ApiError> {
    let session = match token(&parts.headers) {
        Some(token) => app.accounts.unextended_session(token, app.context.now()).await?,
        None => None,
    };
    Ok(noted(session))
}

async fn operator(session: Option<CurrentSession>, app: &App) -> Result<UserId, ApiError> {
    let session = session.ok_or(Refusal::NotLoggedIn)?;
    match app.accounts.operator_refusal(&session, app.context.now()).await? {
        None => Ok(session.user()),
        Some(refusal) => Err(refusal.into()),
    }
}

impl FromRequestParts<App> for MaybeLogin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        // Staff act for the mall, and never as a reader or buyer of their own.
        let user = session(parts, app).await?.map(|session| session.user());
        Ok(Self(user.filter(|user| user.is_account())))
    }
}

impl FromRequestParts<App> for Login {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        LoginSession::from_request_parts(parts, app).await.map(|LoginSession(session)| Self(session.user()))
    }
}

impl FromRequestParts<App> for LoginSession {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let session = session(parts, app).await?.ok_or(Refusal::NotLoggedIn)?;
        if session.user().is_account() { Ok(Self(session)) } else { Err(Refusal::Forbidden.into()) }
    }
}

impl FromRequestParts<App> for AuthorOrOperator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let LoginSession(session) = LoginSession::from_request_parts(parts, app).await?;
        match app.accounts.operator_refusal(&session, app.context.now()).await? {
            Some(Refusal::NotLoggedIn) => Err(Refusal::NotLoggedIn.into()),
            no_operator => Ok(Self(Remover { user: session.user(), no_operator })),
        }
    }
}

impl FromRequestParts<App> for Operator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        operator(session(parts, app).await?, app).await.map(Self)
    }
}

impl FromRequestParts<App> for PollingOperator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        operator(unextended_session(parts, app).await?, app).await.map(Self)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Token {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(Self(token(&parts.headers).map(str::to_owned)))
    }
}

impl FromRequestParts<App> for Now {
    type Rejection = ApiError;

    async fn from_request_parts(_: &mut Parts, app: &App) -> Result<Self, ApiError> {
        Ok(Self(app.context.now()))
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let body = axum::body::Bytes::from_request(request, state).await.map_err(of_body)?;
        body_text::read(&body).map(Self).map_err(ApiError::bad_request)
    }
}

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for JsonIfAny<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let body = axum::body::Bytes::from_request(request, state).await.map_err(of_body)?;
        if body.is_empty() {
            return Ok(Self(T::default()));
        }
        body_text::read(&body).map(Self).map_err(ApiError::bad_request)
    }
}

/// An incomplete body is the client's fault: the client disconnected or sent too much.
fn of_body(rejection: BytesRejection) -> ApiError {
    if rejection.status() == axum::http::StatusCode::PAYLOAD_TOO_LARGE {
        return ApiError::too_large(FORM_MAX_BYTES);
    }
    ApiError::bad_request(BadRequest::CutOff)
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = parts.uri.query().unwrap_or_default();
        query_text::read(query).map(Self).map_err(ApiError::bad_request)
    }
}

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = axum::extract::Path::from_request_parts(parts, state).await.map_err(of_path)?;
        Ok(Self(path.0))
    }
}

fn of_path(rejection: PathRejection) -> ApiError {
    let PathRejection::FailedToDeserializePathParams(failed) = rejection else {
        return ApiError::bug(rejection.to_string());
    };
    let value = |name: &str, type_name| BadRequest::value(Expected::of(type_name)).of(name);
    ApiError::bad_request(match failed.into_kind() {
        ErrorKind::ParseErrorAtKey { key, expected_type, .. } => value(&key, expected_type),
        ErrorKind::ParseErrorAtIndex { value: found, expected_type, .. }
        | ErrorKind::ParseError { value: found, expected_type } => value(&found, expected_type),
        ErrorKind::InvalidUtf8InPathParam { key } => BadRequest::NotUtf8(key),
        ErrorKind::DeserializeError { key, message, .. } => {
            BadRequest::Untranslated(format!("{key}: {message}"))
        }
        ErrorKind::Message(text) => BadRequest::Untranslated(text),
        // The other kinds are mistakes in a handler: a wrong number of values, or a type unsupported in
        // paths.
        kind => return ApiError::bug(kind.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_with_or_without_bearer() {
        for (value, want) in [
            ("abc", Some("abc")),
            ("Bearer abc", Some("abc")),
            ("bearer  abc ", Some("abc")),
            ("Bearer ", Some("Bearer")),
            ("", None),
            ("  ", None),
            ("茶茶茶", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, axum::http::HeaderValue::from_bytes(value.as_bytes()).unwrap());
            assert_eq!(token(&headers), want, "{value}");
        }
        assert_eq!(token(&HeaderMap::new()), None);
    }
}
