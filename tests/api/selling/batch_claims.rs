//! The batch door over HTTP: gateways, their tokens, and the outcomes of their claims.

use std::time::Duration;

use serde_json::{Value, json};

use super::guards::{call, proof};
use super::world::{OPERATOR, Response, World, world};

const PATH: &str = "/voucher-order/seckill/batch";
const GATEWAYS: &str = "/ops/claim-gateways";

/// Adds a gateway for sales. Returns its id and its token.
pub fn gateway(w: &World, name: &str, vouchers: &[u64], hours: u32) -> (u64, String) {
    let body = json!({ "name": name, "vouchers": vouchers, "validHours": hours });
    let added = w.call("POST", GATEWAYS, &w.operator, &body.to_string());
    let data = &added.body["data"];
    let token = data["token"].as_str().unwrap_or_else(|| panic!("{added:?}"));
    (data["id"].as_u64().unwrap(), token.to_owned())
}

fn user_id(w: &World, token: &str) -> u64 {
    w.ok("GET", "/user/me", token)["data"]["id"].as_u64().unwrap()
}

pub fn batch(w: &World, token: &str, name: &str, claims: &[Value]) -> Response {
    w.call("POST", PATH, token, &json!({ "requestId": name, "claims": claims }).to_string())
}

fn claim(user: u64, voucher: u64) -> Value {
    json!({ "userId": user, "voucherId": voucher })
}

#[test]
fn a_gateway_claims_for_many_users_and_a_repeat_tells_the_same() {
    let w = world();
    let (_, token) = gateway(&w, "小程序", &[2, 3], 24);
    let [first, second, third] =
        [w.customer.clone(), w.other.clone(), w.log_in("13900000009")].map(|token| user_id(&w, &token));
    let claims = [
        claim(first, 2),
        claim(second, 2),
        claim(second, 2),
        claim(first, 3),
        claim(first, 1),
        claim(u64::MAX, 2),
    ];
    let decided = batch(&w, &token, "one", &claims);
    assert_eq!((decided.status, &decided.body["success"]), (200, &json!(true)), "{decided:?}");
    let data = &decided.body["data"];
    assert_eq!((&data["accepted"], &data["repeated"]), (&json!(2), &json!(false)));
    let [one, two, rest @ ..] = data["claims"].as_array().unwrap().as_slice() else { panic!("{data}") };
    for accepted in [one, two] {
        let order = accepted["orderId"].as_str().unwrap();
        assert_eq!(accepted, &json!({ "success": true, "orderId": order }));
    }
    let refused = |code: &str, text: &str| json!({ "success": false, "code": code, "errorMsg": text });
    let expected = [
        refused("DUPLICATE_CLAIM", "与这一批中前面的抢购重复"),
        refused("NOT_OPEN", "秒杀尚未开始"),
        refused("SALE_NOT_GRANTED", "网关令牌不包含这场秒杀"),
        refused("UNKNOWN_USER", "用户不存在"),
    ];
    assert_eq!(rest, expected);

    w.settle_log();
    let mut repeated = data.clone();
    repeated["repeated"] = json!(true);
    assert_eq!(batch(&w, &token, "one", &claims).body["data"], repeated);
    let of_user = w.ok("GET", &format!("/voucher-order/{}", one["orderId"].as_str().unwrap()), &w.customer);
    assert_eq!((&of_user["data"]["id"], &of_user["data"]["status"]), (&one["orderId"], &json!(1)));
    let other = batch(&w, &token, "one", &claims[..1]);
    assert_eq!((other.status, &other.body["code"]), (409, &json!("REQUEST_ID_REUSED")), "{other:?}");

    let lines = format!("authorization: Bearer {token}\r\naccept-language: en\r\n");
    let body = json!({ "requestId": "two", "claims": [claim(first, 2), claim(third, 2)] }).to_string();
    let late = w.request("POST", &format!("/api{PATH}"), &lines, body.as_bytes());
    let held = json!({
        "success": false, "code": "ALREADY_BOUGHT", "errorMsg": "You have already bought this.",
        "orderId": one["orderId"],
    });
    assert_eq!(late.body["data"]["claims"], json!([held, refused("SOLD_OUT", "Sold out.")]));
    w.assert_balanced();
}

