//! A customer's complete visit.

use std::net::SocketAddr;
use std::time::Duration;

use mallbox::fixture::Mall;
use mallbox_test_servers::MallLocation;
use tempfile::TempDir;

use crate::common::server::Server;
use crate::harness::{Browser, Page, Place as _, Screen, until};
use crate::people::{ANNE, OPENING, PAID, RUNNING, browser_of, evening, log_in_by_code, orders_of};

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn sale_opens_while_the_page_waits() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, ANNE).open(&format!("/#/sale/{OPENING}"));
    page.button("即将开抢").is_disabled();
    mall.advance(Duration::from_secs(30)).unwrap();
    page.button("立即抢购").click();
    page.sees("抢到了！");
    page.link("去付款").click();
    page.button("支付").click();
    page.part("券码").image("供店员扫描的二维码").is_there();
    assert_eq!(orders_of(&mall, ANNE), [PAID]);
}

/// Finds the shop of the open sale, logs in, buys, and opens the order.
fn finds_and_buys(page: &Page) {
    page.link("搜索店铺").click();
    page.field("店名").fill("笋尖");
    page.link("笋尖与火腿").click();
    page.part("100元代金券秒杀").link("去抢").click();
    page.button("登录后抢购").click();
    log_in_by_code(page, ANNE);
    page.button("立即抢购").click();
    page.sees("抢到了！");
    page.link("去付款").click();
    page.button("支付").is_enabled();
}

/// Pays, and finds the receipt among the orders.
fn pays_and_finds_it_again(page: &Page) {
    page.button("支付").click();
    page.sees("到店出示券码即可使用");
    let code = page.part("券码").text();
    page.link("订单").click();
    page.link("待使用").click();
    assert_eq!(page.part("券码").text(), code);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn order_outlives_a_killed_mall_and_the_page_finds_it_again() {
    let dir = TempDir::new().unwrap();
    let open = |listen: SocketAddr| {
        Server::start_demo(&dir.path().join("mall"), &dir.path().join("log"), listen).unwrap()
    };
    let server = open(SocketAddr::from(([127, 0, 0, 1], 0)));
    let address = server.address;
    let page = Browser::at(&format!("http://{address}")).open("/");
    finds_and_buys(&page);

    page.forgive("net::ERR_");
    server.kill().unwrap();
    page.sees("连接已断开");
    let _server = open(address);
    page.sees("已重新连接");
    page.sees_no("连接已断开");
    pays_and_finds_it_again(&page);
}

#[test]
#[cfg_attr(
    not(all(feature = "browser-tests", feature = "production-tests")),
    ignore = "needs chromium and axe-core, Redis and MariaDB, which tests/run installs"
)]
fn customers_day_on_servers() {
    let ground = MallLocation::on_servers();
    let mall = Mall::builder().place(ground.place()).start().unwrap();
    let page = Browser::at(&mall.url()).open("/");
    finds_and_buys(&page);
    pays_and_finds_it_again(&page);
    assert_eq!(orders_of(&mall, ANNE), [PAID]);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn keyboard_alone_logs_in_and_buys() {
    let mall = evening().start().unwrap();
    let page = Browser::at(&mall.url()).on(Screen::Desktop).open(&format!("/#/sale/{RUNNING}"));
    let presses = |name: &str| {
        page.button(name).is_enabled();
        page.tab_to(&page.button(name));
        page.press("Enter");
    };
    presses("登录后抢购");
    page.tab_to(&page.field("手机号"));
    page.types(ANNE);
    presses("获取验证码");
    page.sees("验证码已发送");
    presses("演示：填入收到的验证码");
    presses("登录");
    presses("立即抢购");
    page.sees("抢到了！");
    // The next action has the focus already.
    until("the way to pay has the focus", || {
        page.link("去付款").has_focus().then_some(()).ok_or_else(String::new)
    });
    page.press("Enter");
    presses("支付");
    page.sees("到店出示券码即可使用");
    assert_eq!(orders_of(&mall, ANNE), [PAID]);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn who_waited_too_long_is_led_to_the_log_in() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, ANNE).open(&format!("/#/sale/{RUNNING}"));
    page.button("立即抢购").is_enabled();
    mall.advance(Duration::from_secs(31 * 60)).unwrap();
    page.forgive("401");
    page.button("立即抢购").click();
    log_in_by_code(&page, ANNE);
    page.button("立即抢购").click();
    page.sees("抢到了！");
}
