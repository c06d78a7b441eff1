//! `/ops/dead-letters`: retries or voids claims that did not become orders.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{DeadState, OrderId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::orders::FoundAnswer;
use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Now, Operator, Path, Query};
use crate::http::response::envelope::{Answer, Paged, Reply};
use crate::language::both;
use crate::mall::base::{By, wall_time};
use crate::mall::operator::dead_letters::{DeadLetterKey, LetterView};

/// Returns the routes of dead letters.
pub(super) fn routes() -> Calls {
    Calls::of(both("死信", "Dead letters"))
        .get("/ops/dead-letters", page, both("未能成为订单的抢购", "Claims that did not become orders"))
        .post(
            "/ops/dead-letters/{order}/replay",
            replay,
            both("再次尝试转为订单", "Retry to make an order of a dead letter"),
        )
        .post(
            "/ops/dead-letters/{order}/void",
            void,
            both("作废，归还占用的库存", "Void a dead letter; a held unit returns to stock"),
        )
}

/// A dead letter for an operator.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LetterAnswer {
    /// The order's id, as text: a browser would round the number.
    #[schemars(example = &"662319245210910723")]
    order: String,
    voucher_id: u64,
    title: String,
    user_id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<String>,
    /// `OVERSOLD`, `DOUBLE`, `ID_CLASH` or `REFUSED`.
    #[schemars(example = &"DOUBLE")]
    reason: String,
    detail: String,
    attempts: u32,
    holds_unit: bool,
    /// `OPEN`, `REPLAYED` or `VOIDED`.
    #[schemars(example = &"OPEN")]
    state: &'static str,
    #[schemars(example = &"2026-11-21T10:09:17")]
    claim_time: String,
    #[schemars(example = &"2026-11-21T10:09:17")]
    dead_time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    close_time: Option<String>,
}

impl LetterAnswer {
    fn new(view: LetterView, zone: &TimeZone) -> Self {
        let LetterView { letter, title, phone } = view;
        let text = |at| wall_time::text(at, zone);
        Self {
            order: letter.order.to_string(),
            voucher_id: letter.voucher.get(),
            title,
            user_id: letter.user.get(),
            phone: phone.map(|phone| phone.as_str().to_owned()),
            reason: letter.reason,
            detail: letter.detail,
            attempts: letter.attempts,
            holds_unit: letter.holds_unit,
            state: match letter.state {
                DeadState::Open => "OPEN",
                DeadState::Replayed => "REPLAYED",
                DeadState::Voided => "VOIDED",
            },
            claim_time: text(letter.claimed),
            dead_time: text(letter.created),
            close_time: letter.closed.map(text),
        }
    }
}

/// State of the dead letters to list; default: open.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum StateWord {
    Open,
    Replayed,
    Voided,
    All,
}

#[derive(Deserialize, JsonSchema)]
struct PageQuery {
    state: Option<StateWord>,
    /// The page, from 1.
    #[schemars(example = 1)]
    current: Option<u32>,
}

async fn page(
    State(app): State<App>,
    _: Operator,
    Query(query): Query<PageQuery>,
) -> Reply<Paged<LetterAnswer>> {
    let state = match query.state {
        None | Some(StateWord::Open) => Some(DeadState::Open),
        Some(StateWord::Replayed) => Some(DeadState::Replayed),
        Some(StateWord::Voided) => Some(DeadState::Voided),
        Some(StateWord::All) => None,
    };
    let (views, total) = app.dead_letter_admin.page(state, query.current.unwrap_or(1)).await?;
    let zone = &app.context.zone;
    let list: Vec<_> = views.into_iter().map(|view| LetterAnswer::new(view, zone)).collect();
    Ok(Answer::page(&list, total))
}

/// Needed only if the claims of several users have the same id.
#[derive(Deserialize, JsonSchema)]
struct UserQuery {
    /// The user of the dead letter.
    user: Option<u64>,
}

impl UserQuery {
    fn which(&self, order: u64) -> DeadLetterKey {
        DeadLetterKey { order: OrderId::new(order), user: self.user.map(UserId::new) }
    }
}

async fn replay(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(order): Path<u64>,
    Query(query): Query<UserQuery>,
) -> Reply<FoundAnswer> {
    let order = app.dead_letter_admin.replay(By::operator(user, now), query.which(order)).await?;
    Ok(Answer::ok(FoundAnswer::new(order, now, &app.context.zone)))
}

async fn void(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(order): Path<u64>,
    Query(query): Query<UserQuery>,
) -> Reply<LetterAnswer> {
    let view = app.dead_letter_admin.void(By::operator(user, now), query.which(order)).await?;
    Ok(Answer::ok(LetterAnswer::new(view, &app.context.zone)))
}
