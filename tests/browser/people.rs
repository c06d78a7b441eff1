//! Malls and users for the browser tests.

#[path = "../common/totp.rs"]
pub mod totp;

use std::path::Path;
use std::time::Duration;

use mallbox::fixture::{Builder, Mall};
use mallbox::mall::operator::printing::{PaperColumns, PrinterAddress, PrinterOptions};
use mallbox_storage::PaymentMode;
use mallbox_test_patience as patience;
use serde_json::{Value, json};

use self::totp::code_at;
use crate::harness::{Browser, Page, Place as _};

pub const NOBODY: &str = "";
pub const OPERATOR: &str = "13900000001";
pub const ANNE: &str = "13800000001";
pub const BEN: &str = "13800000002";
pub const CARL: &str = "13800000003";
pub const DORA: &str = "13800000004";
pub const EVE: &str = "13800000005";
/// Phone number of an operator with a second factor, once [appointed](appoint_cautious).
pub const CAUTIOUS: &str = "13800000009";
/// Statuses of an order.
pub const UNPAID: u64 = 1;
pub const PAID: u64 = 2;
/// Ids of the demo's sales: one is open, the other opens half a minute after the start.
pub const RUNNING: u64 = 51;
pub const OPENING: u64 = 52;

/// Time limit of a call: the browser keeps both cores busy. Below the 8 s after which pages give up.
const CALL_TIMEOUT: Duration = Duration::from_secs(7);

/// Returns the demo's mall.
pub fn demo() -> Builder {
    Mall::builder().call_timeout(CALL_TIMEOUT)
}

/// Returns the demo's mall with a frozen clock: a running clock would make screenshots differ.
pub fn evening() -> Builder {
    demo().start_at("2026-11-21T20:00:00").frozen()
}

/// Returns a printer of 58 mm paper, which prints into a file.
pub fn narrow_printer(paper: &Path) -> PrinterOptions {
    PrinterOptions {
        address: PrinterAddress::Device(paper.to_owned()),
        columns: PaperColumns::Narrow,
        heading: "城西广场".to_owned(),
    }
}

/// Returns the browser of a logged-in user, or of [nobody](NOBODY).
pub fn browser_of(mall: &Mall, phone: &str) -> Browser {
    let browser = Browser::at(&mall.url());
    if phone == NOBODY {
        return browser;
    }
    browser.keeping("mallbox-token", &mall.log_in(phone).unwrap().token)
}

/// Logs in through the visible form, with the code from the demo's inbox.
pub fn log_in_by_code(page: &Page, phone: &str) {
    page.field("手机号").fill(phone);
    page.button("获取验证码").click();
    page.sees("验证码已发送");
    page.button("演示：填入收到的验证码").click();
    page.button("登录").click();
}

/// Sets up an operator's factor over the API. Returns secret and recovery codes.
pub fn enrol(mall: &Mall, phone: &str) -> (String, Vec<String>) {
    let token = mall.log_in(phone).unwrap().token;
    let call = |method: &str, path: &str, body: &Value| {
        let path = format!("/api/user/second-factor{path}");
        mall.call(method, &path, &token, body).unwrap().data().clone()
    };
    let secret = call("POST", "/enrolment", &json!({}))["secret"].as_str().unwrap().to_owned();
    let confirmed = call("PUT", "", &json!({ "code": code_at(&secret, mall.now()) }));
    let codes = confirmed["recoveryCodes"].as_array().unwrap();
    (secret, codes.iter().map(|code| code.as_str().unwrap().to_owned()).collect())
}

/// Appoints an operator, who sets up a second factor.
pub fn appoint_cautious(mall: &Mall) {
    let token = mall.log_in(CAUTIOUS).unwrap().token;
    let me = mall.call("GET", "/api/user/me", &token, &Value::Null).unwrap();
    let path = format!("/api/ops/users/{}/role", me.data()["id"]);
    let appointed = mall.call("PUT", &path, &mall.operator(), &json!({ "role": "operator" })).unwrap();
    assert!(appointed.is_success(), "{}", appointed.text);
    enrol(mall, CAUTIOUS);
}

/// Returns the statuses of a user's orders, newest first.
pub fn orders_of(mall: &Mall, phone: &str) -> Vec<u64> {
    let token = mall.log_in(phone).unwrap().token;
    let orders = mall.call("GET", "/api/voucher-order/of/me?current=1", &token, &Value::Null).unwrap();
    orders.data().as_array().unwrap().iter().map(|order| order["status"].as_u64().unwrap()).collect()
}

/// Buys through the API. Returns the order.
pub fn buy(mall: &Mall, phone: &str, sale: u64) -> String {
    let token = mall.log_in(phone).unwrap().token;
    let path = format!("/api/voucher-order/seckill/{sale}");
    let bought = mall.call("POST", &path, &token, &Value::Null).unwrap();
    let order = bought.body["dataText"].as_str().unwrap_or_else(|| panic!("{}", bought.text)).to_owned();
    mall.idle(patience::scaled(Duration::from_secs(10))).unwrap();
    order
}

/// Sets the payment mode of orders written from now on.
pub fn set_payment_mode(mall: &Mall, mode: PaymentMode) {
    let context = mall.app().unwrap().context.clone();
    mall.wait_for(async move { context.set_payment_mode(mode).await.unwrap() }).unwrap();
}

/// Pays an order through the API.
pub fn pay(mall: &Mall, phone: &str, order: &str) {
    let token = mall.log_in(phone).unwrap().token;
    let paid = mall.call("POST", &format!("/api/voucher-order/{order}/pay"), &token, &Value::Null).unwrap();
    assert!(paid.is_success(), "{}", paid.text);
}

/// Returns the units left in a sale.
pub fn left(mall: &Mall, sale: u64) -> i64 {
    let shown = mall.call("GET", &format!("/api/sale/{sale}"), "", &Value::Null).unwrap();
    shown.data()["stock"].as_i64().unwrap()
}

/// Sets the units left in a sale.
pub fn leave(mall: &Mall, sale: u64, units: i64) {
    let add = json!({ "add": units - left(mall, sale) });
    let done = mall.call("POST", &format!("/api/ops/sales/{sale}/stock"), &mall.operator(), &add).unwrap();
    assert!(done.is_success(), "{}", done.text);
    assert_eq!(left(mall, sale), units);
}
