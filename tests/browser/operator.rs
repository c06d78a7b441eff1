//! An operator's day at the console.

use mallbox::fixture::Mall;
use mallbox_test_servers::MallLocation;
use serde_json::Value;

use crate::harness::{Browser, Page, Place as _, Screen};
use crate::people::{
    ANNE, BEN, CARL, DORA, OPERATOR, UNPAID, browser_of, buy, log_in_by_code, orders_of, pay,
};

/// Title of the created sale.
const TITLE: &str = "一元抢一碗面";

/// Creates a sale of five units, open immediately. Returns the id.
fn create_a_sale(mall: &Mall, page: &Page) -> u64 {
    page.link("秒杀").click();
    page.link("新建秒杀").click();
    page.field("店铺").fill("面");
    page.choice("面").first().click();
    page.field("标题").fill(TITLE);
    page.field("支付金额").fill("1");
    page.field("抵扣金额").fill("18.8");
    page.field("库存").fill("5");
    let now = mall.wall_time().unwrap();
    // Whole minutes: a field omits zero seconds.
    page.field("开始时间").set(&now[..16]);
    page.button("创建秒杀").click();
    page.sees("秒杀已创建");
    page.heading(TITLE).is_there();
    page.address().rsplit('/').next().unwrap().parse().unwrap()
}

fn sells_while_one_watches(mall: &Mall, page: &Page, sale: u64) {
    page.sees("剩 5 / 5，已抢 0");
    let order = buy(mall, ANNE, sale);
    pay(mall, ANNE, &order);
    buy(mall, BEN, sale);
    page.sees("剩 3 / 5，已抢 2");
    page.link("实时").click();
    page.part("正在进行的秒杀").link(TITLE).sees("剩 3 / 5，已抢 2");
    page.part("正在进行的秒杀").link(TITLE).click();

    page.button("暂停").click();
    page.sees("秒杀已暂停");
    let stranger = browser_of(mall, CARL).open(&format!("/#/sale/{sale}"));
    stranger.button("暂停中").is_disabled();
    page.button("恢复").click();
    page.sees("秒杀已恢复");
    stranger.button("立即抢购").is_enabled();

    page.button("增减库存").click();
    page.part("增减库存").field("增加多少").fill("10");
    page.part("增减库存").button("确定").click();
    page.sees("增加了 10 份");
    page.sees("账目平衡：15 = 15");
}

fn redeems_what_anne_bought(mall: &Mall, page: &Page) {
    let token = mall.log_in(ANNE).unwrap().token;
    let orders = mall.call("GET", "/api/voucher-order/of/me?current=1", &token, &Value::Null).unwrap();
    let order = orders.data()[0]["id"].as_str().unwrap().to_owned();
    let receipt =
        mall.call("GET", &format!("/api/voucher-order/{order}/receipt"), &token, &Value::Null).unwrap();
    let code = receipt.data()["code"].as_str().unwrap();
    page.link("核销").click();
    page.field("输入凭证码").fill("not a code");
    page.press("Enter");
    page.sees("凭证");
    page.field("输入凭证码").fill(&order);
    page.press("Enter");
    page.heading(TITLE).is_there();
    // A scan gun types regardless of the focus: its input is the next code, and its Enter redeems nothing.
    page.button("核销").is_focused();
    page.types(code);
    page.press("Enter");
    page.heading(TITLE).is_there();
    page.sees("已支付");
    page.button("核销").click();
    page.heading("已核销").is_there();
    // The next customer shows the same code.
    page.field("输入凭证码").fill(code);
    page.press("Enter");
    page.sees("核销过了");
    page.button("不核销").is_gone();
}

fn voids_what_ben_bought(page: &Page) {
    page.link("订单").click();
    page.field("买家手机号").fill(BEN);
    page.button("查找").click();
    page.row(BEN).sees("未支付");
    page.row(BEN).link("").first().click();
    page.button("取消订单").click();
    page.part("取消订单").field("原因").fill("顾客来电");
    page.part("取消订单").button("取消订单").click();
    page.sees("订单已作废");
    page.sees("已取消");
}

