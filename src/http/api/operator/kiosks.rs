//! `/ops/kiosks`: kiosks whose buyers need no challenge.

use axum::extract::State;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, Path};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::base::kiosk_keys::Kiosk;
use crate::mall::base::{By, wall_time};

/// Returns the routes of kiosks.
pub(super) fn routes() -> Calls {
    Calls::of(both("自助终端", "Kiosks"))
        .get("/ops/kiosks", list, both("受信任的自助终端", "The trusted kiosks"))
        .post("/ops/kiosks", add, both("添加受信任的自助终端", "Trust a kiosk"))
        .explained(both(
            "返回的`key`只出现这一次。终端抢购时放在请求头`x-kiosk-key`里，设了防护的秒杀就不需要验证；\
                每台终端每场秒杀每小时的次数，与一个地址的通行码上限相同。写入审计日志。",
            "The response is the only one with the `key`. A claim that sends it as the header `x-kiosk-key` \
                needs no challenge in a guarded sale; a kiosk has the limit of passes of an address, per sale \
                and hour. The audit log records the action.",
        ))
        .delete("/ops/kiosks/{id}", remove, both("不再信任一台自助终端", "Trust a kiosk no longer"))
        .explained(both("最迟五秒后密钥失效。写入审计日志。", "Its key is void within five seconds. The audit log records the action."))
}

/// A trusted kiosk.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct KioskAnswer {
    #[schemars(example = 1)]
    id: u32,
    #[schemars(example = &"收银台")]
    name: String,
    #[schemars(example = &"2026-11-21T10:09:17")]
    created_time: String,
}

impl KioskAnswer {
    fn new(kiosk: Kiosk, zone: &TimeZone) -> Self {
        Self { id: kiosk.id, created_time: wall_time::text(kiosk.created, zone), name: kiosk.name }
    }
}

#[derive(Deserialize, JsonSchema)]
struct KioskBody {
    /// 1 to 40 characters, unique among the kiosks.
    #[schemars(example = &"收银台")]
    name: String,
}

/// A new kiosk with its key.
#[derive(Serialize, JsonSchema)]
struct NewKioskAnswer {
    #[schemars(example = 1)]
    id: u32,
    #[schemars(example = &"收银台")]
    name: String,
    /// To be sent as the header `x-kiosk-key`. Never shown again.
    key: String,
}

async fn list(State(app): State<App>, _: Operator) -> Reply<Vec<KioskAnswer>> {
    let kiosks = app.kiosk_admin.list().await?;
    let zone = &app.context.zone;
    Ok(Answer::ok(kiosks.into_iter().map(|kiosk| KioskAnswer::new(kiosk, zone)).collect()))
}

async fn add(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Json(body): Json<KioskBody>,
) -> Reply<NewKioskAnswer> {
    let new = app.kiosk_admin.add(By::operator(user, now), &body.name).await?;
    Ok(Answer::ok(NewKioskAnswer { id: new.kiosk.id, name: new.kiosk.name, key: new.key }))
}

async fn remove(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(id): Path<u32>,
) -> Reply<KioskAnswer> {
    let removed = app.kiosk_admin.remove(By::operator(user, now), id).await?;
    Ok(Answer::ok(KioskAnswer::new(removed, &app.context.zone)))
}
