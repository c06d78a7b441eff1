//! The waiting room of a sale: `/sale/{id}/waiting-room`.

use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use mallbox_storage::{VoucherId, WaitingRoom};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{JsonIfAny, Login, LoginSession, Now, Path};
use crate::http::response::envelope::{Answer, Reply};
use crate::http::response::messages::millis;
use crate::language::both;
use crate::mall::selling::sales::{ENTER_BEFORE, RoomPlace, RoomStanding};

/// Longest interval of calls for which a connection stays open: a million clients that call every few minutes
/// would hold as many connections.
const KEEP_OPEN_MAX: Duration = Duration::from_secs(5);

/// Returns the routes of waiting rooms.
pub fn routes() -> Calls {
    Calls::of(both("秒杀", "Flash sales"))
        .get("/sale/{voucherId}/waiting-room", place, both("我的排队", "The caller's place in a waiting room"))
        .post("/sale/{voucherId}/waiting-room", enter, both("排队", "Enter a waiting room, or ask for the place"))
        .explained(both(
            "只有设了等候室（`waitingRoom`）的秒杀才需要排队，开抢前一小时起可以进入。开抢前进入的人随机排序，\
                之后的人按先后排序。请保存`ticket`，`pollInMs`毫秒后带上它再调用一次，商城重启也不会丢掉位置。\
                状态变为`ADMITTED`后，把`admission`放在抢购请求的请求头`x-sale-admission`里；过期须重新排队。",
            "Only for sales with a waiting room (`waitingRoom`), from an hour before the begin on. Users who \
                come before the begin are put in random order, later ones in order of arrival. Keep `ticket` and \
                call again with it after `pollInMs` milliseconds: it keeps the place through a restart of the \
                mall. When the state is `ADMITTED`, send `admission` as the header `x-sale-admission` of the \
                claim; after it expires the caller has to enter again.",
        ))
        .delete("/sale/{voucherId}/waiting-room", leave, both("退出排队", "Leave a waiting room"))
}

/// The waiting room of a sale, for its page.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageRoom {
    /// Users admitted per second.
    #[schemars(example = 100)]
    per_second: u32,
    /// Milliseconds before the begin from which users enter.
    #[schemars(example = 3_600_000)]
    enter_before_ms: u64,
}

impl PageRoom {
    pub(super) fn new(room: &WaitingRoom) -> Self {
        Self { per_second: room.per_second, enter_before_ms: millis(ENTER_BEFORE) }
    }
}

#[derive(Deserialize, Default, JsonSchema)]
struct EnterBody {
    /// `ticket` of the last response, if any.
    ticket: Option<String>,
}

/// A user's place in a waiting room.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PlaceAnswer {
    /// `OUTSIDE` before the caller entered, after leaving, and after an admission has expired; `WAITING`; or
    /// `ADMITTED`.
    #[schemars(example = &"WAITING")]
    state: &'static str,
    /// Number of users who are admitted first; absent before the begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 3_000)]
    ahead: Option<u64>,
    /// Number of users who wait.
    #[schemars(example = 12_000)]
    waiting: u64,
    /// Estimated milliseconds to the admission; absent before the begin, and while nobody is admitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 30_010)]
    wait_ms: Option<u64>,
    /// Milliseconds after which a client that waits asks again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 22_000)]
    poll_in_ms: Option<u64>,
    /// Keeps the place of a caller who waits; to be sent with the next call.
    #[serde(skip_serializing_if = "Option::is_none")]
    ticket: Option<String>,
    /// To be sent as the header `x-sale-admission` of the claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    admission: Option<String>,
    /// Milliseconds until the admission expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 120_000)]
    admission_ends_in_ms: Option<u64>,
    /// State of the sale: `NOT_OPEN`, `OPEN`, `PAUSED` or `SOLD_OUT`.
    #[schemars(example = &"OPEN")]
    sale: &'static str,
    /// Units left; absent for an unlimited sale.
    #[serde(skip_serializing_if = "Option::is_none")]
    stock: Option<u64>,
}

impl PlaceAnswer {
    fn new(place: RoomPlace) -> Self {
        let RoomPlace { standing, waiting, sale } = place;
        let outside = Self {
            state: "OUTSIDE",
            ahead: None,
            waiting,
            wait_ms: None,
            poll_in_ms: None,
            ticket: None,
            admission: None,
            admission_ends_in_ms: None,
            sale: sale.state.name(),
            stock: sale.stock,
        };
        match standing {
            RoomStanding::Outside => outside,
            RoomStanding::Waiting { ahead, wait, poll_in, ticket } => Self {
                state: "WAITING",
                ahead,
                wait_ms: wait.map(millis),
                poll_in_ms: Some(millis(poll_in)),
                ticket: Some(ticket),
                ..outside
            },
            RoomStanding::Admitted { admission, ends_in } => Self {
                state: "ADMITTED",
                admission: Some(admission),
                admission_ends_in_ms: Some(millis(ends_in)),
                ..outside
            },
        }
    }
}

async fn place(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Path(voucher): Path<u64>,
) -> Reply<PlaceAnswer> {
    let place = app.sales.room_place(user, VoucherId::new(voucher), now).await?;
    Ok(Answer::ok(PlaceAnswer::new(place)))
}

async fn enter(
    State(app): State<App>,
    LoginSession(session): LoginSession,
    Now(now): Now,
    Path(voucher): Path<u64>,
    JsonIfAny(body): JsonIfAny<EnterBody>,
) -> Reply<PlaceAnswer> {
    let entry = (body.ticket.as_deref(), session.is_by_code());
    let place = app.sales.enter_room(session.user(), VoucherId::new(voucher), entry, now).await?;
    let is_far = matches!(place.standing, RoomStanding::Waiting { poll_in, .. } if poll_in > KEEP_OPEN_MAX);
    let answer = Answer::ok(PlaceAnswer::new(place));
    Ok(if is_far { answer.with_header(CONNECTION, HeaderValue::from_static("close")) } else { answer })
}

async fn leave(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Path(voucher): Path<u64>,
) -> Reply<PlaceAnswer> {
    let place = app.sales.leave_room(user, VoucherId::new(voucher), now).await?;
    Ok(Answer::ok(PlaceAnswer::new(place)))
}
