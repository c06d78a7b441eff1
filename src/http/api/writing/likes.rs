//! Likes of notes and comments, `/blog/like…` and `/blog-comments/like…`.

use axum::extract::State;
use mallbox_storage::{CommentId, NoteId};

use crate::http::App;
use crate::http::api::people::accounts::BriefAnswer;
use crate::http::describe::Calls;
use crate::http::request::extract::{Login, Now, Path};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;

/// Returns the routes of likes.
pub fn routes() -> Calls {
    Calls::of(both("点赞", "Likes"))
        .put(
            "/blog/like/{id}",
            toggle_note,
            both("点赞；再次请求则取消", "Like a note; a repeat removes the like"),
        )
        .get(
            "/blog/likes/{id}",
            first_likers,
            both("最先点赞的五人，先赞者在前", "The first five users who liked a note, in order"),
        )
        .put(
            "/blog-comments/like/{id}",
            toggle_comment,
            both("给评论点赞；再次请求则取消", "Like a comment; a repeat removes the like"),
        )
}

async fn toggle_note(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply {
    let _ = app.likes.toggle_note(user, NoteId::new(id), now).await?;
    Ok(Answer::done())
}

async fn first_likers(State(app): State<App>, Path(id): Path<u64>) -> Reply<Vec<BriefAnswer>> {
    let first = app.likes.first_likers(NoteId::new(id)).await?;
    Ok(Answer::ok(first.into_iter().map(BriefAnswer::from).collect()).no_store())
}

async fn toggle_comment(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply {
    let _ = app.likes.toggle_comment(user, CommentId::new(id), now).await?;
    Ok(Answer::done())
}