/// Claims of two users cannot be persisted: one is voided, the other replayed once writes succeed.
fn decides_about_dead_letters(mall: &Mall, page: &Page, sale: u64, ground: &MallLocation) {
    let [carl, dora] = [CARL, DORA].map(|phone| mall.log_in(phone).unwrap().id);
    ground.refuse_rows("orders", &format!("NEW.user_id IN ({carl}, {dora})"), "poison");
    for phone in [CARL, DORA] {
        buy(mall, phone, sale);
    }
    page.link("死信").click();
    page.row(CARL).sees("多次写入失败");
    page.row(CARL).button("作废").click();
    page.part("作废这封死信？").button("作废").click();
    page.row(CARL).is_gone();
    ground.refuse_rows("orders", "NEW.user_id = 0", "poison");
    page.row(DORA).button("重试").click();
    page.sees("已成为订单");
    page.sees("没有待处理的死信");
    assert_eq!([CARL, DORA].map(|phone| orders_of(mall, phone)), [vec![], vec![UNPAID]]);
}

fn keeps_carl_out_and_lets_him_in(mall: &Mall, page: &Page) {
    page.link("用户").click();
    page.field("手机号开头").fill(CARL);
    page.button("查找").click();
    page.row(CARL).button("停用").click();
    page.field("原因").fill("刷单");
    page.part("停用").button("停用").first().click();
    page.row(CARL).sees("已停用");
    assert!(mall.log_in(CARL).is_err());
    page.row(CARL).button("恢复").click();
    page.sees("账号已恢复");
    mall.log_in(CARL).unwrap();
    page.row(CARL).button("换手机号").click();
    page.field("新手机号").fill("13800000014");
    page.field("原因").fill("手机丢了");
    page.part("更换").button("更换").click();
    page.sees("已更换，结束了 1 个登录");
    page.field("手机号开头").fill("13800000014");
    page.button("查找").click();
    page.row("13800000014").button("换手机号").is_there();
}

fn ends_it(page: &Page, sale: u64) {
    page.go(&format!("/console#/sale/{sale}"));
    page.button("立即结束").click();
    page.part("立即结束这场秒杀？").button("结束秒杀").click();
    page.sees("秒杀已结束");
    page.button("立即结束").is_gone();
}

fn reads_what_was_done(page: &Page) {
    page.link("审计").click();
    const DONE: [&str; 11] = [
        "sale.add",
        "sale.pause",
        "sale.resume",
        "sale.stock",
        "order.use",
        "order.void",
        "dead-letter.void",
        "dead-letter.replay",
        "user.block",
        "user.unblock",
        "sale.end",
    ];
    for action in DONE {
        page.sees(action);
    }
    page.button("核对整条链").click();
    page.sees("完整：");
}

fn operators_day(ground: &MallLocation) {
    let mall = Mall::builder().place(ground.place()).start().unwrap();
    let page = Browser::at(&mall.url()).on(Screen::Desktop).open("/console");
    log_in_by_code(&page, OPERATOR);
    page.heading("实时数据").is_there();
    let sale = create_a_sale(&mall, &page);
    sells_while_one_watches(&mall, &page, sale);
    redeems_what_anne_bought(&mall, &page);
    voids_what_ben_bought(&page);
    decides_about_dead_letters(&mall, &page, sale, ground);
    keeps_carl_out_and_lets_him_in(&mall, &page);
    ends_it(&page, sale);
    reads_what_was_done(&page);
    let report = mall.books().unwrap();
    assert!(report.balances(), "{}", report.text(mallbox::language::Language::En));
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operators_day_in_a_directory() {
    operators_day(&MallLocation::directory());
}

#[test]
#[cfg_attr(
    not(all(feature = "browser-tests", feature = "production-tests")),
    ignore = "needs chromium and axe-core, Redis and MariaDB, which tests/run installs"
)]
fn operators_day_on_servers() {
    operators_day(&MallLocation::on_servers());
}
