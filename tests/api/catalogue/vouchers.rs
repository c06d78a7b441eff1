//! Vouchers from the operator's side: the complete list, and edits.

use std::time::Duration;

use mallbox::fixture::Fault;
use serde_json::{Value, json};

use super::world::{Response, World, sale, voucher, world};

fn edit(w: &World, voucher: u64, body: &Value) -> Response {
    w.call("PUT", &format!("/voucher/{voucher}"), &w.operator, &body.to_string())
}

/// Returns the response to a successful edit.
fn edited(w: &World, voucher: u64, body: &Value) -> Value {
    let response = edit(w, voucher, body);
    assert_eq!(
        (response.status, &response.body["success"]),
        (200, &json!(true)),
        "{body}: {}",
        response.text
    );
    assert!(response.head.contains("cache-control: no-store"), "{}", response.head);
    response.body["data"].clone()
}

fn code(response: &Response) -> (u16, &str) {
    (response.status, response.body["code"].as_str().unwrap_or_default())
}

fn claim(w: &World, token: &str) -> Response {
    w.call("POST", "/voucher-order/seckill/2", token, "")
}

/// Returns the price of a user's newest order.
fn price(w: &World, token: &str) -> Value {
    w.ok("GET", "/voucher-order/of/me", token)["data"][0]["payValue"].clone()
}

#[test]
fn operators_see_every_voucher_on_the_shelf_or_not() {
    let w = world();
    let hidden = {
        let mut hidden = voucher();
        hidden["status"] = json!(2);
        hidden["shopId"] = json!(w.add("/shop", &json!({"name": "新店", "typeId": 1, "x": 120, "y": 30})));
        w.add("/voucher", &hidden)
    };
    let (at, ops) = ("2026-11-21T20:00:00", &w.operator);
    let off_shelf = json!({
        "id": hidden, "shopId": 2, "shopName": "新店", "title": "50元代金券", "subTitle": "周末可用",
        "rules": "全场通用\n无需预约", "payValue": 4750, "actualValue": 5000, "type": 0, "status": 2,
        "createTime": at, "updateTime": at,
    });
    let running = json!({
        "id": 2, "shopId": 1, "shopName": "103茶餐厅", "title": "100元秒杀券", "subTitle": "", "rules": "",
        "payValue": 100, "actualValue": 10000, "type": 1, "status": 1, "createTime": at, "updateTime": at,
        "sale": {
            "state": "OPEN", "beginTime": "2026-11-21T19:00:00", "endTime": "2026-11-21T23:00:00", "paused": false,
            "payWithinSeconds": 900, "minLevel": 0, "initial": 2, "added": 0, "left": 2, "taken": 0, "pending": 0,
        },
    });
    let all = w.ok("GET", "/ops/vouchers", ops);
    assert_eq!((&all["total"], &all["data"][0], &all["data"][2]), (&json!(4), &off_shelf, &running));
    let of_shop = w.ok("GET", "/ops/vouchers?shopId=2&current=1", ops);
    assert_eq!(of_shop, json!({"success": true, "data": [off_shelf], "total": 1}));
    let beyond = w.ok("GET", "/ops/vouchers?shopId=1&current=2", ops);
    assert_eq!(beyond, json!({"success": true, "data": [], "total": 3}));
    assert_eq!(w.ok("GET", "/ops/vouchers/2", ops)["data"], running);
}

