//! A mall without payments: the original's pages have no button to pay.

use std::time::Duration;

use mallbox_storage::PaymentMode;
use serde_json::{Value, json};

use super::world::{World, world};

/// Sets the payment mode of orders persisted from now on.
fn set_mode(w: &World, mode: PaymentMode) {
    let context = w.mall.app().unwrap().context.clone();
    w.mall.wait_for(async move { context.set_payment_mode(mode).await.unwrap() }).unwrap();
}

/// Stores the mode like another instance whose notification is lost.
fn store_mode_elsewhere(w: &World, mode: PaymentMode) {
    let upkeep = w.mall.app().unwrap().context.storage.base.upkeep.clone();
    let set = async move { upkeep.put_setting(PaymentMode::SETTING, mode.name()).await.unwrap() };
    w.mall.wait_for(set).unwrap();
}

fn mode_shown(w: &World) -> Value {
    w.request("GET", "/readyz", "", b"").body["payment"].clone()
}

fn bought(w: &World, path: &str, token: &str) -> String {
    let response = w.call("POST", path, token, "");
    let order = response.body["dataText"].as_str().unwrap_or_else(|| panic!("{response:?}")).to_owned();
    w.settle_log();
    order
}

fn order(w: &World, order: &str, token: &str) -> Value {
    w.ok("GET", &format!("/voucher-order/{order}"), token)["data"].clone()
}

fn step(w: &World, order: &str, step: &str, token: &str) -> Value {
    let body = w.call("POST", &format!("/voucher-order/{order}/{step}"), token, "").body;
    if body["success"] == true { body["data"]["status"].clone() } else { body["code"].clone() }
}

fn stock(w: &World) -> Value {
    w.ok("GET", "/sale/2", "")["data"]["stock"].clone()
}

#[test]
fn an_order_of_pages_without_a_pay_button_is_not_cancelled_after_its_time() {
    let w = world();
    set_mode(&w, PaymentMode::None);
    let claimed = bought(&w, "/voucher-order/seckill/2", &w.customer);
    let ordinary = bought(&w, "/voucher-order/1", &w.customer);
    w.advance(Duration::from_secs(24 * 60 * 60));
    let customer = w.log_in(super::world::CUSTOMER);
    for id in [&claimed, &ordinary] {
        let order = order(&w, id, &customer);
        assert_eq!((&order["status"], &order["payment"]), (&json!(2), &json!("none")), "{order}");
        assert!(order.get("deadline").is_none() && order.get("payTime").is_none(), "{order}");
    }
    assert_eq!(step(&w, &claimed, "cancel", &customer), "ORDER_STANDS");
    assert_eq!(step(&w, &claimed, "pay", &customer), 2);
    let operator = w.log_in(super::world::OPERATOR);
    assert_eq!(step(&w, &claimed, "use", &operator), 3);
    w.assert_balanced();
}

#[test]
fn an_order_without_a_payment_is_given_back_at_once() {
    let w = world();
    set_mode(&w, PaymentMode::None);
    let claimed = bought(&w, "/voucher-order/seckill/2", &w.customer);
    let ordinary = bought(&w, "/voucher-order/1", &w.customer);
    assert_eq!(stock(&w), 1);
    for _ in 0..2 {
        assert_eq!(step(&w, &claimed, "refund", &w.customer), 6);
        assert_eq!(step(&w, &ordinary, "refund", &w.customer), 6);
    }
    assert_eq!(stock(&w), 2);
    bought(&w, "/voucher-order/seckill/2", &w.customer);
    w.assert_balanced();
}

#[test]
fn a_changed_mode_touches_no_order_that_is_there() {
    let w = world();
    let before = bought(&w, "/voucher-order/seckill/2", &w.customer);
    set_mode(&w, PaymentMode::None);
    let after = bought(&w, "/voucher-order/seckill/2", &w.other);
    assert_eq!(order(&w, &before, &w.customer)["status"], 1);
    set_mode(&w, PaymentMode::Sandbox);
    w.advance(Duration::from_secs(15 * 60));
    assert_eq!(order(&w, &before, &w.customer)["status"], 4);
    assert_eq!(order(&w, &after, &w.other)["status"], 2);
    w.assert_balanced();
}

#[test]
fn the_mode_is_named_where_the_mall_says_how_it_is() {
    let w = world();
    for mode in [PaymentMode::None, PaymentMode::Sandbox] {
        set_mode(&w, mode);
        assert_eq!(mode_shown(&w), mode.name());
    }
}

#[test]
fn the_mode_is_not_read_from_the_database_at_each_call_and_one_set_elsewhere_is_seen_in_five_seconds() {
    let w = world();
    set_mode(&w, PaymentMode::Sandbox);
    assert_eq!(mode_shown(&w), "sandbox");
    store_mode_elsewhere(&w, PaymentMode::None);
    assert_eq!(mode_shown(&w), "sandbox", "from memory");
    w.advance(Duration::from_secs(5));
    assert_eq!(mode_shown(&w), "none");
    let order_id = bought(&w, "/voucher-order/1", &w.customer);
    assert_eq!(order(&w, &order_id, &w.customer)["payment"], "none");
}
