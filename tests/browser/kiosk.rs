//! A kiosk, used by many customers in turn.

use crate::harness::{Browser, Place as _, Screen};
use crate::people::{ANNE, RUNNING, evening, log_in_by_code};

/// Lets `pass` advance the page's clock, used to measure the time without input.
const CLOCK: &str = "{
    const now = performance.now.bind(performance);
    let passed = 0;
    performance.now = () => now() + passed;
    window.pass = (seconds) => void (passed += seconds * 1000);
}";

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn kiosk_forgets_who_was_there() {
    let mall = evening().start().unwrap();
    let kiosk = Browser::at(&mall.url()).on(Screen::Tablet).running(CLOCK);
    let page = kiosk.open("/?kiosk=600");
    page.sees("欢迎光临");
    page.is_accessible();
    page.fits();
    page.link("100元代金券秒杀").click();
    page.button("登录后抢购").click();
    log_in_by_code(&page, ANNE);
    page.button("立即抢购").click();
    page.link("去付款").click();
    page.button("支付").click();
    let code = page.part("券码").text();
    page.is_accessible();

    page.run("pass(595)");
    page.part("还在吗？").button("继续").click();
    page.part("还在吗？").is_gone();
    assert_eq!(page.part("券码").text(), code);

    page.run("pass(601)");
    page.sees("欢迎光临");
    page.is_at("/?kiosk=600#/");
    page.go("/?kiosk=600#/orders");
    page.field("手机号").is_there();
    assert_eq!(page.field("手机号").value(), "");
    assert_eq!(page.run("JSON.stringify({ ...localStorage })"), "{}");

    // A log-in in another window of the same browser does not affect the kiosk.
    let other = kiosk.open("/#/me");
    other.button("登录").first().click();
    log_in_by_code(&other, ANNE);
    other.button("退出登录").is_there();
    page.link("首页").click();
    page.link("订单").click();
    page.field("手机号").is_there();
    page.button("退出").is_gone();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn receipt_is_all_that_is_printed() {
    let mall = evening().start().unwrap();
    let page = Browser::at(&mall.url()).on(Screen::Tablet).open(&format!("/?kiosk=600#/sale/{RUNNING}"));
    page.button("登录后抢购").click();
    log_in_by_code(&page, ANNE);
    page.button("立即抢购").click();
    page.link("去付款").click();
    page.button("支付").click();
    page.button("打印").is_enabled();
    page.rests();
    page.print_preview();
    page.button("打印").is_gone();
    page.link("店铺").is_gone();
    page.part("券码").image("供店员扫描的二维码").is_there();
    assert_eq!(page.text(), page.part("券码").text());
}
