//! Reviews for operators: `/ops/remarks…`, `/ops/votes`.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{
    ReviewId, ReviewSearch, ShopId, Timestamp, UserId, Visibility, VoteCause, VoteCursor, VoteLine,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::api::writing::review_answer::{ReviewAnswer, StateWord};
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, Path, Query};
use crate::http::response::envelope::{Answer, Paged, Reply};
use crate::language::both;
use crate::mall::Refusal;
use crate::mall::base::{By, wall_time};
use crate::mall::operator::reviews::ReviewDecision;

/// Returns the routes of reviews for operators.
pub(super) fn routes() -> Calls {
    Calls::of(both("评价管理", "Reviews, for operators"))
        .get("/ops/remarks", page, both("评价，新的在前，每页20条", "Reviews, newest first, 20 a page"))
        .put("/ops/remarks/{id}/visibility", decide, both("展示、折叠、隐藏或删除评价", "Show, fold, hide or delete a review"))
        .explained(both(
            "`folded`：单独列在最后，不计入店铺评分，不能点“有用”。`hidden`：只有作者看得到。`deleted`：不可恢复。\
             不再计入的评价，“有用”数归零。到此为止的举报视为已处理。写入审计日志。",
            "`folded`: listed apart, not part of the shop's score, without votes. `hidden`: seen by its author alone. \
             `deleted`: permanently. A review that counts no longer loses its votes. All reports so far are decided. \
             The audit log records the action.",
        ))
        .put("/ops/remarks/{id}/reply", reply, both("以店铺的名义回复评价", "Reply to a review on behalf of the shop"))
        .explained(both("替换已有的回复。写入审计日志。", "Replaces the reply, if any. The audit log records the action."))
        .delete("/ops/remarks/{id}/reply", remove_reply, both("删除店铺的回复", "Remove the shop's reply"))
        .get(
            "/ops/remarks/{id}/votes",
            lines,
            both("一条评价的“有用”流水，新的在前，每页50行", "The ledger of a review's votes, newest first, 50 lines a page"),
        )
        .explained(both("`after`是上一页最后一行的`number`。", "`after` is the `number` of the last line before."))
        .get(
            "/ops/votes",
            newest_lines,
            both("全部评价的“有用”流水，新的在前，每页50行", "The ledger of all votes, newest first, 50 lines a page"),
        )
        .explained(both("`after`是上一页最后一行的`cursor`。", "`after` is the `cursor` of the last line before."))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SearchQuery {
    /// Only reviews in this state.
    visibility: Option<StateWord>,
    /// Only reviews of this shop.
    shop_id: Option<u64>,
    /// The page, from 1.
    #[schemars(example = 1)]
    current: Option<u32>,
}

impl SearchQuery {
    fn search(&self) -> ReviewSearch {
        let (visibility, is_folded) = match self.visibility {
            None => (None, None),
            Some(StateWord::Shown) => (Some(Visibility::Shown), Some(false)),
            Some(StateWord::Reported) => (Some(Visibility::Reported), None),
            Some(StateWord::Folded) => (Some(Visibility::Shown), Some(true)),
            Some(StateWord::Hidden) => (Some(Visibility::Hidden), None),
            Some(StateWord::Deleted) => (Some(Visibility::Deleted), None),
        };
        ReviewSearch { shop: self.shop_id.map(ShopId::new), visibility, is_folded }
    }
}

async fn page(
    State(app): State<App>,
    _: Operator,
    Query(query): Query<SearchQuery>,
) -> Reply<Paged<ReviewAnswer>> {
    let (found, total) = app.review_admin.page(&query.search(), query.current.unwrap_or(1)).await?;
    let zone = &app.context.zone;
    let list: Vec<_> =
        found.into_iter().map(|(review, author)| ReviewAnswer::for_operator(review, &author, zone)).collect();
    Ok(Answer::page(&list, total))
}

/// A decision about a review.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum DecisionWord {
    Shown,
    Folded,
    Hidden,
    Deleted,
}

#[derive(Deserialize, JsonSchema)]
struct DecisionBody {
    visibility: DecisionWord,
    /// Why, 1 to 200 characters, for the audit log.
    #[schemars(example = &"广告")]
    #[serde(default)]
    reason: String,
}

