//! Guarded sales: buyers solve challenges, and an operator turns the guard on and off.
//!
//! With `SCREENSHOTS` set to a directory, a test also writes a screenshot of each challenge.

use std::env;
use std::path::Path;
use std::time::Duration;

use mallbox::fixture::Mall;
use serde_json::{Value, json};

use crate::harness::{Browser, Page, Place as _, Screen, until};
use crate::people::{
    ANNE, BEN, CARL, DORA, OPERATOR, RUNNING, UNPAID, browser_of, evening, log_in_by_code, orders_of,
};
use crate::words;

/// Keeps the last challenge that the page was given, and counts answers and workers.
pub const OBSERVE: &str = "{
    const real = window.fetch;
    window.answers = 0;
    const workers = new Set();
    Object.defineProperty(window, 'workers', { get: () => workers.size });
    window.fetch = async (...asked) => {
        if (String(asked[0]).endsWith('/pass')) window.answers += 1;
        const response = await real(...asked);
        if (String(asked[0]).endsWith('/challenge')) window.given = (await response.clone().json()).data;
        return response;
    };
    window.Worker = class extends Worker {
        constructor(...made) { super(...made); workers.add(this); }
        terminate() { super.terminate(); workers.delete(this); }
    };
}";
/// Pause between two movements of a pointer.
const MOVEMENT: Duration = Duration::from_millis(16);
const CLAIM: &str = "/api/voucher-order/seckill/";

/// Guards a sale with work of `bits` bits and passes from `jitter` seconds before the begin.
pub fn guard_with(mall: &Mall, sale: u64, kinds: &[&str], (bits, jitter): (u8, u8)) {
    let body = json!({ "kinds": kinds, "workBits": bits, "jitterSeconds": jitter });
    let path = format!("/api/ops/sales/{sale}/guard");
    let done = mall.call("PUT", &path, &mall.operator(), &body).unwrap();
    assert!(done.is_success(), "{}", done.text);
}

/// Guards a sale.
pub fn guard(mall: &Mall, sale: u64, kinds: &[&str]) {
    guard_with(mall, sale, kinds, (8, 0));
}

pub fn buyer(mall: &Mall, phone: &str) -> Browser {
    browser_of(mall, phone).running(OBSERVE)
}

/// Returns the answer to the challenge on a page.
pub fn answer(mall: &Mall, page: &Page, phone: &str) -> Value {
    let token = mall.log_in(phone).unwrap().token;
    let user = mall.call("GET", "/api/user/me", &token, &Value::Null).unwrap().data()["id"].clone();
    let body = json!({
        "userId": user, "voucherId": RUNNING,
        "deviceTicket": page.run("window.given.deviceTicket"),
        "challenge": page.run("window.given.challenge"),
    });
    let told = mall.call("POST", &format!("{}/answer", mall.control_path()), "", &body).unwrap();
    assert!(told.is_success(), "{}", told.text);
    told.data().clone()
}

/// Opens the challenge of the running sale.
pub fn open_challenge(browser: &Browser) -> Page {
    let page = browser.open(&format!("/#/sale/{RUNNING}"));
    page.button("立即抢购").click();
    page.sees("先完成验证");
    page.rests();
    page
}

