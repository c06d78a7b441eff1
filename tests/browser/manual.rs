//! The manual's pages in a browser: the search, and the reader's language.

use mallbox::fixture::Mall;

use crate::harness::{Browser, Page, Place as _, Screen};
use crate::people::{NOBODY, OPERATOR, browser_of, demo};

fn at(mall: &Mall, path: &str) -> Page {
    Browser::at(&mall.url()).on(Screen::Desktop).open(path)
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn search_of_the_manual_leads_to_a_section_of_another_page() {
    let mall = demo().start().unwrap();
    let page = at(&mall, "/mall/manual/kiosk");
    page.sees("自助终端");
    page.field("搜索手册").fill("circuit");
    page.sees("使用Redis和MySQL › 服务器故障");
    page.is_accessible();
    page.field("搜索手册").fill("没有这样的词");
    page.sees("没有找到。");
    page.field("搜索手册").fill("熔断器 readyz");
    page.link("使用Redis和MySQL › 服务器故障").click();
    page.sees("Redis不可用时");
    page.is_content();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn search_of_the_manual_goes_on_after_a_failure() {
    let mall = demo().start().unwrap();
    let page = at(&mall, "/mall/manual/");
    page.cut("search.zh.json");
    page.field("搜索手册").fill("快照");
    page.was_cut();
    page.sees("无法读取搜索索引");
    page.field("搜索手册").fill("快照 恢复");
    page.sees("测试用的商城 › 开销");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn language_chosen_in_the_manual_holds_on_every_own_page() {
    let mall = demo().start().unwrap();
    let page = at(&mall, "/mall/manual/fixture");
    page.sees("测试用的商城");
    page.link("English").click();
    page.sees("A mall for tests");
    page.is_at("/mall/manual/fixture?lang=en");
    page.link("On Redis and MySQL").click();
    page.sees("Any number of");
    page.is_at("/mall/manual/redis-mysql?lang=en");
    // Without a language in the address the earlier choice remains.
    page.go("/mall/manual/sale");
    page.sees("Running a sale");
    page.go("/mall/");
    page.sees("Flash sales");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn demo_links_to_the_page_about_who_oversells() {
    let mall = demo().start().unwrap();
    for (phone, screen, path) in [
        (NOBODY, Screen::Phone, "/#/me"),
        (OPERATOR, Screen::Desktop, "/console#/live"),
        (OPERATOR, Screen::Phone, "/console#/live"),
    ] {
        let page = browser_of(&mall, phone).on(screen).open(path);
        if path.starts_with("/console") && screen == Screen::Phone {
            page.button("更多").click();
        }
        page.link("谁在超卖？").click();
        page.is_at("/mall/manual/ladder");
        page.sees("mallbox learn");
    }
}
