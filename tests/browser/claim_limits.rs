//! Limits of claims: an operator limits a hot sale.

use crate::harness::{Place as _, Screen};
use crate::people::{BEN, OPERATOR, browser_of, buy, evening};

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_limits_a_sale_and_lifts_the_limit() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, OPERATOR).on(Screen::Desktop).open("/console#/sale/51");
    page.forgive("/api/ops/sales/51/claim-limit");
    page.part("限流").button("限流").click();
    let form = page.part("限流");
    form.field("每秒抢购数").fill("1000001");
    page.button("保存").click();
    page.sees("0到1000000");
    form.field("每秒抢购数").fill("2000");
    page.button("保存").click();
    page.sees("每个实例每秒最多 2,000 次抢购");
    page.rests();
    page.is_accessible();
    page.fits();
    buy(&mall, BEN, 51);
    page.button("取消限流").click();
    page.sees("未限流");
}
