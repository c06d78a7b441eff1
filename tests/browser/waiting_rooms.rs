//! Waiting rooms: buyers queue for a busy sale, and an operator turns the room on and off.

use std::time::Duration;

use mallbox::fixture::Mall;
use serde_json::{Value, json};

use crate::guards::guard;
use crate::harness::{Place as _, Screen};
use crate::people::{ANNE, BEN, CARL, OPERATOR, browser_of, evening};

const SECOND: Duration = Duration::from_secs(1);

fn call(mall: &Mall, method: &str, path: &str, token: &str, body: &Value) -> Value {
    let done = mall.call(method, path, token, body).unwrap();
    assert!(done.is_success(), "{method} {path}: {}", done.text);
    done.data().clone()
}

/// Adds a sale from `begin` o'clock on, whose room admits one user a second. Returns the id.
fn sale_with_room(mall: &Mall, begin: u8, units: u64) -> u64 {
    let sale = json!({
        "shopId": 1, "title": "人人排队", "subTitle": "", "rules": "", "payValue": 100, "actualValue": 200,
        "stock": units, "beginTime": format!("2026-11-21T{begin}:00:00"), "endTime": "2026-11-21T23:00:00",
    });
    let id = call(mall, "POST", "/api/voucher/seckill", &mall.operator(), &sale).as_u64().unwrap();
    let room = json!({ "perSecond": 1, "admissionSeconds": 120 });
    call(mall, "PUT", &format!("/api/ops/sales/{id}/waiting-room"), &mall.operator(), &room);
    id
}

fn enter(mall: &Mall, sale: u64, phone: &str) -> Value {
    let token = mall.log_in(phone).unwrap().token;
    call(mall, "POST", &format!("/api/sale/{sale}/waiting-room"), &token, &Value::Null)
}

/// Adds a sale in whose room Ben waits, behind Carl. Returns the id.
pub fn queued_sale(mall: &Mall) -> u64 {
    let sale = sale_with_room(mall, 19, 5);
    assert_eq!(enter(mall, sale, ANNE)["state"], "ADMITTED");
    mall.advance(Duration::from_millis(1)).unwrap();
    enter(mall, sale, CARL);
    mall.advance(Duration::from_millis(1)).unwrap();
    assert_eq!(enter(mall, sale, BEN)["ahead"], 1);
    sale
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn buyer_queues_and_buys_in_turn() {
    let mall = evening().start().unwrap();
    let sale = sale_with_room(&mall, 19, 5);
    enter(&mall, sale, ANNE);
    let page = browser_of(&mall, BEN).open(&format!("/#/sale/{sale}"));
    page.sees("先到先得");
    page.sees_no("立即抢购");
    page.button("排队").click();
    page.sees("你排在第一位");
    page.rests();
    page.is_accessible();
    page.fits();
    page.reload();
    page.sees("你排在第一位");
    mall.advance(SECOND).unwrap();
    page.sees("轮到你了！");
    assert!(page.run("document.title").as_str().unwrap().starts_with("轮到你了"));
    page.rests();
    page.is_accessible();
    page.fits();
    page.button("立即抢购").click();
    page.sees("抢到了！");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn buyer_comes_before_the_opening_by_keyboard_and_leaves() {
    let mall = evening().start().unwrap();
    let sale = sale_with_room(&mall, 21, 5);
    let page = browser_of(&mall, BEN).in_english().on(Screen::Desktop).open(&format!("/#/sale/{sale}"));
    page.sees("no need to hurry");
    page.tab_to(&page.button("Join the queue"));
    page.press("Enter");
    page.sees("1 person is in the queue");
    page.button("Leave the queue").is_focused();
    page.press("Enter");
    page.sees("no need to hurry");
    page.button("Join the queue").is_focused();
    let later = sale_with_room(&mall, 22, 5);
    let page = browser_of(&mall, BEN).open(&format!("/#/sale/{later}"));
    page.sees("开抢前 60 分钟开始");
    page.button("排队").is_disabled();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn buyer_whose_time_is_over_queues_again() {
    let mall = evening().start().unwrap();
    let sale = sale_with_room(&mall, 19, 5);
    let page = browser_of(&mall, BEN).open(&format!("/#/sale/{sale}"));
    page.button("排队").click();
    page.sees("轮到你了！");
    // The mall's clock passes the end; the page's clock does not.
    mall.advance(Duration::from_secs(121)).unwrap();
    page.forgive("/api/voucher-order/seckill/");
    page.button("立即抢购").click();
    page.sees("请先排队");
    page.button("排队").click();
    page.button("立即抢购").click();
    page.sees("抢到了！");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn place_survives_a_lost_connection_and_a_mall_that_forgot_it() {
    let mall = evening().start().unwrap();
    let sale = queued_sale(&mall);
    let page = browser_of(&mall, BEN).open(&format!("/#/sale/{sale}"));
    page.sees("前面还有 1 人");
    page.go_offline();
    std::thread::sleep(3 * SECOND);
    page.sees("前面还有 1 人");
    // A new room knows nobody. Who comes then is behind Ben, whose page shows its ticket.
    let path = format!("/api/ops/sales/{sale}/waiting-room");
    for per_second in [0, 1] {
        call(
            &mall,
            "PUT",
            &path,
            &mall.operator(),
            &json!({ "perSecond": per_second, "admissionSeconds": 120 }),
        );
    }
    enter(&mall, sale, CARL);
    mall.advance(Duration::from_millis(1)).unwrap();
    assert_eq!(enter(&mall, sale, OPERATOR)["state"], "WAITING");
    page.go_online();
    page.sees("你排在第一位");
    assert_eq!(enter(&mall, sale, OPERATOR)["ahead"], 1);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn guarded_sale_asks_for_the_check_after_the_queue() {
    let mall = evening().start().unwrap();
    let sale = sale_with_room(&mall, 19, 5);
    guard(&mall, sale, &["work"]);
    let page = browser_of(&mall, BEN).open(&format!("/#/sale/{sale}"));
    page.button("排队").click();
    page.sees("轮到你了！");
    page.button("立即抢购").click();
    page.sees("抢到了！");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_turns_the_room_on_sees_who_waits_and_turns_it_off() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, OPERATOR).on(Screen::Desktop).open("/console#/sale/51");
    page.forgive("/api/ops/sales/51/waiting-room");
    page.button("开启等候室").click();
    let form = page.part("等候室");
    form.field("每秒放行人数").fill("10001");
    form.button("保存").click();
    page.sees("1到10000");
    form.field("每秒放行人数").fill("1");
    form.button("保存").click();
    page.sees("每秒放行 1 人，120 秒内购买");
    enter(&mall, 51, ANNE);
    enter(&mall, 51, BEN);
    page.sees("1 人在排队，已放行 1 人次");
    page.rests();
    page.is_accessible();
    page.fits();
    page.button("关闭等候室").click();
    page.part("关闭等候室？").button("关闭等候室").click();
    page.sees("未开启。开启后，买家须先排队");
    let token = mall.log_in(BEN).unwrap().token;
    let late = mall.call("POST", "/api/sale/51/waiting-room", &token, &Value::Null).unwrap();
    assert!(late.text.contains("NO_WAITING_ROOM"), "{}", late.text);
}
