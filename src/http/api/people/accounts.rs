//! Users and sessions, under the path `/user/…`, and the demo's inbox.

use axum::extract::FromRequestParts;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use mallbox_storage::{Role, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::{Calls, Input, Operation, Schemas};
use crate::http::request::attempt;
use crate::http::request::attempt::Act;
use crate::http::request::client::FromClient;
use crate::http::request::extract::{Json, Login, LoginSession, MaybeLogin, Now, Path, Query, Token};
use crate::http::response::envelope::{Answer, Optional, Reply};
use crate::http::response::error::ApiError;
use crate::http::response::picture_list::PictureList;
use crate::language::{Bilingual, Language, both};
use crate::mall::people::accounts::{Credential, FullProfile, LoggedIn, ProfileEdit, PublicUser, SentCode};
use crate::mall::{InputError, Refusal};

/// Name of every deleted user.
pub(crate) const DELETED_USER: Bilingual = both("已注销用户", "Deleted user");

/// Returns the routes of users, and of the demo's inbox.
pub fn routes() -> Calls {
    let demo = Calls::of(both("演示", "Demo")).get(
        "/demo/inbox",
        inbox,
        both("最近发给某号码的验证码，仅演示商城有", "The last code sent to a phone; only in a demo"),
    );
    Calls::of(both("用户", "People"))
        .post("/user/code", send_code, both("发送登录验证码", "Send a login code"))
        .post("/user/login", log_in, both("登录，返回令牌", "Log in by code or password; returns a token"))
        .explained(both(
            "请求若带有令牌，原来的登录随之结束。",
            "Ends the session of the request's token, if there is one.",
        ))
        .post("/user/logout", log_out, both("退出登录", "Log out"))
        .explained(both("`all=true`：退出我的全部登录。", "With `all=true`: ends all sessions of the caller."))
        .get("/user/me", me, both("当前用户", "The caller"))
        .get("/user/role", role, both("我的角色", "The role of the caller"))
        .explained(both("`operator`（管理员）或`customer`（顾客）。", "`operator` or `customer`."))
        .get("/user/{id}", brief, both("一位用户", "A user in brief"))
        .get("/user/info/{id}", card, both("一位用户的资料", "The profile of a user"))
        .explained(both(
            "未登录时没有城市、性别和生日。",
            "Without a log-in, city, gender and birthday are left out.",
        ))
        .put("/user/info", put_card, both("修改自己的资料", "Edit the caller's profile"))
        .put(
            "/user/password",
            set_password,
            both("设置或修改密码", "Set or change the password of the caller"),
        )
        .explained(both(
            "需要原密码，或者是10分钟内用验证码登录的（否则`CODE_LOGIN_NEEDED`；有密码而未填时`MISSING`）。\
                此后其他登录全部退出。",
            "Needs the old password, or a log-in by code at most 10 minutes ago (else `CODE_LOGIN_NEEDED`, or \
             `MISSING` if there is a password). Ends all other sessions of the caller.",
        ))
        .put("/user/phone", change_phone, both("更换手机号", "Change the phone number of the caller"))
        .explained(both(
            "先用`POST /user/code`向原号码和新号码各发一个验证码，凭据放在`oldTicket`和`ticket`中；\
                不带凭据时须从同一个地址请求。拒绝原号码的验证码时，`field`为`oldCode`。\
                之后用新号码登录，其他登录全部退出。新号码属于别人时为`PHONE_TAKEN`。",
            "First send a code to the old and to the new number with `POST /user/code`; their tickets go into \
             `oldTicket` and `ticket`, and codes without a ticket have to be requested from the same address. \
             A refusal of the old number's code has `oldCode` as its `field`. Log-ins need the new number from \
             then on, and all other sessions of the caller end. `PHONE_TAKEN` if the new number belongs to \
             another user.",
        ))
        .merge(demo)
}

#[derive(Deserialize, JsonSchema)]
struct ForPhone {
    /// A mainland mobile number.
    #[schemars(example = &"13900000002")]
    #[serde(default)]
    phone: String,
}

#[derive(Deserialize, JsonSchema)]
struct CodeQuery {
    /// A mainland mobile number.
    #[schemars(example = &"13900000002")]
    #[serde(default)]
    phone: String,
    /// Whether to bind the code to a ticket, returned in `data`: the log-in then needs the ticket, and may
    /// come from another address. Without a ticket, the log-in must come from the address of this request.
    #[serde(default)]
    ticket: bool,
}

async fn send_code(
    State(app): State<App>,
    Now(now): Now,
    FromClient(client): FromClient,
    Query(query): Query<CodeQuery>,
) -> Reply<Optional<String>> {
    attempt::note_act(Act::RequestCode);
    attempt::note_phone(app.accounts.phone_trace(&query.phone).await);
    let ticket = if query.ticket {
        Some(app.accounts.send_code_for_ticket(&query.phone, &client, now).await?)
    } else {
        app.accounts.send_code(&query.phone, &client, now).await?;
        None
    };
    Ok(Answer::perhaps(ticket))
}

#[derive(Deserialize, JsonSchema)]
struct LoginBody {
    /// A mainland mobile number; a new number becomes a user.
    #[schemars(example = &"13900000002")]
    #[serde(default)]
    phone: String,
    /// The login code; alternatively a password.
    #[schemars(example = &"123456")]
    code: Option<String>,
    /// The ticket of the login code, if the code was requested with a ticket.
    #[schemars(example = &"")]
    ticket: Option<String>,
    password: Option<String>,
}

/// Returns the credential in a body's code, ticket and password. A page may send all of them, with empty
/// values in some.
pub(super) fn credential(fields: [&Option<String>; 3]) -> Result<Credential<'_>, InputError> {
    let [code, ticket, password] = fields.map(given);
    match (code, password) {
        (Some(code), _) => Ok(Credential::Code(SentCode { code, ticket })),
        (None, Some(password)) => Ok(Credential::Password(password)),
        (None, None) => Err(InputError::Missing("code")),
    }
}

