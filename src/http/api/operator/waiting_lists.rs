//! `/ops/sales/{id}/waiting-list`: the waiting list of a sale.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{VoucherId, WaitingEntry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, Path};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::base::{By, wall_time};
use crate::mall::operator::sales::WaitingListView;

/// Returns the routes of waiting lists.
pub(super) fn routes() -> Calls {
    Calls::of(both("秒杀管理", "Running sales"))
        .get("/ops/sales/{id}/waiting-list", list, both("秒杀的候补名单", "The waiting list of a sale"))
        .put(
            "/ops/sales/{id}/waiting-list",
            put_max,
            both("设置或关闭候补", "Set or turn off the waiting list of a sale"),
        )
        .explained(both(
            "`max`是候补人数上限，0为关闭：已在名单上的人不受影响。只要有人候补，退回或追加的库存都先给候补的人。",
            "`max` is the maximum number of users on the list; 0 turns the list off, and users who wait keep \
                their places. While somebody waits, every returned or added unit goes to the list.",
        ))
}

/// A user who waits.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EntryAnswer {
    user_id: u64,
    /// `WAITING`, or `OFFERED` while a unit is being handed on.
    #[schemars(example = &"WAITING")]
    state: &'static str,
    #[schemars(example = &"2026-11-21T20:05:00")]
    joined_time: String,
}

impl EntryAnswer {
    fn new(entry: &WaitingEntry, zone: &TimeZone) -> Self {
        let joined_time = wall_time::text(entry.joined, zone);
        Self { user_id: entry.user.get(), state: entry.state.name(), joined_time }
    }
}

/// The waiting list of a sale.
#[derive(Serialize, JsonSchema)]
struct ListAnswer {
    /// Maximum number of users on the list; 0 = off.
    #[schemars(example = 1_000)]
    max: u32,
    /// Number of users who wait.
    waiting: u64,
    /// The first users of the list, at most 50.
    entries: Vec<EntryAnswer>,
}

impl ListAnswer {
    fn new(list: &WaitingListView, zone: &TimeZone) -> Self {
        let WaitingListView { max, waiting, head } = list;
        let entries = head.iter().map(|entry| EntryAnswer::new(entry, zone)).collect();
        Self { max: max.unwrap_or_default(), waiting: *waiting, entries }
    }
}

#[derive(Deserialize, JsonSchema)]
struct MaxBody {
    /// Maximum number of users on the list, up to 10,000; 0 = off.
    #[schemars(example = 1_000)]
    max: u32,
}

async fn list(State(app): State<App>, _: Operator, Path(voucher): Path<u64>) -> Reply<ListAnswer> {
    let list = app.sale_admin.waiting_list(VoucherId::new(voucher)).await?;
    Ok(Answer::ok(ListAnswer::new(&list, &app.context.zone)))
}

async fn put_max(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(voucher): Path<u64>,
    Json(body): Json<MaxBody>,
) -> Reply<ListAnswer> {
    let max = Some(body.max).filter(|max| *max > 0);
    let by = By::operator(user, now);
    let list = app.sale_admin.put_waiting_list(by, VoucherId::new(voucher), max).await?;
    Ok(Answer::ok(ListAnswer::new(&list, &app.context.zone)))
}
