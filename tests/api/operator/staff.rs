//! Staff over HTTP: PINs, sessions, and counter sales.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::selling::counter_payments::set_payment_mode;
use super::super::selling::guards::call;
use super::world::{Response, World, world};

/// Price of voucher 1.
pub const PRICE: i64 = 4_750;
/// Price of sale 2, which has two units.
pub const SALE_PRICE: i64 = 100;
pub const PIN: &str = "482913";

/// Sends an operator's request that must succeed, and returns its data.
pub fn operate(w: &World, method: &str, path: &str, body: &Value) -> Value {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let response = w.call(method, path, &w.operator, &body);
    assert_eq!((response.status, &response.body["success"]), (200, &json!(true)), "{path}: {response:?}");
    response.body["data"].clone()
}

/// Trusts a kiosk. Returns its key.
pub fn kiosk(w: &World, name: &str) -> String {
    operate(w, "POST", "/ops/kiosks", &json!({ "name": name }))["key"].as_str().unwrap().to_owned()
}

/// Adds a person with a PIN. Returns the number of the person.
pub fn add(w: &World, name: &str, pin: &str) -> u64 {
    operate(w, "POST", "/ops/staff", &json!({ "name": name, "pin": pin }))["id"].as_u64().unwrap()
}

/// Adds a person with a PIN made by the mall. Returns the number of the person.
pub fn add_with_pin_of_the_mall(w: &World, name: &str) -> u64 {
    operate(w, "POST", "/ops/staff", &json!({ "name": name }))["id"].as_u64().unwrap()
}

/// Tries a PIN at the kiosk of a key.
pub fn try_pin(w: &World, key: &str, pin: &str) -> Response {
    call(w, "/staff/login", "", &[("x-kiosk-key", key)], &json!({ "pin": pin }))
}

/// Logs a person in. Returns the token.
pub fn log_in(w: &World, key: &str, pin: &str) -> String {
    let response = try_pin(w, key, pin);
    response.body["data"]["token"].as_str().unwrap_or_else(|| panic!("{response:?}")).to_owned()
}

/// Returns a mall with a kiosk and a person who is logged in there, with key and token.
pub fn on_duty() -> (World, String, String) {
    let w = world();
    let key = kiosk(&w, "收银台");
    add(&w, "小安", PIN);
    let token = log_in(&w, &key, PIN);
    (w, key, token)
}

/// Returns status and code of a response.
pub fn code(response: &Response) -> (u16, &str) {
    (response.status, response.body["code"].as_str().unwrap_or_default())
}

/// Returns the form of a counter sale for cash.
pub fn sale(voucher: u64, amount: i64, request: &str) -> Value {
    json!({ "voucherId": voucher, "amount": amount, "method": "cash", "requestId": request })
}

/// Calls a counter sale for cash.
pub fn sell(w: &World, token: &str, voucher: u64, amount: i64, request: &str) -> Response {
    w.call("POST", "/staff/sales", token, &sale(voucher, amount, request).to_string())
}

/// Calls a counter sale that must succeed, and returns its data.
pub fn sold(w: &World, token: &str, voucher: u64, amount: i64, request: &str) -> Value {
    let response = sell(w, token, voucher, amount, request);
    assert_eq!((response.status, &response.body["success"]), (200, &json!(true)), "{response:?}");
    response.body["data"].clone()
}

