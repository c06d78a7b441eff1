//! Levels over HTTP: the caller's level and credits, the table, and levels set by operators.

use serde_json::{Value, json};

use super::world::{World, world};

fn get(w: &World, path: &str, token: &str) -> Value {
    w.ok("GET", path, token)["data"].clone()
}

/// Buys voucher 1, for 47 credits, and pays. Returns the order.
fn buy(w: &World) -> String {
    let order = w.ok("POST", "/voucher-order/1", &w.customer)["dataText"].as_str().unwrap().to_owned();
    w.ok("POST", &format!("/voucher-order/{order}/pay"), &w.customer);
    order
}

#[test]
fn sign_ins_and_orders_earn_credits_and_refunds_take_them_back() {
    let w = world();
    let steps = [0, 100, 500, 2_000, 5_000, 10_000];
    let steps: Vec<_> = steps
        .iter()
        .enumerate()
        .map(|(level, credits)| json!({ "level": level, "credits": credits }))
        .collect();
    let begin = json!({ "level": 0, "credits": 0, "next": 100, "missing": 100, "levels": steps });
    assert_eq!(get(&w, "/user/level", &w.customer), begin);
    assert_eq!(get(&w, "/user/credits", &w.customer), json!([]));
    w.ok("POST", "/user/sign", &w.customer);
    w.ok("POST", "/user/sign", &w.customer);
    let orders = [buy(&w), buy(&w), buy(&w)];
    let level = get(&w, "/user/level", &w.customer);
    assert_eq!((&level["level"], &level["credits"]), (&json!(1), &json!(146)), "{level}");
    assert_eq!((&level["next"], &level["missing"]), (&json!(500), &json!(354)), "{level}");
    w.ok("POST", &format!("/voucher-order/{}/refund", orders[0]), &w.customer);

    let time = "2026-11-21T20:00:00";
    let lines = json!([
        { "number": 5, "cause": "refund", "orderId": orders[0], "amount": -47, "credits": 99, "time": time },
        { "number": 4, "cause": "order", "orderId": orders[2], "amount": 47, "credits": 146, "time": time },
        { "number": 3, "cause": "order", "orderId": orders[1], "amount": 47, "credits": 99, "time": time },
        { "number": 2, "cause": "order", "orderId": orders[0], "amount": 47, "credits": 52, "time": time },
        { "number": 1, "cause": "signIn", "date": "2026-11-21", "amount": 5, "credits": 5, "time": time },
    ]);
    assert_eq!(get(&w, "/user/credits", &w.customer), lines);
    assert_eq!(get(&w, "/user/credits?before=2", &w.customer), json!([lines[4]]));
    assert_eq!(get(&w, "/user/credits?before=1", &w.customer), json!([]));
    assert_eq!(get(&w, "/user/credits", &w.other), json!([]), "nobody else's");
    let card = get(&w, "/user/info/2", &w.other);
    assert_eq!((&card["level"], &card["credits"]), (&json!(0), &json!(99)));
    let export: Value = serde_json::from_str(&w.call("GET", "/user/export", &w.customer, "").text).unwrap();
    assert_eq!(export["credits"], lines);
    assert_eq!((&export["account"]["level"], &export["account"]["credits"]), (&json!(0), &json!(99)));
    w.assert_balanced();
}

#[test]
fn operators_set_the_level_of_a_user_and_the_table() {
    let w = world();
    let path = "/ops/users/2/level";
    let none = json!({ "level": 0, "credits": 0, "earned": 0, "imported": 0 });
    assert_eq!(get(&w, path, &w.operator), none);
    let set = |level: Value| w.call("PUT", path, &w.operator, &json!({ "level": level }).to_string());
    let expected = json!({ "level": 3, "credits": 0, "earned": 0, "imported": 0, "set": 3 });
    assert_eq!(set(json!(3)).body["data"], expected);
    assert_eq!(get(&w, "/user/info/2", "")["level"], 3);
    let own = get(&w, "/user/level", &w.customer);
    assert_eq!((&own["level"], &own["next"], &own["missing"]), (&json!(3), &json!(5_000), &json!(5_000)));
    for bad in [json!(10), json!(-1), json!("x")] {
        assert_eq!(set(bad.clone()).body["code"], "BAD_REQUEST", "{bad}");
    }
    assert_eq!(set(Value::Null).body["data"], none);
    let unknown = w.call("PUT", "/ops/users/99/level", &w.operator, r#"{"level":1}"#);
    assert_eq!(unknown.body["code"], "NOT_FOUND");

    let put = |credits: Value| {
        w.call("PUT", "/ops/levels", &w.operator, &json!({ "credits": credits }).to_string()).body
    };
    for bad in [json!([]), json!([1]), json!([0, 5, 4]), json!([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])] {
        assert_eq!(put(bad.clone())["code"], "BAD_REQUEST", "{bad}");
    }
    let table = json!([{ "level": 0, "credits": 0 }, { "level": 1, "credits": 5 }]);
    assert_eq!(put(json!([0, 5]))["data"], table);
    assert_eq!(get(&w, "/ops/levels", &w.operator), table);
    w.ok("POST", "/user/sign", &w.customer);
    let own = get(&w, "/user/level", &w.customer);
    assert_eq!((&own["level"], own.get("next"), &own["missing"]), (&json!(1), None, &json!(0)), "the top");
    let entries = w.ok("GET", "/ops/audit", &w.operator).to_string();
    assert!(entries.contains("user.level") && entries.contains("levels.set"), "{entries}");
}

#[test]
fn a_ledger_is_paged_without_gaps() {
    let w = world();
    let orders: Vec<_> = (0..23).map(|_| buy(&w)).collect();
    let (mut found, mut before) = (Vec::new(), String::new());
    loop {
        let page = get(&w, &format!("/user/credits{before}"), &w.customer);
        let Some(last) = page.as_array().unwrap().last() else { break };
        before = format!("?before={}", last["number"]);
        found
            .extend(page.as_array().unwrap().iter().map(|line| line["orderId"].as_str().unwrap().to_owned()));
        if found.len() == 20 {
            // A new line moves none of the older lines.
            buy(&w);
        }
    }
    found.reverse();
    assert_eq!(found, orders);
}