fn number(value: &Value) -> f64 {
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn buyer_types_the_characters_and_gets_it() {
    let mall = evening().start().unwrap();
    guard(&mall, RUNNING, &["picture", "slider", "work"]);
    let page = open_challenge(&buyer(&mall, BEN));
    page.forgive("/api/sale/51/pass");
    let label = "图中的 4 个字";
    comes_to(&page, "document.activeElement.tagName", &json!("INPUT"));
    page.button("提交").click();
    page.sees("请输入图中的字");
    page.field(label).fill("不是这些");
    page.button("提交").click();
    page.sees("验证未通过");
    page.rests();
    comes_to(&page, "document.activeElement.tagName", &json!("INPUT"));
    page.is_accessible();
    page.fits();
    let refused = page.run("window.given.challenge");
    page.button("换一张").click();
    page.sees_no("验证未通过");
    page.rests();
    assert_ne!(page.run("window.given.challenge"), refused);
    let text = answer(&mall, &page, BEN)["text"].as_str().unwrap().to_owned();
    page.field(label).fill(&format!(" {text} "));
    page.press("Enter");
    page.sees("抢到了！");
    assert_eq!(page.run("window.answers"), 2);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn piece_is_moved_by_touch_mouse_keys_and_buttons() {
    let mall = evening().start().unwrap();
    guard(&mall, RUNNING, &["slider", "work"]);
    let value = |page: &Page| number(&page.run("document.querySelector('[type=range]').value"));
    for (phone, screen) in [(ANNE, Screen::Phone), (BEN, Screen::Desktop)] {
        let page = open_challenge(&buyer(&mall, phone).on(screen));
        let left = number(&answer(&mall, &page, phone)["left"]);
        let way = way(&page, left);
        // A press beside the handle moves nothing.
        page.drag([way[20]], MOVEMENT);
        assert!(value(&page).abs() < 0.5);
        page.drag(way, MOVEMENT);
        assert!((value(&page) - left).abs() <= 2.0, "{} instead of {left}", value(&page));
        page.button("提交").click();
        page.sees("抢到了！");
    }
    // Nobody presses in even steps.
    let pause = |step: i64| std::thread::sleep(Duration::from_millis(if step % 5 == 0 { 60 } else { 3 }));
    let page = open_challenge(&buyer(&mall, CARL).on(Screen::Desktop));
    page.forgive("/api/sale/51/pass");
    comes_to(&page, "document.activeElement.type", &json!("range"));
    page.press("Enter");
    page.sees("验证未通过");
    page.rests();
    comes_to(&page, "document.activeElement.type", &json!("range"));
    let left = answer(&mall, &page, CARL)["left"].as_i64().unwrap();
    for step in 0..left {
        page.press("ArrowRight");
        pause(step);
    }
    page.press("Enter");
    page.sees("抢到了！");

    let page = open_challenge(&buyer(&mall, DORA));
    let left = answer(&mall, &page, DORA)["left"].as_i64().unwrap();
    for step in 0..=(left + 4) / 8 {
        page.button("右移").click();
        pause(step);
    }
    page.button("左移").click();
    assert!((value(&page) - left as f64).abs() <= 4.0, "{} instead of {left}", value(&page));
    page.button("提交").click();
    page.sees("抢到了！");
}

/// Waits until a script returns a value.
#[track_caller]
fn comes_to(page: &Page, script: &str, wanted: &Value) {
    until(script, || {
        let found = page.run(script);
        if found == *wanted { Ok(()) } else { Err(format!("{found} instead of {wanted}")) }
    });
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
    comes_to(&page, "[window.answers, window.workers]", &json!([1, 0]));
    page.is_content();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn dialog_that_is_left_ends_the_computation_and_claims_nothing() {
    let mall = evening().start().unwrap();
    // Minutes of work.
    guard_with(&mall, RUNNING, &["work", "picture"], (26, 0));
    let page = open_challenge(&buyer(&mall, BEN).on(Screen::Desktop));
    page.sees("正在计算");
    let focus = "[window.workers, document.activeElement.textContent.startsWith('正在计算')]";
    comes_to(&page, focus, &json!([1, true]));
    page.press("Escape");
    comes_to(&page, "[window.workers, document.activeElement.textContent.trim()]", &json!([0, "立即抢购"]));
    page.button("立即抢购").click();
    page.sees("正在计算");
    page.button("换成输入文字").click();
    page.button("换一张").is_there();
    comes_to(&page, "window.workers", &json!(0));
    page.button("不看图，让设备计算").click();
    page.sees("正在计算");
    page.run("location.hash = '#/sales'; 0");
    page.sees_no("正在计算");
    comes_to(&page, "[window.answers, window.workers]", &json!([0, 0]));
    assert_eq!(orders_of(&mall, BEN), [0; 0]);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn claim_without_a_pass_leads_to_one_challenge() {
    let mall = evening().start().unwrap();
    let page = buyer(&mall, BEN).open(&format!("/#/sale/{RUNNING}"));
    page.button("立即抢购").is_enabled();
    page.forgive(CLAIM);
    // Set while the page shows the sale without one, and learns nothing new.
    page.hold(&format!("/api/sale/{RUNNING}"));
    guard(&mall, RUNNING, &["picture", "work"]);
    page.button("立即抢购").click();
    page.sees("先完成验证");
    page.release();
    page.rests();
    page.hold(CLAIM);
    page.button("不看图，让设备计算").click();
    page.sees("正在提交");
    page.sees_no("先完成验证");
    // The pass expires on the way.
    mall.advance(Duration::from_secs(120)).unwrap();
    page.release();
    page.sees("请先完成验证，再抢购");
    page.button("换一张").is_gone();
    assert_eq!(orders_of(&mall, BEN), [0; 0]);

    page.button("立即抢购").click();
    page.button("不看图，让设备计算").click();
    page.sees("抢到了！");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn claim_with_a_pass_whose_response_is_lost_buys_once() {
    let mall = evening().start().unwrap();
    guard(&mall, RUNNING, &["work"]);
    let page = buyer(&mall, BEN).open(&format!("/#/sale/{RUNNING}"));
    page.lose_answer(CLAIM);
    page.button("立即抢购").click();
    page.was_cut();
    page.forgive(CLAIM);
    page.sees("抢到了！");
    assert_eq!(orders_of(&mall, BEN), [UNPAID]);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn guard_removed_while_the_dialog_is_open_is_no_obstacle() {
    let mall = evening().start().unwrap();
    guard(&mall, RUNNING, &["picture"]);
    let page = open_challenge(&buyer(&mall, BEN));
    page.forgive("/challenge");
    guard(&mall, RUNNING, &[]);
    page.button("换一张").click();
    page.sees("抢到了！");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn kiosk_asks_for_no_characters() {
    let mall = evening().start().unwrap();
    guard(&mall, RUNNING, &["picture", "slider"]);
    let kiosk = Browser::at(&mall.url()).on(Screen::Kiosk).running(OBSERVE);
    let page = kiosk.open(&format!("/?kiosk=600#/sale/{RUNNING}"));
    page.button("登录后抢购").click();
    log_in_by_code(&page, ANNE);
    page.button("立即抢购").click();
    page.button("右移").is_there();
    page.button("换成输入文字").is_gone();
    page.is_accessible();
    page.fits();
    picture(&page, "kiosk");
    let left = number(&answer(&mall, &page, ANNE)["left"]);
    page.drag(way(&page, left), MOVEMENT);
    page.button("提交").click();
    page.sees("抢到了！");

    guard(&mall, RUNNING, &["picture"]);
    let page = kiosk.open(&format!("/?kiosk=600#/sale/{RUNNING}"));
    page.button("登录后抢购").click();
    log_in_by_code(&page, BEN);
    page.button("立即抢购").click();
    page.sees("请用手机抢购");
    page.is_accessible();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn challenges_fit_each_screen_and_use_one_language() {
    type Look = fn(Browser) -> Browser;
    let mall = evening().start().unwrap();
    guard_with(&mall, RUNNING, &["picture", "slider", "work"], (26, 0));
    let looks: [(&str, Look); 5] = [
        ("phone", |browser| browser.on(Screen::Phone)),
        ("tablet", |browser| browser.on(Screen::Tablet)),
        ("desktop", |browser| browser.on(Screen::Desktop)),
        ("dark", Browser::dark),
        ("english", |browser| browser.in_english().on(Screen::Desktop)),
    ];
    for (look, dressed) in looks {
        let page = dressed(browser_of(&mall, BEN)).running(words::LISTEN).open(&format!("/#/sale/{RUNNING}"));
        let at = usize::from(look == "english");
        page.button(["立即抢购", "Buy now"][at]).click();
        let steps = [
            ("picture", ["换一张", "Another picture"], ["换成拖动拼图", "Move a puzzle piece instead"]),
            ("slider", ["右移", "Right"], ["不看图，让设备计算", "No picture: let this device compute"]),
            ("work", ["取消", "Cancel"], ["换成输入文字", "Type characters instead"]),
        ];
        for (kind, there, next) in steps {
            page.button(there[at]).is_there();
            page.button(next[at]).is_there();
            page.is_accessible();
            page.fits();
            words::speaks(&page, ["zh", "en"][at]);
            picture(&page, &format!("{kind}-{look}"));
            page.button(next[at]).click();
        }
    }
}

/// Writes a screenshot, if asked for.
fn picture(page: &Page, name: &str) {
    let Some(folder) = env::var_os("SCREENSHOTS") else { return };
    page.take_picture(&Path::new(&folder).join(format!("challenge-{name}.png")));
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_turns_the_guard_on_changes_it_and_turns_it_off() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, OPERATOR).on(Screen::Desktop).open(&format!("/console#/sale/{RUNNING}"));
    page.forgive(&format!("/api/ops/sales/{RUNNING}/guard"));
    let stored = |mall: &Mall| {
        let path = format!("/api/ops/sales/{RUNNING}/guard");
        mall.call("GET", &path, &mall.operator(), &Value::Null).unwrap().data().clone()
    };
    page.button("开启防护").click();
    let form = page.part("抢购防护");
    form.sees("买家先看到：一张写着 4 个汉字的图片");
    form.field("首选方式").choose("拖动拼图");
    form.sees("买家先看到：一张有缺口的图片");
    form.field("通行码有效期（秒）").fill("30");
    page.is_accessible();
    page.fits();
    picture(&page, "console");
    form.button("保存").click();
    page.sees("防护已保存");
    page.sees("通行码 30 秒内有效");
    assert_eq!(stored(&mall)["kinds"], json!(["slider", "picture", "work"]));

    page.button("修改防护").click();
    for (label, wrong, right) in [
        ("计算量（位，每加一位翻倍）", "27", "20"),
        ("通行码有效期（秒）", "9", "60"),
        ("开抢前最多提前几秒发放", "31", "0"),
    ] {
        let field = form.field(label);
        field.fill(wrong);
        form.button("保存").click();
        form.sees("须为");
        page.rests();
        field.is_focused();
        field.fill(right);
    }
    // After the option of the select.
    form.choice("自动计算").at(1).click();
    form.button("保存").click();
    form.is_gone();
    let changed = stored(&mall);
    let expected =
        json!({ "kinds": ["slider", "picture"], "workBits": 20, "passSeconds": 60, "jitterSeconds": 0 });
    assert_eq!(changed, expected);

    page.button("关闭防护").click();
    page.part("关闭防护？").button("关闭防护").click();
    page.sees("防护已关闭");
    page.button("开启防护").is_there();
    assert_eq!(stored(&mall)["kinds"], json!([]));
}
