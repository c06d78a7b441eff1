//! The receipt printer at the console: a test page, a receipt, and the reason if nothing is printed.

use crate::harness::Place as _;
use crate::people::{ANNE, OPERATOR, RUNNING, browser_of, buy, evening, narrow_printer, pay};

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_prints_a_test_page_and_a_receipt() {
    let paper = tempfile::NamedTempFile::new().unwrap();
    let mall = evening().printer(narrow_printer(paper.path())).start().unwrap();
    let order = buy(&mall, ANNE, RUNNING);
    pay(&mall, ANNE, &order);
    let page = browser_of(&mall, OPERATOR).open("/console#/kiosks");
    page.sees("还没有打印过");
    page.button("打印测试页").click();
    page.sees("测试页已打印");
    page.sees("已打印");
    page.rests();
    page.fits();
    page.is_accessible();
    let test_page = std::fs::metadata(paper.path()).unwrap().len();
    assert!(test_page > 0);

    page.go(&format!("/console#/order/{order}"));
    page.button("打印小票").click();
    page.sees("小票已打印");
    assert!(std::fs::metadata(paper.path()).unwrap().len() > test_page);
    page.is_accessible();

    std::fs::remove_file(paper.path()).unwrap();
    page.button("打印小票").click();
    page.sees("找不到打印机设备");
    page.go("/console#/kiosks");
    page.sees("找不到打印机设备");
}
