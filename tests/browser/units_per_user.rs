//! Units per user: an operator sets them, and a buyer buys one after the other.

use serde_json::json;

use crate::harness::{Place as _, Screen};
use crate::people::{BEN, OPERATOR, browser_of, evening};

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_sets_units_per_user_and_a_buyer_buys_them_one_by_one() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, OPERATOR).on(Screen::Desktop).open("/console#/sale/51");
    page.forgive("/api/ops/sales/51/per-user");
    page.button("修改限购").click();
    let form = page.part("每人限购");
    form.field("每人限购").fill("21");
    form.button("保存").click();
    page.sees("1到20");
    form.field("每人限购").fill("2");
    form.button("保存").click();
    page.sees("每人 2 份");
    page.rests();
    page.is_accessible();
    page.fits();

    let buyer = browser_of(&mall, BEN).open("/#/sale/51");
    buyer.sees("每人限购 2 份");
    buyer.button("立即抢购").click();
    buyer.sees("抢到了！");
    buyer.button("再抢一份（已有 1/2）").click();
    buyer.sees_no("再抢一份");
    buyer.sees("抢到了！");
    buyer.rests();
    buyer.is_accessible();
    buyer.fits();
    let token = mall.log_in(BEN).unwrap().token;
    let orders = mall.call("GET", "/api/voucher-order/of/me", &token, &json!(null)).unwrap();
    assert_eq!(orders.data().as_array().unwrap().len(), 2, "{orders:?}");
    buyer.reload();
    buyer.sees("你已经买到了");
    buyer.sees_no("再抢一份");
}
