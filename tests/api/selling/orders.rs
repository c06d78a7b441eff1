//! Order transitions over HTTP: repeated, concurrent, and by another user.

use std::time::Duration;

use mallbox::fixture::Fault;
use serde_json::{Value, json};

use super::world::{CUSTOMER, Response, World, world};

/// Buys a unit. Returns the order's id, on which `data` and `dataText` must agree.
fn bought(w: &World, path: &str, token: &str) -> String {
    let response = w.call("POST", path, token, "");
    let id = response.body["dataText"].as_str().unwrap_or_else(|| panic!("{response:?}")).to_owned();
    assert_eq!(response.body, json!({"success": true, "data": id.parse::<u64>().unwrap(), "dataText": id}));
    id
}

fn step(w: &World, order: &str, step: &str, token: &str) -> Response {
    w.call("POST", &format!("/voucher-order/{order}/{step}"), token, "")
}

/// Returns the outcome of a step: the order's status, or the code of the refusal.
fn outcome(response: &Response) -> Value {
    assert_eq!(response.status, 200, "{response:?}");
    if response.body["success"] == true {
        response.body["data"]["status"].clone()
    } else {
        response.body["code"].clone()
    }
}

#[test]
fn an_order_is_shown_field_by_field_through_its_life() {
    let w = world();
    let id = bought(&w, "/voucher-order/seckill/2", &w.customer);
    let mut want = json!({
        "id": id, "voucherId": 2, "shopId": 1, "title": "100元秒杀券", "payValue": 100, "payType": 1, "payment": "sandbox", "status": 1,
        "createTime": "2026-11-21T20:00:00", "deadline": "2026-11-21T20:15:00", "deadlineInMs": 900_000,
    });
    // The order may not be persisted yet, which is status 0.
    assert_eq!(step(&w, &id, "use", &w.operator).body["code"], "ORDER_STANDS");
    let shown = |want: &Value| {
        let one = w.call("GET", &format!("/voucher-order/{id}"), &w.customer, "");
        assert_eq!(one.body, json!({"success": true, "data": want}));
        let all = w.call("GET", "/voucher-order/of/me?&current=1", &w.customer, "");
        assert_eq!(all.body, json!({"success": true, "data": [want]}));
    };
    shown(&want);
    w.advance(Duration::from_secs(60));
    want["deadlineInMs"] = json!(840_000);
    shown(&want);
    want["status"] = json!(2);
    want["payTime"] = json!("2026-11-21T20:01:00");
    want.as_object_mut().unwrap().retain(|name, _| !name.starts_with("deadline"));
    assert_eq!(step(&w, &id, "pay", &w.customer).body, json!({"success": true, "data": want}));
    shown(&want);
    w.advance(Duration::from_secs(60));
    want["status"] = json!(3);
    want["useTime"] = json!("2026-11-21T20:02:00");
    for used_before in [false, true] {
        let mut redeemed = want.clone();
        redeemed["userId"] = json!(2);
        redeemed["phone"] = json!(CUSTOMER);
        redeemed["usedBefore"] = json!(used_before);
        assert_eq!(step(&w, &id, "use", &w.operator).body, json!({"success": true, "data": redeemed}));
    }
    shown(&want);

    let ordinary = bought(&w, "/voucher-order/1", &w.other);
    step(&w, &ordinary, "pay", &w.other);
    let refunded = step(&w, &ordinary, "refund", &w.other).body;
    let want = json!({
        "id": ordinary, "voucherId": 1, "shopId": 1, "title": "50元代金券", "payValue": 4750, "payType": 1, "payment": "sandbox", "status": 6,
        "createTime": "2026-11-21T20:02:00", "payTime": "2026-11-21T20:02:00", "refundTime": "2026-11-21T20:02:00",
    });
    assert_eq!(refunded, json!({"success": true, "data": want}));
    w.assert_balanced();
}

