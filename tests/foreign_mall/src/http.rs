//! The mall's requests and responses.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State as Shared};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use http_body_util::channel::Channel;
use serde_json::{Value, json};

use crate::state::{Decision, State};
use crate::{Fault, Speech};

type Mall = Shared<Arc<State>>;

pub(crate) fn router(state: Arc<State>) -> Router {
    let routes = Router::new()
        .route("/user/code", post(code))
        .route("/user/login", post(log_in))
        .route("/voucher-order/seckill/{sale}", post(claim))
        .route("/orders/{sale}", get(orders));
    let routes = match state.options.speech {
        Speech::Java => routes,
        Speech::Go => Router::new().nest("/api", routes),
    };
    routes.with_state(state)
}

async fn code(Shared(state): Mall, Query(query): Query<HashMap<String, String>>) -> Response {
    let Some(phone) = query.get("phone").filter(|phone| phone.len() == 11) else {
        return refusal(&state, "手机号格式错误").await;
    };
    let code = state.new_code(phone);
    let Some(url) = &state.options.redis else { return success(&state, &json!({ "code": code })).await };
    let key = match state.options.speech {
        Speech::Java => format!("login:code:{phone}"),
        Speech::Go => format!("dianping:user:login:phone:{phone}"),
    };
    let client = redis::Client::open(url.as_str()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let set = redis::cmd("SET").arg(key).arg(code).arg("EX").arg(120).query_async(&mut connection).await;
    let () = set.unwrap();
    success(&state, &Value::Null).await
}

async fn log_in(Shared(state): Mall, axum::Json(form): axum::Json<HashMap<String, String>>) -> Response {
    let field = |name| form.get(name).map_or("", String::as_str);
    match state.log_in(field("phone"), field("code")) {
        None => refusal(&state, "验证码错误").await,
        Some(token) => match state.options.speech {
            Speech::Java => success(&state, &json!(token)).await,
            Speech::Go => success(&state, &json!({ "token": token })).await,
        },
    }
}

async fn claim(Shared(state): Mall, Path(sale): Path<u64>, headers: HeaderMap, body: String) -> Response {
    let x = headers.get("x").and_then(|value| value.to_str().ok()).unwrap_or_default();
    state.note_claim(x.to_owned(), body);
    if state.options.fault == Fault::FallsSilent {
        std::future::pending::<()>().await;
    }
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = match state.options.speech {
        Speech::Java => token,
        Speech::Go => token.and_then(|token| token.strip_prefix("Bearer ")),
    };
    let Some(user) = token.and_then(|token| state.user(token)) else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    match (state.claim(user, sale), state.options.speech) {
        (Decision::Accepted { order }, _) => success(&state, &json!(order)).await,
        (Decision::SoldOut, _) => refusal(&state, "库存不足").await,
        (Decision::AlreadyBought, Speech::Java) => refusal(&state, "不能重复下单").await,
        (Decision::AlreadyBought, Speech::Go) => refusal(&state, "不能重复购买").await,
    }
}

async fn orders(Shared(state): Mall, Path(sale): Path<u64>) -> Response {
    let (orders, buyers) = state.orders.count(sale);
    axum::Json(json!({ "orders": orders, "buyers": buyers })).into_response()
}

async fn success(state: &State, data: &Value) -> Response {
    respond(state, &json!({ "success": true, "data": data })).await
}

async fn refusal(state: &State, message: &str) -> Response {
    respond(state, &json!({ "success": false, "errorMsg": message })).await
}

async fn respond(state: &State, body: &Value) -> Response {
    if state.options.speech == Speech::Go {
        return axum::Json(body).into_response();
    }
    // Of unknown length, so that it is sent in chunks.
    let (mut sender, chunks) = Channel::<Bytes, Infallible>::new(1);
    sender.send_data(body.to_string().into()).await.unwrap();
    drop(sender);
    ([(header::CONTENT_TYPE, "application/json")], Body::new(chunks)).into_response()
}
