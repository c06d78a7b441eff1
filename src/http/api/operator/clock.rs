//! `/ops/clock`: the clock of the machine, and the confirmation of an unsure clock.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, PollingOperator};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::base::{By, wall_time};
use crate::mall::operator::ClockReading;

/// Returns the routes of the clock.
pub(super) fn routes() -> Calls {
    Calls::of(both("时钟", "Clock"))
        .get("/ops/clock", read, both("本机的时钟是否可信", "Whether the machine's clock is sure"))
        .explained(both(
            "时钟不可信时，`time`是本机显示的时间，`mallTime`是商城所用的时间：上一个可信的时间加上之后经过的时间。\
                这个调用不延长会话。",
            "While the clock is unsure, `time` is what the machine shows and `mallTime` what the mall goes by: the \
                last sure time plus the time that has passed. This call does not extend the session.",
        ))
        .post("/ops/clock/confirm", confirm, both("确认本机的时间正确", "Confirm the machine's time"))
        .explained(both(
            "请把看到的`timeMs`原样送回；时钟这时若已相差5分钟以上，返回`CLOCK_MOVED`。记入审计日志。\
                时钟本来可信时什么也不做。",
            "Send back the `timeMs` that you saw; if the clock differs by more than 5 minutes by then, the code is \
                `CLOCK_MOVED`. Written to the audit log. Does nothing if the clock is sure.",
        ))
}

/// The clock of the machine.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClockAnswer {
    /// `sure`: the mall follows the clock. `unsure`: claims and sign-ins are refused.
    #[schemars(example = &"unsure")]
    state: &'static str,
    /// Why the clock is unsure: `behind` or `ahead` of the last sure time, or `before-release` of this
    /// version; absent for a sure clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"behind")]
    doubt: Option<&'static str>,
    /// Time of the machine's clock, in the mall's time zone.
    #[schemars(example = &"2026-11-21T20:00:00")]
    time: String,
    /// Time of the machine's clock, in milliseconds since 1970.
    #[schemars(example = 1_795_262_400_000_i64)]
    time_ms: i64,
    /// Time of the mall.
    #[schemars(example = &"2026-11-21T20:00:00")]
    mall_time: String,
}

impl ClockAnswer {
    /// Creates the answer of a reading, with times in the mall's zone.
    pub(super) fn new(reading: ClockReading, zone: &TimeZone) -> Self {
        let ClockReading { state, machine, mall } = reading;
        Self {
            state: state.name(),
            doubt: state.doubt().map(|doubt| doubt.name()),
            time: wall_time::text(machine, zone),
            time_ms: machine.as_millis(),
            mall_time: wall_time::text(mall, zone),
        }
    }
}

async fn read(State(app): State<App>, _: PollingOperator) -> Reply<ClockAnswer> {
    Ok(Answer::ok(ClockAnswer::new(app.clock_admin.reading(), &app.context.zone)).no_store())
}

/// A confirmed time.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ConfirmBody {
    /// The time that the operator saw, in milliseconds since 1970: `timeMs` of `GET /ops/clock`.
    #[schemars(example = 1_795_262_400_000_i64)]
    time_ms: i64,
}

async fn confirm(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Json(body): Json<ConfirmBody>,
) -> Reply<ClockAnswer> {
    let by = By::operator(user, now);
    let reading = app.clock_admin.confirm(by, Timestamp::from_millis(body.time_ms)).await?;
    Ok(Answer::ok(ClockAnswer::new(reading, &app.context.zone)))
}
