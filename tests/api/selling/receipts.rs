//! Receipts: shown by a buyer and redeemed at the counter.

use std::time::Duration;

use serde_json::{Value, json};

use super::world::{CUSTOMER, Response, World, world};

/// Buys voucher 1 and pays. Returns the order.
fn paid(w: &World, token: &str) -> String {
    let id = w.ok("POST", "/voucher-order/1", token)["dataText"].as_str().unwrap().to_owned();
    w.ok("POST", &format!("/voucher-order/{id}/pay"), token);
    id
}

fn receipt(w: &World, order: &str, token: &str) -> Response {
    w.call("GET", &format!("/voucher-order/{order}/receipt"), token, "")
}

fn code(w: &World, order: &str, token: &str) -> String {
    let response = receipt(w, order, token);
    response.body["data"]["code"].as_str().unwrap_or_else(|| panic!("{response:?}")).to_owned()
}

/// Returns the response to an operator's request about a code: the data, or the refusal's code.
fn by_the_operator(w: &World, method: &str, code: &str, step: &str) -> Value {
    let response = w.call(method, &format!("/ops/receipts/{code}{step}"), &w.operator, "");
    assert_eq!(response.status, 200, "{response:?}");
    if response.body["success"] != true {
        return response.body["code"].clone();
    }
    assert!(response.head.contains("cache-control: no-store"), "{}", response.head);
    response.body["data"].clone()
}

#[test]
fn a_receipt_is_shown_redeemed_and_redeemed_no_more() {
    let w = world();
    let order = paid(&w, &w.customer);
    let response = receipt(&w, &order, &w.customer);
    assert!(response.head.contains("cache-control: no-store"), "{}", response.head);
    let (code, qr) = (response.body["data"]["code"].clone(), response.body["data"]["qr"].clone());
    let mut want = json!({
        "id": order, "code": code, "title": "50元代金券", "rules": "全场通用\n无需预约", "payValue": 4750,
        "actualValue": 5000, "status": 2, "payTime": "2026-11-21T20:00:00", "qr": qr,
        "shop": { "id": 1, "name": "103茶餐厅", "address": "金华路29号", "openHours": "10:00-22:00" },
    });
    assert_eq!(response.body, json!({"success": true, "data": want}));
    assert_eq!((&qr["size"], &qr["quietZone"]), (&json!(21), &json!(4)));
    assert!(qr["path"].as_str().unwrap().starts_with("M0 0h7v1h-7z"), "{qr}");

    let code = code.as_str().unwrap();
    let mut shown = json!({
        "id": order, "voucherId": 1, "shopId": 1, "title": "50元代金券", "payValue": 4750, "payType": 1, "payment": "sandbox", "status": 2,
        "createTime": "2026-11-21T20:00:00", "payTime": "2026-11-21T20:00:00", "userId": 2, "phone": CUSTOMER,
    });
    let with = |order: &Value, name: &str, value: bool| {
        let mut order = order.clone();
        order[name] = json!(value);
        order
    };
    for typed in [code.to_owned(), code.to_lowercase(), code.replace('-', ""), code.replace('-', "%20-%20")] {
        assert_eq!(by_the_operator(&w, "GET", &typed, ""), with(&shown, "usable", true), "{typed}");
    }
    w.advance(Duration::from_secs(60));
    shown["status"] = json!(3);
    shown["useTime"] = json!("2026-11-21T20:01:00");
    assert_eq!(by_the_operator(&w, "POST", code, "/use"), with(&shown, "usedBefore", false));
    w.advance(Duration::from_secs(60));
    assert_eq!(by_the_operator(&w, "POST", code, "/use"), with(&shown, "usedBefore", true));
    assert_eq!(by_the_operator(&w, "GET", code, ""), with(&shown, "usable", false));
    want["status"] = json!(3);
    want["useTime"] = json!("2026-11-21T20:01:00");
    assert_eq!(receipt(&w, &order, &w.customer).body["data"], want);

    let audit = w.ok("GET", "/ops/audit?max=2", &w.operator);
    let actions: Vec<_> = audit["data"].as_array().unwrap().iter().map(|entry| &entry["action"]).collect();
    assert_eq!(actions, ["order.use", "order.use"], "{audit}");
    assert!(!audit.to_string().contains(code), "a code is for its buyer and the counter");
}

