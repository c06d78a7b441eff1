//! The waiting list of a sold-out sale over HTTP.

use std::time::Duration;

use serde_json::{Value, json};

use super::guards;
use super::world::{Response, World, world};

const LIST: &str = "/sale/2/waiting-list";

/// Turns the list of the running sale on, and has the operator and another user buy its two units. Returns
/// the operator's order.
fn sold_out(w: &World) -> String {
    let list = w.call("PUT", "/ops/sales/2/waiting-list", &w.operator, r#"{"max":1}"#);
    assert_eq!(list.body["data"], json!({"max": 1, "waiting": 0, "entries": []}), "{list:?}");
    let bought = w.call("POST", "/voucher-order/seckill/2", &w.operator, "");
    let _ = w.call("POST", "/voucher-order/seckill/2", &w.other, "");
    w.settle_log();
    bought.body["dataText"].as_str().unwrap().to_owned()
}

fn data(response: Response) -> Value {
    assert_eq!(response.body["success"], true, "{response:?}");
    response.body["data"].clone()
}

#[test]
fn a_buyer_waits_and_gets_an_order() {
    let w = world();
    let live = |w: &World| w.ok("GET", "/sale/2", "")["data"].clone();
    assert_eq!(live(&w)["waitingList"], false);
    let refused = w.call("POST", LIST, &w.customer, "");
    assert_eq!((refused.status, &refused.body["code"]), (200, &json!("NO_WAITING_LIST")));
    let order = sold_out(&w);
    assert_eq!((&live(&w)["waitingList"], &live(&w)["state"]), (&json!(true), &json!("SOLD_OUT")));
    let none = json!({"state": "NONE", "ahead": 0, "waiting": 0, "pollInMs": 0});
    assert_eq!(data(w.call("GET", LIST, &w.customer, "")), none);
    assert_eq!(data(w.call("DELETE", LIST, &w.customer, "")), none);
    let waits = json!({"state": "WAITING", "ahead": 0, "waiting": 1, "pollInMs": 2_000});
    for method in ["POST", "POST", "GET"] {
        assert_eq!(data(w.call(method, LIST, &w.customer, "")), waits);
    }
    let held = w.call("POST", LIST, &w.operator, "");
    assert_eq!((&held.body["code"], &held.body["dataText"]), (&json!("ALREADY_BOUGHT"), &json!(order)));
    assert_eq!(w.call("POST", LIST, "", "").status, 401);
    let shown = data(w.call("GET", "/ops/sales/2/waiting-list", &w.operator, ""));
    assert_eq!((&shown["waiting"], &shown["entries"][0]["state"]), (&json!(1), &json!("WAITING")));
    assert_eq!(shown["entries"][0]["joinedTime"], "2026-11-21T20:00:00");

    data(w.call("POST", &format!("/voucher-order/{order}/cancel"), &w.operator, ""));
    let late = w.call("POST", "/voucher-order/seckill/2", &w.operator, "");
    assert_eq!(late.body["code"], "SOLD_OUT", "units are for the list");
    w.advance(Duration::from_secs(1));
    let promoted = data(w.call("GET", LIST, &w.customer, ""));
    assert_eq!(promoted["state"], "PROMOTED");
    let order = promoted["orderId"].as_str().unwrap();
    let own = data(w.call("GET", &format!("/voucher-order/{order}"), &w.customer, ""));
    assert_eq!((&own["status"], &own["voucherId"]), (&json!(1), &json!(2)));
}

#[test]
fn a_buyer_leaves_and_the_next_may_come() {
    let w = world();
    sold_out(&w);
    data(w.call("POST", LIST, &w.customer, ""));
    let left = json!({"state": "LEFT", "ahead": 0, "waiting": 0, "pollInMs": 2_000});
    for _ in 0..2 {
        assert_eq!(data(w.call("DELETE", LIST, &w.customer, "")), left);
    }
    assert_eq!(data(w.call("POST", LIST, &w.customer, ""))["state"], "WAITING");
}

#[test]
fn a_guarded_sale_asks_for_a_pass_before_the_waiting() {
    let w = world();
    sold_out(&w);
    let guard = json!({"kinds": ["work"], "workBits": 8});
    data(w.call("PUT", "/ops/sales/2/guard", &w.operator, &guard.to_string()));
    assert_eq!(w.call("POST", LIST, &w.customer, "").body["code"], "PASS_REQUIRED");
    let given = guards::call(&w, "/sale/2/challenge", &w.customer, &[], &Value::Null).body["data"].clone();
    let device = ("x-device-ticket", given["deviceTicket"].as_str().unwrap());
    let answer = json!({"challenge": given["challenge"], "answer": {"work": guards::proof(&given["work"])}});
    let issued = data(guards::call(&w, "/sale/2/pass", &w.customer, &[device], &answer));
    let pass = ("x-sale-pass", issued["pass"].as_str().unwrap());
    let joined = data(guards::call(&w, LIST, &w.customer, &[device, pass], &Value::Null));
    assert_eq!(joined["state"], "WAITING");
}
