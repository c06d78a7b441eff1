//! `/ops/claim-gateways`: servers of others that may claim for users.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{ClaimGateway, ClaimGatewayId, Timestamp, VoucherId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, Path};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::base::{By, wall_time};
use crate::mall::operator::claim_gateways::{AddedClaimGateway, ClaimGatewayForm};

/// Returns the routes of claim gateways.
pub(super) fn routes() -> Calls {
    Calls::of(both("抢购网关", "Claim gateways"))
        .get("/ops/claim-gateways", list, both("抢购网关列表", "The claim gateways"))
        .post("/ops/claim-gateways", add, both("添加抢购网关，签发令牌", "Add a claim gateway and issue its token"))
        .explained(both(
            "网关是一台受信任的服务器，凭令牌替用户成批抢购（`POST /voucher-order/seckill/batch`），只限`vouchers`里的秒杀，\
                最长90天。返回的`token`只出现这一次，商城只保存它的SHA-256。签发人不再是管理员或被停用时，令牌随之失效。写入审计日志。",
            "A gateway is a trusted server that claims for users, in batches (`POST /voucher-order/seckill/batch`) and \
                in the sales of `vouchers` only, for 90 days at most. The response is the only one with the `token`: \
                the mall keeps its SHA-256. The token is void while the operator who issued it is none or is \
                blocked. The audit log records the action.",
        ))
        .delete("/ops/claim-gateways/{id}", remove, both("撤销抢购网关", "Revoke a claim gateway"))
        .explained(both("令牌立即失效。写入审计日志。", "Its token is void at once. The audit log records the action."))
}

/// A claim gateway.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ClaimGatewayAnswer {
    #[schemars(example = 1)]
    id: u64,
    #[schemars(example = &"公司小程序")]
    name: String,
    /// Id of the operator who issued the token.
    #[schemars(example = 1)]
    operator_id: u64,
    /// The sales that the gateway may claim in.
    #[schemars(example = &[7])]
    vouchers: Vec<u64>,
    #[schemars(example = &"2026-11-21T10:09:17")]
    created_time: String,
    /// Time from which the token is void.
    #[schemars(example = &"2026-11-28T10:09:17")]
    end_time: String,
    /// Whether the token has expired.
    expired: bool,
}

impl ClaimGatewayAnswer {
    fn new(gateway: ClaimGateway, now: Timestamp, zone: &TimeZone) -> Self {
        Self {
            id: gateway.id.get(),
            name: gateway.name,
            operator_id: gateway.operator.get(),
            vouchers: gateway.sales.into_iter().map(VoucherId::get).collect(),
            created_time: wall_time::text(gateway.created, zone),
            end_time: wall_time::text(gateway.expires, zone),
            expired: gateway.expires <= now,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ClaimGatewayBody {
    /// 1 to 40 characters, unique among the gateways.
    #[schemars(example = &"公司小程序")]
    name: String,
    /// The sales that the gateway may claim in: 1 to 50.
    #[schemars(example = &[7])]
    vouchers: Vec<u64>,
    /// Hours until the token is void: 1 to 2160, which is 90 days.
    #[schemars(example = 168)]
    valid_hours: u32,
}

/// A new claim gateway with its token.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AddedAnswer {
    #[schemars(example = 1)]
    id: u64,
    /// To be sent as `Authorization: Bearer …`. Never shown again.
    token: String,
    /// Time from which the token is void.
    #[schemars(example = &"2026-11-28T10:09:17")]
    end_time: String,
}

async fn list(State(app): State<App>, _: Operator, Now(now): Now) -> Reply<Vec<ClaimGatewayAnswer>> {
    let gateways = app.claim_gateway_admin.list().await?;
    let (zone, now) = (&app.context.zone, app.context.expiry_now(now));
    Ok(Answer::ok(gateways.into_iter().map(|gateway| ClaimGatewayAnswer::new(gateway, now, zone)).collect()))
}

async fn add(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Json(body): Json<ClaimGatewayBody>,
) -> Reply<AddedAnswer> {
    let ClaimGatewayBody { name, vouchers, valid_hours } = body;
    let sales = vouchers.into_iter().map(VoucherId::new).collect();
    let form = ClaimGatewayForm { name, sales, valid_hours };
    let AddedClaimGateway { gateway, token } =
        app.claim_gateway_admin.add(By::operator(user, now), form).await?;
    let end_time = wall_time::text(gateway.expires, &app.context.zone);
    Ok(Answer::ok(AddedAnswer { id: gateway.id.get(), token, end_time }).no_store())
}

async fn remove(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply {
    app.claim_gateway_admin.remove(By::operator(user, now), ClaimGatewayId::new(id)).await?;
    Ok(Answer::done())
}