#[test]
fn a_purchase_is_repeated_under_its_name_and_buys_nothing_more() {
    let w = world();
    let buy = |token: &str, body: &str| w.call("POST", "/voucher-order/1", token, body);
    let id = |response: &Response| {
        response.body["dataText"].as_str().unwrap_or_else(|| panic!("{response:?}")).to_owned()
    };
    let cart = r#"{"requestId":"cart 7"}"#;
    let lost = w.mall.faults().add(Fault::at_endpoint("POST /voucher-order/{id}").lose_answer().times(1));
    lost.unwrap();
    let unheard = w.mall.call("POST", "/api/voucher-order/1", &w.customer, &json!({ "requestId": "cart 7" }));
    assert!(unheard.is_err(), "{unheard:?}");
    let first = id(&buy(&w.customer, cart));
    let mine = || {
        let list = w.ok("GET", "/voucher-order/of/me", &w.customer)["data"].clone();
        list.as_array()
            .unwrap()
            .iter()
            .map(|order| order["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(mine(), std::slice::from_ref(&first), "the one whose answer was lost");
    // Independent of later transitions; and the voucher is not read again.
    assert_eq!(outcome(&step(&w, &first, "cancel", &w.customer)), 4);
    w.mall.faults().add(Fault::at_port("vouchers.get").error().times(1)).unwrap();
    assert_eq!(id(&buy(&w.customer, cart)), first);
    w.mall.faults().cancel_all();

    let others = [
        id(&buy(&w.other, cart)),
        id(&buy(&w.customer, r#"{"requestId":"cart 8"}"#)),
        id(&buy(&w.customer, "")),
        id(&buy(&w.customer, "{}")),
        id(&buy(&w.customer, r#"{"requestId":null}"#)),
    ];
    let all: std::collections::BTreeSet<_> = others.iter().chain([&first]).collect();
    assert_eq!((all.len(), mine().len()), (6, 5));
    for wrong in ["", &"x".repeat(65), "a\nb"] {
        let response = buy(&w.customer, &json!({ "requestId": wrong }).to_string());
        assert_eq!((response.status, &response.body["code"]), (400, &json!("BAD_REQUEST")), "{wrong}");
    }
    assert_eq!(buy(&w.customer, &json!({ "requestId": "字".repeat(64) }).to_string()).status, 200);
    w.assert_balanced();
}

#[test]
fn each_step_is_idempotent_and_excludes_the_others() {
    let w = world();
    for (path, rows) in [
        (
            "/voucher-order/seckill/2",
            vec![
                ("refund", None),
                ("cancel", Some(4)),
                ("cancel", Some(4)),
                ("pay", None),
                ("use", None),
                ("refund", None),
            ],
        ),
        (
            "/voucher-order/seckill/2",
            vec![
                ("use", None),
                ("pay", Some(2)),
                ("pay", Some(2)),
                ("cancel", None),
                ("refund", Some(6)),
                ("refund", Some(6)),
                ("pay", None),
                ("cancel", None),
                ("use", None),
            ],
        ),
        (
            "/voucher-order/1",
            vec![
                ("pay", Some(2)),
                ("use", Some(3)),
                ("use", Some(3)),
                ("refund", None),
                ("cancel", None),
                ("pay", None),
            ],
        ),
    ] {
        let id = bought(&w, path, &w.customer);
        for (name, status) in rows {
            let token = if name == "use" { &w.operator } else { &w.customer };
            let want = status.map_or(json!("ORDER_STANDS"), |status: u8| json!(status));
            assert_eq!(outcome(&step(&w, &id, name, token)), want, "{path}: {name}");
        }
    }
    w.assert_balanced();
}

#[test]
fn a_second_claim_names_the_order_held_and_a_sold_out_sale_says_so() {
    let w = world();
    let first = bought(&w, "/voucher-order/seckill/2", &w.customer);
    bought(&w, "/voucher-order/seckill/2", &w.other);
    let again = w.call("POST", "/voucher-order/seckill/2", &w.customer, "");
    let number: u64 = first.parse().unwrap();
    let want = json!({
        "success": false, "errorMsg": "不能重复下单", "code": "ALREADY_BOUGHT", "data": number, "dataText": first,
    });
    assert_eq!((again.status, again.body), (200, want));
    let late = w.call("POST", "/voucher-order/seckill/2", &w.operator, "");
    let want = json!({"success": false, "errorMsg": "库存不足", "code": "SOLD_OUT"});
    assert_eq!((late.status, late.body), (200, want));
    assert_eq!(w.call("GET", "/sale/2", "", "").body["data"]["state"], "SOLD_OUT");
}

#[test]
fn somebody_elses_order_is_no_order() {
    let w = world();
    let id = bought(&w, "/voucher-order/seckill/2", &w.customer);
    for name in ["pay", "cancel", "refund"] {
        assert_eq!(outcome(&step(&w, &id, name, &w.other)), "NOT_FOUND", "{name}");
        assert_eq!(step(&w, &id, name, "").status, 401, "{name}");
    }
    assert_eq!(step(&w, &id, "use", &w.customer).status, 403);
    assert_eq!(w.call("GET", &format!("/voucher-order/{id}"), &w.other, "").body["code"], "NOT_FOUND");
    assert_eq!(
        w.call("GET", "/voucher-order/of/me", &w.other, "").body,
        json!({"success": true, "data": []})
    );
    assert_eq!(outcome(&step(&w, &id, "pay", &w.customer)), 2);
}

#[test]
fn steps_at_once_leave_one_winner_and_the_ledger_balances() {
    let w = world();
    for names in [["pay", "cancel", "refund"], ["pay", "refund", "use"]] {
        let id = bought(&w, "/voucher-order/seckill/2", &w.customer);
        std::thread::scope(|scope| {
            for n in 0..24 {
                let (w, id, name) = (&w, &id, names[n % 3]);
                let token = if name == "use" { &w.operator } else { &w.customer };
                scope.spawn(move || outcome(&step(w, id, name, token)));
            }
        });
        let end = w.call("GET", &format!("/voucher-order/{id}"), &w.customer, "").body;
        let status = end["data"]["status"].as_u64().unwrap();
        assert!(matches!(status, 2 | 3 | 4 | 6), "{end}");
        w.assert_balanced();
        if status == 2 {
            step(&w, &id, "refund", &w.customer);
        }
        if status == 3 {
            break;
        }
    }
}

#[test]
fn an_unpaid_order_is_cancelled_at_its_deadline_and_may_be_bought_anew() {
    let w = world();
    let id = bought(&w, "/voucher-order/seckill/2", &w.customer);
    step(&w, &id, "use", &w.operator);
    w.advance(Duration::from_secs(15 * 60));
    let order = w.call("GET", &format!("/voucher-order/{id}"), &w.customer, "").body;
    assert_eq!(order["data"]["status"], 4);
    assert_eq!((order["data"].get("deadline"), order["data"].get("deadlineInMs")), (None, None));
    assert_eq!(w.call("GET", "/sale/2", "", "").body["data"]["stock"], 2);
    bought(&w, "/voucher-order/seckill/2", &w.customer);
}
