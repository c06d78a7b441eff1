//! People: `/user/…`, and the demo's inbox.

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post, put};
use mallbox_storage::UserId;
use serde::{Deserialize, Serialize};

use super::App;
use super::envelope::{Answer, Reply};
use super::error::ApiError;
use super::extract::{Json, Login, Now, Path, Query, Token};
use crate::mall::accounts::{Brief, CardEdit, FullCard, Proof};
use crate::mall::{Mistake, Refusal};

/// The routes of this area.
pub fn routes() -> Router<App> {
    Router::new()
        .route("/user/code", post(send_code))
        .route("/user/login", post(log_in))
        .route("/user/logout", post(log_out))
        .route("/user/me", get(me))
        .route("/user/{id}", get(brief))
        .route("/user/info/{id}", get(card))
        .route("/user/info", put(put_card))
        .route("/user/password", put(set_password))
        .route("/demo/inbox", get(inbox))
}

#[derive(Deserialize)]
struct ForPhone {
    #[serde(default)]
    phone: String,
}

async fn send_code(State(app): State<App>, Now(now): Now, Query(query): Query<ForPhone>) -> Reply {
    app.accounts.send_code(&query.phone, now).await?;
    Ok(Answer::done())
}

#[derive(Deserialize)]
struct LoginBody {
    #[serde(default)]
    phone: String,
    code: Option<String>,
    password: Option<String>,
}

async fn log_in(State(app): State<App>, Now(now): Now, Json(body): Json<LoginBody>) -> Reply {
    // A page may send both fields with one of them empty.
    let given = |text: &&str| !text.is_empty();
    let proof = match (body.code.as_deref().filter(given), body.password.as_deref().filter(given)) {
        (Some(code), _) => Proof::Code(code),
        (None, Some(password)) => Proof::Password(password),
        (None, None) => return Err(Mistake::Missing("code").into()),
    };
    Ok(Answer::ok(app.accounts.log_in(&body.phone, proof, now).await?))
}

/// Without a live session there is nothing to end, which is no error.
async fn log_out(State(app): State<App>, Token(token): Token) -> Reply {
    if let Some(token) = token {
        app.accounts.log_out(&token).await?;
    }
    Ok(Answer::done())
}

/// A person as others see them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BriefAnswer {
    id: u64,
    nick_name: String,
    icon: String,
}

impl From<Brief> for BriefAnswer {
    fn from(brief: Brief) -> Self {
        Self { id: brief.id.get(), nick_name: brief.nick_name, icon: brief.icon }
    }
}

async fn me(State(app): State<App>, Login(user): Login) -> Reply {
    let brief = app.accounts.brief(user).await?.ok_or(Refusal::NotLoggedIn)?;
    Ok(Answer::ok(BriefAnswer::from(brief)))
}

async fn brief(State(app): State<App>, Path(id): Path<u64>) -> Reply {
    let brief = app.accounts.brief(UserId::new(id)).await?;
    Ok(brief.map_or_else(Answer::done, |brief| Answer::ok(BriefAnswer::from(brief))))
}

/// A person's card.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CardAnswer {
    user_id: u64,
    city: String,
    introduce: String,
    fans: u64,
    followee: u64,
    gender: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    birthday: Option<String>,
    credits: u64,
    level: u8,
}

impl From<FullCard> for CardAnswer {
    fn from(full: FullCard) -> Self {
        let FullCard { user, card, fans, followee } = full;
        Self {
            user_id: user.get(),
            city: card.city,
            introduce: card.introduce,
            fans,
            followee,
            gender: card.gender,
            birthday: card.birthday,
            credits: card.credits,
            level: card.level,
        }
    }
}

async fn card(State(app): State<App>, Path(id): Path<u64>) -> Reply {
    let card = app.accounts.card(UserId::new(id)).await?;
    Ok(card.map_or_else(Answer::done, |card| Answer::ok(CardAnswer::from(card))))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CardBody {
    nick_name: Option<String>,
    icon: Option<String>,
    city: Option<String>,
    introduce: Option<String>,
    gender: Option<bool>,
    birthday: Option<String>,
}

async fn put_card(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Json(body): Json<CardBody>,
) -> Reply {
    let CardBody { nick_name, icon, city, introduce, gender, birthday } = body;
    let edit = CardEdit { nick_name, icon, city, introduce, gender, birthday };
    app.accounts.put_card(user, &edit, now).await?;
    Ok(Answer::done())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PasswordBody {
    old_password: Option<String>,
    #[serde(default)]
    password: String,
}

async fn set_password(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Json(body): Json<PasswordBody>,
) -> Reply {
    app.accounts.set_password(user, body.old_password.as_deref(), &body.password, now).await?;
    Ok(Answer::done())
}

/// The last login code that was sent to a phone.
#[derive(Serialize)]
struct InboxAnswer {
    phone: String,
    code: String,
}

/// In `demo` and `fixture` alone; elsewhere there is no such path.
async fn inbox(State(app): State<App>, Query(query): Query<ForPhone>) -> Reply {
    if !app.context.settings.inbox {
        return Err(ApiError::unknown_path());
    }
    let code = app.accounts.inbox(&query.phone)?.ok_or(Refusal::NotFound("code"))?;
    Ok(Answer::ok(InboxAnswer { phone: query.phone, code }).no_store())
}
