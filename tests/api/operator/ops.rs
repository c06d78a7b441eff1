//! The operators' API: every operation of `/ops/sales`, `/ops/orders` and `/ops/dead-letters`, field by
//! field.

use std::time::Duration;

use mallbox::fixture::Fault;
use serde_json::{Value, json};

use super::world::{OPERATOR, OTHER, Response, World, with_database_access, world};

fn ops(w: &World, method: &str, path: &str, body: &Value) -> Response {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    w.call(method, &format!("/ops{path}"), &w.operator, &body)
}

/// Returns the data of a successful response.
fn data(response: Response) -> Value {
    assert_eq!((response.status, &response.body["success"]), (200, &json!(true)), "{response:?}");
    assert!(response.head.contains("cache-control: no-store"), "{}", response.head);
    response.body["data"].clone()
}

fn buy(w: &World, voucher: u64, token: &str) -> String {
    let response = w.call("POST", &format!("/voucher-order/seckill/{voucher}"), token, "");
    response.body["dataText"].as_str().unwrap_or_else(|| panic!("{response:?}")).to_owned()
}

/// Returns the initial state of voucher 2.
fn sale() -> Value {
    json!({
        "voucherId": 2, "shopId": 1, "shopName": "103茶餐厅", "title": "100元秒杀券", "status": 1, "state": "OPEN",
        "beginTime": "2026-11-21T19:00:00", "endTime": "2026-11-21T23:00:00", "paused": false,
        "payWithinSeconds": 900, "minLevel": 0, "initial": 2, "added": 0, "left": 2, "taken": 0, "pending": 0,
    })
}

fn with(mut value: Value, fields: &Value) -> Value {
    let fields = fields.as_object().unwrap().clone();
    value.as_object_mut().unwrap().extend(fields);
    value
}

#[test]
fn sales_are_listed_and_shown_with_their_ledger() {
    let w = world();
    let mut unlimited = with(
        sale(),
        &json!({
            "voucherId": 3, "state": "NOT_OPEN", "beginTime": "2026-11-21T21:00:00",
            "endTime": "2026-11-21T22:00:00",
        }),
    );
    for absent in ["initial", "left"] {
        unlimited.as_object_mut().unwrap().remove(absent);
    }
    let list = ops(&w, "GET", "/sales", &Value::Null);
    assert_eq!(list.body, json!({"success": true, "data": [unlimited, sale()], "total": 2}));
    let second = ops(&w, "GET", "/sales?current=2", &Value::Null);
    assert_eq!(second.body, json!({"success": true, "data": [], "total": 2}));
    buy(&w, 2, &w.customer);
    w.settle_log();
    let books = json!({
        "voucher": 2, "initial": 2, "added": 0, "remaining": 1, "pending": 0, "unpaid": 1, "paid": 0, "used": 0,
        "refunding": 0, "deadLetters": 0, "offered": 0, "inMemory": true,
    });
    let want = with(sale(), &json!({"left": 1, "taken": 1, "books": books, "balances": true}));
    assert_eq!(data(ops(&w, "GET", "/sales/2", &Value::Null)), want);
}