#[test]
fn a_gateways_token_opens_the_batch_door_alone_and_no_session_does() {
    let w = world();
    let (_, token) = gateway(&w, "one", &[2], 1);
    for path in ["/user/me", "/voucher-order/of/me", "/user/export", "/ops/claim-gateways", "/ops/users"] {
        let refused = w.call("GET", path, &token, "");
        assert_eq!((refused.status, &refused.body["code"]), (401, &json!("NOT_LOGGED_IN")), "{path}");
    }
    assert_eq!(w.call("POST", "/voucher-order/seckill/2", &token, "").status, 401);
    let claims = [claim(user_id(&w, &w.customer), 2)];
    let forged = "0".repeat(48);
    for token in ["", &forged, &token.to_uppercase(), &w.customer, &w.operator] {
        let refused = batch(&w, token, "one", &claims);
        let code = &refused.body["code"];
        assert_eq!((refused.status, code), (401, &json!("GATEWAY_TOKEN_INVALID")), "{token}");
    }
    assert_eq!(batch(&w, &token, "one", &claims).body["data"]["accepted"], 1);
}

#[test]
fn a_token_is_shown_once_and_void_once_it_is_revoked_or_has_expired() {
    let w = world();
    let ((first, one), (_, two)) = (gateway(&w, "one", &[3], 2), gateway(&w, "two", &[2, 3], 1));
    assert_ne!(one, two);
    let listed = w.ok("GET", GATEWAYS, &w.operator)["data"].clone();
    let operator = user_id(&w, &w.operator);
    let expected = json!({
        "id": first, "name": "one", "operatorId": operator, "vouchers": [3], "expired": false,
        "createdTime": "2026-11-21T20:00:00", "endTime": "2026-11-21T22:00:00",
    });
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]), (2, &expected));
    let claims = [claim(user_id(&w, &w.customer), 3)];
    let code = |token: &str| batch(&w, token, "one", &claims).body["code"].clone();
    assert_eq!((code(&one), code(&two)), (Value::Null, Value::Null));
    w.advance(Duration::from_secs(60 * 60));
    assert_eq!((code(&one), code(&two)), (Value::Null, json!("GATEWAY_TOKEN_INVALID")));
    let operator = w.log_in(OPERATOR);
    assert_eq!(w.ok("GET", GATEWAYS, &operator)["data"][1]["expired"], true);
    w.ok("DELETE", &format!("{GATEWAYS}/{first}"), &operator);
    assert_eq!(code(&one), "GATEWAY_TOKEN_INVALID");
    let again = w.call("DELETE", &format!("{GATEWAYS}/{first}"), &operator, "");
    assert_eq!(again.body["code"], "NOT_FOUND");
    let audit = w.ok("GET", "/ops/audit", &operator)["data"].to_string();
    for action in ["claim_gateway.add", "claim_gateway.remove"] {
        assert!(audit.contains(action), "{audit}");
    }
    assert!(!audit.contains(&one) && !listed.to_string().contains(&one));
    w.advance(Duration::from_secs(8 * 24 * 60 * 60));
    let operator = w.log_in(OPERATOR);
    assert_eq!(w.ok("GET", GATEWAYS, &operator)["data"], json!([]), "expired a week ago");
}

#[test]
fn a_token_is_void_while_its_operator_is_none() {
    let w = world();
    let user = user_id(&w, &w.other);
    let put_role = |role: &str| {
        let body = json!({ "role": role }).to_string();
        let put = w.call("PUT", &format!("/ops/users/{user}/role"), &w.operator, &body);
        assert_eq!(put.body["success"], true, "{put:?}");
    };
    put_role("operator");
    let body = json!({ "name": "theirs", "vouchers": [2], "validHours": 1 }).to_string();
    let added = w.call("POST", GATEWAYS, &w.other, &body);
    let token = added.body["data"]["token"].as_str().unwrap().to_owned();
    let claims = [claim(user_id(&w, &w.customer), 3)];
    assert_eq!(batch(&w, &token, "one", &claims).status, 200);
    put_role("customer");
    assert_eq!(batch(&w, &token, "one", &claims).status, 401);
    put_role("operator");
    assert_eq!(batch(&w, &token, "one", &claims).status, 200);
}

