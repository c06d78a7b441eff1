//! `/ops/receipts`: checks and redeems receipt codes; `/voucher-order/{id}/use` redeems by order id.

use axum::extract::State;
use mallbox_storage::{OrderId, OrderStatus, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::orders::FoundAnswer;
use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Now, Path};
use crate::http::request::staff_calls::StaffOrOperator;
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::base::By;
use crate::mall::operator::orders::RedeemOutcome;

/// Returns the routes of redemption.
pub(super) fn routes() -> Calls {
    Calls::of(both("核销", "Redeeming"))
        .get("/ops/receipts/{code}", look, both("券码对应的订单", "The order of a receipt code"))
        .explained(both(
            "券码由输入或扫描得到；响应包含能否核销。",
            "For a typed or scanned code; tells whether the order can be redeemed.",
        ))
        .post("/ops/receipts/{code}/use", redeem, both("凭券码核销", "Redeem an order by receipt code"))
        .explained(both(
            "可重复调用：重复时返回`usedBefore`和首次核销的时间。",
            "A repeat changes nothing and returns `usedBefore` with the time of the first.",
        ))
        .post("/voucher-order/{id}/use", redeem_order, both("凭订单号核销", "Redeem an order by order id"))
        .explained(both(
            "供只有订单号的顾客使用；可重复调用。",
            "For a customer who has only the number of the order; a repeat changes nothing.",
        ))
}

/// The order of a receipt code.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LookedAtAnswer {
    #[serde(flatten)]
    order: FoundAnswer,
    /// Whether the order can be redeemed now: paid and not used.
    #[schemars(example = true)]
    usable: bool,
}

/// A redeemed order.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RedeemedAnswer {
    #[serde(flatten)]
    order: FoundAnswer,
    /// Whether the order was used before, at `useTime`; the call then changed nothing.
    used_before: bool,
}

async fn look(
    State(app): State<App>,
    caller: StaffOrOperator,
    Now(now): Now,
    Path(code): Path<String>,
) -> Reply<LookedAtAnswer> {
    let found = app.order_admin.one(app.receipts.read(&code).await?).await?;
    let usable = found.view.order.status == OrderStatus::Paid;
    let order = FoundAnswer::new(found, now, &app.context.zone).seen_by(caller);
    Ok(Answer::ok(LookedAtAnswer { order, usable }))
}

async fn redeem(
    State(app): State<App>,
    caller: StaffOrOperator,
    Now(now): Now,
    Path(code): Path<String>,
) -> Reply<RedeemedAnswer> {
    let order = app.receipts.read(&code).await?;
    redeemed(&app, caller, now, order).await
}

async fn redeem_order(
    State(app): State<App>,
    caller: StaffOrOperator,
    Now(now): Now,
    Path(order): Path<u64>,
) -> Reply<RedeemedAnswer> {
    redeemed(&app, caller, now, OrderId::new(order)).await
}

async fn redeemed(
    app: &App,
    caller: StaffOrOperator,
    now: Timestamp,
    order: OrderId,
) -> Reply<RedeemedAnswer> {
    let by = By::operator(caller.0, now);
    let RedeemOutcome { found, was_used: before } = app.order_admin.redeem(by, order).await?;
    let order = FoundAnswer::new(found, now, &app.context.zone).seen_by(caller);
    Ok(Answer::ok(RedeemedAnswer { order, used_before: before }))
}
