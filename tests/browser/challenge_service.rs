//! Guarded sales whose check is an external service's.

#[path = "../common/challenge_stub.rs"]
mod challenge_stub;

use mallbox::fixture::Mall;
use mallbox::mall::selling::challenge_service::ChallengeProvider;
use serde_json::json;

use self::challenge_stub::{ChallengeStub, Mood, SITE_KEY};
use crate::guards::guard;
use crate::harness::{Browser, Page, Place as _, Screen};
use crate::people::{
    ANNE, BEN, CARL, DORA, NOBODY, OPERATOR, RUNNING, UNPAID, browser_of, evening, log_in_by_code, orders_of,
};
use crate::words;

/// Makes timers of some seconds end at once: the time for the script to load.
const HASTE: &str = "{
    const real = window.setTimeout;
    window.setTimeout = (then, ms, ...more) => real(then, ms === 6000 ? 50 : ms, ...more);
}";

fn mall_with(provider: ChallengeProvider, kinds: &[&str]) -> (Mall, ChallengeStub) {
    let stub = ChallengeStub::start();
    let mall = evening().challenge_service(stub.client(provider)).start().unwrap();
    guard(&mall, RUNNING, kinds);
    (mall, stub)
}

fn widget() -> String {
    format!("stub: {SITE_KEY}")
}

/// Starts a claim in the running sale.
fn claim(browser: &Browser) -> Page {
    let page = browser.open(&format!("/#/sale/{RUNNING}"));
    page.button("立即抢购").click();
    page
}

/// Opens the challenge of the running sale, which waits for a hand.
fn open_challenge(browser: &Browser) -> Page {
    let page = claim(browser);
    page.sees("先完成验证");
    page
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn buyer_passes_the_check_of_each_service_and_gets_it() {
    for provider in ChallengeProvider::ALL {
        let (mall, stub) = mall_with(provider, &["service", "work"]);
        let page = browser_of(&mall, BEN).open(&format!("/#/sale/{RUNNING}"));
        page.button("立即抢购").is_enabled();
        assert_eq!(stub.widgets(), 0, "nothing is loaded before the check");
        page.button("立即抢购").click();
        page.button(&widget()).is_there();
        page.sees("请完成下面的验证");
        page.rests();
        page.is_accessible();
        page.fits();
        page.button(&widget()).click();
        page.sees("抢到了！");
        assert_eq!(page.run("window.removed"), 1, "{provider:?}: the widget is removed");
        assert_eq!((stub.widgets(), stub.forms().len()), (1, 1));
        assert_eq!(orders_of(&mall, BEN), [UNPAID]);
        page.is_content();
    }
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn buyer_takes_another_check_instead_and_may_come_back() {
    let (mall, stub) = mall_with(ChallengeProvider::Turnstile, &["service", "picture", "work"]);
    let page = open_challenge(&browser_of(&mall, BEN));
    page.button(&widget()).is_there();
    page.button("换成输入文字").click();
    page.button("换一张").is_there();
    page.button("换成人机验证").click();
    page.button(&widget()).is_there();
    page.button("不看图，让设备计算").click();
    page.sees("抢到了！");
    assert_eq!((stub.widgets(), stub.forms().len()), (1, 0), "loaded once, and never asked");
    page.is_content();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn script_that_does_not_load_is_replaced_by_another_check() {
    let (mall, stub) = mall_with(ChallengeProvider::HCaptcha, &["service", "picture"]);
    // Loaded, but never ready.
    let page = open_challenge(&browser_of(&mall, ANNE).running(HASTE).running(
        "Object.defineProperty(window, 'mallboxChallengeReady', { get: () => () => {}, set: () => {} });",
    ));
    page.sees("人机验证加载失败，请换这种方式完成验证");
    page.button("换一张").is_there();
    page.is_accessible();
    stub.kill();
    let page = open_challenge(&browser_of(&mall, BEN));
    page.forgive(&stub.origin());
    page.sees("人机验证加载失败，请换这种方式完成验证");
    page.button("换一张").is_there();
    // Once the service is back, the script is asked for again.
    stub.revive();
    page.button("换成人机验证").click();
    page.button(&widget()).click();
    page.sees("抢到了！");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn service_that_is_away_is_replaced_at_once() {
    let (mall, stub) = mall_with(ChallengeProvider::Turnstile, &["service", "work"]);
    stub.set(Mood::Broken(500));
    let page = open_challenge(&browser_of(&mall, CARL));
    page.forgive(&format!("/api/sale/{RUNNING}/pass"));
    page.button(&widget()).click();
    // The next check is the device's own, which needs no hand.
    page.sees("抢到了！");
    assert_eq!((stub.forms().len(), orders_of(&mall, CARL)), (1, vec![UNPAID]));
    // Others are not sent there: their device solves its challenge, perhaps before it is seen.
    let page = claim(&browser_of(&mall, DORA));
    page.sees("抢到了！");
    assert_eq!((stub.widgets(), stub.forms().len()), (1, 1));
    page.is_content();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn kiosk_loads_nothing_from_a_service() {
    let (mall, stub) = mall_with(ChallengeProvider::HCaptcha, &["service"]);
    let kiosk = browser_of(&mall, NOBODY).on(Screen::Kiosk);
    let page = kiosk.open(&format!("/?kiosk=600#/sale/{RUNNING}"));
    page.button("登录后抢购").click();
    log_in_by_code(&page, ANNE);
    page.button("立即抢购").click();
    page.sees("抢到了！");
    assert_eq!((stub.widgets(), stub.forms().len()), (0, 0));
    page.is_content();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_chooses_the_service_where_there_is_one() {
    let stub = ChallengeStub::start();
    let mall = evening().challenge_service(stub.client(ChallengeProvider::GeeTest)).start().unwrap();
    let at = format!("/console#/sale/{RUNNING}");
    for (language, name) in [("zh", "外部人机验证"), ("en", "CAPTCHA of an external service")] {
        let browser = browser_of(&mall, OPERATOR).on(Screen::Desktop).running(words::LISTEN);
        let browser = if language == "en" { browser.in_english() } else { browser };
        let page = browser.open(&at);
        let (open, form, save) = match language {
            "zh" => ("开启防护", "抢购防护", "保存"),
            _ => ("Change the guard", "Guard of the sale", "Save"),
        };
        page.button(open).click();
        let form = page.part(form);
        form.field(if language == "zh" { "首选方式" } else { "Preferred check" }).choose(name);
        page.is_accessible();
        page.fits();
        words::speaks(&page, language);
        form.button(save).click();
        form.is_gone();
        page.is_content();
    }
    let path = format!("/api/ops/sales/{RUNNING}/guard");
    let stored = mall.call("GET", &path, &mall.operator(), &json!(null)).unwrap();
    assert_eq!(stored.data()["kinds"], json!(["service", "picture", "slider", "work"]));

    let without = evening().start().unwrap();
    let page = browser_of(&without, OPERATOR).on(Screen::Desktop).open(&at);
    page.button("开启防护").click();
    let form = page.part("抢购防护");
    form.choice("自动计算").at(1).is_there();
    assert!(!form.text().contains("外部人机验证"), "{}", form.text());
}
