//! A day of a shop in a browser, without any network: customers with and without a phone, cash, redemption, a
//! refund, and the count at closing. The books and the cash report are equal.

use std::collections::BTreeMap;

use mallbox::fixture::Mall;
use mallbox_storage::PaymentMode;
use serde_json::Value;

use crate::common::network_namespace;
use crate::harness::{Browser, Page, Place as _, Screen};
use crate::people::{ANNE, BEN, OPERATOR, RUNNING, browser_of, evening, narrow_printer, set_payment_mode};
use crate::staff::{CLOCK, PIN, counter, furnished, log_in};

/// The sale that customers buy from.
const SALE: &str = "100元代金券秒杀";
const FLOAT_CENTS: i64 = 30_000;
const PAID_OUT_CENTS: i64 = 1_250;

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn a_day_of_a_shop_without_a_network() {
    if !network_namespace::is_inside() {
        return network_namespace::run("shop_day::a_day_of_a_shop_without_a_network").unwrap();
    }
    assert_eq!(interfaces(), ["lo"], "the namespace has a network");
    let paper = tempfile::NamedTempFile::new().unwrap();
    let mall = evening().printer(narrow_printer(paper.path())).start().unwrap();
    set_payment_mode(&mall, PaymentMode::Counter);
    let link = furnished(&mall);

    // Opening.
    let till = counter(&mall, &link);
    log_in(&till, PIN);
    till.link("收银").click();
    till.field("备用金").fill("300");
    till.button("开班").click();
    till.sees("已开班");

    // Two customers with phones, whom no text message reaches.
    let kiosk = Browser::at(&mall.url()).on(Screen::Kiosk).running(CLOCK).open("/?kiosk=600&attract=0");
    let (annes, bens) = (buy_at(&kiosk, &till, &mall, ANNE), buy_at(&kiosk, &till, &mall, BEN));
    for order in [&annes, &bens] {
        take_cash(&till, order);
    }
    till.button("核销").click();
    till.sees("已核销");

    // Two without a phone. The first redeems at once.
    let walk_in = sell(&till);
    let second_walk_in = sell(&till);
    redeem(&till, &walk_in);
    assert!(std::fs::metadata(paper.path()).unwrap().len() > 0, "no receipt was printed");

    // Anne wants her money back, which takes an operator.
    let console = browser_of(&mall, OPERATOR).on(Screen::Desktop).open(&format!("/console#/order/{annes}"));
    console.button("柜台退款").click();
    console.part("柜台退款").field("原因").fill("买错了");
    console.part("柜台退款").button("退还").click();
    console.sees("已登记退款");

    // Closing.
    till.link("收银").click();
    till.button("支出").click();
    till.part("支出现金").field("金额").fill("12.50");
    till.part("支出现金").field("原因").fill("买零钱袋");
    till.part("支出现金").button("支出").click();
    till.sees("已支出");
    let price = price_of(&mall, BEN, &bens);
    let expected = FLOAT_CENTS + 4 * price - price - PAID_OUT_CENTS;
    till.button("清点交班").click();
    let count = till.part("清点钱箱");
    for (label, pieces) in drawer_of(expected) {
        count.field(label).fill(&pieces.to_string());
    }
    count.button("核对").click();
    count.button("确认交班").click();
    till.sees("已交班：Z报表 1");
    let report = till.part("Z报表 1");
    report.sees("实点现金");
    report.button("打印到小票机").click();
    till.sees("报表已打印");
    till.rests();
    till.fits();

    // The second walk-in comes back after closing time.
    report.button("关闭").click();
    redeem(&till, &second_walk_in);
    let books = mall.books().unwrap();
    assert!(books.findings.is_empty() && books.unsettled.is_empty(), "{books:?}");
    agree(&mall, expected, price);
    for page in [&till, &kiosk, &console] {
        page.is_content();
    }
}

/// Returns the names of the network interfaces.
fn interfaces() -> Vec<String> {
    let entries = std::fs::read_to_string("/proc/net/dev").unwrap();
    let names = entries.lines().filter_map(|line| line.split_once(':'));
    names.map(|(name, _)| name.trim().to_owned()).collect()
}

