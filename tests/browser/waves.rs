//! Waves: an operator schedules units, and a buyer waits for them.

use std::time::Duration;

use mallbox::fixture::Mall;
use serde_json::json;

use crate::harness::{Place as _, Screen};
use crate::people::{ANNE, BEN, OPERATOR, browser_of, evening};

/// Adds a sale without units left, and a wave ten minutes from now. Returns the id.
pub fn sale_between_waves(mall: &Mall) -> u64 {
    let sale = json!({
        "shopId": 1, "title": "分批秒杀", "subTitle": "", "rules": "", "payValue": 100, "actualValue": 200,
        "stock": 1, "beginTime": "2026-11-21T19:00:00", "endTime": "2026-11-21T23:00:00",
    });
    let made = mall.call("POST", "/api/voucher/seckill", &mall.operator(), &sale).unwrap();
    let id = made.data().as_u64().unwrap_or_else(|| panic!("{}", made.text));
    let ops = |method, step: &str, body| {
        let made =
            mall.call(method, &format!("/api/ops/sales/{id}/{step}"), &mall.operator(), &body).unwrap();
        assert!(made.is_success(), "{}", made.text);
    };
    ops("PUT", "waves", json!({ "waves": [{ "time": "2026-11-21T20:10:00", "units": 1 }] }));
    ops("POST", "stock", json!({ "add": -1 }));
    id
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn buyer_waits_for_the_next_wave_and_gets_it() {
    let mall = evening().start().unwrap();
    let sale = sale_between_waves(&mall);
    let page = browser_of(&mall, BEN).open(&format!("/#/sale/{sale}"));
    page.sees("距下一批（1 份）");
    page.sees("分批放货");
    page.button("等待下一批").is_disabled();
    mall.advance(Duration::from_secs(600)).unwrap();
    page.button("立即抢购").click();
    page.sees("抢到了！");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_schedules_changes_and_withdraws_waves() {
    let mall = evening().start().unwrap();
    let sale = sale_between_waves(&mall);
    let page = browser_of(&mall, OPERATOR).on(Screen::Desktop).open(&format!("/console#/sale/{sale}"));
    page.forgive(&format!("/api/ops/sales/{sale}/waves"));
    page.sees("待放出");
    page.button("修改安排").click();
    let form = page.part("安排分批放货");
    form.field("第 2 批的份数").fill("30");
    form.button("保存").click();
    page.sees("请填写");
    form.field("第 2 批的时间").set("2026-11-21T19:00");
    form.button("保存").click();
    page.sees("时间依次递增");
    form.field("第 2 批的时间").set("2026-11-21T20:20");
    form.button("保存").click();
    page.sees("放货安排已保存");
    page.sees("30 份");
    mall.advance(Duration::from_secs(600)).unwrap();
    let page = browser_of(&mall, ANNE).open(&format!("/#/sale/{sale}"));
    page.sees("已放出");
}
