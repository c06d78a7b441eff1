//! Reports by readers: `/report`.

use axum::extract::State;
use mallbox_storage::{CommentId, NoteId, Post, ReviewId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Login, Now};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;

/// Returns the routes of reports by readers.
pub fn routes() -> Calls {
    Calls::of(both("评论", "Comments"))
        .post("/report", report, both("举报笔记、评论或评价", "Report a note, comment or review to the operators"))
        .explained(both(
            "`kind`是`note`（笔记）、`comment`（评论）或`review`（评价）。每人对同一内容只算一次；管理员处理之前内容照常显示。",
            "`kind` is `note`, `comment` or `review`. One report per user and object; the object stays \
                visible until an operator decides.",
        ))
}

/// Kind of the reported object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::http) enum KindWord {
    Note,
    Comment,
    Review,
}

#[derive(Deserialize, JsonSchema)]
struct ReportBody {
    kind: KindWord,
    /// The id of the note, comment or review.
    id: u64,
    /// The reason, at most 255 characters.
    #[schemars(example = &"广告")]
    #[serde(default)]
    reason: String,
}

async fn report(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Json(body): Json<ReportBody>,
) -> Reply {
    let ReportBody { kind, id, reason } = body;
    let target = match kind {
        KindWord::Note => Post::Note(NoteId::new(id)),
        KindWord::Comment => Post::Comment(CommentId::new(id)),
        KindWord::Review => Post::Review(ReviewId::new(id)),
    };
    app.notes.report(user, target, &reason, now).await?;
    Ok(Answer::done())
}
