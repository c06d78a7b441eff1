//! Thresholds: an operator sets them, and a buyer below learns what to do.

use serde_json::json;

use crate::harness::{Place as _, Screen};
use crate::people::{BEN, OPERATOR, browser_of, evening};

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_sets_thresholds_and_a_buyer_sees_them() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, OPERATOR).on(Screen::Desktop).open("/console#/sale/51");
    page.forgive("/api/ops/sales/51/thresholds");
    page.button("修改门槛").click();
    let form = page.part("门槛");
    form.field("注册时长").fill("8761");
    form.button("保存").click();
    page.sees("0到8760小时");
    form.field("注册时长").fill("72");
    form.button("保存").click();
    page.sees("账号须注册满 72 小时");
    page.rests();
    page.is_accessible();
    page.fits();
    let buyer = browser_of(&mall, BEN).open("/#/sale/51");
    buyer.sees("仅限注册满 3 天的账号");
    buyer.fits();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn buyer_with_a_password_is_led_to_the_log_in() {
    let mall = evening().start().unwrap();
    let token = mall.log_in(BEN).unwrap().token;
    let password = json!({ "password": "correct horse battery" });
    assert!(mall.call("PUT", "/api/user/password", &token, &password).unwrap().is_success());
    let form = json!({ "phone": BEN, "password": "correct horse battery" });
    let begun = mall.call("POST", "/api/user/login", "", &form).unwrap();
    let thresholds = json!({ "accountHours": 0, "smsCode": true });
    let path = "/api/ops/sales/51/thresholds";
    assert!(mall.call("PUT", path, &mall.operator(), &thresholds).unwrap().is_success());
    let page = browser_of(&mall, BEN).in_english().open("/#/sale/51");
    page.run(&format!("localStorage.setItem('mallbox-token', {}); 0", begun.data()));
    page.reload();
    page.sees("log in with an SMS code");
    page.button("Buy now").click();
    page.sees("Log in again with an SMS code");
    page.button("Log in again").click();
    page.sees("Send code");
}
