//! The second factor at the console: set up, given, recovered, replaced and removed.

use std::time::Duration;

use mallbox::fixture::{Builder, Mall};
use mallbox::mall::Settings;

use crate::harness::{Page, Place as _, Screen};
use crate::people::totp::code_at;
use crate::people::{NOBODY, OPERATOR, browser_of, enrol, evening, log_in_by_code};

const STEP: Duration = Duration::from_secs(30);

/// Returns a mall that requires a second factor of operators.
fn requiring() -> Builder {
    let settings =
        Settings { inbox: true, operator_second_factor: true, ..Settings::default().without_limits() };
    evening().settings(settings)
}

/// Waits for a code that was not used yet.
fn next_code(mall: &Mall, secret: &str) -> String {
    mall.advance(STEP).unwrap();
    code_at(secret, mall.now())
}

/// Returns the secret that the page shows in groups.
fn shown_secret(page: &Page) -> String {
    let groups = page.run("document.querySelector('.factor-secret .mono').lastChild.textContent");
    groups.as_str().unwrap().replace(' ', "")
}

/// Returns the recovery codes that the page shows.
fn shown_codes(page: &Page) -> Vec<String> {
    let codes =
        page.run("[...document.querySelectorAll('.recovery-codes li')].map((item) => item.textContent)");
    codes.as_array().unwrap().iter().map(|code| code.as_str().unwrap().to_owned()).collect()
}

fn log_in(mall: &Mall, screen: Screen) -> Page {
    let page = browser_of(mall, NOBODY).on(screen).open("/console#/users");
    log_in_by_code(&page, OPERATOR);
    page
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_turns_the_second_factor_on_and_gives_it_at_the_next_log_in() {
    let mall = evening().start().unwrap();
    let page = log_in(&mall, Screen::Desktop);
    page.link("账号安全").click();
    page.button("启用两步验证").click();
    page.image("供身份验证器应用扫描的二维码").is_there();
    page.field("应用显示的6位动态码").is_focused();
    page.is_accessible();
    let secret = shown_secret(&page);
    page.field("应用显示的6位动态码").fill("000000");
    page.press("Enter");
    page.sees("动态码或恢复码错误");
    page.field("应用显示的6位动态码").fill(&code_at(&secret, mall.now()));
    page.press("Enter");
    page.sees("这里只显示这一次");
    let codes = shown_codes(&page);
    assert_eq!(codes.len(), 10);
    page.is_accessible();
    page.button("我已保存").click();
    page.sees("还剩 10 个恢复码");

    // A request in flight would return after the session's end, and be refused.
    page.rests();
    page.button("退出登录").click();
    mall.advance(STEP).unwrap();
    page.field("手机号").is_there();
    // A page offers the next code for a phone after 55 s of real time, unless opened anew.
    page.rests();
    page.reload();
    log_in_by_code(&page, OPERATOR);
    page.sees("输入身份验证器应用现在显示的动态码");
    page.field("应用显示的6位动态码").is_focused();
    page.field("应用显示的6位动态码").fill("000000");
    page.press("Enter");
    page.sees("动态码或恢复码错误");
    page.field("应用显示的6位动态码").fill(&code_at(&secret, mall.now()));
    page.press("Enter");
    page.sees("还剩 10 个恢复码");
    page.link("用户").click();
    page.sees("两步验证");
    page.is_content();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn recovery_code_opens_the_console_on_a_phone() {
    let mall = evening().start().unwrap();
    let (secret, codes) = enrol(&mall, OPERATOR);
    let page = log_in(&mall, Screen::Phone);
    page.button("手机不在身边，用恢复码").click();
    page.fits();
    page.field("恢复码").fill(&codes[0].to_lowercase());
    page.press("Enter");
    page.sees("还剩 9 个恢复码");
    page.heading("用户").is_there();

    page.go("/console#/account");
    page.button("更换恢复码").click();
    page.part("更换恢复码？").field("动态码或恢复码").fill(&next_code(&mall, &secret));
    page.part("更换恢复码？").button("更换").click();
    page.sees("这里只显示这一次");
    page.fits();
    assert!(!shown_codes(&page).contains(&codes[1]));
    page.button("我已保存").click();
    page.sees("还剩 10 个恢复码");

    page.button("关闭").click();
    page.part("关闭两步验证？").field("动态码或恢复码").fill(&next_code(&mall, &secret));
    page.part("关闭两步验证？").button("关闭").click();
    page.sees("两步验证已关闭");
    page.button("启用两步验证").is_there();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_without_a_factor_sets_one_up_where_it_is_required() {
    let mall = requiring().start().unwrap();
    let page = log_in(&mall, Screen::Phone);
    page.sees("这座商城要求管理员使用两步验证");
    page.is_accessible();
    page.button("开始设置").click();
    let secret = {
        page.sees("用身份验证器应用扫描二维码");
        shown_secret(&page)
    };
    page.fits();
    page.field("应用显示的6位动态码").fill(&code_at(&secret, mall.now()));
    page.press("Enter");
    page.button("我已保存").click();
    page.heading("用户").is_there();
    page.go("/console#/account");
    page.sees("不能关闭");

    page.button("换一台手机").click();
    page.part("换一台手机？").field("动态码或恢复码").fill(&next_code(&mall, &secret));
    page.part("换一台手机？").button("继续").click();
    page.sees("用身份验证器应用扫描二维码");
    let other = shown_secret(&page);
    assert_ne!(other, secret);
    page.field("应用显示的6位动态码").fill(&code_at(&other, mall.now()));
    page.press("Enter");
    page.button("我已保存").click();
    page.sees("还剩 10 个恢复码");
    page.is_content();
}