#[test]
fn claims_in_a_guarded_sale_carry_the_pass_of_their_user() {
    let w = world();
    let guard =
        json!({ "kinds": ["work"], "workBits": 8, "passSeconds": 60, "jitterSeconds": 0 }).to_string();
    w.call("PUT", "/ops/sales/2/guard", &w.operator, &guard);
    w.advance(Duration::from_secs(2));
    let given = call(&w, "/sale/2/challenge", &w.customer, &[], &Value::Null).body["data"].clone();
    let ticket = given["deviceTicket"].as_str().unwrap();
    let answer = json!({"challenge": given["challenge"], "answer": {"work": proof(&given["work"])}});
    let issued = call(&w, "/sale/2/pass", &w.customer, &[("x-device-ticket", ticket)], &answer);
    let pass = issued.body["data"]["pass"].as_str().unwrap();
    let (_, token) = gateway(&w, "one", &[2], 1);
    let with_pass = |user: &str| {
        let user = user_id(&w, user);
        json!({ "userId": user, "voucherId": 2, "pass": pass, "deviceTicket": ticket })
    };
    let claims = [with_pass(&w.other), claim(user_id(&w, &w.customer), 2)];
    let refused = batch(&w, &token, "without", &claims).body["data"]["claims"].clone();
    assert!(refused.as_array().unwrap().iter().all(|one| one["code"] == "PASS_REQUIRED"), "{refused}");
    let bought = batch(&w, &token, "with", &[with_pass(&w.customer)]);
    assert_eq!(bought.body["data"]["accepted"], 1, "{bought:?}");
}

#[test]
fn a_batch_of_500_is_taken_and_its_claims_are_counted_one_by_one() {
    let w = world();
    let (_, token) = gateway(&w, "one", &[2, 3], 1);
    let user = user_id(&w, &w.customer);
    let claims = |count: u64| -> Vec<Value> { (0..count).map(|number| claim(user + number, 2)).collect() };
    let full = batch(&w, &token, "full", &claims(500));
    assert_eq!(full.body["data"]["claims"].as_array().map(Vec::len), Some(500), "{}", full.text);
    assert_eq!(full.body["data"]["accepted"], 2);
    let over = batch(&w, &token, "over", &claims(501));
    assert_eq!((over.status, &over.body["code"]), (400, &json!("BAD_REQUEST")), "{over:?}");
    assert!(over.body["errorMsg"].as_str().unwrap().contains("1到500个"), "{over:?}");
    batch(&w, &token, "full", &claims(500));
    let metrics = w.request("GET", "/metrics", "", b"").text;
    let counted = r#"mallbox_claims_total{outcome="accepted"} 2"#;
    assert!(metrics.lines().any(|line| line == counted), "a repeat is not counted: {metrics}");
}

#[test]
fn malformed_batches_are_refused_with_the_place_of_the_mistake() {
    let w = world();
    let (_, token) = gateway(&w, "one", &[2], 1);
    for (body, text) in [
        ("", "the body is empty"),
        ("[]", "a JSON object"),
        (r#"{"claims":[]}"#, "requestId"),
        (r#"{"requestId":"one"}"#, "claims"),
        (r#"{"requestId":1,"claims":[]}"#, "requestId: expected text"),
        (
            r#"{"requestId":"","claims":[{"userId":1,"voucherId":2}]}"#,
            "requestId: expected 1 to 64 characters",
        ),
        (r#"{"requestId":"one","claims":[]}"#, "claims: expected 1 to 500 claims"),
        (r#"{"requestId":"one","claims":{}}"#, "claims"),
        (r#"{"requestId":"one","claims":[{"voucherId":2}]}"#, "userId"),
        (r#"{"requestId":"one","claims":[{"userId":-1,"voucherId":2}]}"#, "claims: expected a whole number"),
        (
            r#"{"requestId":"one","claims":[{"userId":1,"voucherId":2,"holding":256}]}"#,
            "expected a whole number from 0 to 255",
        ),
    ] {
        let lines = format!("authorization: {token}\r\naccept-language: en\r\n");
        let refused = w.request("POST", &format!("/api{PATH}"), &lines, body.as_bytes());
        assert_eq!((refused.status, &refused.body["code"]), (400, &json!("BAD_REQUEST")), "{body}");
        assert!(refused.body["errorMsg"].as_str().unwrap().contains(text), "{body}: {}", refused.text);
    }
    let huge = format!(r#"{{"requestId":"one","claims":[],"x":"{}"}}"#, "x".repeat(1 << 20));
    assert_eq!(w.call("POST", PATH, &token, &huge).status, 413);
}
