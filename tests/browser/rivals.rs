//! Competing buyers and lost responses: nothing is sold twice, and every user learns the outcome.

use std::thread::scope;
use std::time::Duration;

use mallbox::fixture::{Fault, Mall};
use mallbox_test_patience as patience;

use crate::harness::{Page, Place as _};
use crate::people::{
    ANNE, BEN, RUNNING, UNPAID, browser_of, evening, leave, left, log_in_by_code, orders_of,
};

const CLAIM: &str = "POST /voucher-order/seckill/{voucherId}";

/// Opens the running sale for a user.
fn at_the_sale(mall: &Mall, phone: &str) -> Page {
    let page = browser_of(mall, phone).open(&format!("/#/sale/{RUNNING}"));
    page.button("立即抢购").is_enabled();
    page
}

/// Checks Anne's single order for a single unit, and the confirmation.
fn has_one(mall: &Mall, page: &Page, before: i64) {
    page.sees("抢到了！");
    page.link("去付款").is_there();
    assert_eq!(orders_of(mall, ANNE), [UNPAID]);
    assert_eq!(left(mall, RUNNING), before - 1);
}

/// Claims as Anne with a lost response: the page finds the order, and Anne has exactly one.
fn claims_without_an_answer(breaks: impl FnOnce(&Page)) {
    let mall = evening().start().unwrap();
    let before = left(&mall, RUNNING);
    let page = at_the_sale(&mall, ANNE);
    breaks(&page);
    page.button("立即抢购").click();
    page.sees("没有收到响应，正在查询结果，不会重复购买");
    page.was_cut();
    has_one(&mall, &page, before);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn last_unit_goes_to_one_of_two() {
    let mall = evening().start().unwrap();
    leave(&mall, RUNNING, 1);
    let pages = [ANNE, BEN].map(|phone| at_the_sale(&mall, phone));
    // Both requests are in flight before either is decided.
    mall.faults().add(Fault::at_endpoint(CLAIM).delay(Duration::from_millis(300)).times(2)).unwrap();
    scope(|scope| {
        for page in &pages {
            scope.spawn(|| page.button("立即抢购").click());
        }
    });
    let won = pages.each_ref().map(|page| {
        let won = crate::harness::until("it is decided", || {
            let text = page.text();
            let (won, lost) = (text.contains("抢到了！"), text.contains("有人没付款的话，还会放出来"));
            if won == lost { Err(text) } else { Ok(won) }
        });
        if !won {
            page.button("已抢光").is_disabled();
        }
        won
    });
    assert_ne!(won[0], won[1]);
    let sold = [ANNE, BEN].map(|phone| orders_of(&mall, phone).len());
    assert_eq!(sold, won.map(usize::from));
    assert_eq!(left(&mall, RUNNING), 0);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn claim_that_never_arrives_is_made_again() {
    claims_without_an_answer(|page| page.cut("/seckill/"));
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn claim_whose_answer_is_lost_is_found_out_about() {
    claims_without_an_answer(|page| page.lose_answer("/seckill/"));
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn claim_that_the_browser_makes_again_by_itself_buys_once() {
    let mall = evening().start().unwrap();
    let before = left(&mall, RUNNING);
    let page = at_the_sale(&mall, ANNE);
    // The page is not notified if a reused connection ends without a response: the browser retries.
    mall.faults().add(Fault::at_endpoint(CLAIM).lose_answer().times(1)).unwrap();
    page.button("立即抢购").click();
    page.sees("你已经买到了");
    page.link("查看我的订单").is_there();
    assert_eq!(orders_of(&mall, ANNE), [UNPAID]);
    assert_eq!(left(&mall, RUNNING), before - 1);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn network_that_comes_back_brings_one_order() {
    let mall = evening().start().unwrap();
    let before = left(&mall, RUNNING);
    let page = at_the_sale(&mall, ANNE);
    page.go_offline();
    page.button("立即抢购").click();
    page.sees("没有收到响应，正在查询结果，不会重复购买");
    page.sees("连接已断开");
    assert_eq!(left(&mall, RUNNING), before);
    page.go_online();
    has_one(&mall, &page, before);
    page.sees_no("连接已断开");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn claim_goes_on_while_one_looks_elsewhere() {
    let mall = evening().start().unwrap();
    let before = left(&mall, RUNNING);
    let page = at_the_sale(&mall, ANNE);
    // However long a busy machine takes to leave and to come back.
    page.hold("/seckill/");
    page.button("立即抢购").click();
    page.link("首页").click();
    page.go(&format!("/#/sale/{RUNNING}"));
    page.button("正在提交").is_disabled();
    page.release();
    has_one(&mall, &page, before);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn purchase_whose_answers_were_lost_is_found_after_logging_in_again() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, ANNE).open("/#/shop/1");
    let order = || {
        page.button("购买").first().click();
        page.button("下单").click();
    };
    // The purchase, and both retries.
    for _ in 0..3 {
        page.lose_answer("/api/voucher-order/");
    }
    order();
    page.sees("再点一次即可确认，不会重复购买");
    page.was_cut();
    mall.idle(patience::scaled(Duration::from_secs(10))).unwrap();
    let token = page.run("localStorage.getItem('mallbox-token')");
    let out = mall.call("POST", "/api/user/logout", token.as_str().unwrap(), &serde_json::Value::Null);
    assert!(out.unwrap().is_success());
    page.forgive("401");
    order();
    log_in_by_code(&page, ANNE);
    order();
    page.button("支付").is_enabled();
    assert_eq!(orders_of(&mall, ANNE), [UNPAID]);
}
