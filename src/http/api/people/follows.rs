//! Follow relations between users, `/follow/…`.

use axum::extract::State;
use mallbox_storage::UserId;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::accounts::BriefAnswer;
use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Login, Now, Path, Query};
use crate::http::request::page_query::PageQuery;
use crate::http::request::query_text::truth;
use crate::http::response::caller::Caller;
use crate::http::response::envelope::{Answer, Paged, Reply};
use crate::language::both;
use crate::mall::people::accounts::PublicUser;

/// Returns the routes of follows.
pub fn routes() -> Calls {
    Calls::of(both("关注", "Follows"))
        .put(
            "/follow/{id}/{follow}",
            follow,
            both("关注（true）或取消关注（false）", "Follow (true) or unfollow (false) a user"),
        )
        .explained(both(
            "点赞、关注和资料修改合计每分钟120次（`--actions-per-minute`）。",
            "Likes, follows and profile edits share a limit of 120 a minute (`--actions-per-minute`).",
        ))
        .get(
            "/follow/or/not/{id}",
            is_following,
            both("我是否关注了某人", "Whether the caller follows a user"),
        )
        .get(
            "/follow/common/{id}",
            common,
            both("与某人的共同关注", "Users followed by the caller and by another user"),
        )
        .explained(both("每页10人，带总数`total`。", "10 a page, with the `total`."))
        .get("/follow/fans/{id}", fans, both("某人的粉丝，新的在前", "Followers of a user, newest first"))
        .explained(both("每页10人，带总数`total`。", "10 a page, with the `total`."))
        .get(
            "/follow/followees/{id}",
            followees,
            both("某人关注的人，新的在前", "Users followed by a user, newest first"),
        )
        .explained(both("每页10人，带总数`total`。", "10 a page, with the `total`."))
}

/// `true` or `false`; in the original profile any word accepted by Spring.
#[derive(JsonSchema)]
#[schemars(transparent)]
struct Follow(bool);

impl<'de> Deserialize<'de> for Follow {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if !Caller::is_original() {
            return bool::deserialize(from).map(Self);
        }
        let text = String::deserialize(from)?;
        truth(&text).map(Self).ok_or_else(|| D::Error::custom("expected true or false"))
    }
}

async fn follow(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Path((id, Follow(follow))): Path<(u64, Follow)>,
) -> Reply {
    if follow {
        app.follows.follow(user, UserId::new(id), now).await?;
    } else {
        app.follows.unfollow(user, UserId::new(id), now).await?;
    }
    Ok(Answer::done())
}

async fn is_following(State(app): State<App>, Login(user): Login, Path(id): Path<u64>) -> Reply<bool> {
    Ok(Answer::ok(app.follows.is_following(user, UserId::new(id)).await?))
}

async fn common(State(app): State<App>, Login(user): Login, Path(id): Path<u64>) -> Reply<Vec<BriefAnswer>> {
    Ok(Answer::ok(answers(app.follows.common(user, UserId::new(id)).await?)))
}

async fn fans(
    State(app): State<App>,
    Path(id): Path<u64>,
    Query(query): Query<PageQuery>,
) -> Reply<Paged<BriefAnswer>> {
    let (fans, total) = app.follows.fans(UserId::new(id), query.number()).await?;
    Ok(Answer::page(&answers(fans), total))
}

async fn followees(
    State(app): State<App>,
    Path(id): Path<u64>,
    Query(query): Query<PageQuery>,
) -> Reply<Paged<BriefAnswer>> {
    let (followees, total) = app.follows.followees(UserId::new(id), query.number()).await?;
    Ok(Answer::page(&answers(followees), total))
}

fn answers(briefs: Vec<PublicUser>) -> Vec<BriefAnswer> {
    briefs.into_iter().map(BriefAnswer::from).collect()
}
