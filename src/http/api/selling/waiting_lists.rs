//! The waiting list of a sold-out sale: `/sale/{id}/waiting-list`.

use axum::extract::State;
use mallbox_storage::{VoucherId, WaitingPlace, WaitingState};
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Login, LoginSession, Now, Path};
use crate::http::request::guard_headers::Shown;
use crate::http::response::envelope::{Answer, Reply};
use crate::http::response::messages::millis;
use crate::language::both;
use crate::mall::selling::sales::poll_interval;

/// Returns the routes of waiting lists.
pub fn routes() -> Calls {
    Calls::of(both("秒杀", "Flash sales"))
        .get("/sale/{voucherId}/waiting-list", place, both("我的候补", "The caller's place in a waiting list"))
        .post("/sale/{voucherId}/waiting-list", join, both("加入候补", "Join a waiting list"))
        .explained(both(
            "只有抢光了、且设有候补名单（`waitingList`）的秒杀才能候补；设了防护的须带上通行码，但不会用掉。\
                轮到时商城自动下单，状态变为`PROMOTED`并给出`orderId`，请在支付期限内付款。重复调用不会改变位置。",
            "Only for a sold-out sale with a waiting list (`waitingList`). A guarded sale needs a pass, which \
                stays unspent. When the caller's turn comes the mall makes the order: the state becomes \
                `PROMOTED`, with an `orderId` to be paid in time. A repeat keeps the place.",
        ))
        .delete("/sale/{voucherId}/waiting-list", leave, both("退出候补", "Leave a waiting list"))
}

/// A user's place in the waiting list of a sale.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PlaceAnswer {
    /// `NONE` before the caller joined; `WAITING`, `OFFERED` while a unit is being handed on, `PROMOTED` with
    /// an order, `LEFT`, `EXPIRED` at the end of the sale, or `DROPPED` for a caller who may not buy.
    #[schemars(example = &"WAITING")]
    state: &'static str,
    /// Number of users who wait and joined earlier.
    #[schemars(example = 3)]
    ahead: u64,
    /// Number of users who wait.
    #[schemars(example = 12)]
    waiting: u64,
    /// The order of a promotion, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"662319245210910723")]
    order_id: Option<String>,
    /// Milliseconds after which the client asks again.
    #[schemars(example = 2_000)]
    poll_in_ms: u64,
}

impl PlaceAnswer {
    fn new(place: &WaitingPlace) -> Self {
        let entry = &place.entry;
        let order = entry.order.filter(|_| entry.state == WaitingState::Promoted);
        Self {
            state: entry.state.name(),
            ahead: place.ahead,
            waiting: place.waiting,
            order_id: order.map(|order| order.to_string()),
            poll_in_ms: millis(poll_interval(place)),
        }
    }

    fn of(place: Option<WaitingPlace>) -> Self {
        place
            .as_ref()
            .map_or(Self { state: "NONE", ahead: 0, waiting: 0, order_id: None, poll_in_ms: 0 }, Self::new)
    }
}

async fn place(State(app): State<App>, Login(user): Login, Path(voucher): Path<u64>) -> Reply<PlaceAnswer> {
    let place = app.sales.waiting_place(user, VoucherId::new(voucher)).await?;
    Ok(Answer::ok(PlaceAnswer::of(place)))
}

async fn join(
    State(app): State<App>,
    LoginSession(session): LoginSession,
    Now(now): Now,
    shown: Shown,
    Path(voucher): Path<u64>,
) -> Reply<PlaceAnswer> {
    let shown = shown.in_session(&session);
    let place = app.sales.join_waiting_list(session.user(), VoucherId::new(voucher), shown, now).await?;
    Ok(Answer::ok(PlaceAnswer::new(&place)))
}

async fn leave(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Path(voucher): Path<u64>,
) -> Reply<PlaceAnswer> {
    let place = app.sales.leave_waiting_list(user, VoucherId::new(voucher), now).await?;
    Ok(Answer::ok(PlaceAnswer::of(place)))
}