#[test]
fn a_pin_logs_its_person_in_at_a_trusted_kiosk_and_nowhere_else() {
    let w = world();
    let key = kiosk(&w, "收银台");
    let added = operate(&w, "POST", "/ops/staff", &json!({ "name": " 小安 " }));
    let pin = added["pin"].as_str().unwrap();
    assert_eq!((pin.len(), &added["name"], &added["id"]), (8, &json!("小安"), &json!(1)));
    let listed = operate(&w, "GET", "/ops/staff", &Value::Null);
    assert_eq!((listed[0].get("pin"), &listed[0]["name"]), (None, &json!("小安")), "never shown again");
    for wrong in ["", "none", &key[1..]] {
        assert_eq!(code(&try_pin(&w, wrong, pin)), (200, "KIOSK_UNKNOWN"), "{wrong}");
    }
    let without = w.call("POST", "/staff/login", "", &json!({ "pin": pin }).to_string());
    assert_eq!(code(&without), (200, "KIOSK_UNKNOWN"));
    let token = log_in(&w, &key, pin);
    let me = w.ok("GET", "/staff/me", &token)["data"].clone();
    assert_eq!(me, json!({ "id": 1, "name": "小安", "idleSeconds": 300, "counterCodes": true }));
    let audit = operate(&w, "GET", "/ops/audit?max=50", &Value::Null);
    let find =
        |action: &str| audit.as_array().unwrap().iter().find(|entry| entry["action"] == action).unwrap();
    let entry = find("staff.log-in");
    assert_eq!(entry["detail"], json!({ "staff": "小安", "kiosk": "收银台" }));
    assert_eq!((&entry["staffName"], find("staff.add").get("staffName")), (&json!("小安"), None));
    assert!(!audit.to_string().contains(pin), "no PIN is in the audit log");
    w.ok("POST", "/user/logout", &token);
    assert_eq!(w.call("GET", "/staff/me", &token, "").status, 401);
}

#[test]
fn a_pin_names_one_person_and_simple_ones_are_refused() {
    let w = world();
    add(&w, "小安", PIN);
    let refused = |body: Value| {
        let response = w.call("POST", "/ops/staff", &w.operator, &body.to_string());
        (response.status, response.body["code"].as_str().unwrap_or_default().to_owned())
    };
    for (body, status, code) in [
        (json!({ "name": "小波", "pin": PIN }), 200, "PIN_TAKEN"),
        (json!({ "name": "小安", "pin": "582913" }), 200, "STAFF_NAME_TAKEN"),
        (json!({ "name": "小波", "pin": "123456" }), 200, "PIN_GUESSABLE"),
        (json!({ "name": "小波", "pin": "48291" }), 200, "PIN_FORM"),
        (json!({ "name": "小波", "pin": "4829131234567" }), 200, "PIN_FORM"),
        (json!({ "name": "小波", "pin": "48291a" }), 200, "PIN_FORM"),
        (json!({ "name": "小波", "pin": 482_913 }), 400, "BAD_REQUEST"),
        (json!({ "name": "  " }), 400, "BAD_REQUEST"),
        (json!({}), 400, "BAD_REQUEST"),
        (json!({ "name": "安".repeat(41) }), 400, "BAD_REQUEST"),
    ] {
        assert_eq!(refused(body.clone()), (status, code.to_owned()), "{body}");
    }
    let second = add(&w, "小波", "582913");
    let path = format!("/ops/staff/{second}/pin");
    let taken = w.call("PUT", &path, &w.operator, &json!({ "pin": PIN }).to_string());
    assert_eq!(code(&taken), (200, "PIN_TAKEN"));
    // The own PIN once more is no other person's.
    operate(&w, "PUT", &path, &json!({ "pin": "582913" }));
    assert_eq!(code(&w.call("PUT", "/ops/staff/9/pin", &w.operator, "")), (200, "NOT_FOUND"));
    assert_eq!(code(&w.call("DELETE", "/ops/staff/9", &w.operator, "")), (200, "NOT_FOUND"));
}

