//! The screen Cash: a drawer is opened, takes a payment, pays out, is counted and closed.

use mallbox_storage::PaymentMode;

use crate::harness::Place as _;
use crate::people::{ANNE, OPERATOR, RUNNING, browser_of, buy, evening, narrow_printer, set_payment_mode};

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn a_drawer_is_opened_used_counted_and_closed() {
    let paper = tempfile::NamedTempFile::new().unwrap();
    let mall = evening().printer(narrow_printer(paper.path())).start().unwrap();
    set_payment_mode(&mall, PaymentMode::Counter);
    let order = buy(&mall, ANNE, RUNNING);
    let till = browser_of(&mall, OPERATOR).open("/console#/cash");
    till.sees("未开班");
    till.sees("还没有Z报表");
    till.field("备用金").fill("三百");
    till.button("开班").click();
    till.sees("请填写金额");
    till.field("备用金").fill("300");
    till.button("开班").click();
    till.sees("已开班");
    till.rests();
    till.fits();
    till.is_accessible();

    // A sale at this till, in cash.
    till.go(&format!("/console#/order/{order}"));
    till.button("柜台收款").click();
    till.part("柜台收款").button("已收").click();
    till.sees("已登记收款");
    till.go("/console#/cash");
    till.sees("现金收款（1笔）");

    till.button("支出").click();
    let dialog = till.part("支出现金");
    dialog.field("金额").fill("12.50");
    dialog.field("原因").fill("买零钱袋");
    dialog.button("支出").click();
    till.sees("已支出");
    till.sees("买零钱袋");

    till.button("X报表").click();
    till.part("X报表").button("打印到小票机").click();
    till.sees("报表已打印");
    till.part("X报表").button("关闭").click();
    assert!(std::fs::metadata(paper.path()).unwrap().len() > 0);

    till.button("清点交班").click();
    let count = till.part("清点钱箱");
    count.field("100元").fill("2");
    count.field("50元").fill("1");
    count.sees("短款");
    till.rests();
    till.fits();
    till.is_accessible();
    count.button("核对").click();
    // The difference is shown before anything is final.
    count.sees("短款");
    count.button("返回清点").click();
    count.field("1角").fill("5");
    till.press("Enter");
    count.button("确认交班").click();
    till.sees("已交班：Z报表 1");
    let report = till.part("Z报表 1");
    report.sees("实点现金");
    report.sees("¥250.50");
    till.is_accessible();
    report.button("关闭").click();
    till.sees("未开班");
    till.button("查看").click();
    till.part("Z报表 1").sees("摘要");
    till.is_content();
}
