//! A kiosk, used by many customers in turn.

use mallbox::fixture::Mall;

use crate::harness::{Browser, Page, Place as _, Screen};
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
    page.is_at("/?kiosk=600#/");
    // Nobody has touched it for long.
    page.sees("点一下屏幕开始");
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

/// Buys and pays at a kiosk of which the sale is open. Returns the order's address.
fn bought(page: &Page) -> String {
    page.button("登录后抢购").click();
    log_in_by_code(page, ANNE);
    page.button("立即抢购").click();
    page.link("去付款").click();
    page.button("支付").click();
    page.part("券码").is_there();
    page.address()
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn offers_run_until_somebody_touches_the_screen() {
    let mall = evening().start().unwrap();
    let page = Browser::at(&mall.url()).on(Screen::Kiosk).running(CLOCK).open("/?kiosk=600&attract=45");
    page.sees("点一下就开始");
    page.sees("100元代金券秒杀");
    page.run("pass(46)");
    page.sees("点一下屏幕开始");
    page.sees("Tap to start");
    page.part("欢迎光临，点一下开始").sees("距结束");
    // A touch opens nothing of what lies below.
    page.click_at(300.0, 700.0);
    page.part("欢迎光临，点一下开始").is_gone();
    page.is_at("/?kiosk=600&attract=45");
    // Somebody is there: no offers before the session ends.
    page.run("pass(46)");
    page.link("全部秒杀").is_there();
    page.part("欢迎光临，点一下开始").is_gone();
    page.run("pass(600)");
    page.part("欢迎光临，点一下开始").is_there();
    page.is_content();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn kiosk_of_one_shop_has_no_other() {
    let mall = evening().start().unwrap();
    let page = Browser::at(&mall.url()).on(Screen::Kiosk).open("/?kiosk&shop=1&attract=0");
    page.sees("鲫先生家常菜");
    page.part("优惠券").button("购买").first().is_there();
    page.link("看看店铺").is_gone();
    page.link("本店").is_there();
    page.link("店铺介绍与评价").click();
    page.sees("营业时间");
    page.link("首页").click();
    for other in ["/shops", "/search", "/place", "/sales"] {
        page.go(&format!("/?kiosk&shop=1&attract=0#{other}"));
        page.link("店铺介绍与评价").is_there();
    }
    page.go("/?kiosk&shop=999&attract=0");
    page.sees("没有这家店");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn receipt_goes_to_a_phone_as_text() {
    let mall = evening().start().unwrap();
    let page = Browser::at(&mall.url()).on(Screen::Kiosk).open(&format!("/?kiosk=600#/sale/{RUNNING}"));
    bought(&page);
    let code = page.run("document.querySelector('.receipt-text').lastChild.textContent");
    page.button("带到手机上").click();
    let sheet = page.part("用手机扫一扫");
    sheet.image("含券码文字的二维码").is_there();
    sheet.sees(code.as_str().unwrap());
    sheet.sees("笋尖与火腿");
    page.is_accessible();
    page.rests();
    page.fits();
    // The address of the kiosk itself would be of no use on a phone.
    assert!(!sheet.text().contains("127.0.0.1"));
    sheet.button("好了").click();
    page.part("用手机扫一扫").is_gone();
}

/// Tells which controls are above the middle of the screen, without scrolling.
const TOO_HIGH: &str = "[...document.querySelectorAll('a, button, input, summary')]
    .filter((part) => part.checkVisibility())
    .filter((part) => part.getBoundingClientRect().bottom < innerHeight / 2)
    .map((part) => part.outerHTML.slice(0, 80))";

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn lowered_page_has_its_controls_within_reach() {
    let mall = evening().start().unwrap();
    let page = Browser::at(&mall.url()).on(Screen::Kiosk).running(CLOCK).open("/?kiosk=600&attract=0");
    page.sees("100元代金券秒杀");
    page.button("放低").click();
    let within_reach = || {
        page.rests();
        page.run("scrollTo(0, 0)");
        assert_eq!(page.run(TOO_HIGH), serde_json::json!([]), "{}", page.address());
    };
    within_reach();
    for (path, says) in
        [("/sale/51", "登录后抢购"), ("/shop/1", "购买"), ("/shops", "离我最近"), ("/login", "获取验证码")]
    {
        page.run(&format!("location.hash = '#{path}'; 0"));
        page.sees(says);
        within_reach();
    }
    page.is_accessible();
    // The next visitor finds the page as usual.
    page.run("pass(601)");
    page.is_at("/?kiosk=600&attract=0#/");
    page.button("放低").is_there();
    assert_eq!(page.run("document.documentElement.className"), "kiosk");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn kiosk_opens_without_its_mall_and_recovers_with_it() {
    let mall = evening().start().unwrap();
    let address = mall.address().unwrap();
    let page = Browser::at(&mall.url()).on(Screen::Kiosk).open("/?kiosk=600&attract=0");
    page.forgive("net::ERR_CONNECTION_REFUSED");
    page.forgive("net::ERR_FAILED");
    page.forgive("Failed to fetch");
    page.sees("100元代金券秒杀");
    // Wait for the copies of all screens.
    page.run(
        "new Promise((done) => {
            const look = async () => {
                const [name] = await caches.keys();
                const kept = name ? (await (await caches.open(name)).keys()).map(({ url }) => url) : [];
                const whole = ['/?kiosk=600&attract=0', 'screens/me-reviews.js', 'screens/welcome.js'];
                if (navigator.serviceWorker.controller && whole.every((end) => kept.some((url) => url.endsWith(end)))) done(0);
                else setTimeout(look, 100);
            };
            look();
        })",
    );
    drop(mall);
    page.reload();
    page.sees("连接已断开");
    page.link("店铺").click();
    page.sees("连接已断开");
    page.link("首页").click();
    let _mall: Mall = evening().listen(address).start().unwrap();
    page.sees("100元代金券秒杀");
    page.sees_no("连接已断开");
}
