//! The console's screen of security events.

use mallbox::fixture::Mall;
use serde_json::{Value, json};

use crate::harness::{Page, Place as _, Screen};
use crate::people::{ANNE, BEN, NOBODY, OPERATOR, browser_of, evening, log_in_by_code};

/// Fails to log in through the page of the storefront, so that the event has an address.
fn fail_to_log_in(mall: &Mall, phone: &str) {
    let page = browser_of(mall, NOBODY).open("/#/login");
    let body = json!({ "phone": phone, "code": "000000" });
    let call =
        format!("fetch('/api/user/login', {{ method: 'POST', body: JSON.stringify({body}) }}).then(() => 0)");
    page.run(&call);
}

fn screen(mall: &Mall) -> Page {
    browser_of(mall, OPERATOR).on(Screen::Desktop).open("/console#/security")
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn failed_log_ins_are_counted_listed_and_found_by_address() {
    let mall = evening().start().unwrap();
    fail_to_log_in(&mall, ANNE);
    fail_to_log_in(&mall, BEN);
    let forbidden = mall.call("GET", "/api/ops/users", &mall.log_in(ANNE).unwrap().token, &Value::Null);
    assert!(!forbidden.unwrap().is_success());
    let page = screen(&mall);
    page.part("登录失败").sees("2");
    page.part("登录失败").sees("最近一小时 2");
    page.part("拒绝的请求").sees("最近一小时 1");
    page.sees("没有权限");
    page.field("事件").choose("验证码登录失败");
    page.sees("1–2，共 2");
    page.field("客户端地址").fill("203.0.113.7");
    page.press("Enter");
    page.sees("没有符合条件的事件");
    page.field("客户端地址").fill("127.0.0.1");
    page.press("Enter");
    page.sees("1–2，共 2");
    assert!(!page.text().contains(ANNE), "a phone number is shown");
    page.is_accessible();
    page.fits();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn an_operators_log_in_appears_among_events_and_in_the_audit_log() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, NOBODY).on(Screen::Phone).open("/console#/security");
    log_in_by_code(&page, OPERATOR);
    page.part("登录与权限").sees("1");
    page.sees("管理员登录");
    page.is_accessible();
    page.fits();
    page.go("/console#/audit");
    page.sees("user.log-in");
}