/// Returns a text of a body unless empty.
fn given(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.is_empty())
}

async fn log_in(
    State(app): State<App>,
    Token(former): Token,
    Now(now): Now,
    FromClient(client): FromClient,
    Json(body): Json<LoginBody>,
) -> Reply<String> {
    let proof = credential([&body.code, &body.ticket, &body.password])?;
    attempt::note_act(match proof {
        Credential::Code(_) => Act::LogInByCode,
        Credential::Password(_) => Act::LogInByPassword,
    });
    attempt::note_phone(app.accounts.phone_trace(&body.phone).await);
    let LoggedIn { token, user, is_operator } =
        app.accounts.log_in_from(client, &body.phone, proof, now).await?;
    attempt::note_log_in(user, is_operator);
    if let Some(former) = former {
        app.accounts.end_replaced(&former).await;
    }
    Ok(Answer::ok(token))
}

#[derive(Deserialize, JsonSchema)]
struct LogOutQuery {
    /// `true`: all sessions of the caller, instead of this one.
    #[serde(default)]
    all: bool,
}

/// Ends the session, or all sessions. Without a valid session nothing happens, without an error.
async fn log_out(
    State(app): State<App>,
    Token(token): Token,
    Now(now): Now,
    Query(query): Query<LogOutQuery>,
) -> Reply {
    let Some(token) = token else { return Ok(Answer::done()) };
    if let Some(session) = app.accounts.unextended_session(&token, now).await? {
        attempt::note_act(Act::LogOut);
        attempt::note_user(session.user());
    }
    if query.all {
        app.accounts.log_out_everywhere(&token, now).await?;
    } else {
        app.accounts.log_out(&token).await?;
    }
    Ok(Answer::done())
}

/// A user as visible to other users.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct BriefAnswer {
    id: u64,
    #[schemars(example = &"小鱼")]
    nick_name: String,
    /// The path of a picture, or empty.
    #[schemars(example = &"")]
    icon: PictureList,
}

impl From<PublicUser> for BriefAnswer {
    fn from(brief: PublicUser) -> Self {
        Self { id: brief.id.get(), nick_name: shown_name(&brief), icon: brief.icon.into() }
    }
}

/// Returns the name under which other users see a user, in the language of the request.
pub(in crate::http) fn shown_name(user: &PublicUser) -> String {
    if user.is_deleted { DELETED_USER.spoken(Language::current()).to_owned() } else { user.nick_name.clone() }
}

async fn me(State(app): State<App>, Login(user): Login, Now(now): Now) -> Reply<BriefAnswer> {
    let brief = app.accounts.brief(user, now).await?.filter(|brief| !brief.is_deleted);
    let brief = brief.ok_or(Refusal::NotLoggedIn)?;
    Ok(Answer::ok(BriefAnswer::from(brief)))
}

/// Name of a role in the API.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum RoleName {
    /// Customer: buys vouchers.
    Customer,
    /// Operator: runs the mall.
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

async fn role(State(app): State<App>, Login(user): Login) -> Reply<RoleName> {
    Ok(Answer::ok(RoleName::from(app.accounts.role(user).await?)))
}

async fn brief(State(app): State<App>, Now(now): Now, Path(id): Path<u64>) -> Reply<Optional<BriefAnswer>> {
    let brief = app.accounts.brief(UserId::new(id), now).await?;
    Ok(Answer::perhaps(brief.map(BriefAnswer::from)))
}

/// The profile card of a user.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CardAnswer {
    user_id: u64,
    #[schemars(example = &"杭州")]
    #[serde(skip_serializing_if = "Option::is_none")]
    city: Option<String>,
    introduce: String,
    fans: u64,
    followee: u64,
    /// `false` male, `true` female.
    #[serde(skip_serializing_if = "Option::is_none")]
    gender: Option<bool>,
    #[schemars(example = &"2000-01-31")]
    #[serde(skip_serializing_if = "Option::is_none")]
    birthday: Option<String>,
    credits: u64,
    /// The level in force: the higher of the level earned and the level set or imported.
    level: u8,
}

