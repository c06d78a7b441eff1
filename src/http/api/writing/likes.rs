//! Likes of notes and comments, `/blog/like…` and `/blog-comments/like…`.

use axum::extract::State;
use mallbox_storage::{CommentId, LikeChange, NoteId};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::http::App;
use crate::http::api::people::accounts::BriefAnswer;
use crate::http::describe::Calls;
use crate::http::request::extract::{Login, Now, Path, Query};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;

/// Returns the routes of likes.
pub fn routes() -> Calls {
    Calls::of(both("点赞", "Likes"))
        .put(
            "/blog/like/{id}",
            change_note,
            both(
                "点赞；再次请求则取消。带`like`时设为所给的状态，可以重复请求",
                "Like a note; a repeat removes the like. With `like`, sets the given state and may be repeated.",
            ),
        )
        .get(
            "/blog/likes/{id}",
            first_likers,
            both("最先点赞的五人，先赞者在前", "The first five users who liked a note, in order"),
        )
        .put(
            "/blog-comments/like/{id}",
            change_comment,
            both(
                "给评论点赞；再次请求则取消。带`like`时设为所给的状态，可以重复请求",
                "Like a comment; a repeat removes the like. With `like`, sets the given state and may be repeated.",
            ),
        )
}

#[derive(Deserialize, JsonSchema)]
struct LikeQuery {
    /// Whether the caller likes the post afterwards; default: the opposite of before.
    #[schemars(example = true)]
    like: Option<bool>,
}

impl LikeQuery {
    fn change(&self) -> LikeChange {
        match self.like {
            Some(true) => LikeChange::Like,
            Some(false) => LikeChange::Unlike,
            None => LikeChange::Toggle,
        }
    }
}

async fn change_note(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Path(id): Path<u64>,
    Query(query): Query<LikeQuery>,
) -> Reply {
    let _ = app.likes.change_note(user, NoteId::new(id), query.change(), now).await?;
    Ok(Answer::done())
}

async fn first_likers(State(app): State<App>, Path(id): Path<u64>) -> Reply<Vec<BriefAnswer>> {
    let first = app.likes.first_likers(NoteId::new(id)).await?;
    Ok(Answer::ok(first.into_iter().map(BriefAnswer::from).collect()))
}

async fn change_comment(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Path(id): Path<u64>,
    Query(query): Query<LikeQuery>,
) -> Reply {
    let _ = app.likes.change_comment(user, CommentId::new(id), query.change(), now).await?;
    Ok(Answer::done())
}
