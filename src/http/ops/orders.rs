//! `/ops/orders`: found whosever they are, and voided.

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use jiff::tz::TimeZone;
use mallbox_storage::{OrderId, UserId, VoucherId};
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::envelope::{Answer, Reply};
use crate::http::extract::{Json, Now, Operator, Path, Query};
use crate::http::voucher_order::OrderAnswer;
use crate::mall::operator::By;
use crate::mall::operator::orders::{FoundOrder, OrderQuery};

/// The routes of this area.
pub(super) fn routes() -> Router<App> {
    Router::new().route("/ops/orders", get(find)).route("/ops/orders/{id}/void", post(void))
}

/// An order as its buyer knows it, and whose it is.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FoundAnswer {
    #[serde(flatten)]
    order: OrderAnswer,
    user_id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<String>,
}

impl FoundAnswer {
    pub(super) fn new(found: FoundOrder, zone: &TimeZone) -> Self {
        let user_id = found.view.order.user.get();
        let phone = found.phone.map(|phone| phone.as_str().to_owned());
        Self { order: OrderAnswer::new(found.view, zone), user_id, phone }
    }
}

#[derive(Deserialize)]
struct FindQuery {
    id: Option<u64>,
    phone: Option<String>,
    user: Option<u64>,
    voucher: Option<u64>,
    status: Option<u8>,
    current: Option<u32>,
}

async fn find(State(app): State<App>, _: Operator, Query(query): Query<FindQuery>) -> Reply {
    let wanted = OrderQuery {
        id: query.id.map(OrderId::new),
        phone: query.phone,
        user: query.user.map(UserId::new),
        voucher: query.voucher.map(VoucherId::new),
        status: query.status,
    };
    let (orders, total) = app.order_office.find(&wanted, query.current.unwrap_or(1)).await?;
    let zone = &app.context.zone;
    let list: Vec<_> = orders.into_iter().map(|found| FoundAnswer::new(found, zone)).collect();
    Ok(Answer::page(list, total).no_store())
}

#[derive(Deserialize)]
struct VoidBody {
    #[serde(default)]
    reason: String,
}

async fn void(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(order): Path<u64>,
    Json(body): Json<VoidBody>,
) -> Reply {
    let by = By::operator(user, now);
    let voided = app.order_office.void(by, OrderId::new(order), &body.reason).await?;
    Ok(Answer::ok(FoundAnswer::new(voided, &app.context.zone)).no_store())
}