async fn decide(
    State(app): State<App>,
    Operator(by): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
    Json(body): Json<DecisionBody>,
) -> Reply {
    let decision = match body.visibility {
        DecisionWord::Shown => ReviewDecision::Show,
        DecisionWord::Folded => ReviewDecision::Fold,
        DecisionWord::Hidden => ReviewDecision::Hide,
        DecisionWord::Deleted => ReviewDecision::Delete,
    };
    app.review_admin.decide(By::operator(by, now), ReviewId::new(id), decision, &body.reason).await?;
    Ok(Answer::done())
}

#[derive(Deserialize, JsonSchema)]
struct ReplyBody {
    /// 1 to 512 characters.
    #[schemars(example = &"谢谢光临！")]
    #[serde(default)]
    content: String,
}

async fn reply(
    State(app): State<App>,
    Operator(by): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
    Json(body): Json<ReplyBody>,
) -> Reply {
    app.review_admin.reply(By::operator(by, now), ReviewId::new(id), Some(&body.content)).await?;
    Ok(Answer::done())
}

async fn remove_reply(
    State(app): State<App>,
    Operator(by): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply {
    app.review_admin.reply(By::operator(by, now), ReviewId::new(id), None).await?;
    Ok(Answer::done())
}

/// What a line of the ledger records.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum CauseWord {
    Up,
    Down,
    Closed,
}

/// A line in the ledger of votes.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct VoteLineAnswer {
    /// The id of the review.
    remark_id: u64,
    /// Number among the review's lines, from 1 without gaps.
    number: u64,
    /// The voter; absent for `closed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<u64>,
    /// `up` a vote, `down` a vote taken back, `closed` all votes removed by a decision.
    cause: CauseWord,
    /// Change of the number of votes.
    #[schemars(example = 1)]
    change: i64,
    /// Number of votes after the change.
    #[schemars(example = 12)]
    sum: u64,
    #[schemars(example = &"2026-11-21T10:09:17")]
    time: String,
    /// The place of the line in the list of all lines: `after` for the next page there.
    #[schemars(example = &"1795262400000-17-3")]
    cursor: String,
}

impl VoteLineAnswer {
    pub(super) fn new(line: &VoteLine, zone: &TimeZone) -> Self {
        Self {
            remark_id: line.review.get(),
            number: line.number,
            user_id: line.user.map(UserId::get),
            cause: match line.cause {
                VoteCause::Up => CauseWord::Up,
                VoteCause::Down => CauseWord::Down,
                VoteCause::Closed => CauseWord::Closed,
            },
            change: line.change,
            sum: line.sum,
            time: wall_time::text(line.at, zone),
            cursor: format!("{}-{}-{}", line.at.as_millis(), line.review, line.number),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct LinesQuery {
    /// The `number` of the last line on the page before.
    after: Option<u64>,
}

async fn lines(
    State(app): State<App>,
    _: Operator,
    Path(id): Path<u64>,
    Query(query): Query<LinesQuery>,
) -> Reply<Vec<VoteLineAnswer>> {
    let lines = app.review_admin.lines(ReviewId::new(id), query.after).await?;
    Ok(Answer::ok(lines.iter().map(|line| VoteLineAnswer::new(line, &app.context.zone)).collect()))
}

#[derive(Deserialize, JsonSchema)]
struct NewestLinesQuery {
    /// The `cursor` of the last line on the page before.
    after: Option<String>,
}

async fn newest_lines(
    State(app): State<App>,
    _: Operator,
    Query(query): Query<NewestLinesQuery>,
) -> Reply<Vec<VoteLineAnswer>> {
    let after = query.after.filter(|after| !after.is_empty()).as_deref().map(parse_cursor).transpose()?;
    let lines = app.review_admin.newest_lines(after).await?;
    Ok(Answer::ok(lines.iter().map(|line| VoteLineAnswer::new(line, &app.context.zone)).collect()))
}

fn parse_cursor(text: &str) -> Result<VoteCursor, Refusal> {
    let mut parts = text.splitn(3, '-');
    let mut number = || parts.next().and_then(|part| part.parse::<u64>().ok());
    let cursor = number().zip(number()).zip(number()).and_then(|((at, review), number)| {
        let at = Timestamp::from_millis(i64::try_from(at).ok()?);
        Some(VoteCursor { at, review: ReviewId::new(review), number })
    });
    cursor.ok_or(Refusal::BadValue("after"))
}
