//! Guarded sales: buyers solve challenges, and an operator turns the guard on and off.

use std::time::Duration;

use mallbox::fixture::Mall;
use serde_json::{Value, json};

use crate::harness::{Browser, Page, Place as _, Screen};
use crate::people::{ANNE, BEN, CARL, OPERATOR, RUNNING, browser_of, evening};

/// Keeps the last challenge that the page was given, as a browser's tools would show it.
const KEEP_CHALLENGE: &str = "
    const real = window.fetch;
    window.fetch = async (...asked) => {
        const response = await real(...asked);
        if (String(asked[0]).endsWith('/challenge')) window.given = (await response.clone().json()).data;
        return response;
    };
";
/// Pause between two movements of a pointer.
const MOVEMENT: Duration = Duration::from_millis(16);

/// Guards a sale.
pub fn guard(mall: &Mall, sale: u64, kinds: &[&str]) {
    let body = json!({ "kinds": kinds, "workBits": 8, "jitterSeconds": 0 });
    let path = format!("/api/ops/sales/{sale}/guard");
    let done = mall.call("PUT", &path, &mall.operator(), &body).unwrap();
    assert!(done.is_success(), "{}", done.text);
}

fn buyer(mall: &Mall, phone: &str) -> Browser {
    browser_of(mall, phone).running(KEEP_CHALLENGE)
}

/// Returns the answer to the challenge on a page.
fn answer(mall: &Mall, page: &Page, phone: &str) -> Value {
    let token = mall.log_in(phone).unwrap().token;
    let user = mall.call("GET", "/api/user/me", &token, &Value::Null).unwrap().data()["id"].clone();
    let body = json!({
        "userId": user, "voucherId": RUNNING,
        "deviceTicket": page.run("localStorage.getItem('mallbox-device-ticket')"),
        "challenge": page.run("window.given.challenge"),
    });
    let told = mall.call("POST", &format!("{}/answer", mall.control_path()), "", &body).unwrap();
    assert!(told.is_success(), "{}", told.text);
    told.data().clone()
}