impl CardAnswer {
    /// Creates the response for `reader`. Ids are consecutive: city, gender and birthday of all users would
    /// be open to anybody who counts.
    fn new(full: FullProfile, reader: Option<UserId>) -> Self {
        let FullProfile { user, card, level, fans, followee } = full;
        let is_known = reader.is_some();
        Self {
            user_id: user.get(),
            city: is_known.then_some(card.city),
            introduce: card.introduce,
            fans,
            followee,
            gender: is_known.then_some(card.gender),
            birthday: card.birthday.filter(|_| is_known),
            credits: card.credits,
            level,
        }
    }
}

async fn card(
    State(app): State<App>,
    MaybeLogin(reader): MaybeLogin,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply<Optional<CardAnswer>> {
    let card = app.accounts.card(UserId::new(id), now).await?;
    Ok(Answer::perhaps(card.map(|card| CardAnswer::new(card, reader))))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CardBody {
    #[schemars(example = &"小鱼")]
    nick_name: Option<String>,
    icon: Option<String>,
    #[schemars(example = &"杭州")]
    city: Option<String>,
    introduce: Option<String>,
    /// `false` male, `true` female.
    gender: Option<bool>,
    /// The date of birth; empty removes the date.
    #[schemars(example = &"2000-01-31")]
    birthday: Option<String>,
}

async fn put_card(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Json(body): Json<CardBody>,
) -> Reply {
    let CardBody { nick_name, icon, city, introduce, gender, birthday } = body;
    let edit = ProfileEdit { nick_name, icon, city, introduce, gender, birthday };
    app.accounts.put_card(user, &edit, now).await?;
    Ok(Answer::done())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PasswordBody {
    /// The current password; absent shortly after a log-in by code.
    #[schemars(example = &"correct horse")]
    old_password: Option<String>,
    /// The new password, 8 to 72 characters; the commonest passwords are refused.
    #[schemars(example = &"battery staple")]
    #[serde(default)]
    password: String,
}

async fn set_password(
    State(app): State<App>,
    LoginSession(session): LoginSession,
    Now(now): Now,
    Json(body): Json<PasswordBody>,
) -> Reply {
    attempt::note_act(Act::SetPassword);
    app.accounts.set_password(&session, body.old_password.as_deref(), &body.password, now).await?;
    Ok(Answer::done())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PhoneBody {
    /// The code sent to the old number.
    #[schemars(example = &"123456")]
    #[serde(default)]
    old_code: String,
    /// The ticket of `oldCode`, if that code was requested with a ticket.
    #[schemars(example = &"")]
    old_ticket: Option<String>,
    /// The new number.
    #[schemars(example = &"13900000003")]
    #[serde(default)]
    phone: String,
    /// The code sent to the new number.
    #[schemars(example = &"123456")]
    #[serde(default)]
    code: String,
    /// The ticket of `code`, if that code was requested with a ticket.
    #[schemars(example = &"")]
    ticket: Option<String>,
}

async fn change_phone(
    State(app): State<App>,
    LoginSession(session): LoginSession,
    Now(now): Now,
    FromClient(client): FromClient,
    Json(body): Json<PhoneBody>,
) -> Reply {
    attempt::note_act(Act::ChangePhone);
    let old = SentCode { code: &body.old_code, ticket: given(&body.old_ticket) };
    let new = SentCode { code: &body.code, ticket: given(&body.ticket) };
    app.accounts.change_phone(&session, old, (&body.phone, new), &client, now).await?;
    Ok(Answer::done())
}

/// The last login code sent to a phone.
#[derive(Serialize, JsonSchema)]
struct InboxAnswer {
    #[schemars(example = &"13900000002")]
    phone: String,
    #[schemars(example = &"123456")]
    code: String,
}

/// Accepts a call in `demo` and `fixture` only; elsewhere the path is unknown.
struct InDemo;

impl FromRequestParts<App> for InDemo {
    type Rejection = ApiError;

    async fn from_request_parts(_: &mut Parts, app: &App) -> Result<Self, ApiError> {
        if app.context.settings.inbox { Ok(Self) } else { Err(ApiError::unknown_path()) }
    }
}

impl Input for InDemo {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.refuses(StatusCode::NOT_FOUND);
    }
}

async fn inbox(State(app): State<App>, _: InDemo, Query(query): Query<ForPhone>) -> Reply<InboxAnswer> {
    let code = app.accounts.inbox(&query.phone)?.ok_or(Refusal::NotFound("code"))?;
    Ok(Answer::ok(InboxAnswer { phone: query.phone, code }))
}