#[test]
fn an_operator_runs_a_sale_from_end_to_end() {
    let w = world();
    let none = &Value::Null;
    let held = with(sale(), &json!({"paused": true, "state": "PAUSED"}));
    for _ in 0..2 {
        assert_eq!(data(ops(&w, "POST", "/sales/2/pause", none)), held);
    }
    let refused = w.call("POST", "/voucher-order/seckill/2", &w.customer, "");
    assert_eq!(refused.body["code"], "PAUSED");
    assert_eq!(data(ops(&w, "POST", "/sales/2/resume", none)), sale());
    buy(&w, 2, &w.customer);
    buy(&w, 2, &w.other);
    assert_eq!(w.call("POST", "/voucher-order/seckill/2", &w.operator, "").body["code"], "SOLD_OUT");
    // The response was lost, and the request is repeated.
    for _ in 0..2 {
        let stocked = data(ops(&w, "POST", "/sales/2/stock", &json!({"add": 3, "requestId": "truck 7"})));
        assert_eq!((&stocked["by"], &stocked["added"], &stocked["left"]), (&json!(3), &json!(3), &json!(3)));
    }
    let other = ops(&w, "POST", "/sales/2/stock", &json!({"add": 4, "requestId": "truck 7"}));
    assert_eq!((other.status, &other.body["code"]), (400, &json!("BAD_REQUEST")));
    buy(&w, 2, &w.operator);
    w.settle_log();
    let fewer = data(ops(&w, "POST", "/sales/2/stock", &json!({"add": -9})));
    let want = with(sale(), &json!({"by": -2, "added": 1, "left": 0, "taken": 3, "state": "SOLD_OUT"}));
    assert_eq!(fewer, want);
    let moved = json!({"beginTime": "2026-11-21T18:30:00", "endTime": "2026-11-22T01:00:00"});
    let shown = data(ops(&w, "PUT", "/sales/2", &moved));
    assert_eq!(shown["beginTime"], moved["beginTime"]);
    assert_eq!(data(w.call("GET", "/sale/2", "", ""))["endTime"], moved["endTime"]);
    w.advance(Duration::from_secs(60));
    let ended = data(ops(&w, "POST", "/sales/2/end", none));
    assert_eq!((&ended["state"], &ended["endTime"]), (&json!("ENDED"), &json!("2026-11-21T20:01:00")));
    let again = data(ops(&w, "PUT", "/sales/2", &json!({"endTime": "2026-11-21T23:00:00"})));
    assert_eq!((&again["state"], &again["beginTime"]), (&json!("SOLD_OUT"), &moved["beginTime"]));
    let unlimited = ops(&w, "POST", "/sales/3/stock", &json!({"add": 1}));
    assert_eq!((unlimited.status, &unlimited.body["code"]), (200, &json!("UNLIMITED")));
    w.assert_balanced();
}

#[test]
fn units_are_released_in_waves() {
    let w = world();
    let wave = |number: u32, minutes: u32, units: u64| json!({"number": number, "time": format!("2026-11-21T20:{minutes:02}:00"), "units": units});
    let asked = json!({"waves": [wave(0, 10, 5), wave(0, 20, 6)]});
    let waves = json!({"waves": [wave(1, 10, 5), wave(2, 20, 6)]});
    // The response was lost, and the request is repeated.
    for _ in 0..2 {
        assert_eq!(data(ops(&w, "PUT", "/sales/2/waves", &asked)), waves);
    }
    assert_eq!(data(ops(&w, "GET", "/sales/2/waves", &Value::Null)), waves);
    buy(&w, 2, &w.customer);
    buy(&w, 2, &w.other);
    let next = json!({"inMs": 600_000, "units": 5});
    let refused = w.call("POST", "/voucher-order/seckill/2", &w.operator, "").body;
    let words = "这一批已抢光，10分钟后再放出5份";
    let want = json!({"success": false, "code": "SOLD_OUT", "errorMsg": words, "nextWave": next});
    assert_eq!(refused, want);
    let live = data(w.call("GET", "/sale/2", "", ""));
    assert_eq!((&live["state"], &live["nextWave"]), (&json!("SOLD_OUT"), &next));
    let page = w.call("GET", "/sale/2/page", "", "").body["data"].clone();
    let shown = |minutes: u32, units: u64, is_released: bool| json!({"time": format!("2026-11-21T20:{minutes:02}:00"), "units": units, "isReleased": is_released});
    assert_eq!(page["waves"], json!([shown(10, 5, false), shown(20, 6, false)]));
    w.settle_log();
    w.advance(Duration::from_secs(600));
    let released = with(wave(1, 10, 5), &json!({"releasedTime": "2026-11-21T20:10:00"}));
    assert_eq!(
        data(ops(&w, "GET", "/sales/2/waves", &Value::Null)),
        json!({"waves": [released, wave(2, 20, 6)]})
    );
    let page = w.call("GET", "/sale/2/page", "", "").body["data"].clone();
    assert_eq!(page["waves"], json!([shown(10, 5, true), shown(20, 6, false)]));
    buy(&w, 2, &w.operator);
    w.settle_log();
    let sale = data(ops(&w, "GET", "/sales/2", &Value::Null));
    assert_eq!((&sale["added"], &sale["left"], &sale["balances"]), (&json!(5), &json!(4), &json!(true)));
    assert_eq!(data(ops(&w, "PUT", "/sales/2/waves", &json!({"waves": []}))), json!({"waves": [released]}));
    let page = w.call("GET", "/sale/2/page", "", "").body["data"].clone();
    assert_eq!(page.get("waves"), None, "nothing is to come");
    w.assert_balanced();
}