/// Opens the challenge of the running sale.
fn open_challenge(browser: &Browser) -> Page {
    let page = browser.open(&format!("/#/sale/{RUNNING}"));
    page.button("立即抢购").click();
    page.sees("先完成验证");
    page.rests();
    page
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn buyer_types_the_characters_and_gets_it() {
    let mall = evening().start().unwrap();
    guard(&mall, RUNNING, &["picture", "slider", "work"]);
    let page = open_challenge(&buyer(&mall, BEN));
    page.forgive("/api/sale/51/pass");
    let label = "图中的 4 个字";
    page.button("提交").click();
    page.sees("请输入图中的字");
    page.field(label).fill("不是这些");
    page.button("提交").click();
    page.sees("验证未通过");
    page.is_accessible();
    page.fits();
    let refused = page.run("window.given.challenge");
    page.button("换一张").click();
    page.rests();
    assert_ne!(page.run("window.given.challenge"), refused);
    let text = answer(&mall, &page, BEN)["text"].as_str().unwrap().to_owned();
    page.field(label).fill(&format!(" {text} "));
    page.button("提交").click();
    page.sees("抢到了！");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn piece_is_moved_by_touch_mouse_and_keys() {
    let mall = evening().start().unwrap();
    guard(&mall, RUNNING, &["slider", "work"]);
    for (phone, screen) in [(ANNE, Screen::Phone), (BEN, Screen::Desktop)] {
        let page = open_challenge(&buyer(&mall, phone).on(screen));
        let left = answer(&mall, &page, phone)["left"].as_f64().unwrap();
        page.is_accessible();
        page.fits();
        let value = || page.run("document.querySelector('[type=range]').value");
        let way = way(&page, left);
        // A press beside the handle moves nothing.
        page.drag([way[20]], MOVEMENT);
        assert_eq!(value(), "0");
        page.drag(way, MOVEMENT);
        let moved: f64 = value().as_str().unwrap().parse().unwrap();
        assert!((moved - left).abs() <= 2.0, "{moved} instead of {left}");
        page.button("提交").click();
        page.sees("抢到了！");
    }
    let page = open_challenge(&buyer(&mall, CARL).on(Screen::Desktop));
    let left = answer(&mall, &page, CARL)["left"].as_i64().unwrap();
    assert_eq!(page.run("document.activeElement.type"), "range");
    for step in 0..left {
        page.press("ArrowRight");
        // Nobody presses a key in even steps.
        std::thread::sleep(Duration::from_millis(if step % 5 == 0 { 20 } else { 3 }));
    }
    page.press("Enter");
    page.sees("抢到了！");
}

/// Returns the way of a hand from the handle's start to a value of the slider, in positions of the window.
fn way(page: &Page, value: f64) -> Vec<(f64, f64)> {
    let place = page.run(
        "(() => {
            const handle = document.querySelector('[type=range]');
            const { x, y, width, height } = handle.getBoundingClientRect();
            return [x + height / 2, y + height / 2, (width - height) / handle.max];
        })()",
    );
    let number = |at: usize| place[at].as_f64().unwrap();
    let at = |value: f64, down: f64| (number(0) + value * number(2), number(1) + down);
    let steps = 40;
    let beyond = value + 6.0;
    let there = (0..=steps).map(|step| {
        let share = f64::from(step) / f64::from(steps);
        let tremor = f64::from([0, 1, -1, 2, 0, -1, 1][usize::try_from(step).unwrap() % 7]);
        at((beyond * share * share * (3.0 - 2.0 * share) + tremor).max(0.0), tremor)
    });
    let back = (1..=6).map(|step| at(beyond - f64::from(step), 1.0));
    there.chain(back).collect()
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn device_computes_for_who_cannot_see_the_picture() {
    let mall = evening().start().unwrap();
    guard(&mall, RUNNING, &["picture", "work"]);
    let page = open_challenge(&buyer(&mall, BEN).on(Screen::Tablet));
    page.button("不看图，让设备计算").click();
    page.sees("抢到了！");
    page.is_content();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn dialog_is_left_without_a_claim_and_a_guard_of_meanwhile_is_asked_for() {
    let mall = evening().start().unwrap();
    let page = buyer(&mall, BEN).open(&format!("/#/sale/{RUNNING}"));
    page.button("立即抢购").is_enabled();
    // Set while the page shows the sale without one.
    guard(&mall, RUNNING, &["work"]);
    page.button("立即抢购").click();
    page.sees("请先完成验证");
    guard(&mall, RUNNING, &["picture", "work"]);
    page.button("立即抢购").click();
    page.sees("先完成验证");
    page.button("取消").click();
    page.sees_no("换一张");
    page.button("立即抢购").is_enabled();
    assert_eq!(crate::people::orders_of(&mall, BEN), [0; 0]);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn buyer_takes_the_check_before_the_opening() {
    let mall = evening().start().unwrap();
    let sale = json!({
        "shopId": 1, "title": "防护秒杀", "subTitle": "", "rules": "", "payValue": 100, "actualValue": 200,
        "stock": 1, "beginTime": "2026-11-21T20:00:03", "endTime": "2026-11-21T23:00:00",
    });
    let made = mall.call("POST", "/api/voucher/seckill", &mall.operator(), &sale).unwrap();
    let id = made.data().as_u64().unwrap();
    guard(&mall, id, &["work"]);
    let page = buyer(&mall, BEN).open(&format!("/#/sale/{id}"));
    page.forgive(&format!("/api/sale/{id}/pass"));
    page.button("先完成验证").click();
    page.sees("已通过");
    mall.advance(Duration::from_secs(3)).unwrap();
    page.button("立即抢购").click();
    page.sees("抢到了！");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_turns_the_guard_on_changes_it_and_turns_it_off() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, OPERATOR).on(Screen::Desktop).open(&format!("/console#/sale/{RUNNING}"));
    page.forgive(&format!("/api/ops/sales/{RUNNING}/guard"));
    page.button("开启防护").click();
    let form = page.part("抢购防护");
    form.field("首选方式").choose("拖动拼图");
    form.field("通行码有效期（秒）").fill("30");
    page.is_accessible();
    form.button("保存").click();
    page.sees("防护已保存");
    page.sees("通行码 30 秒内有效");
    let stored = |mall: &Mall| {
        let path = format!("/api/ops/sales/{RUNNING}/guard");
        mall.call("GET", &path, &mall.operator(), &Value::Null).unwrap().data()["kinds"].clone()
    };
    assert_eq!(stored(&mall), json!(["slider", "picture", "work"]));
    page.button("修改防护").click();
    form.field("计算量（位，每加一位翻倍）").fill("27");
    form.button("保存").click();
    page.sees("8");
    form.field("计算量（位，每加一位翻倍）").fill("20");
    form.button("保存").click();
    page.rests();
    page.button("关闭防护").click();
    page.part("关闭防护？").button("关闭防护").click();
    page.sees("防护已关闭");
    assert_eq!(stored(&mall), json!([]));
}
