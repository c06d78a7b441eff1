//! Judgement: an operator sees what looks automated and edits the rules, and buyers pass a second check.

use std::time::Duration;

use mallbox::fixture::Mall;
use serde_json::{Value, json};

use crate::guards::{OBSERVE, answer, guard};
use crate::harness::{Page, Place as _, Screen, until};
use crate::levels::members_sale;
use crate::people::{ANNE, BEN, CARL, OPERATOR, RUNNING, browser_of, evening, orders_of};

/// Every attempt looks automated: the first within ten seconds has the value 1.
const EVERYTHING: &str = "limit = 10\n\n[[rules]]\nsignal = \"user-attempts\"\nat-least = 1\npoints = 10\n";
/// The second attempt within ten seconds, and later ones, look automated.
const REPEATED: &str = "limit = 10\n\n[[rules]]\nsignal = \"user-attempts\"\nat-least = 2\npoints = 10\n";
/// A page for people who want no motion.
const STILL: &str = "{
    const real = window.matchMedia.bind(window);
    window.matchMedia = (query) => (query.includes('reduced-motion: reduce') ? { matches: true } : real(query));
}";

#[track_caller]
fn put(mall: &Mall, path: &str, body: &Value) {
    let done = mall.call("PUT", path, &mall.operator(), body).unwrap();
    assert!(done.is_success(), "{path}: {}", done.text);
}

fn judge(mall: &Mall, sale: u64, mode: &str) {
    put(mall, &format!("/api/ops/sales/{sale}/judgement"), &json!({ "mode": mode }));
}

fn stored_rules(mall: &Mall) -> Value {
    mall.call("GET", "/api/ops/judgement/rules", &mall.operator(), &Value::Null).unwrap().data().clone()
}

/// Claims a unit, whatever the outcome.
fn attempt(mall: &Mall, phone: &str, sale: u64) {
    let token = mall.log_in(phone).unwrap().token;
    mall.call("POST", &format!("/api/voucher-order/seckill/{sale}"), &token, &Value::Null).unwrap();
    mall.advance(Duration::from_millis(400)).unwrap();
}

/// Adds a sale with six attempts in its log: five got a unit, and one came too late. Returns the id.
pub fn judged_sale(mall: &Mall) -> u64 {
    let sale = members_sale(mall, 0);
    judge(mall, sale, "observe");
    // Strangers: the orders of the others are shown on other screens.
    for number in 1..=6 {
        attempt(mall, &format!("1360000000{number}"), sale);
    }
    // The log is written in the background.
    let path = format!("/api/ops/sales/{sale}/attempts");
    until("six attempts are in the log", || {
        let page = mall.call("GET", &path, &mall.operator(), &Value::Null).unwrap();
        let logged = page.data()["attempts"].as_array().map_or(0, Vec::len);
        if logged == 6 { Ok(()) } else { Err(page.text) }
    });
    sale
}

