//! `/ops/sales/{id}/waiting-room`: the waiting room of a sale.

use axum::extract::State;
use mallbox_storage::{VoucherId, WaitingRoom};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, Path};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::base::By;
use crate::mall::operator::sales::{DEFAULT_ROOM, RoomSettings};

/// Returns the routes of waiting rooms.
pub(super) fn routes() -> Calls {
    Calls::of(both("秒杀管理", "Running sales"))
        .get("/ops/sales/{id}/waiting-room", room, both("秒杀的等候室", "The waiting room of a sale"))
        .put(
            "/ops/sales/{id}/waiting-room",
            put_room,
            both("设置或取消等候室", "Set or remove the waiting room of a sale"),
        )
        .explained(both(
            "设了等候室的秒杀，买家须先排队，每秒最多放行`perSecond`人。一秒内生效。`perSecond`为0表示取消：\
                正在排队的人可以直接抢购。",
            "Buyers of a sale with a waiting room wait until they are admitted, `perSecond` users a second. \
                Takes effect within a second. With a `perSecond` of 0 the room is removed, and users who wait \
                may claim at once.",
        ))
}

/// The waiting room of a sale.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RoomAnswer {
    /// Users admitted per second; 0 = no room.
    #[schemars(example = 100)]
    per_second: u32,
    /// Seconds within which an admitted user has to act; a proposal without a room.
    #[schemars(example = 120)]
    admission_seconds: u16,
    /// Number of users who wait.
    waiting: u64,
    /// Number of admissions so far.
    admitted: u64,
}

impl RoomAnswer {
    fn new(settings: RoomSettings) -> Self {
        let RoomSettings { room, figures } = settings;
        Self {
            per_second: room.map_or(0, |room| room.per_second),
            admission_seconds: room.unwrap_or(DEFAULT_ROOM).admission_seconds,
            waiting: figures.waiting,
            admitted: figures.admitted,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RoomBody {
    /// Users admitted per second, up to 10,000; 0 = no room.
    #[schemars(example = 100)]
    per_second: u32,
    /// Seconds within which an admitted user has to act, 30 to 1,800. Default: 120.
    #[schemars(example = 120)]
    admission_seconds: Option<u16>,
}

impl RoomBody {
    fn room(self) -> Option<WaitingRoom> {
        let admission_seconds = self.admission_seconds.unwrap_or(DEFAULT_ROOM.admission_seconds);
        (self.per_second > 0).then_some(WaitingRoom { per_second: self.per_second, admission_seconds })
    }
}

async fn room(State(app): State<App>, _: Operator, Path(voucher): Path<u64>) -> Reply<RoomAnswer> {
    Ok(Answer::ok(RoomAnswer::new(app.sale_admin.room(VoucherId::new(voucher)).await?)))
}

async fn put_room(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(voucher): Path<u64>,
    Json(body): Json<RoomBody>,
) -> Reply<RoomAnswer> {
    let by = By::operator(user, now);
    let settings = app.sale_admin.put_room(by, VoucherId::new(voucher), body.room()).await?;
    Ok(Answer::ok(RoomAnswer::new(settings)))
}