#[test]
fn orders_are_found_and_voided() {
    let w = world();
    let unpaid = buy(&w, 2, &w.customer);
    let paid = buy(&w, 2, &w.other);
    w.settle_log();
    assert_eq!(w.call("POST", &format!("/voucher-order/{paid}/pay"), &w.other, "").status, 200);
    let shown = json!({
        "id": paid, "voucherId": 2, "shopId": 1, "title": "100元秒杀券", "payValue": 100, "payType": 1, "payment": "sandbox", "status": 2,
        "createTime": "2026-11-21T20:00:00", "payTime": "2026-11-21T20:00:00", "userId": 3, "phone": OTHER,
    });
    for query in [
        format!("?id={paid}"),
        format!("?phone={OTHER}"),
        "?user=3".to_owned(),
        "?status=2".to_owned(),
        "?&voucher=2&status=2&user=&phone=&id=&current=1".to_owned(),
    ] {
        let found = ops(&w, "GET", &format!("/orders{query}"), &Value::Null);
        assert_eq!(found.body, json!({"success": true, "data": [shown], "total": 1}), "{query}");
    }
    let all = ops(&w, "GET", "/orders", &Value::Null);
    assert_eq!((&all.body["total"], &all.body["data"][0]["id"]), (&json!(2), &json!(paid)));
    let none = ops(&w, "GET", "/orders?id=7", &Value::Null);
    assert_eq!(none.body, json!({"success": true, "data": [], "total": 0}));

    let reason = json!({"reason": "买错了"});
    for _ in 0..2 {
        let voided = data(ops(&w, "POST", &format!("/orders/{paid}/void"), &reason));
        let mut want = with(shown.clone(), &json!({"status": 6, "refundTime": "2026-11-21T20:00:00"}));
        want["status"] = json!(6);
        assert_eq!(voided, want);
        assert_eq!(data(ops(&w, "POST", &format!("/orders/{unpaid}/void"), &reason))["status"], 4);
    }
    assert_eq!(data(w.call("GET", "/sale/2", "", ""))["stock"], 2);
    let used = buy(&w, 2, &w.customer);
    w.settle_log();
    for step in ["pay", "use"] {
        let token = if step == "use" { &w.operator } else { &w.customer };
        assert_eq!(w.call("POST", &format!("/voucher-order/{used}/{step}"), token, "").status, 200);
    }
    let refused = ops(&w, "POST", &format!("/orders/{used}/void"), &reason);
    assert_eq!((refused.status, &refused.body["code"]), (200, &json!("ORDER_STANDS")));
    w.assert_balanced();
}

#[test]
fn an_order_that_was_paid_since_it_was_seen_is_not_refunded() {
    let w = world();
    let order = buy(&w, 2, &w.customer);
    w.settle_log();
    let void = |seen: u8| {
        ops(&w, "POST", &format!("/orders/{order}/void"), &json!({"reason": "买错了", "status": seen}))
    };
    for wrong in [0, 7] {
        let refused = void(wrong);
        assert_eq!((refused.status, &refused.body["code"]), (400, &json!("BAD_REQUEST")), "{refused:?}");
    }
    assert_eq!(w.call("POST", &format!("/voucher-order/{order}/pay"), &w.customer, "").status, 200);
    let refused = void(1);
    assert_eq!((refused.status, &refused.body["code"]), (200, &json!("ORDER_STANDS")), "{refused:?}");
    assert_eq!(data(void(2))["status"], 6);
    let other = buy(&w, 2, &w.other);
    w.settle_log();
    let seen = json!({"reason": "买错了", "status": 1});
    for _ in 0..2 {
        assert_eq!(data(ops(&w, "POST", &format!("/orders/{other}/void"), &seen))["status"], 4);
    }
    w.assert_balanced();
}

