//! A user's own data: `/user/export`, and the deletion of the account.

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use jiff::tz::TimeZone;
use mallbox_storage::{
    Comment, CommentId, GivenLike, Note, NoteId, PaidOrders, Post, Profile, ReviewId, SignedDay, Timestamp,
    User,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::accounts::{BriefAnswer, credential};
use super::levels::CreditAnswer;
use super::own_sessions::SessionPart;
use super::personal_attempts::AttemptPart;
use super::personal_reviews::{ReviewPart, VotePart};
use super::personal_waiting::WaitingPart;
use crate::http::App;
use crate::http::describe::{Calls, Operation, Output, Schemas};
use crate::http::request::attempt::{self, Act};
use crate::http::request::client::FromClient;
use crate::http::request::extract::{Json, Login, LoginSession, Now, Query};
use crate::http::response::download::{DownloadSender, EndReason};
use crate::http::response::envelope::{Answer, Reply};
use crate::http::response::error::ApiError;
use crate::http::response::json_list::JsonList;
use crate::language::both;
use crate::mall::base::wall_time;
use crate::mall::people::accounts::OwnSession;
use crate::mall::privacy::{ExportedOrder, VotePlace};

/// Returns the routes of a user's own data.
pub fn routes() -> Calls {
    Calls::of(both("用户", "People"))
        .get("/user/export", export, both("下载自己的全部数据", "Download all data of the caller"))
        .explained(both(
            "一个JSON文件：账号和资料、登录设备、订单和券码、候补、抢购记录、笔记、评论、点赞、关注、签到、积分。\
             每小时最多五次。",
            "One JSON file: account and profile, sessions, orders with receipt codes, places in waiting lists, \
             attempts in judged sales, notes, comments, likes, follows, sign-ins and credits. At most five an hour.",
        ))
        .delete("/user/me", delete, both("注销账号", "Delete the account of the caller"))
        .explained(both(
            "须提供新的验证码或密码。未支付的订单先取消；有已支付未使用的券时拒绝，除非`forfeit=true`。\
             登录全部失效，手机号可以重新注册；订单、笔记和评论保留，作者显示为“已注销用户”。",
            "With a fresh login code, or the password. Unpaid orders are cancelled; paid, unused vouchers refuse the \
             deletion unless `forfeit=true`. All sessions end, and the phone may register anew; orders, notes and \
             comments stay, by a “Deleted user”.",
        ))
}

#[derive(Deserialize, JsonSchema)]
struct DeleteQuery {
    /// Whether paid, unused vouchers are given up without a refund.
    #[schemars(example = false)]
    forfeit: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct DeleteBody {
    /// A login code just sent to the caller's phone; alternatively a password.
    #[schemars(example = &"123456")]
    code: Option<String>,
    /// The ticket of the login code, if the code was requested with a ticket.
    #[schemars(example = &"")]
    ticket: Option<String>,
    password: Option<String>,
}

async fn delete(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    FromClient(client): FromClient,
    Query(query): Query<DeleteQuery>,
    Json(body): Json<DeleteBody>,
) -> Reply {
    attempt::note_act(Act::DeleteAccount);
    let proof = credential([&body.code, &body.ticket, &body.password])?;
    let paid = match query.forfeit {
        Some(true) => PaidOrders::Forfeit,
        _ => PaidOrders::Keep,
    };
    // A repeat after a lost response has nothing left to confirm.
    if app.deletion.resume(user, now).await? {
        return Ok(Answer::done());
    }
    app.deletion.check(user, paid).await?;
    app.accounts.confirm(user, proof, &client, now).await?;
    app.deletion.delete(user, paid, now).await?;
    Ok(Answer::done())
}

/// A download, written while it is read.
struct Download {
    name: HeaderValue,
    body: Body,
}

impl IntoResponse for Download {
    fn into_response(self) -> Response {
        let headers =
            [(CONTENT_TYPE, HeaderValue::from_static("application/json")), (CONTENT_DISPOSITION, self.name)];
        (headers, self.body).into_response()
    }
}

impl Output for Result<Download, ApiError> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let response = json!({
            "description": "The data as a download",
            "content": { "application/json": { "schema": schemas.written::<Export>() } },
        });
        operation.responds(StatusCode::OK, response);
    }
}