#[test]
fn an_edit_is_in_the_next_answer_and_in_the_audit_log() {
    let w = world();
    let look = || {
        let list = w.ok("GET", "/voucher/list/1", "");
        let page = w.call("GET", "/sale/2/page", "", "");
        let etag = page.head.lines().find(|line| line.starts_with("etag: ")).map(str::to_owned);
        (list["data"].clone(), page.body["data"]["title"].clone(), etag)
    };
    let (_, title, etag) = look();
    assert_eq!(title, "100元秒杀券");
    claim(&w, &w.customer);
    w.advance(Duration::from_secs(60));
    let change =
        json!({"title": "<b>双十一</b>券", "rules": "一人一张\n过期不退", "actualValue": 20000, "stock": 9});
    let shown = edited(&w, 2, &change);
    assert_eq!((&shown["title"], &shown["subTitle"]), (&json!("<b>双十一</b>券"), &json!("")));
    assert_eq!((&shown["updateTime"], &shown["sale"]["left"]), (&json!("2026-11-21T20:01:00"), &json!(1)));
    let (list, title, changed_etag) = look();
    assert_eq!((&title, &list[1]["rules"]), (&json!("<b>双十一</b>券"), &json!("一人一张\n过期不退")));
    assert_eq!((&list[1]["actualValue"], &list[1]["payValue"]), (&json!(20000), &json!(100)));
    assert_ne!(changed_etag, etag);
    assert_eq!(w.ok("GET", "/voucher-order/of/me", &w.customer)["data"][0]["title"], "<b>双十一</b>券");
    let entry = &w.ok("GET", "/ops/audit?max=1", &w.operator)["data"][0];
    assert_eq!((&entry["action"], &entry["subject"]), (&json!("voucher.edit"), &json!("voucher 2")));
    let detail = json!({"title": "<b>双十一</b>券", "rules": "一人一张\n过期不退", "actualValue": 20000});
    assert_eq!(entry["detail"], detail);
}

#[test]
fn a_sale_says_how_long_to_pay_and_who_may_buy() {
    let w = world();
    let mut terms = sale("2026-11-21T19:00:00", "2026-11-21T23:00:00", 2);
    terms["payWithinSeconds"] = json!(300);
    let quick = w.add("/voucher/seckill", &terms);
    terms["minLevel"] = json!(1);
    let closed = w.add("/voucher/seckill", &terms);
    let shown = |id: u64| {
        let page = w.ok("GET", &format!("/sale/{id}/page"), "");
        (page["data"]["payWithinSeconds"].clone(), page["data"]["minLevel"].clone())
    };
    assert_eq!([shown(quick), shown(closed)], [(json!(300), json!(0)), (json!(300), json!(1))]);
    let claim = |id: u64| w.call("POST", &format!("/voucher-order/seckill/{id}"), &w.customer, "");
    assert_eq!(code(&claim(closed)), (200, "LEVEL_TOO_LOW"));
    w.ok("POST", &format!("/voucher-order/seckill/{quick}"), &w.customer);
    w.settle_log();
    let order = &w.ok("GET", "/voucher-order/of/me", &w.customer)["data"][0];
    assert_eq!(order["deadlineInMs"], 300_000);
    for (name, value) in [("payWithinSeconds", 0), ("payWithinSeconds", 2_592_001), ("minLevel", 10)] {
        let mut wrong = terms.clone();
        wrong[name] = json!(value);
        let refused = w.call("POST", "/voucher/seckill", &w.operator, &wrong.to_string());
        assert_eq!(code(&refused), (200, "OUT_OF_RANGE"), "{name}");
    }
}

#[test]
fn what_is_taken_off_the_shelf_is_sold_no_more_until_it_is_back() {
    let w = world();
    w.ok("GET", "/voucher/list/1", "");
    w.ok("POST", "/voucher-order/seckill/2", &w.customer);
    for voucher in [1, 2] {
        assert_eq!(edited(&w, voucher, &json!({"status": 2}))["status"], 2);
    }
    assert_eq!(code(&claim(&w, &w.other)), (200, "UNKNOWN_SALE"));
    assert_eq!(code(&w.call("GET", "/sale/2", "", "")), (200, "UNKNOWN_SALE"));
    assert_eq!(code(&w.call("POST", "/voucher-order/1", &w.other, "")), (200, "NOT_FOUND"));
    assert_eq!(w.ok("GET", "/voucher/list/1", "")["data"].as_array().map(Vec::len), Some(1));
    // Earlier buyers keep their orders.
    w.settle_log();
    let order = w.ok("GET", "/voucher-order/of/me", &w.customer)["data"][0]["id"].clone();
    w.ok("POST", &format!("/voucher-order/{}/pay", order.as_str().unwrap()), &w.customer);
    edited(&w, 2, &json!({"status": 1}));
    w.ok("POST", "/voucher-order/seckill/2", &w.other);
    w.assert_balanced();
}

