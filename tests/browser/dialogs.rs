//! Dialogs and messages: order and colour of the buttons, and overlaps.

use serde_json::Value;

use crate::harness::{Page, Place as _, Screen, until};
use crate::people::{ANNE, BEN, NOBODY, OPENING, OPERATOR, RUNNING, browser_of, buy, evening, left, pay};

/// Lists the buttons of the open dialog from left to right, and whether each has the warning colour.
const BUTTONS: &str = r#"(() => {
    const probe = document.createElement("p");
    probe.style.color = "var(--bad)";
    document.body.append(probe);
    const bad = getComputedStyle(probe).color;
    probe.remove();
    return [...document.querySelectorAll("dialog .buttons .button")]
        .map((one) => [one.textContent, one.getBoundingClientRect().left, getComputedStyle(one).backgroundColor === bad])
        .sort((one, other) => one[1] - other[1]).map(([text, , isRed]) => `${text}${isRed ? " (red)" : ""}`);
})()"#;

#[track_caller]
fn has_buttons(page: &Page, wanted: [&str; 2]) {
    until("the dialog has its buttons", || {
        let buttons = page.run(BUTTONS);
        if buttons == Value::from(wanted.to_vec()) { Ok(()) } else { Err(buttons.to_string()) }
    });
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn action_is_the_last_button_of_every_dialog_and_red_if_it_cannot_be_undone() {
    let mall = evening().start().unwrap();
    let order = buy(&mall, ANNE, RUNNING);
    let page = browser_of(&mall, OPERATOR).on(Screen::Desktop).open(&format!("/console#/sale/{RUNNING}"));
    page.button("立即结束").click();
    has_buttons(&page, ["取消", "结束秒杀 (red)"]);
    page.part("立即结束").button("取消").click();
    page.button("增减库存").click();
    has_buttons(&page, ["取消", "确定"]);
    page.part("增减库存").button("取消").click();
    page.go(&format!("/console#/order/{order}"));
    page.button("取消订单").click();
    has_buttons(&page, ["保留订单", "取消订单 (red)"]);
    page.part("取消订单").button("保留订单").click();

    let page = browser_of(&mall, ANNE).open("/#/me");
    page.button("退出登录").click();
    has_buttons(&page, ["取消", "退出"]);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn cancelled_order_claims_nothing_about_anybody_else() {
    let mall = evening().start().unwrap();
    let order = buy(&mall, ANNE, RUNNING);
    let before = left(&mall, RUNNING);
    let page = browser_of(&mall, ANNE).open(&format!("/#/order/{order}"));
    page.button("取消订单").click();
    has_buttons(&page, ["保留订单", "取消订单 (red)"]);
    page.part("取消订单").button("取消订单").click();
    page.sees("订单已取消，名额已放回");
    assert_eq!(left(&mall, RUNNING), before + 1);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn complaint_about_a_field_goes_once_it_is_filled() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, NOBODY).open("/#/login");
    page.button("获取验证码").click();
    page.sees("请输入11位手机号");
    page.field("手机号").fill("13800000001");
    page.sees_no("请输入11位手机号");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn message_covers_no_button_and_goes_with_its_page() {
    // The test decides when the message's four seconds are over.
    const HELD: &str = "window.setTimeout = new Proxy(setTimeout, \
        { apply: (real, self, [what, ms]) => real.call(self, what, ms === 4000 ? 600000 : ms) });";
    const COVERED: &str = r#"(() => {
        const toasts = [...document.querySelectorAll(".toast")].map((one) => one.getBoundingClientRect());
        const meet = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
        return [...document.querySelectorAll("button, .button, input")].filter((one) => {
            const box = one.getBoundingClientRect();
            return box.width > 0 && toasts.some((toast) => meet(box, toast));
        }).map((one) => one.textContent);
    })()"#;
    let mall = evening().start().unwrap();
    mall.advance(std::time::Duration::from_secs(30)).unwrap();
    let paid = buy(&mall, ANNE, OPENING);
    pay(&mall, ANNE, &paid);
    let unpaid = buy(&mall, ANNE, RUNNING);
    let page = browser_of(&mall, ANNE).running(HELD).open(&format!("/#/order/{unpaid}"));
    page.button("支付").click();
    page.sees("已付款");
    page.rests();
    assert_eq!(page.run(COVERED), Value::Array(vec![]));
    // A recent message remains visible on the page it links to.
    until("the message is a second old", || {
        page.run("location.hash = '#/orders'; 0");
        page.rests();
        let toasts = page.run("document.querySelectorAll('.toast').length");
        page.run("location.hash = '#/me'; 0");
        if toasts == 0 { Ok(()) } else { Err(format!("{toasts} are left")) }
    });
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn first_tab_stop_on_a_desktop_leads_past_the_navigation() {
    let mall = evening().start().unwrap();
    for (phone, path) in [(BEN, "/#/me"), (OPERATOR, "/console#/sales")] {
        let page = browser_of(&mall, phone).on(Screen::Desktop).open(path);
        page.rests();
        page.press("Tab");
        page.button("跳到正文").is_focused();
        page.press("Tab");
        let stop = page.run("document.activeElement.closest('nav') !== null");
        assert_eq!(stop, Value::Bool(true), "the navigation is above the page, and comes before it: {path}");
        page.run("document.querySelector('.skip').focus(); 0");
        page.press("Enter");
        assert_eq!(page.run("document.activeElement.id"), "screen", "{path}");
    }
}
