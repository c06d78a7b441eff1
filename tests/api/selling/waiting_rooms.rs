//! The waiting room of a sale over HTTP.

use std::time::Duration;

use serde_json::{Value, json};

use super::guards::call;
use super::world::{Response, World, world};

const ROOM: &str = "/sale/2/waiting-room";

fn data(response: Response) -> Value {
    assert_eq!(response.body["success"], true, "{response:?}");
    response.body["data"].clone()
}

fn put(w: &World, sale: u64, per_second: u32) {
    let path = format!("/ops/sales/{sale}/waiting-room");
    let body = json!({ "perSecond": per_second, "admissionSeconds": 60 });
    let stored = data(w.call("PUT", &path, &w.operator, &body.to_string()));
    assert_eq!(stored, json!({"perSecond": per_second, "admissionSeconds": 60, "waiting": 0, "admitted": 0}));
}

#[test]
fn a_buyer_waits_is_admitted_and_claims() {
    let w = world();
    let unset = json!({"perSecond": 0, "admissionSeconds": 120, "waiting": 0, "admitted": 0});
    assert_eq!(data(w.call("GET", "/ops/sales/2/waiting-room", &w.operator, "")), unset);
    put(&w, 2, 1);
    w.advance(Duration::from_secs(2));
    assert_eq!(w.ok("GET", "/sale/2", "")["data"]["waitingRoom"], true);
    let page = w.ok("GET", "/sale/2/page", "")["data"]["waitingRoom"].clone();
    assert_eq!(page, json!({"perSecond": 1, "enterBeforeMs": 3_600_000}));
    let claim = "/voucher-order/seckill/2";
    assert_eq!(w.call("POST", claim, &w.customer, "").body["code"], "ADMISSION_REQUIRED");

    let outside = json!({"state": "OUTSIDE", "waiting": 0, "sale": "OPEN", "stock": 2});
    for method in ["GET", "DELETE"] {
        assert_eq!(data(w.call(method, ROOM, &w.customer, "")), outside);
    }
    // The first is admitted at once.
    let admitted = data(w.call("POST", ROOM, &w.other, ""));
    assert_eq!((&admitted["state"], &admitted["admissionEndsInMs"]), (&json!("ADMITTED"), &json!(60_000)));
    let waits = data(w.call("POST", ROOM, &w.customer, ""));
    let shown = json!({
        "state": "WAITING", "ahead": 0, "waiting": 1, "waitMs": 1_000, "sale": "OPEN", "stock": 2,
        "pollInMs": waits["pollInMs"], "ticket": waits["ticket"],
    });
    assert_eq!(waits, shown);
    let poll_in = waits["pollInMs"].as_u64().unwrap();
    assert!((2_000..=3_000).contains(&poll_in), "{poll_in}");
    w.advance(Duration::from_secs(1));
    let ticket = json!({ "ticket": waits["ticket"] });
    let admitted = data(w.call("POST", ROOM, &w.customer, &ticket.to_string()));
    let admission = ("x-sale-admission", admitted["admission"].as_str().unwrap());
    let bought = call(&w, claim, &w.customer, &[admission], &Value::Null);
    assert_eq!(bought.body["success"], true, "{bought:?}");
    let figures = data(w.call("GET", "/ops/sales/2/waiting-room", &w.operator, ""));
    assert_eq!((&figures["waiting"], &figures["admitted"]), (&json!(0), &json!(2)));
    let again = w.call("POST", ROOM, &w.customer, "");
    assert_eq!(again.body["code"], "ALREADY_BOUGHT");
    assert_eq!(again.body["dataText"], bought.body["dataText"]);
}

#[test]
fn a_buyer_who_comes_before_the_begin_sees_no_place_yet() {
    let w = world();
    put(&w, 3, 5);
    w.advance(Duration::from_secs(2));
    let waits = data(w.call("POST", "/sale/3/waiting-room", &w.customer, ""));
    assert_eq!(
        (&waits["state"], &waits["waiting"], &waits["sale"]),
        (&json!("WAITING"), &json!(1), &json!("NOT_OPEN"))
    );
    for absent in ["ahead", "waitMs", "stock", "admission"] {
        assert_eq!(waits[absent], Value::Null, "{absent}");
    }
    let again = w.call("POST", "/sale/3/waiting-room", &w.customer, "");
    assert!(again.head.to_lowercase().contains("connection: close"), "it asks rarely: {}", again.head);
    let left = data(w.call("DELETE", "/sale/3/waiting-room", &w.customer, ""));
    assert_eq!(left, json!({"state": "OUTSIDE", "waiting": 0, "sale": "NOT_OPEN"}));
}
