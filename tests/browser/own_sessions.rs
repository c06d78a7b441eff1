//! A user's own sessions, and the password that a token alone cannot set.

use std::time::Duration;

use mallbox::fixture::Mall;
use serde_json::Value;

use crate::harness::{Browser, Page, Place as _, Screen};
use crate::people::{ANNE, BEN, browser_of, evening, log_in_by_code};

const MINUTE: Duration = Duration::from_secs(60);

fn is_live(mall: &Mall, token: &str) -> bool {
    mall.call("GET", "/api/user/me", token, &Value::Null).unwrap().is_success()
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn strange_session_is_found_and_ended() {
    let mall = evening().start().unwrap();
    let thief = mall.log_in(ANNE).unwrap().token;
    mall.advance(MINUTE).unwrap();
    let page = browser_of(&mall, ANNE).open("/#/me");
    page.link("登录设备").click();
    page.sees("这台设备");
    page.button("退出：未知设备").at(1).click();
    page.part("退出这个登录？").button("退出").click();
    page.sees("已退出");
    page.button("退出其他所有设备").is_gone();
    assert!(!is_live(&mall, &thief));
    page.reload();
    page.sees("这台设备");

    let others = [mall.log_in(ANNE).unwrap().token, mall.log_in(ANNE).unwrap().token];
    page.reload();
    page.button("退出其他所有设备").click();
    page.part("退出其他所有设备？").button("全部退出").click();
    page.sees("已退出 2 个登录");
    assert!(!others.iter().any(|token| is_live(&mall, token)));
    // The own session ends as with a log-out.
    page.button("退出：未知设备").click();
    page.part("退出这个登录？").button("退出").click();
    page.link("我的").click();
    page.button("登录").is_there();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn browser_and_address_of_a_log_in_are_shown() {
    let mall = evening().start().unwrap();
    let page = Browser::at(&mall.url()).open("/#/login?then=%2Fme%2Fsessions");
    log_in_by_code(&page, BEN);
    page.sees("这台设备");
    page.sees("Chrome");
    page.sees("127.0.0.1");
    page.sees("验证码登录");
}

/// Requests a code in a part of the page, and takes it from the demo's inbox.
fn fill_code(page: &Page, part: &str, phone: &str) {
    page.part(part).field("手机号").fill(phone);
    page.part(part).button("获取验证码").click();
    page.part(part).button("秒后重发").is_disabled();
    page.part(part).button("演示：填入收到的验证码").click();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn phone_number_is_changed_with_a_code_to_each() {
    const PRESENT: &str = "现在的手机号";
    const NEW: &str = "新的手机号";
    const FREE: &str = "13900000088";
    for screen in [Screen::Phone, Screen::Desktop] {
        let mall = evening().start().unwrap();
        mall.log_in(ANNE).unwrap();
        let other = mall.log_in(BEN).unwrap();
        let page = browser_of(&mall, BEN).on(screen).open("/#/me");
        page.link("手机号").click();
        page.button("更换").click();
        page.part(PRESENT).sees("请输入11位手机号");
        page.part(NEW).sees("请输入验证码");
        fill_code(&page, PRESENT, BEN);
        // A number of somebody else.
        fill_code(&page, NEW, ANNE);
        page.button("更换").click();
        page.part(NEW).sees("这个手机号已属于另一个账号");
        page.sees("现在手机号的验证码已经用掉");
        // The wait between two codes to one number.
        page.run("const now = performance.now.bind(performance); performance.now = () => now() + 60_000; 0");
        fill_code(&page, NEW, FREE);
        page.part(PRESENT).field("验证码").fill("000000");
        page.button("更换").click();
        page.part(PRESENT).sees("原手机号的验证码已失效");
        fill_code(&page, PRESENT, BEN);
        page.button("更换").click();
        page.sees("手机号已更换");
        page.is_at("/#/me");
        assert!(!is_live(&mall, &other.token), "other devices are logged out");
        assert_eq!(mall.log_in(FREE).unwrap().id, other.id);
    }
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn page_tells_how_to_set_a_first_password() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, ANNE).open("/#/me/password");
    mall.advance(10 * MINUTE).unwrap();
    page.field("新密码，至少 8 位").fill("correct horse");
    page.field("再输一次").fill("correct horse");
    page.button("保存").click();
    page.sees("请退出后用短信验证码重新登录");
    let fresh = browser_of(&mall, ANNE).open("/#/me/password");
    fresh.field("新密码，至少 8 位").fill("correct horse");
    fresh.field("再输一次").fill("correct horse");
    fresh.button("保存").click();
    fresh.sees("密码已保存");
}
