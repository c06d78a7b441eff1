//! Claims and orders: `/voucher-order/…`.

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use jiff::tz::TimeZone;
use mallbox_storage::{OrderId, VoucherId};
use serde::{Deserialize, Serialize};

use super::App;
use super::envelope::{Answer, Reply};
use super::extract::{Login, Now, Operator, Path, Query};
use crate::mall::orders::OrderView;
use crate::mall::wall_time;

/// The routes of this area.
pub fn routes() -> Router<App> {
    Router::new()
        .route("/voucher-order/seckill/{id}", post(claim))
        .route("/voucher-order/of/me", get(of_me))
        // The voucher's id when it is bought, the order's own when it is asked for.
        .route("/voucher-order/{id}", post(buy).get(one))
        .route("/voucher-order/{id}/pay", post(pay))
        .route("/voucher-order/{id}/cancel", post(cancel))
        .route("/voucher-order/{id}/refund", post(refund))
        .route("/voucher-order/{id}/use", post(redeem))
}

/// An order as clients know it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OrderAnswer {
    /// As text: a browser would round the number.
    id: String,
    voucher_id: u64,
    title: String,
    pay_value: i64,
    pay_type: u8,
    status: u8,
    create_time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pay_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    use_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refund_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<String>,
}

impl OrderAnswer {
    pub(super) fn new(view: OrderView, zone: &TimeZone) -> Self {
        let text = |at| wall_time::text(at, zone);
        let deadline = view.deadline().map(text);
        let OrderView { order, title } = view;
        Self {
            id: order.id.to_string(),
            voucher_id: order.voucher.get(),
            title,
            pay_value: order.pay_value.get(),
            pay_type: order.pay_type,
            status: order.status as u8,
            create_time: text(order.created),
            pay_time: order.paid.map(text),
            use_time: order.used.map(text),
            refund_time: order.refunded.map(text),
            deadline,
        }
    }
}

fn answer(app: &App, view: OrderView) -> Reply {
    Ok(Answer::ok(OrderAnswer::new(view, &app.context.zone)))
}

async fn claim(State(app): State<App>, Login(user): Login, Now(now): Now, Path(voucher): Path<u64>) -> Reply {
    Ok(Answer::order_id(app.sales.claim(user, VoucherId::new(voucher), now).await?))
}

async fn buy(State(app): State<App>, Login(user): Login, Now(now): Now, Path(voucher): Path<u64>) -> Reply {
    Ok(Answer::order_id(app.orders.buy(user, VoucherId::new(voucher), now).await?))
}

#[derive(Deserialize)]
struct PageQuery {
    current: Option<u32>,
}

async fn of_me(State(app): State<App>, Login(user): Login, Query(query): Query<PageQuery>) -> Reply {
    let views = app.orders.of_user(user, query.current.unwrap_or(1)).await?;
    let zone = &app.context.zone;
    Ok(Answer::ok(views.into_iter().map(|view| OrderAnswer::new(view, zone)).collect::<Vec<_>>()))
}

async fn one(State(app): State<App>, Login(user): Login, Path(order): Path<u64>) -> Reply {
    let view = app.orders.get(user, OrderId::new(order)).await?;
    answer(&app, view)
}

async fn pay(State(app): State<App>, Login(user): Login, Now(now): Now, Path(order): Path<u64>) -> Reply {
    let view = app.orders.pay(user, OrderId::new(order), now).await?;
    answer(&app, view)
}

async fn cancel(State(app): State<App>, Login(user): Login, Now(now): Now, Path(order): Path<u64>) -> Reply {
    let view = app.orders.cancel(user, OrderId::new(order), now).await?;
    answer(&app, view)
}

async fn refund(State(app): State<App>, Login(user): Login, Now(now): Now, Path(order): Path<u64>) -> Reply {
    let view = app.orders.refund(user, OrderId::new(order), now).await?;
    answer(&app, view)
}

async fn redeem(State(app): State<App>, _: Operator, Now(now): Now, Path(order): Path<u64>) -> Reply {
    let view = app.orders.redeem(OrderId::new(order), now).await?;
    answer(&app, view)
}
