//! Trusted kiosks: an operator adds one, and its buyers take no check.

use mallbox::fixture::Mall;

use crate::guards::guard;
use crate::harness::{Browser, Page, Place as _, Screen};
use crate::people::{BEN, OPERATOR, browser_of, evening, log_in_by_code};

/// Opens a kiosk by its link, and claims a unit as a customer.
fn at_kiosk(mall: &Mall, link: &str) -> Page {
    let kiosk = Browser::at(&mall.url()).on(Screen::Kiosk).open(link);
    kiosk.run("location.hash = '#/sale/51'; 0");
    kiosk.button("登录后抢购").click();
    log_in_by_code(&kiosk, BEN);
    kiosk.button("立即抢购").click();
    kiosk
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_trusts_a_kiosk_and_its_buyers_take_no_check() {
    let mall = evening().start().unwrap();
    guard(&mall, 51, &["slider"]);
    let page = browser_of(&mall, OPERATOR).on(Screen::Desktop).open("/console#/security");
    page.link("自助终端").click();
    page.sees("还没有受信任的自助终端");
    page.button("添加终端").click();
    page.part("添加自助终端").field("名称").fill("收银台");
    page.part("添加自助终端").button("添加").click();
    page.sees("终端的链接");
    let link = page.run("document.querySelector('.hash').textContent");
    let link = link.as_str().unwrap().to_owned();
    page.is_accessible();
    page.button("已打开").click();
    page.sees("收银台");
    page.rests();
    page.fits();

    let kiosk = at_kiosk(&mall, link.strip_prefix(&mall.url()).unwrap());
    kiosk.sees("抢到了");
    assert!(!kiosk.run("location.href").as_str().unwrap().contains("kiosk-key"));

    page.button("移除").click();
    page.part("移除终端").button("移除").click();
    page.sees("还没有受信任的自助终端");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn kiosk_with_a_void_key_shows_the_check() {
    let mall = evening().start().unwrap();
    guard(&mall, 51, &["slider"]);
    let kiosk = at_kiosk(&mall, "/?kiosk#kiosk-key=none");
    kiosk.sees("先完成验证");
}
