//! Trusted kiosks over HTTP.

use serde_json::{Value, json};

use super::guards::call;
use super::world::world;

#[test]
fn a_claim_with_the_key_of_a_kiosk_needs_no_pass() {
    let w = world();
    let guard = json!({ "kinds": ["work"], "workBits": 8 }).to_string();
    w.call("PUT", "/ops/sales/2/guard", &w.operator, &guard);
    w.advance(std::time::Duration::from_secs(2));
    let new = w.call("POST", "/ops/kiosks", &w.operator, r#"{"name":"收银台"}"#).body["data"].clone();
    let key = new["key"].as_str().unwrap();
    assert_eq!((&new["id"], key.len()), (&json!(1), 48));
    let listed = w.call("GET", "/ops/kiosks", &w.operator, "").body["data"].clone();
    assert_eq!((&listed[0]["name"], listed[0].get("key")), (&json!("收银台"), None));
    let again = w.call("POST", "/ops/kiosks", &w.operator, r#"{"name":"收银台"}"#);
    assert_eq!((again.status, &again.body["code"]), (400, &json!("BAD_REQUEST")), "{again:?}");
    let claim = |key: &str| {
        call(&w, "/voucher-order/seckill/2", &w.customer, &[("x-kiosk-key", key)], &Value::Null).body
    };
    assert_eq!(claim("none")["code"], "PASS_REQUIRED");
    let bought = claim(key);
    assert_eq!(bought["success"], true, "{bought}");
    assert_eq!(w.call("DELETE", "/ops/kiosks/1", &w.operator, "").body["data"]["name"], "收银台");
    assert_eq!(w.call("GET", "/ops/kiosks", &w.operator, "").body["data"], json!([]));
}
