//! Comments on notes, under the path `/blog-comments/…`.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{CommentId, NoteId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::api::people::accounts::shown_name;
use crate::http::describe::Calls;
use crate::http::request::extract::{AuthorOrOperator, Json, Login, MaybeLogin, Now, Path, Query};
use crate::http::request::page_query::PageQuery;
use crate::http::response::envelope::{Answer, Paged, Reply};
use crate::http::response::picture_list::PictureList;
use crate::language::both;
use crate::mall::base::wall_time;
use crate::mall::writing::notes::{CommentView, ThreadView};

/// Returns the routes of comments.
pub fn routes() -> Calls {
    Calls::of(both("评论", "Comments"))
        .post(
            "/blog-comments",
            write,
            both("评论或回复，返回编号", "Write a comment or a reply; returns the id"),
        )
        .explained(both(
            "带`answerId`是回复。回复只有一层：回复一条回复时，注明回复的是谁。",
            "With `answerId` a reply. Replies have one level: a reply to a reply names the \
                addressed user.",
        ))
        .get(
            "/blog-comments/of/blog/{id}",
            of_note,
            both("笔记的评论，新的在前，每页10条", "Comments on a note, newest first, 10 a page"),
        )
        .explained(both("每条带最早的三条回复。", "Each with the first three replies."))
        .get(
            "/blog-comments/answers/{id}",
            replies,
            both("评论的回复，旧的在前，每页10条", "Replies to a comment, oldest first, 10 a page"),
        )
        .delete("/blog-comments/{id}", remove, both("删除评论", "Delete a comment"))
        .explained(both(
            "作者本人或管理员可以删除，不可恢复；有回复的评论保留位置（`isRemoved`）。",
            "By the author or an operator, permanently; a comment with replies leaves a placeholder \
                (`isRemoved`).",
        ))
}

/// A comment as the pages expect it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CommentAnswer {
    id: u64,
    blog_id: u64,
    user_id: u64,
    /// The author's name.
    #[schemars(example = &"小鱼")]
    name: String,
    /// The author's picture: a path, or empty.
    icon: PictureList,
    #[schemars(example = &"我也觉得好吃！")]
    content: String,
    liked: u64,
    /// Whether the caller likes the comment.
    is_like: bool,
    /// True for a placeholder: the comment was deleted or hidden, and replies to it remain.
    is_removed: bool,
    /// The top-level comment of the thread; absent for a top-level comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_id: Option<u64>,
    /// The comment or reply addressed by this reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer_id: Option<u64>,
    /// The name of the addressed user, for a reply to another reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"阿杰")]
    answer_name: Option<String>,
    #[schemars(example = &"2026-11-21T10:09:17")]
    create_time: String,
}

impl CommentAnswer {
    fn new(view: CommentView, zone: &TimeZone) -> Self {
        let CommentView { comment, author, answered, is_liked } = view;
        Self {
            id: comment.id.get(),
            blog_id: comment.note.get(),
            user_id: author.id.get(),
            name: shown_name(&author),
            icon: author.icon.into(),
            content: comment.content,
            liked: comment.liked,
            is_like: is_liked,
            is_removed: !comment.visibility.is_seen(),
            parent_id: comment.parent.map(CommentId::get),
            answer_id: comment.answers.map(CommentId::get),
            answer_name: answered.as_ref().map(shown_name),
            create_time: wall_time::text(comment.created, zone),
        }
    }
}

/// A comment with its replies.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ThreadAnswer {
    #[serde(flatten)]
    comment: CommentAnswer,
    /// The first three replies.
    answers: Vec<CommentAnswer>,
    /// Total number of replies.
    answer_count: u64,
}

impl ThreadAnswer {
    fn new(view: ThreadView, zone: &TimeZone) -> Self {
        let ThreadView { comment, answers, answer_count } = view;
        let answers = answers.into_iter().map(|answer| CommentAnswer::new(answer, zone)).collect();
        Self { comment: CommentAnswer::new(comment, zone), answers, answer_count }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CommentBody {
    /// The note's id.
    blog_id: u64,
    /// The comment or reply to reply to, if any.
    answer_id: Option<u64>,
    /// 1 to 512 characters.
    #[schemars(example = &"我也觉得好吃！")]
    #[serde(default)]
    content: String,
}

async fn write(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Json(body): Json<CommentBody>,
) -> Reply<u64> {
    let CommentBody { blog_id, answer_id, content } = body;
    // Pages send 0 for none.
    let answers = answer_id.filter(|id| *id != 0).map(CommentId::new);
    let comment = app.comments.write(user, NoteId::new(blog_id), answers, &content, now).await?;
    Ok(Answer::ok(comment.get()))
}

async fn of_note(
    State(app): State<App>,
    MaybeLogin(reader): MaybeLogin,
    Path(id): Path<u64>,
    Query(query): Query<PageQuery>,
) -> Reply<Paged<ThreadAnswer>> {
    let (threads, total) = app.comments.of_note(NoteId::new(id), query.number(), reader).await?;
    let zone = &app.context.zone;
    let list: Vec<_> = threads.into_iter().map(|view| ThreadAnswer::new(view, zone)).collect();
    Ok(Answer::page(&list, total))
}

async fn replies(
    State(app): State<App>,
    MaybeLogin(reader): MaybeLogin,
    Path(id): Path<u64>,
    Query(query): Query<PageQuery>,
) -> Reply<Paged<CommentAnswer>> {
    let (answers, total) = app.comments.answers(CommentId::new(id), query.number(), reader).await?;
    let zone = &app.context.zone;
    let list: Vec<_> = answers.into_iter().map(|view| CommentAnswer::new(view, zone)).collect();
    Ok(Answer::page(&list, total))
}

async fn remove(
    State(app): State<App>,
    AuthorOrOperator(remover): AuthorOrOperator,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply {
    app.comments.remove(CommentId::new(id), remover, now).await?;
    Ok(Answer::done())
}
