//! API errors: status, code and message.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use mallbox_storage::StoreError;
use serde::Serialize;

use super::bad_request::BadRequest;
use super::caller::Caller;
use super::json::json_response;
use super::language;
use super::messages;
use super::messages::{Details, NextWave, RefusalBody, fixed};
use crate::language::{BilingualText, Language};
use crate::mall::base::whole_seconds;
use crate::mall::{
    CallbackError, ClaimGatewayRefusal, ClockRefusal, FactorRefusal, Failure, InputError, Refusal,
};

/// A failed call. Converted with `?` from the errors of services.
#[derive(Debug)]
pub struct ApiError(Problem);

#[derive(Debug)]
enum Problem {
    Refused(Refusal),
    BadRequest(BadRequest),
    Store(StoreError),
    Bug(String),
    UnknownPath,
    WrongMethod,
    TooLarge(usize),
    BadHost,
    UnknownHost(String),
    CrossSite,
    BodyTooSlow,
    TooSlow,
    Busy(BilingualText),
}

/// The internal cause of an error, passed to the log. The client never sees the text.
#[derive(Clone, Debug)]
pub(in crate::http) struct InternalCause(pub String);

/// `Retry-After` while the store is unavailable.
const UNAVAILABLE_RETRY_AFTER: Duration = Duration::from_secs(1);
/// `Retry-After` of a full disk: an operator has to free space.
const DISK_FULL_RETRY_AFTER: Duration = Duration::from_secs(30);
/// `Retry-After` of an unsure clock: the network or an operator has to set it.
const CLOCK_UNSURE_RETRY_AFTER: Duration = Duration::from_secs(30);

impl ApiError {
    /// Creates a 400 for a request that no form can send: the wrong value, and the expected value.
    #[must_use]
    pub fn bad_request(wrong: BadRequest) -> Self {
        Self(Problem::BadRequest(wrong))
    }

    /// Creates a 500 for a bug: the text goes to the log, an id to the client.
    #[must_use]
    pub fn bug(text: impl Into<String>) -> Self {
        Self(Problem::Bug(text.into()))
    }

    /// Creates a 404 for an unknown path.
    #[must_use]
    pub fn unknown_path() -> Self {
        Self(Problem::UnknownPath)
    }

    /// Creates a 405: the path exists, for other methods.
    #[must_use]
    pub fn wrong_method() -> Self {
        Self(Problem::WrongMethod)
    }

    /// Creates a 413: the body, or its content, exceeds `most` bytes.
    #[must_use]
    pub fn too_large(most: usize) -> Self {
        Self(Problem::TooLarge(most))
    }

    /// Creates a 400: the request lacks a host, or has several.
    #[must_use]
    pub(in crate::http) fn bad_host() -> Self {
        Self(Problem::BadHost)
    }

    /// Creates a 421: the mall has another name.
    #[must_use]
    pub(in crate::http) fn unknown_host(name: String) -> Self {
        Self(Problem::UnknownHost(name))
    }

    /// Creates a 403: a page of another site made the request.
    #[must_use]
    pub(in crate::http) fn cross_site() -> Self {
        Self(Problem::CrossSite)
    }

    /// Creates a 408: the body did not arrive within the time limit of a call.
    #[must_use]
    pub fn body_too_slow() -> Self {
        Self(Problem::BodyTooSlow)
    }

    /// Creates a 503: the call took longer than pages wait.
    #[must_use]
    pub fn too_slow() -> Self {
        Self(Problem::TooSlow)
    }

    /// Creates a 503 for a temporary obstacle.
    #[must_use]
    pub fn busy_with(what: BilingualText) -> Self {
        Self(Problem::Busy(what))
    }