fn at_the_console(mall: &Mall, path: &str) -> Page {
    browser_of(mall, OPERATOR).on(Screen::Desktop).open(&format!("/console#{path}"))
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_sets_a_mode_and_sees_attempts_as_they_come() {
    let mall = evening().start().unwrap();
    let page = at_the_console(&mall, &format!("/sale/{RUNNING}"));
    page.button("开启风控").click();
    let form = page.part("风控");
    form.choice("只记录").click();
    page.is_accessible();
    page.fits();
    form.button("保存").click();
    page.sees("最近五分钟没有人抢购");
    attempt(&mall, ANNE, RUNNING);
    attempt(&mall, ANNE, RUNNING);
    page.sees("次抢购，最近五分钟");
    let section = page.part("风控");
    section.sees("抢到 1");
    section.sees("已抢过 1");
    section.image("共 2 次抢购").is_there();
    page.rests();
    page.is_accessible();
    page.fits();

    section.link("抢购记录").click();
    page.part("回放").is_there();
    page.row("已抢过").is_there();
    page.row("抢到").link("").first().is_there();
    page.button("返回").click();
    page.button("修改风控").click();
    form.choice("关闭").click();
    form.button("保存").click();
    page.sees("不打分，也不记录");
    page.sees_no("最近五分钟");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn rules_with_an_error_are_shown_and_not_saved_and_valid_ones_are_previewed_and_saved() {
    let mall = evening().start().unwrap();
    let sale = judged_sale(&mall);
    let default = stored_rules(&mall);
    let page = at_the_console(&mall, &format!("/sale/{sale}"));
    page.forgive("/api/ops/judgement/rules");
    page.forgive("/judgement/preview");
    page.part("风控").link("风控规则").click();
    page.sees("默认规则");
    let rules = page.field("规则内容");
    rules.fill("limit = 10\n\n[[rules]]\nsignal = \"shoe-size\"\nat-least = 1\npoints = 10\n");
    page.button("保存").click();
    page.part("保存规则？").button("保存").click();
    page.part("规则").sees("第1条规则：没有名为“shoe-size”的信号");
    page.rests();
    rules.is_focused();
    assert_eq!(page.run("getSelection().toString()"), "[[rules]]");
    assert_eq!(stored_rules(&mall), default);
    page.is_accessible();
    rules.fill("limit = 10\nlimits = 20\n");
    page.part("预览").button("预览").click();
    page.part("规则").sees("第2行");
    page.rests();
    assert_eq!(page.run("getSelection().toString()"), "limits = 20");

    rules.fill(EVERYTHING);
    page.part("预览").button("预览").click();
    page.sees("最近 6 次抢购");
    page.row("疑似脚本，但抢到了").sees("5");
    page.rests();
    page.is_accessible();
    page.fits();
    assert_eq!(stored_rules(&mall), default);
    // A draft survives a look elsewhere.
    page.link("秒杀").first().click();
    page.run("history.back()");
    page.part("预览").is_there();
    assert_eq!(rules.value(), EVERYTHING.trim_end().to_owned() + "\n");
    page.button("保存").click();
    page.part("保存规则？").button("保存").click();
    page.sees("规则已保存");
    assert_eq!(stored_rules(&mall), json!({ "rules": EVERYTHING, "isDefault": false }));

    page.part("预览").field("秒杀编号").fill("404404");
    page.part("预览").button("预览").click();
    page.part("预览").sees("不存在");
    page.button("恢复默认规则").click();
    page.part("恢复默认规则？").button("恢复").click();
    page.sees("已恢复默认规则");
    assert_eq!(stored_rules(&mall), default);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn buyer_who_looks_automated_passes_a_second_check_and_buys() {
    let mall = evening().start().unwrap();
    put(&mall, "/api/ops/judgement/rules", &json!({ "rules": EVERYTHING }));
    guard(&mall, RUNNING, &["work", "picture"]);
    judge(&mall, RUNNING, "challenge");
    let page = browser_of(&mall, BEN).running(OBSERVE).open(&format!("/#/sale/{RUNNING}"));
    page.forgive("/api/voucher-order/seckill/");
    page.button("立即抢购").click();
    page.sees("再验证一次");
    page.sees("排队的位置还在");
    page.field("图中的 4 个字").is_there();
    page.is_accessible();
    page.fits();
    // The explanation is there again after a cancelled check.
    page.button("取消").click();
    assert_eq!(orders_of(&mall, BEN), [0; 0]);
    page.button("立即抢购").click();
    page.sees("再验证一次");
    page.field("图中的 4 个字").is_there();
    page.rests();
    let text = answer(&mall, &page, BEN)["text"].as_str().unwrap().to_owned();
    page.field("图中的 4 个字").fill(&text);
    page.press("Enter");
    page.sees("抢到了！");
    assert_eq!(page.run("window.answers"), 2);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn buyer_who_looks_automated_is_refused_and_told_so() {
    let mall = evening().start().unwrap();
    put(&mall, "/api/ops/judgement/rules", &json!({ "rules": EVERYTHING }));
    judge(&mall, RUNNING, "refuse");
    let page = browser_of(&mall, BEN).in_english().open(&format!("/#/sale/{RUNNING}"));
    page.forgive("/api/voucher-order/seckill/");
    page.button("Buy now").click();
    page.sees("looks automated");
    page.rests();
    page.is_accessible();
    page.fits();
    assert_eq!(orders_of(&mall, BEN), [0; 0]);
    // A person may try again.
    page.button("Buy now").is_enabled();
    judge(&mall, RUNNING, "off");
    mall.advance(Duration::from_secs(1)).unwrap();
    page.button("Buy now").click();
    page.sees("You got it!");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn replay_is_played_by_keyboard() {
    let mall = evening().start().unwrap();
    let sale = judged_sale(&mall);
    for motion in ["0", STILL] {
        let browser = browser_of(&mall, OPERATOR).on(Screen::Desktop).running(motion);
        let page = browser.open(&format!("/console#/sale/{sale}/attempts"));
        let replay = page.part("回放");
        replay.sees("抢到 5 · 拦下 0 · 其他 1");
        let position = replay.field("回放到第几次抢购");
        page.tab_to(&position);
        page.press("Home");
        assert_eq!(position.value(), "0");
        replay.sees("抢到 0");
        page.press("ArrowRight");
        page.press("ArrowRight");
        assert_eq!(position.value(), "2");
        replay.sees("抢到 2 · 拦下 0 · 其他 0");
        page.tab_to(&replay.button("10 倍"));
        page.press("Enter");
        page.run("document.querySelector('main').focus(); 0");
        page.tab_to(&replay.button("播放"));
        page.press("Enter");
        replay.sees("抢到 5 · 拦下 0 · 其他 1");
        replay.sees("6 次中的前 6 次：抢到 5，拦下 0，其他 1");
        replay.button("播放").is_focused();
        page.is_accessible();
        page.fits();
    }
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn older_attempts_are_loaded_below_the_newest() {
    let mall = evening().start().unwrap();
    put(&mall, "/api/ops/judgement/rules", &json!({ "rules": REPEATED }));
    judge(&mall, RUNNING, "observe");
    let token = mall.log_in(CARL).unwrap().token;
    let claim = format!("/api/voucher-order/seckill/{RUNNING}");
    for _ in 0..120 {
        mall.call("POST", &claim, &token, &Value::Null).unwrap();
    }
    let path = format!("/api/ops/sales/{RUNNING}/attack");
    until("the attempts are in the log", || {
        let attack = mall.call("GET", &path, &mall.operator(), &Value::Null).unwrap();
        if attack.data()["attempts"] == 120 { Ok(()) } else { Err(attack.text) }
    });
    let page = at_the_console(&mall, &format!("/sale/{RUNNING}/attempts"));
    let rows = |page: &Page| page.run("document.querySelectorAll('tbody tr').length");
    page.sees("拦下 0 · 其他 100");
    assert_eq!(rows(&page), 100);
    // In one call: a hundred rows are slow to find one by one.
    let newest = page.run("document.querySelector('tbody tr').textContent");
    let newest = newest.as_str().unwrap();
    assert!(newest.contains("+10 分") && newest.contains("疑似脚本"), "{newest}");
    page.button("更早的").click();
    page.sees("抢到 1 · 拦下 0 · 其他 119");
    assert_eq!(rows(&page), 120);
    page.button("更早的").is_gone();
    attempt(&mall, BEN, RUNNING);
    until("the newest attempt is shown", || {
        page.button("刷新").click();
        page.rests();
        if rows(&page) == 121 { Ok(()) } else { Err(rows(&page).to_string()) }
    });
    page.fits();
}
