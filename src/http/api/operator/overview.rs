//! `/ops/overview`: the counts on the console's first page.

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::PollingOperator;
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::operator::{Overview, overview};

/// Returns the routes of the overview.
pub(super) fn routes() -> Calls {
    Calls::of(both("概览", "Overview"))
        .get("/ops/overview", count, both("各类数量与待处理数量", "Counts of objects and of pending work"))
        .explained(both(
            "待处理的抢购、未支付的订单、死信和举报各有多少，优惠券和秒杀各有多少。\
                这个调用和`GET /ops/sales/{id}`都不延长会话，因为页面会反复查询。",
            "Pending claims, unpaid orders, dead letters, reports, vouchers and sales. Neither \
                this call nor `GET /ops/sales/{id}` extends the session, because pages poll both.",
        ))
}

/// Counts of objects and of pending work.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OverviewAnswer {
    /// Accepted claims not yet written as orders.
    backlog: u64,
    unpaid_orders: u64,
    /// Dead letters without a decision.
    dead_letters: u64,
    /// Reported notes and comments without a decision.
    reports: u64,
    /// All vouchers, on the shelf or not, including sales.
    vouchers: u64,
    /// All sales, including ended and hidden sales.
    sales: u64,
}

async fn count(State(app): State<App>, _: PollingOperator) -> Reply<OverviewAnswer> {
    let Overview { backlog, unpaid_orders, dead_letters, reports, vouchers, sales } =
        overview(&app.context).await?;
    let answer = OverviewAnswer { backlog, unpaid_orders, dead_letters, reports, vouchers, sales };
    Ok(Answer::ok(answer))
}
