//! Staff at a counter: the operator adds a person, who logs in by PIN, sells, redeems and logs out.

use std::time::Duration;

use mallbox::fixture::Mall;

use crate::harness::{Browser, Page, Place as _, Screen};
use crate::people::{OPERATOR, browser_of, evening, narrow_printer};

pub const PIN: &str = "482913";

/// Lets `pass` advance the page's clock, used to measure the time without input.
pub const CLOCK: &str = "{
    const now = performance.now.bind(performance);
    let passed = 0;
    performance.now = () => now() + passed;
    window.pass = (seconds) => void (passed += seconds * 1000);
}";

/// Adds a kiosk and a person at the console. Returns the link of the counter.
pub fn furnished(mall: &Mall) -> String {
    let page = browser_of(mall, OPERATOR).on(Screen::Desktop).open("/console#/kiosks");
    page.button("添加终端").click();
    page.part("添加自助终端").field("名称").fill("收银台");
    page.part("添加自助终端").button("添加").click();
    page.sees("终端的链接");
    let link = page.run("[...document.querySelectorAll('.hash')].at(-1).textContent");
    let link = link.as_str().unwrap().to_owned();
    page.button("已打开").click();
    page.go("/console#/security");
    page.link("店员").click();
    page.sees("还没有店员");
    page.button("添加店员").click();
    page.part("添加店员").field("姓名").fill("小安");
    page.part("添加店员").field("PIN").fill("123456");
    page.part("添加店员").button("添加").click();
    page.sees("这个PIN太容易被猜到");
    page.part("添加店员").field("PIN").fill(PIN);
    page.part("添加店员").button("添加").click();
    page.sees("PIN已保存");
    page.sees("小安");
    page.rests();
    page.fits();
    page.is_accessible();
    link.strip_prefix(&mall.url()).unwrap().to_owned()
}

pub fn counter(mall: &Mall, link: &str) -> Page {
    Browser::at(&mall.url()).on(Screen::Tablet).running(CLOCK).open(link)
}

pub fn log_in(page: &Page, pin: &str) {
    for digit in pin.chars() {
        page.part("数字键盘").button(&digit.to_string()).click();
    }
    page.button("登录").click();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn a_day_of_a_person_at_the_counter() {
    let mall = evening().start().unwrap();
    let link = furnished(&mall);
    let page = counter(&mall, &link);
    page.sees("柜台");
    assert!(!page.address().contains("kiosk-key"), "the key is no longer in the address");
    page.rests();
    page.fits();
    page.is_accessible();
    log_in(&page, PIN);
    page.field("查找券或店铺").is_there();
    page.sees("小安");
    page.rests();
    page.fits();
    page.is_accessible();

    page.field("查找券或店铺").fill("100元代金券秒杀");
    page.run("document.querySelector('.sell-card').click(); 0");
    page.button("已收").click();
    page.sees("已售出");
    let code = page.run("document.querySelector('.sell-code').textContent");
    page.rests();
    page.fits();
    page.is_accessible();
    page.link("今天").click();
    page.sees("散客");
    page.rests();
    page.fits();
    page.is_accessible();

    page.link("核销").click();
    page.field("输入凭证码").fill(code.as_str().unwrap());
    page.press("Enter");
    page.button("核销").click();
    page.sees("已核销");
    page.link("登录码").click();
    page.field("手机号").fill("13900000002");
    page.button("生成登录码").click();
    page.sees("请顾客在登录页输入手机号和这12位数字");
    page.rests();
    page.fits();
    page.is_accessible();
    page.field("手机号").fill(OPERATOR);
    page.press("Enter");
    page.sees("这是管理员的手机号");

    page.run("pass(290); 0");
    page.link("今天").click();
    page.sees("已核销");

    page.button("退出登录").click();
    page.part("数字键盘").is_there();
    assert_eq!(page.run("sessionStorage.getItem('mallbox-token')"), serde_json::Value::Null);
    // The next person, who walks away.
    log_in(&page, PIN);
    page.sees("小安");
    page.run("pass(301); 0");
    page.part("数字键盘").is_there();
    page.is_content();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn wrong_pins_make_the_counter_wait() {
    let mall = evening().start().unwrap();
    let link = furnished(&mall);
    let page = counter(&mall, &link);
    log_in(&page, "12");
    page.sees("请输入6到12位数字");
    page.part("数字键盘").button("清空").click();
    for _ in 0..5 {
        log_in(&page, "777913");
        page.sees("PIN错误");
        page.part("数字键盘").button("清空").click();
    }
    page.forgive("429");
    log_in(&page, PIN);
    page.sees("尝试次数过多");
    page.is_accessible();

    let stranger = counter(&mall, "/console?kiosk");
    log_in(&stranger, PIN);
    stranger.sees("不是受信任的自助终端");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn staff_reach_the_counter_from_the_storefront_and_leave_it() {
    const HOME: &str = "/?kiosk=600&attract=0#/";
    let paper = tempfile::NamedTempFile::new().unwrap();
    let mall = evening().printer(narrow_printer(paper.path())).start().unwrap();
    let link = furnished(&mall);
    let kiosk = Browser::at(&mall.url()).on(Screen::Kiosk).running(CLOCK);
    // The key stays in the browser.
    kiosk.open(&link).part("数字键盘").is_there();
    let page = kiosk.open("/?kiosk=600&attract=0");
    page.sees("100元代金券秒杀");

    // A tap is for customers.
    let held = brand_of(&page);
    page.drag([held; 2], Duration::from_millis(400));
    page.sees("100元代金券秒杀");
    page.drag([held; 8], Duration::from_millis(500));
    page.is_at("/console?kiosk");
    page.button("返回商城").is_there();
    page.rests();
    page.fits();
    page.is_accessible();
    log_in(&page, PIN);
    page.link("收银").click();
    page.button("打印测试页").click();
    page.sees("测试页已打印");
    assert!(std::fs::metadata(paper.path()).unwrap().len() > 0);
    page.rests();
    page.is_accessible();

    // Whoever forgets to go back is brought back.
    page.button("退出登录").click();
    page.part("数字键盘").is_there();
    page.run("pass(61); 0");
    page.is_at(HOME.trim_end_matches("#/"));
    page.sees("100元代金券秒杀");
    page.drag([brand_of(&page); 8], Duration::from_millis(500));
    page.button("返回商城").click();
    page.sees("100元代金券秒杀");
    page.is_content();
}

/// Returns the middle of the mall's name.
fn brand_of(page: &Page) -> (f64, f64) {
    page.rests();
    let middle = page.run(
        "(({ x, y, width, height }) => [x + width / 2, y + height / 2])(document.querySelector('.tabs .brand').getBoundingClientRect())",
    );
    (middle[0].as_f64().unwrap(), middle[1].as_f64().unwrap())
}
