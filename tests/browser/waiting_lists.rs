//! Waiting lists: buyers wait for units of a sold-out sale, and an operator turns the list on and off.

use std::time::Duration;

use mallbox::fixture::Mall;
use serde_json::{Value, json};

use crate::guards::guard;
use crate::harness::{Place as _, Screen};
use crate::people::{ANNE, BEN, CARL, DORA, NOBODY, OPERATOR, browser_of, buy, evening, log_in_by_code};

fn call(mall: &Mall, method: &str, path: &str, token: &str, body: &Value) -> Value {
    let done = mall.call(method, path, token, body).unwrap();
    assert!(done.is_success(), "{method} {path}: {}", done.text);
    done.data().clone()
}

/// Adds a sale whose only unit is Anne's, with a list of up to `max` people. Returns the ids of the sale and
/// of Anne's order.
fn sold_out_sale(mall: &Mall, max: u32) -> (u64, String) {
    let sale = json!({
        "shopId": 1, "title": "晚到一步", "subTitle": "", "rules": "", "payValue": 100, "actualValue": 200,
        "stock": 1, "beginTime": "2026-11-21T19:00:00", "endTime": "2026-11-21T23:00:00",
    });
    let id = call(mall, "POST", "/api/voucher/seckill", &mall.operator(), &sale).as_u64().unwrap();
    let list = json!({ "max": max });
    call(mall, "PUT", &format!("/api/ops/sales/{id}/waiting-list"), &mall.operator(), &list);
    (id, buy(mall, ANNE, id))
}

/// Adds a sold-out sale for which Ben waits, behind Carl. Returns the id.
pub fn waited_for_sale(mall: &Mall) -> u64 {
    let (sale, _) = sold_out_sale(mall, 100);
    join(mall, sale, CARL);
    join(mall, sale, BEN);
    sale
}

fn join(mall: &Mall, sale: u64, phone: &str) {
    let token = mall.log_in(phone).unwrap().token;
    call(mall, "POST", &format!("/api/sale/{sale}/waiting-list"), &token, &Value::Null);
}

/// Returns Anne's unit, and lets the mall hand it on.
fn hand_on(mall: &Mall, order: &str) {
    let token = mall.log_in(ANNE).unwrap().token;
    call(mall, "POST", &format!("/api/voucher-order/{order}/cancel"), &token, &Value::Null);
    mall.advance(Duration::from_secs(1)).unwrap();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn buyer_waits_and_gets_an_order() {
    let mall = evening().start().unwrap();
    let (sale, order) = sold_out_sale(&mall, 100);
    let page = browser_of(&mall, BEN).open(&format!("/#/sale/{sale}"));
    page.button("已抢光").is_disabled();
    page.button("加入候补").click();
    page.sees("你排在第一位，共 1 人候补");
    page.rests();
    page.is_accessible();
    page.fits();
    join(&mall, sale, CARL);
    page.sees("共 2 人候补");
    page.reload();
    page.sees("你排在第一位，共 2 人候补");
    hand_on(&mall, &order);
    page.sees("候补成功！");
    page.rests();
    page.is_accessible();
    page.link("查看候补订单").click();
    page.sees("待付款");
    page.go(&format!("/#/sale/{sale}"));
    page.sees("你已经买到了");
    page.sees_no("候补");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn buyer_joins_by_keyboard_leaves_and_comes_back_last() {
    let mall = evening().start().unwrap();
    let (sale, _) = sold_out_sale(&mall, 100);
    let page = browser_of(&mall, BEN).in_english().on(Screen::Desktop).open(&format!("/#/sale/{sale}"));
    page.sees("Join the waiting list");
    page.tab_to(&page.button("Join the waiting list"));
    page.press("Enter");
    page.sees("You are first of 1 waiting");
    page.button("Leave the waiting list").is_focused();
    join(&mall, sale, CARL);
    page.press("Enter");
    page.sees("Join the waiting list");
    page.press("Enter");
    page.sees("1 person before you, 2 waiting");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn visitor_logs_in_to_wait_and_a_full_list_says_so() {
    let mall = evening().start().unwrap();
    let (sale, _) = sold_out_sale(&mall, 1);
    let page = browser_of(&mall, NOBODY).open(&format!("/#/sale/{sale}"));
    page.forgive(&format!("/api/sale/{sale}/waiting-list"));
    page.button("登录后候补").click();
    log_in_by_code(&page, DORA);
    page.sees("加入候补");
    join(&mall, sale, CARL);
    page.button("加入候补").click();
    page.sees("候补名单已满");
    let mine = browser_of(&mall, ANNE).open(&format!("/#/sale/{sale}"));
    mine.sees("你已经买到了");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn waiting_for_a_guarded_sale_takes_the_challenge() {
    let mall = evening().start().unwrap();
    let (sale, _) = sold_out_sale(&mall, 100);
    guard(&mall, sale, &["work"]);
    let page = browser_of(&mall, BEN).open(&format!("/#/sale/{sale}"));
    page.button("加入候补").click();
    page.sees("你排在第一位");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn place_stays_on_screen_without_a_connection() {
    let mall = evening().start().unwrap();
    let (sale, order) = sold_out_sale(&mall, 100);
    join(&mall, sale, BEN);
    let page = browser_of(&mall, BEN).open(&format!("/#/sale/{sale}"));
    page.sees("你排在第一位，共 1 人候补");
    page.go_offline();
    hand_on(&mall, &order);
    std::thread::sleep(Duration::from_secs(3));
    page.sees("你排在第一位，共 1 人候补");
    page.go_online();
    page.sees("候补成功！");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_turns_the_list_on_sees_who_waits_and_turns_it_off() {
    let mall = evening().start().unwrap();
    let (sale, _) = sold_out_sale(&mall, 0);
    let page = browser_of(&mall, OPERATOR).on(Screen::Desktop).open(&format!("/console#/sale/{sale}"));
    page.forgive(&format!("/api/ops/sales/{sale}/waiting-list"));
    page.button("开启候补").click();
    let form = page.part("候补名单");
    form.field("最多候补人数").fill("10001");
    form.button("保存").click();
    page.sees("候补人数上限");
    form.field("最多候补人数").fill("5");
    form.button("保存").click();
    page.sees("0 人候补，上限 5 人");
    join(&mall, sale, BEN);
    page.sees("1 人候补，上限 5 人");
    page.sees("用户 ");
    page.rests();
    page.is_accessible();
    page.fits();
    page.button("关闭候补").click();
    page.part("关闭候补？").button("关闭候补").click();
    page.sees("不再接受候补");
    page.sees("1 人候补");
    let token = mall.log_in(CARL).unwrap().token;
    let late = mall.call("POST", &format!("/api/sale/{sale}/waiting-list"), &token, &Value::Null).unwrap();
    assert!(late.text.contains("NO_WAITING_LIST"), "{}", late.text);
}
