//! `/ops/sales/{id}/claim-limit`: the limit of claims of a sale.

use std::num::NonZeroU32;

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

/// Returns the routes of limits.
pub(super) fn routes() -> Calls {
    Calls::of(both("秒杀管理", "Running sales"))
        .get("/ops/sales/{id}/claim-limit", limit, both("秒杀的限流", "The limit of claims of a sale"))
        .put(
            "/ops/sales/{id}/claim-limit",
            put_limit,
            both("设置或取消限流", "Set or remove the limit of claims of a sale"),
        )
        .explained(both(
            "每个实例每秒最多处理这么多次抢购，超出的返回429和`CROWDED`，让其他秒杀不受影响。一秒内生效。0为不限。",
            "Each instance of the mall passes on this number of claims a second, and refuses the others with 429 \
                and `CROWDED`, so that other sales are not affected. Takes effect within a second. 0 = no limit.",
        ))
}

/// The limit of claims of a sale.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LimitAnswer {
    /// Claims per second and instance; 0 = no limit.
    #[schemars(example = 2_000)]
    claims_per_second: u32,
}

impl LimitAnswer {
    fn new(limit: Option<NonZeroU32>) -> Self {
        Self { claims_per_second: limit.map_or(0, NonZeroU32::get) }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LimitBody {
    /// Claims per second and instance, up to 1,000,000; 0 = no limit.
    #[schemars(example = 2_000)]
    claims_per_second: u32,
}

async fn limit(State(app): State<App>, _: Operator, Path(voucher): Path<u64>) -> Reply<LimitAnswer> {
    Ok(Answer::ok(LimitAnswer::new(app.sale_admin.claim_limit(VoucherId::new(voucher)).await?)))
}

async fn put_limit(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(voucher): Path<u64>,
    Json(body): Json<LimitBody>,
) -> Reply<LimitAnswer> {
    let (by, limit) = (By::operator(user, now), NonZeroU32::new(body.claims_per_second));
    let stored = app.sale_admin.put_claim_limit(by, VoucherId::new(voucher), limit).await?;
    Ok(Answer::ok(LimitAnswer::new(stored)))
}
