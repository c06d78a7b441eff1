//! The feed: notes of followed users, `/blog/of/follow`.

use axum::extract::State;
use mallbox_storage::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::notes::BlogAnswer;
use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Login, Now, Query};
use crate::http::response::envelope::{Answer, Optional, Reply};
use crate::language::both;
use crate::mall::writing::feeds::{FeedCursor, FeedPage};

/// Returns the routes of the feed.
pub fn routes() -> Calls {
    Calls::of(both("关注流", "Feed"))
        .get(
            "/blog/of/follow",
            page,
            both("我关注的人的笔记，滚动分页", "The feed: notes of followed users, by scrolling"),
        )
        .explained(both(
            "新的在前，每次10篇。第一次的`lastId`是当前毫秒时间，\
                以后用上一页的`minTime`和`offset`。无论多少篇在同一毫秒发布，都不会遗漏或重复。\
                关注时带来对方最近的二十篇，取消关注时全部移除。",
            "Newest first, 10 a call. `lastId` starts as the current time in milliseconds; \
                afterwards pass `minTime` and `offset` of the previous page. No note is skipped or \
                repeated, however many share a millisecond. A follow adds the last twenty notes of \
                the author, an unfollow removes all notes of the author.",
        ))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PlaceQuery {
    /// Newest time of the page, in milliseconds since 1970: first the current time, then `minTime` of the
    /// previous page.
    #[schemars(example = 1_795_262_400_000_i64)]
    last_id: i64,
    /// Number of notes already read at exactly `lastId`: first 0, then `offset` of the previous page.
    #[schemars(example = 0)]
    offset: Option<u32>,
}

/// A page of the feed, and the position of the next page.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FeedAnswer {
    /// Up to ten notes; fewer on the last page.
    list: Vec<BlogAnswer>,
    /// `lastId` for the next page.
    #[schemars(example = 1_795_262_400_000_i64)]
    min_time: i64,
    /// `offset` for the next page.
    #[schemars(example = 1)]
    offset: u32,
}

async fn page(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Query(query): Query<PlaceQuery>,
) -> Reply<Optional<FeedAnswer>> {
    let from =
        FeedCursor { at: Timestamp::from_millis(query.last_id), read: query.offset.unwrap_or_default() };
    let Some(FeedPage { notes, next }) = app.feeds.page(user, from, now).await? else {
        return Ok(Answer::perhaps(None));
    };
    let (views, zone) = (app.notes.views(notes, Some(user)).await?, &app.context.zone);
    let list = views.into_iter().map(|view| BlogAnswer::new(view, zone)).collect();
    let page = FeedAnswer { list, min_time: next.at.as_millis(), offset: next.read };
    Ok(Answer::perhaps(Some(page)))
}