#[test]
fn the_price_of_a_sale_stays_while_it_takes_claims_and_orders_keep_theirs() {
    let w = world();
    let dearer = json!({"payValue": 300});
    claim(&w, &w.customer);
    assert_eq!(code(&edit(&w, 2, &dearer)), (200, "SALE_IS_ON"));
    // An unchanged price is not a new price; and a voucher's value is not a price.
    edited(&w, 2, &json!({"payValue": 100, "actualValue": 9900}));
    w.ok("POST", "/ops/sales/2/pause", &w.operator);
    assert_eq!(edited(&w, 2, &dearer)["payValue"], 300);
    w.ok("POST", "/ops/sales/2/resume", &w.operator);
    claim(&w, &w.other);
    w.settle_log();
    assert_eq!((price(&w, &w.customer), price(&w, &w.other)), (json!(100), json!(300)));
    // Neither has begun: one never did, the other is not a sale.
    for voucher in [1, 3] {
        assert_eq!(edited(&w, voucher, &dearer)["payValue"], 300);
    }
    w.assert_balanced();
}

#[test]
fn a_price_waits_for_the_claims_that_are_no_orders_yet() {
    let w = world();
    w.mall.faults().add(Fault::at_port("orders.persist").error()).unwrap();
    claim(&w, &w.customer);
    w.ok("POST", "/ops/sales/2/pause", &w.operator);
    let response = w.call_once("PUT", "/voucher/2", &w.operator, r#"{"payValue":300}"#);
    assert_eq!(code(&response), (503, "NOT_YET"));
    assert!(response.head.contains("retry-after: 1"), "{}", response.head);
    w.mall.faults().cancel_all();
    w.settle_log();
    assert_eq!(edited(&w, 2, &json!({"payValue": 300}))["payValue"], 300);
    assert_eq!(price(&w, &w.customer), 100);
}

/// If the price shown before and after a purchase is equal, the purchase was at that price, whatever an
/// operator does meanwhile.
#[test]
fn no_order_costs_another_price_than_it_was_bought_at() {
    let w = world();
    let sale = w.add("/voucher/seckill", &sale("2026-11-21T19:00:00", "2026-11-21T23:00:00", 500));
    let shown = || w.ok("GET", &format!("/sale/{sale}/page"), "")["data"]["payValue"].clone();
    let buy = |token: &str| {
        let before = shown();
        let response = w.call("POST", &format!("/voucher-order/seckill/{sale}"), token, "");
        (response.body["success"] == true && shown() == before).then_some(before)
    };
    let bought: Vec<_> = std::thread::scope(|scope| {
        let buyers = (0..3).map(|buyer| {
            let tokens: Vec<_> = (0..30).map(|n| w.log_in(&format!("137000{buyer}{n:04}"))).collect();
            let buy = &buy;
            scope.spawn(move || tokens.into_iter().map(|token| (buy(&token), token)).collect::<Vec<_>>())
        });
        let buyers: Vec<_> = buyers.collect();
        let ops = |step: &str| w.ok("POST", &format!("/ops/sales/{sale}/{step}"), &w.operator);
        for price in [200, 300, 400, 500] {
            ops("pause");
            edited(&w, sale, &json!({ "payValue": price }));
            ops("resume");
        }
        buyers.into_iter().flat_map(|buyer| buyer.join().unwrap()).collect()
    });
    w.settle_log();
    let sure: Vec<_> = bought.into_iter().filter_map(|(price, token)| Some((price?, token))).collect();
    assert!(!sure.is_empty());
    for (price_seen, token) in sure {
        assert_eq!(price(&w, &token), price_seen);
    }
    w.assert_balanced();
}