#[test]
fn who_only_watches_does_not_stay_logged_in() {
    let w = world();
    for watched in ["/overview", "/sales/2"] {
        let token = w.log_in(OPERATOR);
        let looks = || w.call("GET", &format!("/ops{watched}"), &token, "").status;
        assert_eq!(looks(), 200);
        w.advance(Duration::from_secs(20 * 60));
        assert_eq!(looks(), 200);
        w.advance(Duration::from_secs(11 * 60));
        assert_eq!(looks(), 401, "{watched}");
    }
}

#[test]
fn dead_letters_are_listed_replayed_and_voided() {
    let w = with_database_access();
    let poison =
        |users: &str| w.ground().refuse_rows("orders", &format!("NEW.user_id IN ({users})"), "poison");
    poison("2, 3");
    // One after the other, so that the second is the newest dead letter.
    let orders = [&w.customer, &w.other].map(|token| {
        let order = buy(&w, 2, token);
        w.settle_log();
        order
    });
    let list = ops(&w, "GET", "/dead-letters", &Value::Null);
    assert_eq!((list.status, &list.body["total"]), (200, &json!(2)), "{list:?}");
    // The database's own words.
    let words = list.body["data"][0]["detail"].as_str().unwrap();
    assert!(words.contains("poison"), "{words}");
    let letter = json!({
        "order": orders[1], "voucherId": 2, "title": "100元秒杀券", "userId": 3, "phone": OTHER,
        "reason": "REFUSED", "detail": words, "attempts": 5, "holdsUnit": true, "state": "OPEN",
        "claimTime": "2026-11-21T20:00:00", "deadTime": "2026-11-21T20:00:00",
    });
    assert_eq!(list.body["data"][0], letter);
    let replay = format!("/dead-letters/{}/replay", orders[0]);
    let refused = ops(&w, "POST", &replay, &Value::Null);
    assert_eq!((refused.status, &refused.body["code"]), (200, &json!("STILL_DEAD")));
    assert!(refused.body["errorMsg"].as_str().unwrap().contains("poison"), "{refused:?}");
    poison("99");
    w.advance(Duration::from_secs(600));
    for _ in 0..2 {
        let order = data(ops(&w, "POST", &replay, &Value::Null));
        assert_eq!(
            (&order["id"], &order["status"], &order["userId"]),
            (&json!(orders[0]), &json!(1), &json!(2))
        );
        assert_eq!(order["deadline"], "2026-11-21T20:25:00");
    }
    let voided = data(ops(&w, "POST", &format!("/dead-letters/{}/void", orders[1]), &Value::Null));
    let want = json!({"state": "VOIDED", "holdsUnit": false, "closeTime": "2026-11-21T20:10:00"});
    assert_eq!(voided, with(letter, &want));
    for (query, total) in
        [("", 0), ("?state=open", 0), ("?state=replayed", 1), ("?state=voided", 1), ("?state=all", 2)]
    {
        let list = ops(&w, "GET", &format!("/dead-letters{query}"), &Value::Null);
        assert_eq!(list.body["total"], total, "{query}");
    }
    let stands = ops(&w, "POST", &format!("/dead-letters/{}/void", orders[0]), &Value::Null);
    assert_eq!((stands.status, &stands.body["code"]), (200, &json!("DEAD_LETTER_STANDS")));
    buy(&w, 2, &w.other);
    w.settle_log();
    w.assert_balanced();
}

