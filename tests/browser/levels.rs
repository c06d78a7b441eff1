//! Levels: the way to the next level, a sale for members, and the console.

use mallbox::fixture::Mall;
use serde_json::{Value, json};

use crate::harness::{Page, Place as _, Screen};
use crate::people::{ANNE, NOBODY, OPERATOR, RUNNING, browser_of, buy, evening, pay};

/// Adds an open sale for members. Returns the id.
pub fn members_sale(mall: &Mall, min_level: u8) -> u64 {
    let sale = json!({
        "shopId": 1, "title": "会员专享", "subTitle": "", "rules": "", "payValue": 100, "actualValue": 200,
        "minLevel": min_level, "stock": 5, "beginTime": "2026-11-21T19:00:00", "endTime": "2026-11-21T23:00:00",
    });
    let made = mall.call("POST", "/api/voucher/seckill", &mall.operator(), &sale).unwrap();
    assert!(made.is_success(), "{}", made.text);
    made.data().as_u64().unwrap()
}

fn at_the_console(mall: &Mall, path: &str) -> Page {
    browser_of(mall, OPERATOR).on(Screen::Desktop).open(&format!("/console#{path}"))
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn sale_for_members_shows_the_level_on_its_button_and_leads_to_the_way_there() {
    let mall = evening().start().unwrap();
    let levels =
        mall.call("PUT", "/api/ops/levels", &mall.operator(), &json!({ "credits": [0, 6] })).unwrap();
    assert!(levels.is_success(), "{}", levels.text);
    let sale = format!("/#/sale/{}", members_sale(&mall, 1));
    let stranger = browser_of(&mall, NOBODY).open(&sale);
    stranger.button("登录后抢购").is_enabled();
    stranger.sees("仅限 1 级以上会员");

    let page = browser_of(&mall, ANNE).open(&sale);
    page.button("需要 1 级会员，你是 0 级").click();
    page.is_at("/#/me/level");
    page.sees("再得 6 积分升到 1 级");
    page.sees("还没有积分");
    let order = buy(&mall, ANNE, RUNNING);
    pay(&mall, ANNE, &order);
    page.go("/#/me");
    page.link("1 级会员").click();
    page.sees("已是最高等级");
    page.link("订单").first().is_there();
    page.go(&sale);
    page.button("立即抢购").click();
    page.sees("抢到了！");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_sets_a_level_and_the_table() {
    let mall = evening().start().unwrap();
    let page = at_the_console(&mall, "/users?phone=13900000002");
    page.button("等级").click();
    let form = page.part("一只吃饱的猹 的会员等级");
    form.field("设置等级").choose("7 级");
    form.button("保存").click();
    page.sees("等级已保存，现为 7 级");
    page.button("等级").click();
    page.part("一只吃饱的猹 的会员等级").field("设置等级").choose("不设置");
    page.part("一只吃饱的猹 的会员等级").button("保存").click();
    page.sees("等级已保存，现为 3 级");

    page.link("会员等级").click();
    page.field("1 级所需积分").fill("50");
    page.button("去掉最高一级").click();
    page.button("保存").click();
    page.part("保存等级表？").button("保存").click();
    page.sees("等级表已保存");
    let table = mall.call("GET", "/api/ops/levels", &mall.operator(), &Value::Null).unwrap();
    let credits: Vec<_> =
        table.data().as_array().unwrap().iter().map(|step| step["credits"].clone()).collect();
    assert_eq!(credits, [0, 50, 500, 2_000, 5_000]);
}
