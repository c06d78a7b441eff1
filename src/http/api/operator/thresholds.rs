//! `/ops/sales/{id}/thresholds`: whom a sale is for.

use axum::extract::State;
use mallbox_storage::{Thresholds, VoucherId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, Path};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::base::By;

/// Returns the routes of thresholds.
pub(super) fn routes() -> Calls {
    Calls::of(both("秒杀管理", "Running sales"))
        .get("/ops/sales/{id}/thresholds", thresholds, both("秒杀的门槛", "The thresholds of a sale"))
        .put("/ops/sales/{id}/thresholds", put_thresholds, both("设置门槛", "Set the thresholds of a sale"))
        .explained(both(
            "会员等级之外的门槛：账号注册满多少小时，以及是否须用短信验证码登录。一秒内生效。",
            "Besides the member level: how old an account has to be, and whether its session has to be one that \
                began with an SMS code. Takes effect within a second.",
        ))
}

/// The thresholds of a sale.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ThresholdsBody {
    /// Least age of the account in hours, up to 8,760; 0 = any.
    #[schemars(example = 72)]
    account_hours: u16,
    /// Whether the session has to be one that began with an SMS code.
    #[schemars(example = true)]
    sms_code: bool,
}

impl ThresholdsBody {
    fn new(thresholds: Thresholds) -> Self {
        let Thresholds { account_hours, sms_code } = thresholds;
        Self { account_hours, sms_code }
    }
}

async fn thresholds(State(app): State<App>, _: Operator, Path(voucher): Path<u64>) -> Reply<ThresholdsBody> {
    Ok(Answer::ok(ThresholdsBody::new(app.sale_admin.thresholds(VoucherId::new(voucher)).await?)))
}

async fn put_thresholds(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(voucher): Path<u64>,
    Json(body): Json<ThresholdsBody>,
) -> Reply<ThresholdsBody> {
    let ThresholdsBody { account_hours, sms_code } = body;
    let (by, thresholds) = (By::operator(user, now), Thresholds { account_hours, sms_code });
    let stored = app.sale_admin.put_thresholds(by, VoucherId::new(voucher), thresholds).await?;
    Ok(Answer::ok(ThresholdsBody::new(stored)))
}