    fn status(&self) -> StatusCode {
        match &self.0 {
            Problem::Refused(refusal) => status_of(refusal),
            Problem::BadRequest(_) | Problem::BadHost => StatusCode::BAD_REQUEST,
            Problem::UnknownHost(_) => StatusCode::MISDIRECTED_REQUEST,
            Problem::CrossSite => StatusCode::FORBIDDEN,
            Problem::Store(StoreError::Unavailable { .. } | StoreError::Full { .. })
            | Problem::TooSlow
            | Problem::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
            Problem::Store(_) | Problem::Bug(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Problem::UnknownPath => StatusCode::NOT_FOUND,
            Problem::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            Problem::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Problem::BodyTooSlow => StatusCode::REQUEST_TIMEOUT,
        }
    }

    /// Returns the status in the original profile. Pages of hm-dianping show a message for status 200 only,
    /// so every refusal and limit is 200. The exceptions are 401, which leads to the log-in page, and
    /// failures of the mall.
    fn status_in_original(&self) -> StatusCode {
        match &self.0 {
            Problem::Refused(Refusal::NotLoggedIn) => StatusCode::UNAUTHORIZED,
            // A gateway reads nothing but the status.
            Problem::Refused(
                Refusal::Callback(_)
                | Refusal::ClaimGateway(ClaimGatewayRefusal::TokenInvalid | ClaimGatewayRefusal::ClaimsDiffer),
            ) => self.status(),
            Problem::Refused(_) | Problem::BadRequest(_) | Problem::TooLarge(_) | Problem::Busy(_) => {
                StatusCode::OK
            }
            Problem::Store(_)
            | Problem::Bug(_)
            | Problem::UnknownPath
            | Problem::WrongMethod
            | Problem::BadHost
            | Problem::UnknownHost(_)
            | Problem::CrossSite
            | Problem::BodyTooSlow
            | Problem::TooSlow => self.status(),
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match &self.0 {
            Problem::Refused(
                Refusal::RateLimited { retry_after }
                | Refusal::Crowded { retry_after }
                | Refusal::TooManyTries { retry_after },
            ) => Some(*retry_after),
            Problem::Store(StoreError::Full { .. }) => Some(DISK_FULL_RETRY_AFTER),
            Problem::Refused(Refusal::Clock(ClockRefusal::Unsure)) => Some(CLOCK_UNSURE_RETRY_AFTER),
            Problem::Refused(
                Refusal::Busy | Refusal::NotYet | Refusal::Callback(CallbackError::NotDurable),
            )
            | Problem::Store(StoreError::Unavailable { .. })
            | Problem::TooSlow
            | Problem::Busy(_) => Some(UNAVAILABLE_RETRY_AFTER),
            _ => None,
        }
    }

    fn words(&self, l: Language) -> RefusalBody {
        match &self.0 {
            Problem::Refused(refusal) => messages::of_refusal(refusal, l),
            Problem::BadRequest(wrong) => messages::of_wrong(wrong, l),
            Problem::Busy(what) => messages::busy_with(what, l),
            Problem::Store(StoreError::Full { .. }) => {
                fixed!(
                    l,
                    "DISK_FULL",
                    "服务器存储空间不足，请稍后再试",
                    "The mall's disk is full; try again later."
                )
            }
            Problem::Store(StoreError::Unavailable { .. }) => {
                fixed!(
                    l,
                    "UNAVAILABLE",
                    "服务暂不可用，请稍后再试",
                    "The mall is temporarily unavailable; try again in a moment."
                )
            }
            // The middleware adds the request id under which the log has the cause.
            Problem::Store(_) | Problem::Bug(_) => internal(l, None),
            Problem::UnknownPath => {
                fixed!(l, "NOT_FOUND", "没有这个地址", "This path does not exist.")
            }
            Problem::WrongMethod => {
                fixed!(
                    l,
                    "METHOD_NOT_ALLOWED",
                    "不支持这种请求方式",
                    "This path does not support this method."
                )
            }
            Problem::TooLarge(most) => {
                let mib = most >> 20;
                messages::made(
                    l,
                    "TOO_LARGE",
                    format!("请求内容太大，最多{mib}MB"),
                    format!("The request is too large; the limit is {mib} MiB."),
                )
            }
            Problem::BadHost => messages::bad_host(l),
            Problem::UnknownHost(name) => messages::unknown_host(name, l),
            Problem::CrossSite => messages::cross_site(l),
            Problem::BodyTooSlow => {
                fixed!(
                    l,
                    "REQUEST_TIMEOUT",
                    "请求内容未能及时送达",
                    "The request body did not arrive in time."
                )
            }
            Problem::TooSlow => messages::of_refusal(&Refusal::Busy, l),
        }
    }

    fn trouble(&self) -> Option<InternalCause> {
        match &self.0 {
            Problem::Store(error) => Some(InternalCause(error.to_string())),
            Problem::Bug(text) => Some(InternalCause(text.clone())),
            Problem::TooSlow => Some(InternalCause("the request exceeded its deadline".to_owned())),
            _ => None,
        }
    }
}

/// Maps refusals to statuses as the front ends expect: a business refusal is 200, and so is a mistyped value.
fn status_of(refusal: &Refusal) -> StatusCode {
    match refusal {
        Refusal::SoldOut
        | Refusal::SoldOutUntil { .. }
        | Refusal::AlreadyBought(_)
        | Refusal::LimitReached(_)
        | Refusal::NotOpen
        | Refusal::Ended
        | Refusal::Paused
        | Refusal::UnknownSale
        | Refusal::LevelTooLow
        | Refusal::AccountTooNew { .. }
        | Refusal::SmsCodeNeeded
        | Refusal::Blocked
        | Refusal::CodeLoginNeeded
        | Refusal::SecondFactor(FactorRefusal::Stays | FactorRefusal::FreshLogInNeeded)
        | Refusal::PhoneTaken
        | Refusal::LastOperator
        | Refusal::NotFound(_)
        | Refusal::Mistyped(_)
        | Refusal::TooManyUnpaid(_)
        | Refusal::PaidOrders(_)
        | Refusal::OrderStands(_)
        | Refusal::OrderNotUsed
        | Refusal::AlreadyReviewed(_)
        | Refusal::ReviewDiffers(_)
        | Refusal::ReviewFolded
        | Refusal::OwnReview
        | Refusal::ReceiptMistyped
        | Refusal::Unlimited
        | Refusal::WaitingList(_)
        | Refusal::SaleIsOn
        | Refusal::SaleChanged
        | Refusal::StillDead(..)
        | Refusal::DeadLetterStands(_)
        | Refusal::SignedAlready
        | Refusal::MakeUpsUsed(_)
        | Refusal::PicturesFull(_)
        | Refusal::PictureBytesFull(_)
        | Refusal::PaymentDeclined
        | Refusal::PayAtCounter
        | Refusal::RefundAtCounter
        | Refusal::NotAtCounter
        | Refusal::AmountDiffers(_)
        | Refusal::Subscriber(_)
        | Refusal::ClaimGateway(
            ClaimGatewayRefusal::SaleNotNamed
            | ClaimGatewayRefusal::UnknownUser
            | ClaimGatewayRefusal::DuplicateClaim
            | ClaimGatewayRefusal::NameTaken
            | ClaimGatewayRefusal::TooMany(_),
        )
        | Refusal::LooksAutomated
        | Refusal::Printer(_)
        | Refusal::Clock(ClockRefusal::Moved | ClockRefusal::BeforeRelease)
        | Refusal::Staff(_)
        | Refusal::Cash(_)
        | Refusal::Guard(_) => StatusCode::OK,
        Refusal::SoldInSale | Refusal::BadValue(_) | Refusal::BadRules(_) => StatusCode::BAD_REQUEST,
        Refusal::NotLoggedIn | Refusal::ClaimGateway(ClaimGatewayRefusal::TokenInvalid) => {
            StatusCode::UNAUTHORIZED
        }
        Refusal::ClaimGateway(ClaimGatewayRefusal::ClaimsDiffer) => StatusCode::CONFLICT,
        Refusal::Forbidden
        | Refusal::SecondFactor(FactorRefusal::Required | FactorRefusal::EnrolmentRequired) => {
            StatusCode::FORBIDDEN
        }
        Refusal::RateLimited { .. } | Refusal::Crowded { .. } | Refusal::TooManyTries { .. } => {
            StatusCode::TOO_MANY_REQUESTS
        }
        Refusal::Callback(CallbackError::Signature) => StatusCode::UNAUTHORIZED,
        Refusal::Callback(CallbackError::Malformed) => StatusCode::BAD_REQUEST,
        Refusal::Callback(CallbackError::Unknown) => StatusCode::NOT_FOUND,
        Refusal::Callback(CallbackError::Differs) => StatusCode::CONFLICT,
        Refusal::NotYet
        | Refusal::Busy
        | Refusal::Clock(ClockRefusal::Unsure)
        | Refusal::Callback(CallbackError::NotDurable) => StatusCode::SERVICE_UNAVAILABLE,
    }
}

fn internal(l: Language, id: Option<&str>) -> RefusalBody {
    match id {
        None => fixed!(l, "INTERNAL", "服务器内部错误", "Internal error."),
        Some(id) => messages::made(
            l,
            "INTERNAL",
            format!("服务器内部错误，编号 {id}"),
            format!("Internal error; the log has the cause under {id}."),
        ),
    }
}

/// Returns the body of a 500 with the request id.
pub(in crate::http) fn internal_response(id: &str) -> Response {
    json_response(StatusCode::INTERNAL_SERVER_ERROR, bytes(internal(Language::current(), Some(id))))
}

fn bytes(words: RefusalBody) -> Bytes {
    /// The envelope of a refusal.
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Refused {
        success: bool,
        error_msg: String,
        code: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        data_text: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        field: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        next_wave: Option<NextWave>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pass_in_ms: Option<u64>,
    }
    match words {
        RefusalBody::Fixed { code, body } => {
            language::note_code(code);
            Bytes::from_static(body.as_bytes())
        }
        RefusalBody::Made { code, sentence, details } => {
            language::note_code(code);
            let Details { existing, field, next_wave, pass_in_ms } = details;
            let (data, data_text) = (existing, existing.map(|id| id.to_string()));
            let (success, error_msg) = (false, sentence);
            let body = Refused { success, error_msg, code, data, data_text, field, next_wave, pass_in_ms };
            Bytes::from(serde_json::to_vec(&body).expect("texts and numbers can always be written as JSON"))
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = if Caller::is_original() { self.status_in_original() } else { self.status() };
        let mut response = json_response(status, bytes(self.words(Language::current())));
        if let Some(wait) = self.retry_after() {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(whole_seconds(wait).max(1)));
        }
        if let Some(trouble) = self.trouble() {
            response.extensions_mut().insert(trouble);
        }
        response
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        Self(match failure {
            Failure::Refused(refusal) => Problem::Refused(refusal),
            Failure::Store(error) => Problem::Store(error),
            Failure::Bug(text) => Problem::Bug(text),
        })
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self(Problem::Store(error))
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self(Problem::Refused(refusal))
    }
}

impl From<InputError> for ApiError {
    fn from(mistake: InputError) -> Self {
        Self(Problem::Refused(Refusal::Mistyped(mistake)))
    }
}

#[cfg(test)]
mod tests;
