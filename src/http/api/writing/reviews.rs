//! Reviews of shops, under the path `/remark…`.

use axum::extract::State;
use mallbox_storage::{OrderId, OrderReview, ReviewFilter, ReviewId, ReviewOrder, ShopId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::review_answer::{ReviewAnswer, TagWord, parse_cursor};
use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{AuthorOrOperator, Json, Login, MaybeLogin, Now, Path, Query};
use crate::http::response::envelope::{Answer, Paged, Reply};
use crate::language::both;
use crate::mall::Refusal;
use crate::mall::writing::reviews::{RECOMMENDED_MAX, ReviewForm, VoteSum};

/// Returns the routes of reviews.
pub fn routes() -> Calls {
    Calls::of(both("评价", "Reviews"))
        .get("/remark", of_shop, both("店铺的评价，每页10条", "Reviews of a shop, 10 a page"))
        .explained(both(
            "`total`是符合条件的总数。翻页用`curIndex`，从1起；或者用`after`，即上一页最后一条的`cursor`：翻页时即使有新评价，也不重不漏。",
            "`total` counts all that match. Turn pages by `curIndex`, from 1; or by `after`, the `cursor` of the last \
             review on the page before: without gaps and repeats, even while reviews are written.",
        ))
        .get("/remark/summary", summary, both("店铺评价的汇总", "The reviews of a shop in numbers"))
        .get("/remark/recommended", recommended, both("店铺的推荐评价", "The recommended reviews of a shop"))
        .explained(both(
            "“有用”最多的在前，次序每小时更新一次；内容、“有用”数和是否可见都是当前的。`start`和`stop`从0计，含两端，不超过99。",
            "Most votes first, in an order of the last hour; texts, votes and what may be seen are those of now. \
             `start` and `stop` are places from 0, both included, up to 99.",
        ))
        .get("/remark/of/me", of_me, both("我的评价，新的在前，每页10条", "My reviews, newest first, 10 a page"))
        .get("/remark/of/orders", of_orders, both("订单的评价", "Reviews of my orders"))
        .explained(both(
            "没有评价的订单不在其中。`deleted`：评价已删除，订单不能再评价。",
            "Orders without a review are left out. `deleted`: the review was deleted, and the order cannot be reviewed \
             again.",
        ))
        .get("/remark/{id}", get, both("一条评价", "A review"))
        .post("/remark", write, both("评价订单，返回编号", "Review an order; returns the id"))
        .explained(both(
            "订单须已使用，每笔订单一条。用同一个`requestId`重发同样的内容，返回同一条评价；内容不同则拒绝\
             （`REVIEW_DIFFERS`），不会悄悄丢弃。这时和`ALREADY_REVIEWED`一样，`data`是已有评价的编号。",
            "The order must be used, and has one review. A repeat of the same contents with the same `requestId` \
             returns the same review. Other contents are refused (`REVIEW_DIFFERS`) and not dropped silently; there, \
             as with `ALREADY_REVIEWED`, `data` is the id of the existing review.",
        ))
        .put("/remark/{id}", edit, both("修改自己的评价", "Edit the own review"))
        .explained(both("修改过的评价会注明。", "The review is marked as edited."))
        .delete("/remark/{id}", remove, both("删除评价", "Delete a review"))
        .explained(both(
            "作者本人或管理员可以删除，不可恢复；订单不能再次评价。",
            "By the author or an operator, permanently; the order cannot be reviewed again.",
        ))
        .put(
            "/remark/{id}/vote/{up}",
            vote,
            both("点“有用”，或者取消", "Vote for a review, or take the vote back"),
        )
        .explained(both(
            "`up`是`true`或`false`；重发无妨，每人只算一次。",
            "`up` is `true` or `false`. Repeats are harmless: each user counts once.",
        ))
        .delete("/remark/{id}/vote", take_back, both("取消“有用”", "Take a vote back"))
}

/// Order of a list of reviews.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SortWord {
    Newest,
    Best,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReviewsQuery {
    /// The id of the shop.
    item_id: u64,
    /// `newest` (default), or `best`: most votes first.
    sort: Option<SortWord>,
    /// `true` for reviews with pictures only.
    pictures: Option<bool>,
    /// Only reviews of so many stars, 1 to 5; halves are rounded up.
    #[schemars(example = 5)]
    stars: Option<u8>,
    /// `true` for the reviews that operators folded.
    folded: Option<bool>,
    /// The page, from 1.
    #[schemars(example = 1)]
    cur_index: Option<u32>,
    /// The `cursor` of the last review on the page before; in place of `curIndex`.
    after: Option<String>,
}

async fn of_shop(
    State(app): State<App>,
    MaybeLogin(reader): MaybeLogin,
    Now(now): Now,
    Query(query): Query<ReviewsQuery>,
) -> Reply<Paged<ReviewAnswer>> {
    if query.stars.is_some_and(|stars| !(1..=5).contains(&stars)) {
        return Err(Refusal::BadValue("stars").into());
    }
    let filter = ReviewFilter {
        shop: ShopId::new(query.item_id),
        with_pictures: query.pictures.unwrap_or(false),
        stars: query.stars,
        folded: query.folded.unwrap_or(false),
    };
    let order = match query.sort {
        Some(SortWord::Best) => ReviewOrder::Best,
        Some(SortWord::Newest) | None => ReviewOrder::Newest,
    };
    let after = query.after.filter(|after| !after.is_empty()).as_deref().map(parse_cursor).transpose()?;
    let page = query.cur_index.unwrap_or(1);
    let (views, total) = app.reviews.of_shop(&filter, order, after, page, reader, now).await?;
    let zone = &app.context.zone;
    let list: Vec<_> = views.into_iter().map(|view| ReviewAnswer::for_reader(view, zone)).collect();
    Ok(Answer::page(&list, total))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SummaryQuery {
    /// The id of the shop.
    item_id: u64,
}

/// The reviews of a shop in numbers.
#[derive(Serialize, JsonSchema)]
struct SummaryAnswer {
    /// The shop's score, stars × 10; 0 without any review.
    #[schemars(example = 45)]
    score: i64,
    /// Number of reviews, those that the shop brought along included.
    total: i64,
    /// Number of reviews that can be read.
    reviews: u64,
    /// Number of reviews by stars, from one to five; halves are rounded up.
    #[schemars(example = &[0, 1, 2, 5, 12])]
    stars: [u64; 5],
    /// Number of reviews with pictures.
    pictures: u64,
    /// Number of folded reviews.
    folded: u64,
}

async fn summary(
    State(app): State<App>,
    Now(now): Now,
    Query(query): Query<SummaryQuery>,
) -> Reply<SummaryAnswer> {
    let summary = app.reviews.summary(ShopId::new(query.item_id), now).await?;
    let counts = summary.counts;
    Ok(Answer::ok(SummaryAnswer {
        score: summary.score,
        total: summary.comments,
        reviews: counts.stars.iter().sum(),
        stars: counts.stars,
        pictures: counts.with_pictures,
        folded: counts.folded,
    }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RecommendedQuery {
    /// The id of the shop.
    item_id: u64,
    /// The first place, from 0.
    #[schemars(example = 0)]
    start: Option<u32>,
    /// The last place; default: nine after the first.
    #[schemars(example = 9)]
    stop: Option<u32>,
}

async fn recommended(
    State(app): State<App>,
    MaybeLogin(reader): MaybeLogin,
    Now(now): Now,
    Query(query): Query<RecommendedQuery>,
) -> Reply<Vec<ReviewAnswer>> {
    let start = query.start.unwrap_or(0);
    let stop = query.stop.unwrap_or(start.saturating_add(9).min(RECOMMENDED_MAX - 1));
    let views = app.reviews.recommended(ShopId::new(query.item_id), start, stop, reader, now).await?;
    let zone = &app.context.zone;
    Ok(Answer::ok(views.into_iter().map(|view| ReviewAnswer::for_reader(view, zone)).collect()))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OwnReviewsQuery {
    /// The page, from 1.
    #[schemars(example = 1)]
    cur_index: Option<u32>,
}

async fn of_me(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Query(query): Query<OwnReviewsQuery>,
) -> Reply<Vec<ReviewAnswer>> {
    let views = app.reviews.of_author(user, query.cur_index.unwrap_or(1), now).await?;
    let zone = &app.context.zone;
    Ok(Answer::ok(views.into_iter().map(|view| ReviewAnswer::for_reader(view, zone)).collect()))
}

#[derive(Deserialize, JsonSchema)]
struct OrdersQuery {
    /// Ids of orders, separated by commas, at most 100.
    #[schemars(example = &"662319245210910723,662319245210910724")]
    ids: String,
}

/// The review of an order.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OrderReviewAnswer {
    #[schemars(example = &"662319245210910723")]
    order_id: String,
    /// The id of the review.
    remark_id: u64,
    /// Whether the review is deleted.
    deleted: bool,
}

async fn of_orders(
    State(app): State<App>,
    Login(user): Login,
    Query(query): Query<OrdersQuery>,
) -> Reply<Vec<OrderReviewAnswer>> {
    const ORDERS_MAX: usize = 100;
    let parts = query.ids.split(',').filter(|part| !part.is_empty());
    let orders: Option<Vec<OrderId>> = parts.map(|part| part.trim().parse().ok().map(OrderId::new)).collect();
    let orders = orders.filter(|orders| orders.len() <= ORDERS_MAX).ok_or(Refusal::BadValue("ids"))?;
    let found = app.reviews.of_orders(user, &orders).await?;
    let answer = |OrderReview { order, review, is_deleted }| OrderReviewAnswer {
        order_id: order.to_string(),
        remark_id: review.get(),
        deleted: is_deleted,
    };
    Ok(Answer::ok(found.into_iter().map(answer).collect()))
}

async fn get(
    State(app): State<App>,
    MaybeLogin(reader): MaybeLogin,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply<ReviewAnswer> {
    let view = app.reviews.get(ReviewId::new(id), reader, now).await?;
    Ok(Answer::ok(ReviewAnswer::for_reader(view, &app.context.zone)))
}

/// The contents of a review.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EditBody {
    /// Stars × 10: 10 to 50 in steps of 5.
    #[schemars(example = 45)]
    score: Option<i64>,
    /// At most 2048 characters.
    #[schemars(example = &"面很香，老板也热情。")]
    #[serde(default)]
    content: String,
    /// At most nine paths below `/imgs/`, separated by commas.
    #[serde(default)]
    images: String,
    /// What a person spends on average, in cents.
    #[schemars(example = 4_750)]
    average_price: Option<i64>,
    /// What the review praises.
    #[serde(default)]
    tags: Vec<TagWord>,
}

impl EditBody {
    fn form(self) -> ReviewForm {
        let Self { score, content, images, average_price, tags } = self;
        ReviewForm { score, content, images, average_price, tags: TagWord::tags(&tags) }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReviewBody {
    /// The id of the used order, as text or number.
    #[schemars(example = &"662319245210910723")]
    order_id: String,
    /// A name for this review, 1 to 64 characters: a repeat under the same name writes nothing more.
    #[schemars(example = &"5f0c7a1e-6d0a-4b5e-9a55-0f6f6a3c2d11")]
    request_id: Option<String>,
    /// Stars × 10: 10 to 50 in steps of 5.
    #[schemars(example = 45)]
    score: Option<i64>,
    /// At most 2048 characters.
    #[schemars(example = &"面很香，老板也热情。")]
    #[serde(default)]
    content: String,
    /// At most nine paths below `/imgs/`, separated by commas.
    #[serde(default)]
    images: String,
    /// What a person spends on average, in cents.
    #[schemars(example = 4_750)]
    average_price: Option<i64>,
    /// What the review praises.
    #[serde(default)]
    tags: Vec<TagWord>,
}

async fn write(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Json(body): Json<ReviewBody>,
) -> Reply<u64> {
    let ReviewBody { order_id, request_id, score, content, images, average_price, tags } = body;
    let order = order_id.trim().parse().map(OrderId::new).map_err(|_| Refusal::BadValue("orderId"))?;
    let form = EditBody { score, content, images, average_price, tags }.form();
    let review = app.reviews.write(user, order, &form, request_id, now).await?;
    Ok(Answer::ok(review.get()))
}

async fn edit(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Path(id): Path<u64>,
    Json(body): Json<EditBody>,
) -> Reply {
    app.reviews.edit(user, ReviewId::new(id), &body.form(), now).await?;
    Ok(Answer::done())
}

async fn remove(
    State(app): State<App>,
    AuthorOrOperator(remover): AuthorOrOperator,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply {
    app.reviews.remove(ReviewId::new(id), remover, now).await?;
    Ok(Answer::done())
}

/// The votes of a review.
#[derive(Serialize, JsonSchema)]
struct VotesAnswer {
    /// Number of users who find the review helpful.
    #[schemars(example = 12)]
    votes: u64,
    /// Number of the newest line in the ledger of the review's votes: of two responses, the higher is newer.
    #[schemars(example = 15)]
    number: u64,
}

impl From<VoteSum> for VotesAnswer {
    fn from(VoteSum { votes, number }: VoteSum) -> Self {
        Self { votes, number }
    }
}

async fn vote(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Path((id, up)): Path<(u64, bool)>,
) -> Reply<VotesAnswer> {
    Ok(Answer::ok(app.reviews.vote(user, ReviewId::new(id), up, now).await?.into()))
}

async fn take_back(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply<VotesAnswer> {
    Ok(Answer::ok(app.reviews.vote(user, ReviewId::new(id), false, now).await?.into()))
}