/// Buys at the kiosk, logged in by a code that staff made. Returns the order.
fn buy_at(kiosk: &Page, till: &Page, mall: &Mall, phone: &str) -> String {
    till.link("登录码").click();
    till.field("手机号").fill(phone);
    till.button("生成登录码").click();
    till.sees("请顾客在登录页输入手机号和这12位数字");
    let code = till.run("document.querySelector('.sell-code').textContent.replaceAll(/\\D/g, '')");
    let code = code.as_str().unwrap();
    assert_eq!(code.len(), 12, "{code}");

    kiosk.go(&format!("/?kiosk=600&attract=0#/sale/{RUNNING}"));
    kiosk.button("登录后抢购").click();
    kiosk.field("手机号").fill(phone);
    kiosk.field("验证码").fill(code);
    kiosk.button("登录").click();
    kiosk.button("立即抢购").click();
    kiosk.link("去付款").click();
    kiosk.sees("到柜台付款，并出示订单号");
    let address = kiosk.address();
    let order = address.rsplit('/').next().unwrap().to_owned();
    kiosk.button("退出").click();
    kiosk.sees("欢迎光临");
    assert!(price_of(mall, phone, &order) > 0);
    order
}

/// Takes cash for an order at the counter; the order stays on the screen.
fn take_cash(till: &Page, order: &str) {
    till.link("核销").click();
    till.field("输入凭证码").fill(order);
    till.press("Enter");
    till.button("柜台收款").click();
    till.part("柜台收款").button("已收").click();
    till.sees("已登记收款");
    till.button("核销").is_enabled();
}

/// Sells to a customer without a phone, for cash. Returns the receipt code.
fn sell(till: &Page) -> String {
    till.link("售券").click();
    till.field("查找券或店铺").fill(SALE);
    till.sees(SALE);
    till.run("document.querySelector('.sell-card').click(); 0");
    till.button("已收").click();
    till.sees("已售出");
    till.button("打印小票").click();
    till.sees("小票已打印");
    till.run("document.querySelector('.sell-code').textContent").as_str().unwrap().to_owned()
}

/// Redeems by a receipt code.
fn redeem(till: &Page, code: &str) {
    till.link("核销").click();
    till.field("输入凭证码").fill(code);
    till.press("Enter");
    till.button("核销").click();
    till.sees("已核销");
}

/// Returns the price of a customer's order, in cents.
fn price_of(mall: &Mall, phone: &str, order: &str) -> i64 {
    let token = mall.log_in(phone).unwrap().token;
    let path = format!("/api/voucher-order/{order}");
    let read = mall.call("GET", &path, &token, &Value::Null).unwrap();
    read.data()["payValue"].as_i64().unwrap_or_else(|| panic!("{path}: {}", read.text))
}

/// Returns coins and notes of an amount: label and number of pieces.
fn drawer_of(mut cents: i64) -> BTreeMap<&'static str, i64> {
    let mut drawer = BTreeMap::new();
    for (label, value) in [("100元", 10_000), ("50元", 5_000), ("10元", 1_000), ("1元", 100), ("1角", 10)]
    {
        drawer.insert(label, cents / value);
        cents %= value;
    }
    assert_eq!(cents, 0, "no coin is that small");
    drawer
}

/// Checks that cash report, payments and day books tell the same.
fn agree(mall: &Mall, expected: i64, price: i64) {
    let rows = |file: &str| {
        let path = format!("/api/ops/accounts/2026-11-21/{file}");
        let text = mall.call("GET", &path, &mall.operator(), &Value::Null).unwrap().text;
        let mut reader = csv::Reader::from_reader(text.trim_start_matches('\u{feff}').as_bytes());
        reader.deserialize().map(Result::unwrap).collect::<Vec<BTreeMap<String, String>>>()
    };
    let cents = |row: &BTreeMap<String, String>, column: &str| {
        row[column].replace('.', "").parse::<i64>().unwrap_or_else(|_| panic!("{column} of {row:?}"))
    };
    let cash = rows("cash");
    let [report] = &*cash else { panic!("{cash:?}") };
    let of_report = ["sales", "refunds", "paid_out", "expected", "counted", "difference"];
    let of_report = of_report.map(|column| cents(report, column));
    assert_eq!(of_report, [4 * price, price, PAID_OUT_CENTS, expected, expected, 0], "{report:?}");

    let payments = rows("payments");
    let sum = |kind: &str| {
        let of_kind = payments.iter().filter(|row| row["kind"] == kind);
        of_kind.map(|row| cents(row, "amount").abs()).sum::<i64>()
    };
    assert_eq!((sum("paid"), sum("refunded")), (4 * price, price), "{payments:?}");

    let books = rows("books");
    let sum = |column: &str| books.iter().map(|row| cents(row, column)).sum::<i64>();
    assert_eq!((sum("revenue"), sum("refunds"), sum("net")), (4 * price, price, 3 * price), "{books:?}");
}
