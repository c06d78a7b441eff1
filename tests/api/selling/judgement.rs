//! Judgement of claims over HTTP: modes, rules, the decision log, and a second challenge.

use std::time::Duration;

use serde_json::{Value, json};

use super::guards::{call, proof};
use super::world::{World, world};

const SALE: &str = "/ops/sales/2";
/// Every attempt looks automated.
const STRICT: &str = "limit = 1\nrules = [{ signal = 'user-attempts', at-least = 1, points = 1 }]";

fn put(w: &World, path: &str, body: &Value) -> Value {
    let stored = w.call("PUT", path, &w.operator, &body.to_string());
    w.advance(Duration::from_secs(2));
    stored.body
}

fn get(w: &World, path: &str) -> Value {
    w.call("GET", path, &w.operator, "").body["data"].clone()
}

fn claim(w: &World) -> Value {
    w.call("POST", "/voucher-order/seckill/2", &w.customer, "").body
}

#[test]
fn an_operator_sees_attempts_and_refuses_what_looks_automated() {
    let w = world();
    assert_eq!(get(&w, "/ops/sales/2/judgement"), json!({ "mode": "off" }));
    let default = get(&w, "/ops/judgement/rules");
    assert_eq!(default["isDefault"], true);
    put(&w, "/ops/judgement/rules", &json!({ "rules": STRICT }));
    assert_eq!(
        put(&w, "/ops/sales/2/judgement", &json!({ "mode": "refuse" }))["data"],
        json!({ "mode": "refuse" })
    );
    assert_eq!(claim(&w)["code"], "LOOKS_AUTOMATED");
    put(&w, "/ops/judgement/rules", &json!({ "rules": "" }));
    assert_eq!(get(&w, "/ops/judgement/rules"), default);
    assert_eq!(claim(&w)["success"], true);
    w.advance(Duration::from_secs(2));

    let log = get(&w, "/ops/sales/2/attempts");
    let outcomes: Vec<&Value> = log["attempts"].as_array().unwrap().iter().map(|of| &of["outcome"]).collect();
    assert_eq!(outcomes, ["ACCEPTED", "LOOKS_AUTOMATED"], "{log}");
    let refused = &log["attempts"][1];
    assert_eq!((&refused["score"], log.get("next")), (&json!(1), None));
    let signal =
        |name: &str| refused["signals"].as_array().unwrap().iter().find(|of| of["signal"] == name).cloned();
    assert_eq!(
        signal("user-attempts").unwrap(),
        json!({ "signal": "user-attempts", "value": 1, "points": 0 })
    );
    assert_eq!(refused.get("address"), None, "these calls come from nowhere");
    let older = get(&w, &format!("{SALE}/attempts?before={}", log["attempts"][0]["number"]));
    assert_eq!(older["attempts"], json!([refused]));

    let attack = get(&w, "/ops/sales/2/attack");
    assert_eq!(
        (&attack["attempts"], &attack["suspicious"], &attack["lost"]),
        (&json!(2), &json!(0), &json!(0))
    );
    assert_eq!(attack["timeline"].as_array().unwrap().len(), 30);
    let preview = json!({ "rules": STRICT }).to_string();
    let preview = w.call("POST", "/ops/sales/2/judgement/preview", &w.operator, &preview).body;
    let expected = json!({
        "attempts": 2, "suspicious": { "now": 0, "then": 2 }, "accepted": { "now": 0, "then": 1 },
        "signals": [{ "signal": "user-attempts", "attempts": 2 }],
    });
    assert_eq!(preview["data"], expected);
}

#[test]
fn bad_rules_are_refused_with_their_line_in_both_languages() {
    let w = world();
    for (rules, en, zh) in [
        ("limit = 1\nrule = 2", "line 2", "第2行"),
        ("limit = 0", "limit: expected 1 to 1000000, found 0", "limit须为1到1000000，现在是0"),
        (
            "limit = 1\n[[rules]]\nsignal = 'moon'\nbelow = 1\npoints = 1",
            "rule 1: there is no signal “moon”",
            "第1条规则：没有名为“moon”的信号",
        ),
    ] {
        let body = json!({ "rules": rules }).to_string();
        let refused = w.call("PUT", "/ops/judgement/rules", &w.operator, &body);
        let message = refused.body["errorMsg"].as_str().unwrap_or_default().to_owned();
        assert_eq!((refused.status, &refused.body["code"]), (400, &json!("BAD_REQUEST")), "{rules}");
        assert!(message.contains(en) || message.contains(zh), "{message}");
    }
    assert_eq!(get(&w, "/ops/judgement/rules")["isDefault"], true);
}

#[test]
fn a_refused_pass_earns_a_second_challenge_whose_pass_buys() {
    let w = world();
    put(&w, "/ops/judgement/rules", &json!({ "rules": STRICT }));
    put(&w, "/ops/sales/2/guard", &json!({ "kinds": ["work"], "workBits": 8 }));
    put(&w, "/ops/sales/2/judgement", &json!({ "mode": "challenge" }));
    let post =
        |path: &str, headers: &[(&str, &str)], body: &Value| call(&w, path, &w.customer, headers, body).body;
    let pass = |headers: &[(&str, &str)]| {
        let given = post("/sale/2/challenge", headers, &Value::Null)["data"].clone();
        let ticket = given["deviceTicket"].as_str().unwrap().to_owned();
        let answer = json!({ "challenge": given["challenge"], "answer": { "work": proof(&given["work"]) } });
        let issued = post("/sale/2/pass", &[("x-device-ticket", &ticket)], &answer);
        (ticket, issued["data"]["pass"].as_str().unwrap_or_else(|| panic!("{issued}")).to_owned())
    };
    let claim = |ticket: &str, pass: &str| {
        let shown = [("x-device-ticket", ticket), ("x-sale-pass", pass)];
        post("/voucher-order/seckill/2", &shown, &Value::Null)
    };
    let (ticket, first) = pass(&[]);
    assert_eq!(claim(&ticket, &first)["code"], "CHALLENGE_AGAIN");
    let (ticket, second) = pass(&[("x-device-ticket", &ticket), ("x-sale-pass", &first)]);
    let bought = claim(&ticket, &second);
    assert_eq!(bought["success"], true, "{bought}");
}
