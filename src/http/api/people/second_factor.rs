//! The caller's second factor, `/user/second-factor…`: for operators, on their listener.

use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::{Calls, Input, Operation, Schemas};
use crate::http::request::attempt::{self, Act};
use crate::http::request::client::FromClient;
use crate::http::request::extract::{Json, JsonIfAny, LoginSession, Now};
use crate::http::response::envelope::{Answer, Reply};
use crate::http::response::error::ApiError;
use crate::http::response::qr::QrAnswer;
use crate::language::both;
use crate::mall::base::wall_time;
use crate::mall::people::accounts::{Confirmed, CurrentSession, Enrolment, FactorProof, FactorState, Raised};

/// Returns the routes of the caller's second factor.
pub fn routes() -> Calls {
    Calls::of(both("两步验证", "Second factor"))
        .get(
            "/user/second-factor",
            overview,
            both("我的两步验证", "The second factor of the caller"),
        )
        .explained(both(
            "`state`：`none`未设置，`pending`待确认，`active`已启用。`required`：没有两步验证就不能使用管理接口。\
             `given`：这个会话已完成两步验证。",
            "`state` is `none`, `pending` or `active`. `required`: without a factor, operators' calls are refused. \
             `given`: this session has given the factor.",
        ))
        .post(
            "/user/second-factor/enrolment",
            enrol,
            both("开始设置两步验证", "Begin to set up a second factor"),
        )
        .explained(both(
            "仅限管理员。须在登录后10分钟内，或提供密码（否则`FRESH_LOGIN_NEEDED`）；已启用时须提供现在的动态码或恢复码，\
             确认之前旧的仍有效。密钥只显示这一次，10分钟内用`PUT /user/second-factor`确认。",
            "For operators. At most 10 minutes after the log-in, or with the password (else `FRESH_LOGIN_NEEDED`); with a \
             factor in force a code of it, and it stays until the confirmation. The secret is shown once. Confirm \
             with `PUT /user/second-factor` within 10 minutes.",
        ))
        .put(
            "/user/second-factor",
            confirm,
            both("用第一个动态码启用两步验证", "Put the second factor in force with its first code"),
        )
        .explained(both(
            "返回新令牌和10个恢复码，恢复码只显示这一次。原令牌和其他登录全部失效。",
            "Returns a new token, and ten recovery codes that are shown once. The caller's token and all other \
             sessions end.",
        ))
        .post("/user/second-factor", give, both("完成两步验证，返回新令牌", "Give the second factor; returns a new token"))
        .explained(both(
            "`code`是身份验证器应用的6位动态码，或一个恢复码；每个只能用一次。原令牌失效。\
             每个会话最多试5次，再试则会话结束（`NOT_LOGGED_IN`）；每人每小时最多10个动态码（`RATE_LIMITED`）。",
            "`code` is a code of the authenticator app, or a recovery code; each works once. The caller's token ends. A \
             session has five tries, and ends with one more (`NOT_LOGGED_IN`); a user has ten codes of the app an \
             hour (`RATE_LIMITED`).",
        ))
        .delete("/user/second-factor", remove, both("关闭两步验证", "Remove the second factor of the caller"))
        .explained(both(
            "须提供动态码或恢复码。其他登录全部失效。商城要求管理员使用两步验证时不能关闭（`SECOND_FACTOR_STAYS`）。",
            "With a code or a recovery code. All other sessions end. Refused with `SECOND_FACTOR_STAYS` if the mall \
             requires a second factor of operators.",
        ))
        .post(
            "/user/second-factor/recovery-codes",
            renew,
            both("更换恢复码", "Replace the recovery codes of the caller"),
        )
        .explained(both(
            "须提供动态码或恢复码。返回10个新恢复码，只显示这一次，旧的全部作废。",
            "With a code or a recovery code. Returns ten new codes, shown once; all former ones are void.",
        ))
}

/// State of a second factor.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum FactorStateName {
    None,
    Pending,
    Active,
}

impl From<FactorState> for FactorStateName {
    fn from(state: FactorState) -> Self {
        match state {
            FactorState::None => Self::None,
            FactorState::Pending => Self::Pending,
            FactorState::Active => Self::Active,
        }
    }
}

/// The second factor of the caller.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FactorAnswer {
    /// `none`, `pending` until the first code, or `active`.
    state: FactorStateName,
    /// Time since which the factor is in force.
    #[schemars(example = &"2026-11-21T10:09:17")]
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    /// Number of unused recovery codes.
    #[schemars(example = 10)]
    recovery_codes: u64,
    /// Whether the caller's calls as an operator need a factor.
    required: bool,
    /// Whether this session has given the factor.
    given: bool,
}