#[test]
fn an_overview_tells_what_there_is_and_what_waits() {
    let w = with_database_access();
    let counts = || data(ops(&w, "GET", "/overview", &Value::Null));
    let first = json!({
        "backlog": 0, "unpaidOrders": 0, "deadLetters": 0, "reports": 0, "vouchers": 3, "sales": 2,
    });
    assert_eq!(counts(), first);
    data(ops(&w, "POST", "/sales/2/stock", &json!({"add": 9})));
    w.ground().refuse_rows("orders", "NEW.user_id = 3", "poison");
    for token in [&w.customer, &w.other] {
        buy(&w, 2, token);
        w.settle_log();
    }
    let note = w.add("/blog", &json!({"shopId": 1, "title": "一碗面", "content": "好吃"}));
    let report = json!({"kind": "note", "id": note, "reason": "广告"});
    assert_eq!(w.call("POST", "/report", &w.customer, &report.to_string()).body["success"], true);
    w.add("/voucher", &super::world::voucher());
    let want = json!({"unpaidOrders": 1, "deadLetters": 1, "reports": 1, "vouchers": 4});
    assert_eq!(counts(), with(first.clone(), &want));
    w.mall.faults().add(Fault::at_port("orders.persist").error()).unwrap();
    buy(&w, 2, &w.operator);
    assert_eq!(counts()["backlog"], 1);
}

#[test]
fn nobody_but_an_operator_comes_in() {
    let w = world();
    for (method, path) in [
        ("GET", "/ops/overview"),
        ("GET", "/ops/vouchers"),
        ("PUT", "/voucher/2"),
        ("POST", "/shop-type"),
        ("GET", "/ops/sales"),
        ("GET", "/ops/sales/2"),
        ("PUT", "/ops/sales/2"),
        ("POST", "/ops/sales/2/stock"),
        ("GET", "/ops/sales/2/waves"),
        ("PUT", "/ops/sales/2/waves"),
        ("GET", "/ops/sales/2/waiting-list"),
        ("PUT", "/ops/sales/2/waiting-list"),
        ("GET", "/ops/clock"),
        ("POST", "/ops/clock/confirm"),
        ("GET", "/ops/printer"),
        ("POST", "/ops/printer/test"),
        ("POST", "/ops/orders/1/print"),
        ("GET", "/ops/kiosks"),
        ("POST", "/ops/kiosks"),
        ("DELETE", "/ops/kiosks/1"),
        ("GET", "/ops/claim-gateways"),
        ("POST", "/ops/claim-gateways"),
        ("DELETE", "/ops/claim-gateways/1"),
        ("GET", "/ops/sales/2/judgement"),
        ("PUT", "/ops/sales/2/judgement"),
        ("POST", "/ops/sales/2/judgement/preview"),
        ("GET", "/ops/judgement/rules"),
        ("PUT", "/ops/judgement/rules"),
        ("GET", "/ops/sales/2/attack"),
        ("GET", "/ops/sales/2/attempts"),
        ("GET", "/ops/sales/2/thresholds"),
        ("PUT", "/ops/sales/2/thresholds"),
        ("GET", "/ops/sales/2/per-user"),
        ("PUT", "/ops/sales/2/per-user"),
        ("GET", "/ops/sales/2/claim-limit"),
        ("PUT", "/ops/sales/2/claim-limit"),
        ("GET", "/ops/sales/2/waiting-room"),
        ("PUT", "/ops/sales/2/waiting-room"),
        ("POST", "/ops/sales/2/pause"),
        ("POST", "/ops/sales/2/resume"),
        ("POST", "/ops/sales/2/end"),
        ("GET", "/ops/orders"),
        ("POST", "/ops/orders/1/void"),
        ("GET", "/ops/dead-letters"),
        ("POST", "/ops/dead-letters/1/replay"),
        ("POST", "/ops/dead-letters/1/void"),
        ("GET", "/ops/retries"),
        ("POST", "/ops/retries/1/replay"),
        ("POST", "/ops/retries/1/discard"),
    ] {
        assert_eq!(w.call(method, path, "", "{}").status, 401, "{method} {path}");
        assert_eq!(w.call(method, path, &w.customer, "{}").status, 403, "{method} {path}");
        assert_ne!(w.call(method, path, &w.operator, "{}").status, 403, "{method} {path}");
    }
}
