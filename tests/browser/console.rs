//! Harmless errors at the console.

use std::time::Duration;

use mallbox::fixture::{Fault, Mall};
use serde_json::{Value, json};

use crate::harness::{Page, Place as _, Screen, until};
use crate::people::{ANNE, BEN, OPENING, OPERATOR, PAID, RUNNING, browser_of, buy, evening, orders_of, pay};

fn at_the_console(mall: &Mall, path: &str) -> Page {
    browser_of(mall, OPERATOR).on(Screen::Desktop).open(&format!("/console#{path}"))
}

/// Returns the data of an operator's request.
fn get(mall: &Mall, path: &str) -> Value {
    mall.call("GET", &format!("/api{path}"), &mall.operator(), &Value::Null).unwrap().data().clone()
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn redemption_whose_answer_is_lost_counts_once() {
    let mall = evening().start().unwrap();
    let order = buy(&mall, ANNE, RUNNING);
    pay(&mall, ANNE, &order);
    let page = at_the_console(&mall, &format!("/redeem?code={order}"));
    page.cut("/use");
    page.button("核销").click();
    page.was_cut();
    page.sees("尚未核销");
    page.lose_answer("/use");
    page.button("核销").click();
    page.was_cut();
    page.sees("没有收到响应，但核销已成功");

    let other = buy(&mall, BEN, RUNNING);
    pay(&mall, BEN, &other);
    page.go(&format!("/console#/redeem?code={other}"));
    page.button("核销").is_enabled();
    let used = mall.call("POST", &format!("/api/voucher-order/{other}/use"), &mall.operator(), &Value::Null);
    assert!(used.unwrap().is_success());
    page.button("核销").click();
    page.sees("核销过了");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn next_code_is_typed_while_the_one_before_is_redeemed() {
    let mall = evening().start().unwrap();
    let [order, other] = [ANNE, BEN].map(|phone| {
        let order = buy(&mall, phone, RUNNING);
        pay(&mall, phone, &order);
        order
    });
    let page = at_the_console(&mall, &format!("/redeem?code={order}"));
    page.button("核销").is_enabled();
    let slow = Fault::at_endpoint("POST /voucher-order/{id}/use").delay(Duration::from_secs(1));
    mall.faults().add(slow.times(1)).unwrap();
    page.button("核销").click();
    let code = page.field("输入凭证码");
    code.fill(&other);
    page.sees("刚核销的");
    assert_eq!(code.value(), other);

    // A search without a response is abandoned for the next one.
    page.cut("/ops/orders");
    page.button("查看").click();
    page.was_cut();
    code.fill(&order);
    page.press("Enter");
    page.sees("核销过了");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn what_was_created_without_an_answer_is_not_created_again() {
    let mall = evening().start().unwrap();
    let page = at_the_console(&mall, "/sales/new?shop=1");
    let type_in = || {
        page.field("标题").fill("夜宵券");
        page.field("支付金额").fill("1");
        page.field("抵扣金额").fill("10");
        page.field("库存").fill("5");
        page.field("会员等级").fill("2");
        page.field("支付时限").fill("5");
    };
    type_in();
    // Typed text survives a change of language.
    page.button("English").click();
    assert_eq!(page.field("Title").value(), "夜宵券");
    page.button("中文").click();
    let made = || {
        let vouchers = get(&mall, "/ops/vouchers?shopId=1");
        vouchers.as_array().unwrap().iter().filter(|voucher| voucher["title"] == "夜宵券").count()
    };
    mall.faults().add(Fault::at_endpoint("POST /voucher/seckill").error(503).times(1)).unwrap();
    page.forgive("503");
    page.button("创建秒杀").click();
    page.sees("可以再按一次");
    assert_eq!(made(), 0);
    page.lose_answer("/voucher/seckill");
    page.button("创建秒杀").click();
    page.was_cut();
    page.sees("可以再按一次");
    assert_eq!(made(), 1);
    page.button("创建秒杀").click();
    page.heading("夜宵券").is_there();
    assert_eq!(made(), 1);
    page.sees("5 分钟");
    let sale = get(
        &mall,
        &format!("/ops{}", page.address().rsplit_once('#').unwrap().1.replace("/sale/", "/sales/")),
    );
    assert_eq!((&sale["minLevel"], &sale["payWithinSeconds"]), (&json!(2), &json!(300)));
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn sale_is_put_on_hold_although_the_mall_is_too_busy_at_first() {
    let mall = evening().start().unwrap();
    let page = at_the_console(&mall, &format!("/sale/{RUNNING}"));
    page.forgive("503");
    mall.faults().add(Fault::at_endpoint("POST /ops/sales/{id}/pause").error(503).times(2)).unwrap();
    page.button("暂停").click();
    page.sees("秒杀已暂停");
    page.button("恢复").is_enabled();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn sale_that_is_put_on_hold_before_it_opens_says_so_and_goes_on() {
    let mall = evening().start().unwrap();
    let page = at_the_console(&mall, &format!("/sale/{OPENING}"));
    page.button("暂停").click();
    page.sees("未开始 · 已暂停");
    page.button("恢复").is_enabled();
    page.go("/console#/sales");
    page.sees("未开始 · 已暂停");
    page.go(&format!("/console#/sale/{OPENING}"));
    page.button("恢复").click();
    page.button("暂停").is_there();
    page.sees_no("已暂停");
    assert_eq!(get(&mall, &format!("/ops/sales/{OPENING}"))["paused"], false);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn order_that_was_paid_meanwhile_is_not_refunded_by_cancelling_it() {
    let mall = evening().start().unwrap();
    let order = buy(&mall, ANNE, RUNNING);
    let page = at_the_console(&mall, &format!("/order/{order}"));
    page.button("取消订单").is_enabled();
    pay(&mall, ANNE, &order);
    page.button("取消订单").click();
    page.part("取消订单").field("原因").fill("顾客来电");
    page.part("取消订单").button("取消订单").click();
    page.sees("没有作废：订单现在是“已支付”");
    assert_eq!(orders_of(&mall, ANNE), [PAID]);
    page.button("退款").is_there();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn report_that_was_decided_by_a_slip_is_decided_back() {
    let mall = evening().start().unwrap();
    let anne = mall.log_in(ANNE).unwrap().token;
    let about = json!({ "kind": "note", "id": 1, "reason": "广告" });
    let reported = mall.call("POST", "/api/report", &anne, &about).unwrap();
    assert!(reported.is_success(), "{}", reported.text);
    let is_seen = || mall.call("GET", "/api/blog/1", "", &Value::Null).unwrap().is_success();
    let page = at_the_console(&mall, "/reports");
    page.button("隐藏").click();
    page.sees("已隐藏，没有人看得到");
    until("nobody sees it", || if is_seen() { Err("it is seen".to_owned()) } else { Ok(()) });
    page.button("恢复显示").click();
    page.sees("大家都看得到");
    until("everybody sees it", || if is_seen() { Ok(()) } else { Err("it is hidden".to_owned()) });
    // The next page would skip as many reports as were decided.
    page.button("接着看其余的").click();
    page.sees("没有待处理的举报");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn dialog_is_closed_by_its_ground_alone_and_gives_the_focus_back() {
    let mall = evening().start().unwrap();
    let page = at_the_console(&mall, "/shop/1");
    page.button("下架").first().click();
    page.sees("已下架");
    until("the button in its place has the focus", || {
        page.button("上架").first().has_focus().then_some(()).ok_or_else(|| page.text())
    });
    page.button("新增普通券").click();
    page.part("新增普通券").field("标题").fill("半张券");
    // First the dialog's edge, then the area around it.
    let edge = "(() => { const { x, y } = document.querySelector('dialog').getBoundingClientRect(); return [x, y]; })()";
    let [x, y]: [f64; 2] = serde_json::from_value(page.run(edge)).unwrap();
    page.click_at(x + 6.0, y + 6.0);
    assert_eq!(page.part("新增普通券").field("标题").value(), "半张券");
    page.click_at(x - 40.0, y - 40.0);
    page.field("标题").is_gone();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn stock_that_was_added_without_an_answer_is_not_added_twice() {
    let mall = evening().start().unwrap();
    let added = || get(&mall, &format!("/ops/sales/{RUNNING}"))["added"].as_u64().unwrap();
    let page = at_the_console(&mall, &format!("/sale/{RUNNING}"));
    page.lose_answer("/stock");
    page.button("增减库存").click();
    page.part("增减库存").field("增加多少").fill("30");
    page.part("增减库存").button("确定").click();
    page.was_cut();
    page.sees("无法确认 30 份是否已增加");
    page.part("增减库存").button("取消").click();
    page.button("增减库存").click();
    let dialog = page.part("增减库存");
    let add = dialog.field("增加多少");
    assert_eq!(add.value(), "30");
    page.part("增减库存").button("确定").click();
    page.sees("增加了 30 份");
    assert_eq!(added(), 30);
    page.button("增减库存").click();
    assert_eq!(add.value(), "");

    // A dialog disappears together with its sale.
    page.run("location.hash = '#/sales'; 0");
    page.part("增减库存").is_gone();
}