async fn overview(
    State(app): State<App>,
    LoginSession(session): LoginSession,
    Now(now): Now,
) -> Reply<FactorAnswer> {
    let overview = app.accounts.second_factor(&session, now).await?;
    let answer = FactorAnswer {
        state: overview.state.into(),
        since: overview.since.map(|since| wall_time::text(since, &app.context.zone)),
        recovery_codes: overview.recovery_codes,
        required: overview.is_required,
        given: overview.is_given,
    };
    Ok(Answer::ok(answer))
}

#[derive(Default, Deserialize, JsonSchema)]
struct EnrolmentBody {
    /// A code of the factor in force, or a recovery code; absent without a factor.
    #[schemars(example = &"123456")]
    code: Option<String>,
    /// The password; absent shortly after a log-in.
    password: Option<String>,
}

/// A secret for an authenticator app.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EnrolmentAnswer {
    /// The secret, to be typed into the app.
    #[schemars(example = &"GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")]
    secret: String,
    /// The secret for apps that open links.
    #[schemars(example = &"otpauth://totp/mallbox:13900000001?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=mallbox")]
    uri: String,
    /// The URI for the camera of the app.
    qr: QrAnswer,
}

/// The session of an operator, with or without the second factor; 401 without a valid token. The service
/// responds to customers with 403.
struct OperatorSession(CurrentSession);

impl FromRequestParts<App> for OperatorSession {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        LoginSession::from_request_parts(parts, app).await.map(|LoginSession(session)| Self(session))
    }
}

impl Input for OperatorSession {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        LoginSession::describe(operation, schemas);
        operation.refuses(StatusCode::FORBIDDEN);
    }
}

async fn enrol(
    State(app): State<App>,
    OperatorSession(session): OperatorSession,
    Now(now): Now,
    JsonIfAny(body): JsonIfAny<EnrolmentBody>,
) -> Reply<EnrolmentAnswer> {
    let proofs = (body.code.as_deref(), body.password.as_deref());
    let begun = app.accounts.begin_enrolment(&session, proofs, now).await;
    let Enrolment { secret, uri } = begun.inspect_err(|_| attempt::note_act(Act::EnrolSecondFactor))?;
    let qr = QrAnswer::of(&uri)?;
    Ok(Answer::ok(EnrolmentAnswer { secret, uri, qr }))
}

#[derive(Deserialize, JsonSchema)]
struct FactorCodeBody {
    /// A code of the app, or a recovery code; case, spaces and dashes are ignored.
    #[schemars(example = &"123456")]
    #[serde(default)]
    code: String,
}

/// A new token, and the recovery codes.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ConfirmedAnswer {
    /// Replaces the caller's token.
    token: String,
    /// Each works once, in place of a code of the app.
    recovery_codes: Vec<String>,
}

async fn confirm(
    State(app): State<App>,
    LoginSession(session): LoginSession,
    Now(now): Now,
    FromClient(client): FromClient,
    Json(body): Json<FactorCodeBody>,
) -> Reply<ConfirmedAnswer> {
    attempt::note_act(Act::EnrolSecondFactor);
    let confirmed = app.accounts.confirm_enrolment(&session, &body.code, client, now).await?;
    let Confirmed { token, recovery_codes } = confirmed;
    Ok(Answer::ok(ConfirmedAnswer { token, recovery_codes }))
}

/// A new token.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GivenAnswer {
    /// Replaces the caller's token.
    token: String,
    /// Number of unused recovery codes.
    #[schemars(example = 9)]
    recovery_codes: u64,
}

async fn give(
    State(app): State<App>,
    LoginSession(session): LoginSession,
    Now(now): Now,
    FromClient(client): FromClient,
    Json(body): Json<FactorCodeBody>,
) -> Reply<GivenAnswer> {
    attempt::note_act(Act::GiveSecondFactor);
    let raised = app.accounts.raise(&session, &body.code, client, now).await?;
    let Raised { token, proof, recovery_codes } = raised;
    if proof == FactorProof::RecoveryCode {
        attempt::note_act(Act::UseRecoveryCode);
    }
    Ok(Answer::ok(GivenAnswer { token, recovery_codes }))
}

async fn remove(
    State(app): State<App>,
    LoginSession(session): LoginSession,
    Now(now): Now,
    Json(body): Json<FactorCodeBody>,
) -> Reply {
    attempt::note_act(Act::RemoveSecondFactor);
    app.accounts.remove_second_factor(&session, &body.code, now).await?;
    Ok(Answer::done())
}

async fn renew(
    State(app): State<App>,
    LoginSession(session): LoginSession,
    Now(now): Now,
    Json(body): Json<FactorCodeBody>,
) -> Reply<Vec<String>> {
    attempt::note_act(Act::RenewRecoveryCodes);
    let codes = app.accounts.renew_recovery_codes(&session, &body.code, now).await?;
    Ok(Answer::ok(codes))
}