/// The whole of an export. Only described: the parts are written one after the other.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "the schema of what the writer writes in parts")]
struct Export {
    account: AccountPart,
    sessions: Vec<SessionPart>,
    orders: Vec<OrderPart>,
    waiting_lists: Vec<WaitingPart>,
    attempts: Vec<AttemptPart>,
    notes: Vec<NotePart>,
    comments: Vec<CommentPart>,
    likes: Vec<LikePart>,
    reviews: Vec<ReviewPart>,
    votes: Vec<VotePart>,
    following: Vec<BriefAnswer>,
    sign_ins: Vec<SignInPart>,
    credits: Vec<CreditAnswer>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AccountPart {
    id: u64,
    #[schemars(example = &"13900000002")]
    phone: String,
    nick_name: String,
    icon: String,
    #[schemars(example = &"杭州")]
    city: String,
    introduce: String,
    /// `false` male, `true` female.
    gender: bool,
    #[schemars(example = &"2000-01-31")]
    #[serde(skip_serializing_if = "Option::is_none")]
    birthday: Option<String>,
    credits: u64,
    level: u8,
    #[schemars(example = &"2026-11-21T10:09:17")]
    create_time: String,
    #[schemars(example = &"2026-11-21T10:09:17")]
    export_time: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OrderPart {
    #[schemars(example = &"662319245210910723")]
    id: String,
    voucher_id: u64,
    title: String,
    /// Price in cents.
    pay_value: i64,
    /// 1 unpaid, 2 paid, 3 used, 4 cancelled, 5 refunding, 6 refunded.
    status: u8,
    #[schemars(example = &"2026-11-21T10:09:17")]
    create_time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2026-11-21T10:09:17")]
    pay_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2026-11-21T10:09:17")]
    use_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2026-11-21T10:09:17")]
    refund_time: Option<String>,
    /// The code for the counter, of a paid or used order.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<String>,
}

impl OrderPart {
    fn new(exported: ExportedOrder, zone: &TimeZone) -> Self {
        let ExportedOrder { view, receipt } = exported;
        let (order, text) = (view.order, |at| wall_time::text(at, zone));
        Self {
            id: order.id.to_string(),
            voucher_id: order.voucher.get(),
            title: view.title,
            pay_value: order.pay_value.get(),
            status: order.status as u8,
            create_time: text(order.created),
            pay_time: order.paid.map(text),
            use_time: order.used.map(text),
            refund_time: order.refunded.map(text),
            receipt: receipt.map(|code| code.to_string()),
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NotePart {
    id: u64,
    shop_id: u64,
    title: String,
    content: String,
    images: String,
    #[schemars(example = &"2026-11-21T10:09:17")]
    create_time: String,
}

impl NotePart {
    fn new(note: Note, zone: &TimeZone) -> Self {
        Self {
            id: note.id.get(),
            shop_id: note.text.shop.get(),
            title: note.text.title,
            content: note.text.content,
            images: note.text.images,
            create_time: wall_time::text(note.created, zone),
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CommentPart {
    id: u64,
    /// The id of the comment's note.
    blog_id: u64,
    content: String,
    #[schemars(example = &"2026-11-21T10:09:17")]
    create_time: String,
}

impl CommentPart {
    fn new(comment: Comment, zone: &TimeZone) -> Self {
        Self {
            id: comment.id.get(),
            blog_id: comment.note.get(),
            content: comment.content,
            create_time: wall_time::text(comment.created, zone),
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LikePart {
    /// `note` or `comment`.
    kind: &'static str,
    id: u64,
    #[schemars(example = &"2026-11-21T10:09:17")]
    create_time: String,
}

impl LikePart {
    fn new(like: GivenLike, zone: &TimeZone) -> Self {
        let (kind, id) = match like.what {
            Post::Note(note) => ("note", note.get()),
            Post::Comment(comment) => ("comment", comment.get()),
            Post::Review(review) => ("review", review.get()),
        };
        Self { kind, id, create_time: wall_time::text(like.at, zone) }
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SignInPart {
    #[schemars(example = &"2026-11-21")]
    day: String,
    is_made_up: bool,
}

impl From<SignedDay> for SignInPart {
    fn from(signed: SignedDay) -> Self {
        Self { day: signed.day.to_string(), is_made_up: signed.is_made_up }
    }
}

async fn export(
    State(app): State<App>,
    LoginSession(session): LoginSession,
    Now(now): Now,
) -> Result<Download, ApiError> {
    let user = session.user();
    let (account, card) = app.export.begin(user, now).await?;
    // At most fifty.
    let sessions = app.accounts.own_sessions(&session, now).await?;
    let name = format!("attachment; filename=\"mallbox-user-{user}.json\"");
    let name = HeaderValue::from_str(&name).map_err(|error| ApiError::bug(error.to_string()))?;
    let (sender, body) = DownloadSender::new();
    tokio::spawn(Writer { app, account, now, sender }.run(card, sessions));
    Ok(Download { name, body })
}

/// Writes an export into the body of the response.
struct Writer {
    app: App,
    account: User,
    now: Timestamp,
    sender: DownloadSender,
}

impl Writer {
    async fn run(mut self, card: Profile, sessions: Vec<OwnSession>) {
        match self.write(card, sessions).await {
            Ok(()) | Err(EndReason::Away) => {}
            Err(EndReason::Failed(cause)) => {
                tracing::warn!(user = self.account.id.get(), cause, "an export of personal data was cut off");
                self.sender.abort();
            }
        }
    }

    async fn write(&mut self, card: Profile, sessions: Vec<OwnSession>) -> Result<(), EndReason> {
        let (app, user) = (self.app.clone(), self.account.id);
        let zone = &app.context.zone;
        let level = app.context.level_table(self.now).await?.level_of(&card);
        let account = self.account_part(card, level);
        self.send(format!("{{\"account\":{}", serde_json::to_string(&account)?)).await?;

        let mut list = JsonList::begin("sessions");
        let parts = sessions.into_iter().map(|own| SessionPart::new(own.record, zone));
        self.send(list.with(parts)? + &list.end()).await?;

        let mut list = JsonList::begin("orders");
        for page in 1.. {
            let orders = app.export.orders(user, page).await?;
            if orders.is_empty() {
                break;
            }
            let parts = orders.into_iter().map(|order| OrderPart::new(order, zone));
            self.send(list.with(parts)?).await?;
        }
        self.send(list.end()).await?;

        let (mut list, mut after) = (JsonList::begin("waitingLists"), 0);
        loop {
            let entries = app.export.waiting_lists(user, after).await?;
            let Some(last) = entries.last() else { break };
            after = last.number;
            self.send(list.with(entries.iter().map(|entry| WaitingPart::new(entry, zone)))?).await?;
        }
        self.send(list.end()).await?;

        let (mut list, mut after) = (JsonList::begin("attempts"), 0);
        loop {
            let attempts = app.export.attempts(user, after).await?;
            let Some(last) = attempts.last() else { break };
            after = last.number;
            self.send(list.with(attempts.iter().map(|stored| AttemptPart::new(stored, zone)))?).await?;
        }
        self.send(list.end()).await?;

        let (mut list, mut after) = (JsonList::begin("notes"), NoteId::new(0));
        loop {
            let notes = app.export.notes(user, after).await?;
            let Some(last) = notes.last() else { break };
            after = last.id;
            self.send(list.with(notes.into_iter().map(|note| NotePart::new(note, zone)))?).await?;
        }
        self.send(list.end()).await?;

        let (mut list, mut after) = (JsonList::begin("comments"), CommentId::new(0));
        loop {
            let comments = app.export.comments(user, after).await?;
            let Some(last) = comments.last() else { break };
            after = last.id;
            let parts = comments.into_iter().map(|comment| CommentPart::new(comment, zone));
            self.send(list.with(parts)?).await?;
        }
        self.send(list.end()).await?;

        let (mut list, mut after) = (JsonList::begin("likes"), None);
        loop {
            let likes = app.export.likes(user, after).await?;
            let Some(last) = likes.last() else { break };
            after = Some(last.what);
            self.send(list.with(likes.into_iter().map(|like| LikePart::new(like, zone)))?).await?;
        }
        self.send(list.end()).await?;

        let (mut list, mut after) = (JsonList::begin("reviews"), ReviewId::new(0));
        loop {
            let reviews = app.export.reviews(user, after).await?;
            let Some(last) = reviews.last() else { break };
            after = last.id;
            self.send(list.with(reviews.into_iter().map(|review| ReviewPart::new(review, zone)))?).await?;
        }
        self.send(list.end()).await?;

        let (mut list, mut place) = (JsonList::begin("votes"), VotePlace::Table(None));
        while let Some((lines, next)) = app.export.votes(user, place).await? {
            place = next;
            self.send(list.with(lines.into_iter().map(|line| VotePart::new(line, zone)))?).await?;
        }
        self.send(list.end()).await?;

        let mut list = JsonList::begin("following");
        for page in 1.. {
            let followees = app.export.followees(user, page).await?;
            if followees.is_empty() {
                break;
            }
            self.send(list.with(followees.into_iter().map(BriefAnswer::from))?).await?;
        }
        self.send(list.end()).await?;

        let mut list = JsonList::begin("signIns");
        let days = app.export.sign_ins(&self.account, self.now).await?;
        self.send(list.with(days.into_iter().map(SignInPart::from))?).await?;
        self.send(list.end()).await?;

        let (mut list, mut before) = (JsonList::begin("credits"), None);
        loop {
            let lines = app.export.credits(user, before).await?;
            let Some(last) = lines.last() else { break };
            before = Some(last.number);
            self.send(list.with(lines.into_iter().map(|line| CreditAnswer::new(line, zone)))?).await?;
        }
        self.send(list.end() + "}").await
    }

    fn account_part(&self, card: Profile, level: u8) -> AccountPart {
        let (account, zone) = (&self.account, &self.app.context.zone);
        AccountPart {
            id: account.id.get(),
            phone: account.phone.as_str().to_owned(),
            nick_name: account.nick_name.clone(),
            icon: account.icon.clone(),
            city: card.city,
            introduce: card.introduce,
            gender: card.gender,
            birthday: card.birthday,
            credits: card.credits,
            level,
            create_time: wall_time::text(account.created, zone),
            export_time: wall_time::text(self.now, zone),
        }
    }

    async fn send(&mut self, text: String) -> Result<(), EndReason> {
        if text.is_empty() {
            return Ok(());
        }
        self.sender.send(text).await
    }
}
