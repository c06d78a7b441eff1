//! Malls for these tests, and who comes to them.

use std::time::Duration;

use mallbox::fixture::{Builder, Mall};
use mallbox_test_patience as patience;
use serde_json::{Value, json};

use crate::harness::{Browser, Page, Place as _};

pub const NOBODY: &str = "";
pub const OPERATOR: &str = "13900000001";
pub const ANNE: &str = "13800000001";
pub const BEN: &str = "13800000002";
pub const CARL: &str = "13800000003";
pub const DORA: &str = "13800000004";
/// States of an order.
pub const UNPAID: u64 = 1;
pub const PAID: u64 = 2;
/// The demo's sales: one is on, the other opens half a minute after the start.
pub const RUNNING: u64 = 51;
pub const OPENING: u64 = 52;

/// The demo's mall on an evening that stands still: what runs by itself would make pictures differ.
pub fn evening() -> Builder {
    Mall::builder().start_at("2026-11-21T20:00:00").frozen()
}

/// The browser of somebody who logged in some time ago, or of [nobody](NOBODY).
pub fn browser_of(mall: &Mall, phone: &str) -> Browser {
    let browser = Browser::at(&mall.url());
    if phone == NOBODY {
        return browser;
    }
    browser.keeping("mallbox-token", &mall.log_in(phone).unwrap().token)
}

/// Logs in by the form that is shown, with the code that the demo's inbox has.
pub fn log_in_by_code(page: &Page, phone: &str) {
    page.field("手机号").fill(phone);
    page.button("获取验证码").click();
    page.sees("验证码已发送");
    page.button("演示：填入收到的验证码").click();
    page.button("登录").click();
}

/// The states of somebody's orders, the newest first.
pub fn orders_of(mall: &Mall, phone: &str) -> Vec<u64> {
    let token = mall.log_in(phone).unwrap().token;
    let orders = mall.call("GET", "/api/voucher-order/of/me?current=1", &token, &Value::Null).unwrap();
    orders.data().as_array().unwrap().iter().map(|order| order["status"].as_u64().unwrap()).collect()
}

/// Somebody buys without a page; answers the order.
pub fn buy(mall: &Mall, phone: &str, sale: u64) -> String {
    let token = mall.log_in(phone).unwrap().token;
    let path = format!("/api/voucher-order/seckill/{sale}");
    let bought = mall.call("POST", &path, &token, &Value::Null).unwrap();
    let order = bought.body["dataText"].as_str().unwrap_or_else(|| panic!("{}", bought.text)).to_owned();
    mall.idle(patience::scaled(Duration::from_secs(10))).unwrap();
    order
}

/// And pays.
pub fn pay(mall: &Mall, phone: &str, order: &str) {
    let token = mall.log_in(phone).unwrap().token;
    let paid = mall.call("POST", &format!("/api/voucher-order/{order}/pay"), &token, &Value::Null).unwrap();
    assert!(paid.is_success(), "{}", paid.text);
}

/// What is left in a sale.
pub fn left(mall: &Mall, sale: u64) -> i64 {
    let told = mall.call("GET", &format!("/api/sale/{sale}"), "", &Value::Null).unwrap();
    told.data()["stock"].as_i64().unwrap()
}

/// Leaves so many units in a sale.
pub fn leave(mall: &Mall, sale: u64, units: i64) {
    let add = json!({ "add": units - left(mall, sale) });
    let done = mall.call("POST", &format!("/api/ops/sales/{sale}/stock"), &mall.operator(), &add).unwrap();
    assert!(done.is_success(), "{}", done.text);
    assert_eq!(left(mall, sale), units);
}
