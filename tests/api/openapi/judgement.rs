//! Operations of the judgement of claims.

use serde_json::{Value, json};

use super::Checker;
use super::operators::ask_as_each;

/// Judges a sale, claims in it, and reads what the decision log says.
pub(super) fn judgement(check: &mut Checker<'_>) {
    let rules = "limit = 1\nrules = [{ signal = \"user-attempts\", at-least = 1, points = 1 }]";
    let (get_rules, put_rules) = ("GET /ops/judgement/rules", "PUT /ops/judgement/rules");
    for text in ["limit = 0", rules] {
        ask_as_each(check, put_rules, "/ops/judgement/rules", &json!({ "rules": text }));
    }
    ask_as_each(check, get_rules, "/ops/judgement/rules", &Value::Null);
    let (get, put) = ("GET /ops/sales/{id}/judgement", "PUT /ops/sales/{id}/judgement");
    let preview = "POST /ops/sales/{id}/judgement/preview";
    let customer = check.w.customer.clone();
    for mode in ["guess", "observe", "challenge", "refuse"] {
        for sale in [2, 99] {
            let path = format!("/ops/sales/{sale}/judgement");
            ask_as_each(check, put, &path, &json!({ "mode": mode }));
            ask_as_each(check, get, &path, &Value::Null);
        }
        check.w.advance(std::time::Duration::from_secs(2));
        let claim = "/voucher-order/seckill/2";
        check.ask("POST /voucher-order/seckill/{voucherId}", claim, &customer, &Value::Null);
    }
    check.w.advance(std::time::Duration::from_secs(2));
    for sale in [2, 99] {
        let path = format!("/ops/sales/{sale}");
        ask_as_each(check, "GET /ops/sales/{id}/attack", &format!("{path}/attack"), &Value::Null);
        for query in ["", "?before=1"] {
            let path = format!("{path}/attempts{query}");
            ask_as_each(check, "GET /ops/sales/{id}/attempts", &path, &Value::Null);
        }
        for text in [rules, "limit = 0"] {
            let path = format!("{path}/judgement/preview");
            ask_as_each(check, preview, &path, &json!({ "rules": text }));
        }
    }
    ask_as_each(check, put, "/ops/sales/2/judgement", &json!({ "mode": "off" }));
    ask_as_each(check, put_rules, "/ops/judgement/rules", &json!({ "rules": "" }));
}
