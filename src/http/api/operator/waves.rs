//! `/ops/sales/{id}/waves`: the timetable of a sale.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{NewWave, VoucherId, WaveRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, Path};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::Refusal;
use crate::mall::base::{By, wall_time};

/// Returns the routes of timetables.
pub(super) fn routes() -> Calls {
    Calls::of(both("秒杀管理", "Running sales"))
        .get("/ops/sales/{id}/waves", waves, both("分批放货的时间表", "The timetable of a sale"))
        .put("/ops/sales/{id}/waves", put_waves, both("设置分批放货", "Schedule waves of units"))
        .explained(both(
            "整张时间表一次提交：替换尚未放出的各批，已放出的不变。到点自动增加库存，每批只放一次；\
                秒杀结束后不再放出。",
            "Replaces the waves still to come; released waves stay. At its instant a wave adds its units to \
                the sale, once. No wave is released after the end.",
        ))
}

/// A wave of a sale.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WaveAnswer {
    number: u32,
    #[schemars(example = &"2026-11-21T14:00:00")]
    time: String,
    units: u64,
    /// Absent for a wave to come.
    #[schemars(example = &"2026-11-21T14:00:00")]
    #[serde(skip_serializing_if = "Option::is_none")]
    released_time: Option<String>,
}

impl WaveAnswer {
    fn new(record: &WaveRecord, zone: &TimeZone) -> Self {
        Self {
            number: record.wave.number,
            time: wall_time::text(record.wave.at, zone),
            units: record.wave.units,
            released_time: record.released.map(|at| wall_time::text(at, zone)),
        }
    }
}

/// The timetable of a sale, in order of time.
#[derive(Serialize, JsonSchema)]
struct WavesAnswer {
    waves: Vec<WaveAnswer>,
}

impl WavesAnswer {
    fn new(records: &[WaveRecord], zone: &TimeZone) -> Self {
        Self { waves: records.iter().map(|record| WaveAnswer::new(record, zone)).collect() }
    }
}

#[derive(Deserialize, JsonSchema)]
struct WaveBody {
    /// Instant of the release, as text of the mall's time zone.
    #[schemars(example = &"2026-11-21T14:00:00")]
    time: String,
    /// Units to release.
    #[schemars(example = 100)]
    units: u64,
}

#[derive(Deserialize, JsonSchema)]
struct WavesBody {
    /// Waves in order of time, at most 50; an empty list withdraws all waves to come.
    waves: Vec<WaveBody>,
}

async fn waves(State(app): State<App>, _: Operator, Path(voucher): Path<u64>) -> Reply<WavesAnswer> {
    let records = app.sale_admin.waves(VoucherId::new(voucher)).await?;
    Ok(Answer::ok(WavesAnswer::new(&records, &app.context.zone)))
}

async fn put_waves(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(voucher): Path<u64>,
    Json(body): Json<WavesBody>,
) -> Reply<WavesAnswer> {
    let zone = &app.context.zone;
    let mut waves = Vec::with_capacity(body.waves.len());
    for WaveBody { time, units } in body.waves {
        let at = wall_time::parse(&time, zone).ok_or(Refusal::BadValue("waves"))?;
        waves.push(NewWave { at, units });
    }
    let records = app.sale_admin.put_waves(By::operator(user, now), VoucherId::new(voucher), waves).await?;
    Ok(Answer::ok(WavesAnswer::new(&records, zone)))
}
