//! Counter sales over HTTP that were interrupted, and keys that are used again.

use std::time::Duration;

use mallbox::fixture::Fault;
use mallbox_test_patience as patience;
use serde_json::json;

use super::staff::{PIN, PRICE, SALE_PRICE, code, log_in, on_duty, operate, sale, sell, sold};

const SETTLE_TIMEOUT: Duration = Duration::from_secs(30);

#[test]
fn an_interrupted_sale_is_cancelled_after_ten_minutes_and_its_key_sells_anew() {
    let (w, key, mut token) = on_duty();
    for (voucher, price) in [(1, PRICE), (2, SALE_PRICE)] {
        // Twice: the key of a sale that was cancelled is as good as before.
        let mut orders = Vec::new();
        for _ in 0..2 {
            w.mall.faults().add(Fault::at_port("cash.step").error()).unwrap();
            let request = sale(voucher, price, "one").to_string();
            let failed = w.call_once("POST", "/staff/sales", &token, &request);
            assert_eq!(failed.body["success"], false, "{failed:?}");
            w.mall.faults().cancel_all();
            w.settle_log();
            let order = w.ok("GET", "/staff/orders", &token)["data"][0].clone();
            assert_eq!((&order["status"], &order["walkIn"]), (&json!(1), &json!(true)), "{order}");
            let id = order["id"].as_str().unwrap().to_owned();
            assert!(!orders.contains(&id), "{id}");
            w.advance(Duration::from_secs(11 * 60));
            token = log_in(&w, &key, PIN);
            patience::until_ok(SETTLE_TIMEOUT, || {
                let status = w.ok("GET", &format!("/staff/orders/{id}"), &token)["data"]["status"].clone();
                if status == 4 { Ok(()) } else { Err(format!("{voucher}: {status}")) }
            })
            .unwrap();
            orders.push(id);
        }
        if voucher == 2 {
            assert_eq!(w.ok("GET", "/sale/2", "")["data"]["stock"], 2, "the unit is back");
        }
        let anew = sold(&w, &token, voucher, price, "one");
        let id = anew["order"]["id"].as_str().unwrap().to_owned();
        assert_eq!((&anew["soldBefore"], orders.contains(&id)), (&json!(false), false), "{anew}");
        let again = sold(&w, &token, voucher, price, "one");
        assert_eq!((&again["soldBefore"], &again["order"]["id"]), (&json!(true), &json!(id)));
    }
    w.settle_log();
    w.assert_balanced();
}

#[test]
fn a_key_used_for_another_amount_is_refused_and_counts_per_voucher() {
    let (w, _, token) = on_duty();
    let first = sold(&w, &token, 1, PRICE, "one")["order"]["id"].clone();
    for other in [PRICE - 1, PRICE + 1, 0] {
        assert_eq!(code(&sell(&w, &token, 1, other, "one")), (200, "REQUEST_ID_REUSED"), "{other}");
    }
    // The price has changed since: the earlier sale is found by its own amount.
    operate(&w, "PUT", "/voucher/1", &json!({ "payValue": PRICE + 100 }));
    assert_eq!(code(&sell(&w, &token, 1, PRICE + 100, "one")), (200, "REQUEST_ID_REUSED"));
    assert_eq!(sold(&w, &token, 1, PRICE, "one")["order"]["id"], first);
    assert_ne!(sold(&w, &token, 2, SALE_PRICE, "one")["order"]["id"], first, "another voucher");
    let today = w.ok("GET", "/staff/orders", &token)["data"].clone();
    assert_eq!(today.as_array().map(Vec::len), Some(2), "{today}");
}
