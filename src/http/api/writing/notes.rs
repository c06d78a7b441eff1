//! Notes of users, under the path `/blog/…`.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{NoteId, ShopId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::api::people::accounts::shown_name;
use crate::http::api::people::visits::Visitor;
use crate::http::describe::Calls;
use crate::http::request::extract::{AuthorOrOperator, Json, Login, MaybeLogin, Now, Path, Query};
use crate::http::request::page_query::PageQuery;
use crate::http::response::caller::Caller;
use crate::http::response::envelope::{Answer, Reply};
use crate::http::response::note_html;
use crate::http::response::picture_list::PictureList;
use crate::language::both;
use crate::mall::InputError;
use crate::mall::base::wall_time;
use crate::mall::writing::notes::{NoteForm, NoteView};

/// Returns the routes of notes.
pub fn routes() -> Calls {
    Calls::of(both("笔记", "Notes"))
        .post("/blog", write, both("发布笔记，返回编号", "Write a note; returns the id"))
        .explained(both(
            "标题1到255个字符，正文最多2,048个字符，最多九张`/imgs/`之下的图片。笔记、\
                评论和举报合计每分钟十次（`--writings-per-minute`）。",
            "Title of 1 to 255 characters, content up to 2,048, at most nine pictures below \
                `/imgs/`. Notes, comments and reports share a limit of ten a minute \
                (`--writings-per-minute`).",
        ))
        .get("/blog/{id}", one, both("一篇笔记", "One note"))
        .explained(both(
            "`liked`是点赞数，`isLike`表示当前用户是否点过赞。",
            "`liked` is the number of likes; `isLike` is true if the caller likes the note.",
        ))
        .delete("/blog/{id}", remove, both("删除笔记", "Delete a note"))
        .explained(both("作者本人或管理员可以删除，不可恢复。", "By the author or an operator, permanently."))
        .get("/blog/hot", hot, both("热门笔记，每页10篇", "The most liked notes, 10 a page"))
        .get(
            "/blog/of/me",
            of_me,
            both("我的笔记，新的在前，每页10篇", "Notes of the caller, newest first, 10 a page"),
        )
        .get(
            "/blog/of/user",
            of_user,
            both("某人的笔记，新的在前，每页10篇", "Notes of a user, newest first, 10 a page"),
        )
}

/// A note as the pages expect it. Texts are never absent: pages split `images` without a check.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct BlogAnswer {
    id: u64,
    /// 0 for a note about no shop.
    shop_id: u64,
    user_id: u64,
    /// The author's picture: a path, or empty.
    icon: PictureList,
    /// The author's name.
    #[schemars(example = &"小鱼")]
    name: String,
    #[schemars(example = &"一碗面的早晨")]
    title: String,
    /// Paths of pictures, or URLs of imported pictures, separated by commas.
    #[schemars(example = &"/imgs/blogs/1-1.svg")]
    images: PictureList,
    /// HTML: the text as written, escaped except for `br` and `p`. With the header `x-mallbox-client`: the
    /// text as written.
    #[schemars(example = &"汤头清亮，面也筋道。<br/>下次还来。")]
    content: String,
    liked: u64,
    comments: u64,
    /// Whether the caller likes the note.
    is_like: bool,
    #[schemars(example = &"2026-11-21T10:09:17")]
    create_time: String,
    #[schemars(example = &"2026-11-21T10:09:17")]
    update_time: String,
}

impl BlogAnswer {
    pub(in crate::http) fn new(view: NoteView, zone: &TimeZone) -> Self {
        let NoteView { note, author, is_liked } = view;
        Self {
            id: note.id.get(),
            shop_id: note.text.shop.get(),
            user_id: note.author.get(),
            name: shown_name(&author),
            icon: author.icon.into(),
            title: note.text.title,
            images: note.text.images.into(),
            content: note_html::for_caller(note.text.content),
            liked: note.liked,
            comments: note.comments,
            is_like: is_liked,
            create_time: wall_time::text(note.created, zone),
            update_time: wall_time::text(note.updated, zone),
        }
    }
}

fn answers(app: &App, views: Vec<NoteView>) -> Reply<Vec<BlogAnswer>> {
    let zone = &app.context.zone;
    Ok(Answer::ok(views.into_iter().map(|view| BlogAnswer::new(view, zone)).collect::<Vec<_>>()))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BlogBody {
    /// The shop of the note, if any.
    shop_id: Option<u64>,
    /// 1 to 255 characters.
    #[schemars(example = &"一碗面的早晨")]
    #[serde(default)]
    title: String,
    /// At most 2,048 characters, stored as written; `<br>` and `<p>` are line breaks.
    #[schemars(example = &"汤头清亮，面也筋道。<br/>下次还来。")]
    #[serde(default)]
    content: String,
    /// At most nine paths of pictures below `/imgs/`, separated by commas.
    #[schemars(example = &"/imgs/blogs/1-1.svg")]
    images: Option<String>,
}

async fn write(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Json(body): Json<BlogBody>,
) -> Reply<u64> {
    let BlogBody { shop_id, title, content, images } = body;
    // Columns without a default in hm-dianping's table of notes: its pages expect a refusal.
    if Caller::is_original() {
        shop_id.ok_or(InputError::Missing("shopId"))?;
        images.as_ref().ok_or(InputError::Missing("note images"))?;
    }
    let images = images.unwrap_or_default();
    let form = NoteForm { shop: shop_id.map(ShopId::new), title, content, images };
    Ok(Answer::ok(app.notes.write(user, &form, now).await?.get()))
}

async fn one(
    State(app): State<App>,
    MaybeLogin(reader): MaybeLogin,
    Now(now): Now,
    Path(id): Path<u64>,
    visiting: Visitor,
) -> Reply<BlogAnswer> {
    let view = app.notes.get(NoteId::new(id), reader, now).await?;
    visiting.saw(&app, Some(view.note.text.shop), now);
    Ok(Answer::ok(BlogAnswer::new(view, &app.context.zone)))
}

async fn remove(
    State(app): State<App>,
    AuthorOrOperator(remover): AuthorOrOperator,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply {
    app.notes.remove(NoteId::new(id), remover, now).await?;
    Ok(Answer::done())
}

async fn hot(
    State(app): State<App>,
    MaybeLogin(reader): MaybeLogin,
    Now(now): Now,
    Query(query): Query<PageQuery>,
) -> Reply<Vec<BlogAnswer>> {
    answers(&app, app.notes.hot(query.number(), reader, now).await?)
}

async fn of_me(
    State(app): State<App>,
    Login(user): Login,
    Query(query): Query<PageQuery>,
) -> Reply<Vec<BlogAnswer>> {
    answers(&app, app.notes.of_author(user, query.number(), Some(user)).await?)
}

#[derive(Deserialize, JsonSchema)]
struct UserQuery {
    /// The author's id.
    id: u64,
    /// The page, from 1.
    #[schemars(example = 1)]
    current: Option<u32>,
}

async fn of_user(
    State(app): State<App>,
    MaybeLogin(reader): MaybeLogin,
    Query(query): Query<UserQuery>,
) -> Reply<Vec<BlogAnswer>> {
    let author = UserId::new(query.id);
    answers(&app, app.notes.of_author(author, query.current.unwrap_or(1), reader).await?)
}
