//! Thresholds of a sale over HTTP.

use std::time::Duration;

use serde_json::{Value, json};

use super::world::{CUSTOMER, World, world};

fn put(w: &World, hours: u16, sms_code: bool) -> Value {
    let body = json!({ "accountHours": hours, "smsCode": sms_code });
    let stored = w.call("PUT", "/ops/sales/2/thresholds", &w.operator, &body.to_string());
    assert_eq!(stored.body["data"], body, "{stored:?}");
    body
}

/// Sets a password, and returns the token of a session that begins with it.
fn log_in_by_password(w: &World) -> String {
    let password = json!({ "password": "correct horse battery" });
    w.call("PUT", "/user/password", &w.customer, &password.to_string());
    let form = json!({ "phone": CUSTOMER, "password": "correct horse battery" });
    let begun = w.call("POST", "/user/login", "", &form.to_string());
    begun.body["data"].as_str().unwrap_or_else(|| panic!("{begun:?}")).to_owned()
}

#[test]
fn thresholds_are_shown_and_keep_out_who_is_below() {
    let w = world();
    let claim = |token: &str| w.call("POST", "/voucher-order/seckill/2", token, "").body;
    assert_eq!(w.ok("GET", "/sale/2/page", "")["data"]["thresholds"], Value::Null);
    let shown = put(&w, 2, true);
    w.advance(Duration::from_secs(2));
    assert_eq!(w.ok("GET", "/sale/2/page", "")["data"]["thresholds"], shown);
    let refused = claim(&w.customer);
    assert_eq!(refused["code"], "ACCOUNT_TOO_NEW");
    assert!(refused["errorMsg"].as_str().unwrap().contains("120"), "{refused}");

    put(&w, 0, true);
    let by_password = log_in_by_password(&w);
    assert_eq!(claim(&by_password)["code"], "SMS_CODE_NEEDED");
    let by_code = w.log_in(CUSTOMER);
    assert_eq!(claim(&by_code)["success"], true);
}