#[test]
fn only_ones_own_paid_order_has_a_receipt() {
    let w = world();
    let unpaid = w.ok("POST", "/voucher-order/1", &w.customer)["dataText"].as_str().unwrap().to_owned();
    let order = paid(&w, &w.customer);
    for (order, token, status, want) in [
        (&unpaid, &w.customer, 200, "ORDER_STANDS"),
        (&order, &w.other, 200, "NOT_FOUND"),
        (&order, &w.operator, 200, "NOT_FOUND"),
        (&order, &String::new(), 401, "NOT_LOGGED_IN"),
        (&"7".to_owned(), &w.customer, 200, "NOT_FOUND"),
        (&"x".to_owned(), &w.customer, 400, "BAD_REQUEST"),
    ] {
        let response = receipt(&w, order, token);
        assert_eq!((response.status, &response.body["code"]), (status, &json!(want)), "{order}");
    }
    // A printed receipt is worthless once the order is refunded.
    let code = code(&w, &order, &w.customer);
    w.ok("POST", &format!("/voucher-order/{order}/refund"), &w.customer);
    assert_eq!(receipt(&w, &order, &w.customer).body["code"], "ORDER_STANDS");
    assert_eq!(by_the_operator(&w, "GET", &code, "")["usable"], false);
    let response = w.call("POST", &format!("/ops/receipts/{code}/use"), &w.operator, "");
    assert_eq!(
        (&response.body["code"], &response.body["errorMsg"]),
        (&json!("ORDER_STANDS"), &json!("订单已退款"))
    );
}

#[test]
fn a_mistyped_code_is_distinguished_from_an_unknown_code() {
    let w = world();
    let here = code(&w, &paid(&w, &w.customer), &w.customer);
    // Another mall's receipt is formed alike.
    let elsewhere = World::with("/api", |mall| mall.seed(8));
    let there = code(&elsewhere, &paid(&elsewhere, &elsewhere.customer), &elsewhere.customer);
    assert_eq!((&here[..5], here.len()), (&there[..5], 24));
    assert_ne!(here, there);
    let wrong = here.replacen(&here[..1], if here.starts_with('0') { "9" } else { "0" }, 1);
    for step in ["", "/use"] {
        let method = if step.is_empty() { "GET" } else { "POST" };
        for typed in [&*wrong, &here[..22], &format!("{here}0"), "1234", "%E8%8C%B6"] {
            assert_eq!(by_the_operator(&w, method, typed, step), "RECEIPT_MISTYPED", "{typed}");
        }
        assert_eq!(by_the_operator(&w, method, &there, step), "NOT_FOUND");
        let path = format!("/ops/receipts/{here}{step}");
        assert_eq!(w.call(method, &path, "", "").status, 401);
        assert_eq!(w.call(method, &path, &w.customer, "").status, 403);
    }
    assert_eq!(by_the_operator(&w, "GET", &here, "")["usable"], true);
}

#[test]
fn a_receipt_outlives_its_process_and_is_known_to_every_instance() {
    let w = world();
    let order = paid(&w, &w.customer);
    let shown = code(&w, &order, &w.customer);
    // A separate receipt book knows only the contents of the database.
    let (app, typed) = (w.mall.app().unwrap(), shown);
    let read = async move {
        let random = std::sync::Arc::new(mallbox::mall::Random::seeded(99));
        let book = mallbox::mall::Receipts::new(app.context.clone(), app.orders.clone(), random);
        book.read(&typed).await.unwrap()
    };
    assert_eq!(w.mall.wait_for(read).unwrap().to_string(), order);
}
