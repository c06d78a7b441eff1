//! Limits per endpoint: a hot sale leaves the others alone, and a busy endpoint the other endpoints.

use axum::body::Body;
use axum::http::Request;
use mallbox::http::{Audience, Gateway, HostNames, Profile, SiteOptions, TrustedProxies, site};
use serde_json::{Value, json};

use super::world::{World, sale, world};

/// Calls in a row: more than a limit of one a second lets through in the time of a test.
const MANY: usize = 300;

/// Returns a site of the mall with limits.
fn limited(w: &World, limits: &[&str]) -> Gateway {
    let options = SiteOptions {
        prefix: "/api".to_owned(),
        uploads: None,
        web: None,
        profile: Profile::Strict,
        proxies: TrustedProxies::default(),
        hosts: HostNames::Any,
        audience: Audience::Everybody,
        endpoint_limits: limits.iter().map(|limit| limit.parse().unwrap()).collect(),
        traced_share: 0.0,
    };
    site(&w.mall.app().unwrap(), &options)
}

/// Calls. Returns status, code and `Retry-After`.
fn call(w: &World, front: &Gateway, method: &str, path: &str, token: &str) -> (u16, String, Option<String>) {
    let request = Request::builder().method(method).uri(format!("/api{path}")).header("authorization", token);
    let (request, front) = (request.body(Body::empty()).unwrap(), front.clone());
    let done = async move {
        let response = front.respond(request).await;
        let wait = response.headers().get("retry-after").map(|wait| wait.to_str().unwrap().to_owned());
        let status = response.status().as_u16();
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        (status, body["code"].as_str().unwrap_or_default().to_owned(), wait)
    };
    w.mall.wait_for(done).unwrap()
}

/// Makes calls in a row, and returns how many were refused by a limit; the others have one of these codes.
fn refused(w: &World, front: &Gateway, method: &str, paths: &[&str], others: &[&str]) -> usize {
    let mut refused = 0;
    for (_, path) in (0..MANY).zip(paths.iter().cycle()) {
        let (status, code, wait) = call(w, front, method, path, &w.customer);
        if code == "CROWDED" {
            assert_eq!((status, wait.as_deref()), (429, Some("1")), "{path}");
            refused += 1;
        } else {
            assert!(others.contains(&code.as_str()), "{path}: {status} {code}");
        }
    }
    refused
}

#[test]
fn claims_of_a_hot_sale_leave_another_sale_alone() {
    let w = world();
    let calm = w.add("/voucher/seckill", &sale("2026-11-21T19:00:00", "2026-11-21T23:00:00", 1));
    let front = limited(&w, &["POST /voucher-order/seckill/{voucherId}=0/1"]);
    // Spellings of one id are one sale.
    let hot = ["/voucher-order/seckill/2", "/voucher-order/seckill/02", "/voucher-order/seckill/%32"];
    assert!(refused(&w, &front, "POST", &hot, &["", "ALREADY_BOUGHT"]) > 0);
    let bought = call(&w, &front, "POST", &format!("/voucher-order/seckill/{calm}"), &w.other);
    assert_eq!((bought.0, bought.1.as_str()), (200, ""));
}

#[test]
fn a_busy_endpoint_leaves_the_other_endpoints_alone() {
    let w = world();
    let front = limited(&w, &["GET /shop/{id}=1", "GET /sale/{voucherId}/page=0/1"]);
    assert!(refused(&w, &front, "GET", &["/shop/1", "/shop/404"], &["", "NOT_FOUND"]) > 0);
    assert!(refused(&w, &front, "GET", &["/sale/2/page"], &[""]) > 0);
    for path in ["/sale/3/page", "/sale/2", "/shop-type/list", "/voucher/list/1"] {
        assert_eq!(call(&w, &front, "GET", path, "").0, 200, "{path}");
    }
    let unknown = call(&w, &front, "GET", "/nothing/1", "");
    assert_eq!(unknown.0, 404, "an unknown path has no limit");
}

#[test]
fn a_limit_of_a_sale_is_set_by_an_operator() {
    let w = world();
    let put = |limit: u32| {
        let body = json!({ "claimsPerSecond": limit });
        let stored = w.call("PUT", "/ops/sales/2/claim-limit", &w.operator, &body.to_string());
        assert_eq!(stored.body["data"], body, "{stored:?}");
    };
    put(1);
    assert_eq!(w.ok("GET", "/ops/sales/2/claim-limit", &w.operator)["data"]["claimsPerSecond"], 1);
    let front = limited(&w, &[]);
    let hot = ["/voucher-order/seckill/2"];
    assert!(refused(&w, &front, "POST", &hot, &["", "ALREADY_BOUGHT"]) > 0);
    put(0);
    assert_eq!(refused(&w, &front, "POST", &hot, &["ALREADY_BOUGHT"]), 0);
}
