//! `/ops/reports`: what readers reported; hides notes and comments, or shows them again. `/ops/pictures`:
//! removes pictures.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{CommentId, NoteId, OpenReports, Post, ShopId, Timestamp, UserId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::App;
use crate::http::api::writing::reports::KindWord;
use crate::http::describe::Calls;
use crate::http::request::extract::{Now, Operator, Path, Query};
use crate::http::request::page_query::PageQuery;
use crate::http::response::envelope::{Answer, Paged, Reply};
use crate::http::response::note_html;
use crate::http::response::picture_list::PictureList;
use crate::language::both;
use crate::mall::base::{By, wall_time};
use crate::mall::operator::reports::ReportView;
use crate::mall::writing::decisions::Decision;

/// Returns the routes of reports.
pub(super) fn routes() -> Calls {
    Calls::of(both("举报", "Reports"))
        .get("/ops/reports", page, both("待处理的举报，每页20条", "Reports to decide on, 20 a page"))
        .explained(both("带举报原因。", "With the reasons."))
        .post("/ops/reports/note/{id}/hide", hide_note, both("隐藏笔记", "Hide a note"))
        .explained(both(
            "所有人都看不到；到此为止的举报视为已处理。",
            "From all users; all reports so far are decided.",
        ))
        .post("/ops/reports/note/{id}/show", show_note, both("恢复笔记", "Show a note again"))
        .explained(both(
            "所有人又能看到；到此为止的举报视为已处理。",
            "To all users; all reports so far are decided.",
        ))
        .post("/ops/reports/comment/{id}/hide", hide_comment, both("隐藏评论", "Hide a comment"))
        .explained(both(
            "所有人都看不到；到此为止的举报视为已处理。",
            "From all users; all reports so far are decided.",
        ))
        .post("/ops/reports/comment/{id}/show", show_comment, both("恢复评论", "Show a comment again"))
        .explained(both(
            "所有人又能看到；到此为止的举报视为已处理。",
            "To all users; all reports so far are decided.",
        ))
        .delete("/ops/pictures/{name}", erase_picture, both("永久删除图片", "Remove a picture for good"))
        .explained(both(
            "`name`是上传图片的文件名，或者任何图片的路径（`/`写成`%2F`），包括迁入的图片。无论笔记、店铺或头像是否在用，\
                立即删除；浏览器和CDN已有的副本最多保留一年，CDN须另行清除。",
            "`name` is the file name of an upload, or the path of any picture (`/` as `%2F`), those of an import \
             included. Removed at once, whatever shows the picture. Copies in browsers and CDNs last for up to a \
             year; purge the CDN.",
        ))
}

/// The reports of one note, comment or review.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReportAnswer {
    kind: KindWord,
    /// The id of the note, comment or review.
    id: u64,
    /// The id of the note, or of the comment's note; absent for a review.
    #[serde(skip_serializing_if = "Option::is_none")]
    blog_id: Option<u64>,
    /// The shop of a review; absent for a note or comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    item_id: Option<u64>,
    user_id: u64,
    /// The note's title; empty for a comment or review.
    title: String,
    content: String,
    /// The pictures of the note or review, separated by commas.
    images: PictureList,
    /// Stars × 10 of a review; absent for a note or comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 45)]
    score: Option<i64>,
    /// Whether a review is folded; absent for a note or comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    folded: Option<bool>,
    /// Number of users who reported the object.
    count: u64,
    /// Reasons of the last few reports.
    reasons: Vec<String>,
    #[schemars(example = &"2026-11-21T10:09:17")]
    latest_time: String,
}

impl ReportAnswer {
    fn new(view: ReportView, zone: &TimeZone) -> Self {
        let ReportView { reports, note, shop, author, title, content, images, score, is_folded } = view;
        let OpenReports { target, count, reasons, latest } = reports;
        let (kind, id, content) = match target {
            Post::Note(note) => (KindWord::Note, note.get(), note_html::for_caller(content)),
            Post::Comment(comment) => (KindWord::Comment, comment.get(), content),
            Post::Review(review) => (KindWord::Review, review.get(), content),
        };
        let (blog_id, item_id) = (note.map(NoteId::get), shop.map(ShopId::get));
        let (user_id, latest_time) = (author.get(), wall_time::text(latest, zone));
        Self {
            kind,
            id,
            blog_id,
            item_id,
            user_id,
            title,
            content,
            images: images.into(),
            score,
            folded: is_folded,
            count,
            reasons,
            latest_time,
        }
    }
}

async fn page(
    State(app): State<App>,
    _: Operator,
    Query(query): Query<PageQuery>,
) -> Reply<Paged<ReportAnswer>> {
    let (views, total) = app.report_admin.page(query.number()).await?;
    let zone = &app.context.zone;
    let list: Vec<_> = views.into_iter().map(|view| ReportAnswer::new(view, zone)).collect();
    Ok(Answer::page(&list, total))
}

async fn decide(app: &App, by: UserId, now: Timestamp, target: Post, decision: Decision) -> Reply {
    app.report_admin.decide(By::operator(by, now), target, decision).await?;
    Ok(Answer::done())
}

async fn hide_note(
    State(app): State<App>,
    Operator(by): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply {
    decide(&app, by, now, Post::Note(NoteId::new(id)), Decision::Hide).await
}

async fn show_note(
    State(app): State<App>,
    Operator(by): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply {
    decide(&app, by, now, Post::Note(NoteId::new(id)), Decision::Show).await
}

async fn hide_comment(
    State(app): State<App>,
    Operator(by): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply {
    decide(&app, by, now, Post::Comment(CommentId::new(id)), Decision::Hide).await
}

async fn show_comment(
    State(app): State<App>,
    Operator(by): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply {
    decide(&app, by, now, Post::Comment(CommentId::new(id)), Decision::Show).await
}

async fn erase_picture(
    State(app): State<App>,
    Operator(by): Operator,
    Now(now): Now,
    Path(name): Path<String>,
) -> Reply {
    app.report_admin.erase_picture(By::operator(by, now), &name).await?;
    Ok(Answer::done())
}
