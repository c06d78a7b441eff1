//! `/ops/sales/{id}/per-user`: how many units of a sale a user may hold.

use std::num::NonZeroU8;

use axum::extract::State;
use mallbox_storage::VoucherId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, Path};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::base::By;

/// Returns the routes of units per user.
pub(super) fn routes() -> Calls {
    Calls::of(both("秒杀管理", "Running sales"))
        .get("/ops/sales/{id}/per-user", per_user, both("每人限购", "The units per user of a sale"))
        .put("/ops/sales/{id}/per-user", put_per_user, both("设置每人限购", "Set the units per user of a sale"))
        .explained(both(
            "每人同时最多持有几份，每次抢购一份。立即生效。调低之后，已经超出的用户保留所持，不再能抢。",
            "How many units a user may hold at the same time; each claim takes one. Takes effect at once. Users \
                who hold more, since it was lowered, keep them and get no further one.",
        ))
}

/// The units per user of a sale.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PerUserBody {
    /// 1 to 20.
    #[schemars(example = 3)]
    per_user: u8,
}

async fn per_user(State(app): State<App>, _: Operator, Path(voucher): Path<u64>) -> Reply<PerUserBody> {
    let per_user = app.sale_admin.per_user(VoucherId::new(voucher)).await?.get();
    Ok(Answer::ok(PerUserBody { per_user }))
}

async fn put_per_user(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(voucher): Path<u64>,
    Json(body): Json<PerUserBody>,
) -> Reply<PerUserBody> {
    let (by, per_user) = (By::operator(user, now), NonZeroU8::new(body.per_user));
    let stored = app.sale_admin.put_per_user(by, VoucherId::new(voucher), per_user).await?;
    Ok(Answer::ok(PerUserBody { per_user: stored.get() }))
}