#[test]
fn wrong_pins_make_a_kiosk_wait_and_no_other() {
    let (w, key, _) = on_duty();
    let other = kiosk(&w, "入口");
    for _ in 0..5 {
        assert_eq!(code(&try_pin(&w, &key, "999990")), (200, "PIN_WRONG"));
    }
    // The right PIN waits, too: nobody learns that it is the right one.
    for pin in ["999990", PIN] {
        let waits = try_pin(&w, &key, pin);
        assert_eq!(code(&waits), (429, "RATE_LIMITED"), "{waits:?}");
        assert!(waits.head.contains("retry-after: 30\r\n"), "{}", waits.head);
    }
    log_in(&w, &other, PIN);
    w.advance(Duration::from_secs(31));
    assert_eq!(code(&try_pin(&w, &key, "999990")), (200, "PIN_WRONG"));
    assert!(try_pin(&w, &key, PIN).head.contains("retry-after: 60\r\n"));
    w.advance(Duration::from_secs(61));
    log_in(&w, &key, PIN);
    // A right PIN forgives nothing.
    assert_eq!(code(&try_pin(&w, &key, "999990")), (200, "PIN_WRONG"));
    assert!(try_pin(&w, &key, PIN).head.contains("retry-after: 120\r\n"));
    w.advance(Duration::from_secs(12 * 3_600));
    let operator = w.log_in(super::world::OPERATOR);
    let events = w.ok("GET", "/ops/security?event=staff_login_failed", &operator)["data"].to_string();
    assert!(events.contains("staff_login_failed"), "{events}");
    assert_eq!(code(&try_pin(&w, &key, "999990")), (200, "PIN_WRONG"));
    log_in(&w, &key, PIN);
}

/// Returns the number of wrong PINs that the mall has counted, over all kiosks.
fn wrong_pins(w: &World) -> u64 {
    let upkeep = w.mall.app().unwrap().context.storage.base.upkeep.clone();
    let stored = w.mall.wait_for(async move { upkeep.setting("staff.wrong-pins").await.unwrap() }).unwrap();
    let kiosks: serde_json::Value = serde_json::from_str(&stored.unwrap_or_else(|| "{}".to_owned())).unwrap();
    kiosks.as_object().unwrap().values().map(|kiosk| kiosk["count"].as_u64().unwrap()).sum()
}

#[test]
fn concurrent_guesses_escape_no_wait() {
    let (w, key, _) = on_duty();
    thread::scope(|scope| {
        for number in 0..9 {
            let (w, key) = (&w, &key);
            scope.spawn(move || {
                let response = try_pin(w, key, &format!("77{number}913"));
                assert!(["PIN_WRONG", "RATE_LIMITED"].contains(&code(&response).1), "{response:?}");
            });
        }
    });
    // Counted by the mall, not by the responses: a call that a busy machine answers too late is counted as
    // well, and repeated.
    assert_eq!(wrong_pins(&w), 5);
}

