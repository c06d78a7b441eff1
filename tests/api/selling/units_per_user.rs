//! Units per user over HTTP.

use serde_json::{Value, json};

use super::world::{World, world};

fn claim(w: &World, query: &str) -> Value {
    w.call("POST", &format!("/voucher-order/seckill/2{query}"), &w.customer, "").body
}

#[test]
fn a_buyer_claims_unit_by_unit_and_a_repeat_buys_nothing() {
    let w = world();
    assert_eq!(w.ok("GET", "/sale/2/page", "")["data"]["perUser"], 1);
    let body = json!({ "perUser": 2 });
    let stored = w.call("PUT", "/ops/sales/2/per-user", &w.operator, &body.to_string());
    assert_eq!(stored.body["data"], body, "{stored:?}");
    assert_eq!(w.ok("GET", "/ops/sales/2/per-user", &w.operator)["data"], body);
    let first = claim(&w, "");
    assert_eq!(first["success"], true, "{first}");
    let repeated = claim(&w, "?holding=0");
    assert_eq!((&repeated["code"], &repeated["dataText"]), (&json!("ALREADY_BOUGHT"), &first["dataText"]));
    let second = claim(&w, "?holding=1");
    assert_eq!(second["success"], true, "{second}");
    assert_ne!(second["dataText"], first["dataText"]);
    let repeated = claim(&w, "?holding=1");
    assert_eq!((&repeated["code"], &repeated["dataText"]), (&json!("ALREADY_BOUGHT"), &second["dataText"]));
    let all = claim(&w, "?holding=2");
    assert_eq!(
        (&all["code"], &all["errorMsg"]),
        (&json!("LIMIT_REACHED"), &json!("每人限购2份，您已经买满了"))
    );
    for wrong in ["?holding=-1", "?holding=256", "?holding=x"] {
        assert_eq!(claim(&w, wrong)["code"], "BAD_REQUEST", "{wrong}");
    }
}