#[test]
fn a_session_ends_with_the_person_the_pin_and_five_idle_minutes() {
    let (w, key, token) = on_duty();
    let is_live = |token: &str| match w.call("GET", "/staff/me", token, "").status {
        200 => true,
        401 => false,
        other => panic!("{other}"),
    };
    for _ in 0..4 {
        w.advance(Duration::from_secs(180));
        assert!(is_live(&token), "in use");
    }
    w.advance(Duration::from_secs(301));
    assert!(!is_live(&token), "idle");
    let operator = w.log_in(super::world::OPERATOR);
    let token = log_in(&w, &key, PIN);
    let pinned = w.call("PUT", "/ops/staff/1/pin", &operator, r#"{"pin":"582913"}"#);
    assert_eq!(pinned.body["success"], true, "{pinned:?}");
    assert!(!is_live(&token), "a new PIN");
    assert_eq!(code(&try_pin(&w, &key, PIN)), (200, "PIN_WRONG"));
    let token = log_in(&w, &key, "582913");
    w.ok("DELETE", "/ops/staff/1", &operator);
    assert!(!is_live(&token), "removed");
    assert_eq!(code(&try_pin(&w, &key, "582913")), (200, "PIN_WRONG"));
    // The audit log names a removed person.
    let audit = w.ok("GET", "/ops/audit?max=50", &operator)["data"].clone();
    let log_in = audit.as_array().unwrap().iter().find(|entry| entry["action"] == "staff.log-in").unwrap();
    assert_eq!(log_in["staffName"], "小安");
}

#[test]
fn a_counter_sale_is_an_order_of_nobody_paid_and_redeemed_once() {
    let (w, _, token) = on_duty();
    let sale = sold(&w, &token, 1, PRICE, "one");
    let (order, receipt) = (&sale["order"], &sale["receipt"]);
    assert_eq!(
        (&order["status"], &order["payment"], &order["walkIn"]),
        (&json!(2), &json!("counter"), &json!(true))
    );
    assert_eq!((&order["payTime"], order.get("phone")), (&json!("2026-11-21T20:00:00"), None));
    assert_eq!((&sale["soldBefore"], &receipt["id"]), (&json!(false), &order["id"]));
    assert!(receipt["qr"]["path"].as_str().unwrap().len() > 100);
    let again = sold(&w, &token, 1, PRICE, "one");
    assert_eq!((&again["soldBefore"], &again["order"]["id"]), (&json!(true), &order["id"]));
    assert_ne!(sold(&w, &token, 1, PRICE, "two")["order"]["id"], order["id"]);

    let id = order["id"].as_str().unwrap();
    let receipt_code = receipt["code"].as_str().unwrap();
    let found = w.ok("GET", &format!("/ops/receipts/{receipt_code}"), &token);
    assert_eq!((&found["data"]["usable"], &found["data"]["id"]), (&json!(true), &json!(id)));
    let used = w.ok("POST", &format!("/ops/receipts/{receipt_code}/use"), &token);
    assert_eq!((&used["data"]["status"], &used["data"]["usedBefore"]), (&json!(3), &json!(false)));
    assert_eq!(sold(&w, &token, 1, PRICE, "one")["soldBefore"], true, "a used sale stands");
    let today = w.ok("GET", "/staff/orders", &token)["data"].clone();
    assert_eq!(today.as_array().unwrap().len(), 2);
    assert_eq!(w.ok("GET", &format!("/staff/orders/{id}"), &token)["data"]["status"], 3);

    let audit = operate(&w, "GET", "/ops/audit?max=50", &Value::Null);
    let entries = audit.as_array().unwrap();
    for (action, subject) in [
        ("voucher.sell", "voucher 1".to_owned()),
        ("order.pay", format!("order {id}")),
        ("order.use", format!("order {id}")),
    ] {
        let entry = entries.iter().find(|entry| entry["action"] == action && entry["subject"] == subject);
        assert_eq!(entry.unwrap_or_else(|| panic!("{action}: {audit}"))["staffName"], "小安", "{action}");
    }
    w.assert_balanced();
}

#[test]
fn a_flash_sale_has_its_units_for_the_counter_and_for_everybody_together() {
    let (w, _, token) = on_duty();
    let first = sold(&w, &token, 2, SALE_PRICE, "one");
    assert_eq!((&first["order"]["status"], &first["order"]["walkIn"]), (&json!(2), &json!(true)));
    assert_eq!(sold(&w, &token, 2, SALE_PRICE, "one")["order"]["id"], first["order"]["id"]);
    w.ok("POST", "/voucher-order/seckill/2", &w.customer);
    assert_eq!(code(&sell(&w, &token, 2, SALE_PRICE, "two")), (200, "SOLD_OUT"));
    let claim = w.call("POST", "/voucher-order/seckill/2", &w.other, "");
    assert_eq!(code(&claim), (200, "SOLD_OUT"));
    assert_eq!(code(&sell(&w, &token, 3, SALE_PRICE, "early")), (200, "NOT_OPEN"));
    w.settle_log();
    w.assert_balanced();

    // A refund is an operator's. It gives the unit back, and the sale of the key is over.
    let path = format!("/ops/orders/{}/refund", first["order"]["id"].as_str().unwrap());
    let money = json!({ "amount": SALE_PRICE, "method": "cash", "reason": "买错了" });
    assert_eq!(w.call("POST", &path, &token, &money.to_string()).status, 403);
    operate(&w, "POST", &path, &money);
    assert_eq!(code(&sell(&w, &token, 2, SALE_PRICE, "one")), (200, "ORDER_STANDS"));
    sold(&w, &token, 2, SALE_PRICE, "three");
    w.settle_log();
    w.assert_balanced();
}

#[test]
fn a_rush_at_the_counter_sells_what_there_is_and_each_key_once() {
    let (w, _, token) = on_duty();
    operate(&w, "POST", "/ops/sales/2/stock", &json!({ "add": 6 }));
    let answers: Vec<Value> = thread::scope(|scope| {
        // Twelve keys, each called twice at once, for eight units.
        let calls: Vec<_> = (0..24)
            .map(|number| {
                let (w, token) = (&w, &token);
                scope.spawn(move || sell(w, token, 2, SALE_PRICE, &format!("key {}", number % 12)).body)
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    let mut orders: Vec<String> = answers
        .iter()
        .filter(|answer| answer["success"] == true)
        .map(|answer| answer["data"]["order"]["id"].to_string())
        .collect();
    orders.sort_unstable();
    orders.dedup();
    for refused in answers.iter().filter(|answer| answer["success"] == false) {
        assert_eq!(refused["code"], "SOLD_OUT", "{refused}");
    }
    assert_eq!(orders.len(), 8, "{answers:?}");
    assert_eq!(w.ok("GET", "/sale/2", "")["data"]["stock"], 0);
    w.settle_log();
    w.assert_balanced();
}

#[test]
fn a_wrong_counter_sale_is_refused_and_leaves_nothing() {
    let (w, _, token) = on_duty();
    let body = |voucher: Value, amount: Value, method: &str, request: Value| json!({ "voucherId": voucher, "amount": amount, "method": method, "requestId": request });
    let price = json!(PRICE);
    for (body, status, code, words) in [
        (body(json!(1), json!(PRICE - 1), "cash", json!("a")), 200, "AMOUNT_DIFFERS", "47.50"),
        (body(json!(1), json!(i64::MIN), "cash", json!("a")), 200, "AMOUNT_DIFFERS", "47.50"),
        (body(json!(99), price.clone(), "cash", json!("a")), 200, "NOT_FOUND", ""),
        (body(json!(-1), price.clone(), "cash", json!("a")), 400, "BAD_REQUEST", "voucherId"),
        (body(json!(1), price.clone(), "coins", json!("a")), 400, "BAD_REQUEST", "cash"),
        (body(json!(1), price.clone(), "cash", json!("")), 400, "BAD_REQUEST", "请求编号"),
        (body(json!(1), price.clone(), "cash", json!("x".repeat(65))), 400, "BAD_REQUEST", "请求编号"),
        (json!({ "voucherId": 1, "amount": PRICE, "method": "cash" }), 400, "BAD_REQUEST", "requestId"),
        (json!({}), 400, "BAD_REQUEST", ""),
    ] {
        let response = w.call("POST", "/staff/sales", &token, &body.to_string());
        assert_eq!(self::code(&response), (status, code), "{body}: {}", response.text);
        assert!(response.text.contains(words), "{body}: {}", response.text);
    }
    operate(&w, "PUT", "/voucher/1", &json!({ "status": 2 }));
    assert_eq!(code(&sell(&w, &token, 1, PRICE, "off the shelf")), (200, "NOT_FOUND"));
    assert_eq!(w.ok("GET", "/staff/orders", &token)["data"], json!([]));
    w.assert_balanced();
}

#[test]
fn staff_record_payments_and_see_a_part_of_phone_numbers() {
    let (w, _, token) = on_duty();
    set_payment_mode(&w, mallbox_storage::PaymentMode::Counter);
    let order = w.ok("POST", "/voucher-order/1", &w.customer)["dataText"].as_str().unwrap().to_owned();
    let money = json!({ "amount": PRICE, "method": "terminal" }).to_string();
    let paid = w.call("POST", &format!("/ops/orders/{order}/pay"), &token, &money).body["data"].clone();
    assert_eq!((&paid["status"], &paid["phone"]), (&json!(2), &json!("139****0002")));
    let seen = w.ok("GET", "/staff/orders", &w.operator)["data"].clone();
    assert_eq!(seen[0]["phone"], super::world::CUSTOMER, "operators see the whole number");
    w.advance(Duration::from_secs(5 * 3_600));
    let operator = w.log_in(super::world::OPERATOR);
    assert_eq!(w.ok("GET", "/staff/orders", &operator)["data"], json!([]), "yesterday's");
}
