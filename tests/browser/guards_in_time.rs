//! Guarded sales whose clock is stopped: before the opening, and while visitors have to wait.

use std::time::Duration;

use mallbox::fixture::Mall;
use serde_json::{Value, json};

use crate::guards::{buyer, guard, guard_with, open_challenge};
use crate::harness::{Page, Place as _};
use crate::people::{BEN, RUNNING, evening, orders_of};

/// Stops the page's clock. `pass` advances it, and `advance` also that of the mall. The page sends and
/// receives nothing meanwhile: a response from between would put the opening into the past.
const CLOCK: &str = "{
    let now = performance.now();
    performance.now = () => now;
    window.pass = (ms) => void (now += ms);
    const real = window.fetch;
    let pending = 0;
    window.fetch = (...asked) => {
        pending += 1;
        return real(...asked).finally(() => (pending -= 1));
    };
    window.advance = async (controls, ms) => {
        while (pending > 0) await new Promise((done) => setTimeout(done, 5));
        const request = new XMLHttpRequest();
        request.open('POST', controls + '/clock/advance', false);
        request.setRequestHeader('content-type', 'application/json');
        request.send(JSON.stringify({ by: ms + 'ms' }));
        if (request.status !== 200) throw new Error(request.responseText);
        pass(ms);
    };
}";

/// Adds a sale of two units that opens in 31 seconds. Returns the id.
fn coming_sale(mall: &Mall) -> u64 {
    let sale = json!({
        "shopId": 1, "title": "防护秒杀", "subTitle": "", "rules": "", "payValue": 100, "actualValue": 200,
        "stock": 2, "beginTime": "2026-11-21T20:00:31", "endTime": "2026-11-21T23:00:00",
    });
    let made = mall.call("POST", "/api/voucher/seckill", &mall.operator(), &sale).unwrap();
    made.data().as_u64().unwrap_or_else(|| panic!("{}", made.text))
}

/// Advances the clocks of a mall and of a page that runs [`CLOCK`].
fn advance(mall: &Mall, page: &Page, ms: u64) {
    page.run(&format!("advance('{}', {ms})", mall.control_path()));
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn too_many_challenges_make_the_visitor_wait() {
    let mall = evening().with_limits().start().unwrap();
    guard(&mall, RUNNING, &["picture"]);
    let page = open_challenge(&buyer(&mall, BEN).running(CLOCK));
    page.forgive("/challenge");
    let token = mall.log_in(BEN).unwrap().token;
    // 20 a minute.
    for _ in 0..19 {
        let path = format!("/api/sale/{RUNNING}/challenge");
        assert!(mall.call("POST", &path, &token, &Value::Null).unwrap().is_success());
    }
    page.button("换一张").click();
    page.sees("秒后可再试");
    page.is_accessible();
    advance(&mall, &page, 60_000);
    page.button("再试一次").click();
    page.button("换一张").is_there();
    page.button("再试一次").is_gone();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn answer_before_the_opening_waits_and_is_sent_once_more() {
    let mall = evening().start().unwrap();
    let sale = coming_sale(&mall);
    guard(&mall, sale, &["work"]);
    let page = buyer(&mall, BEN).running(CLOCK).open(&format!("/#/sale/{sale}"));
    page.forgive(&format!("/api/sale/{sale}/pass"));
    page.button("先完成验证").click();
    page.sees("已通过");
    page.sees("31 秒");
    page.is_accessible();
    page.run("pass(11_000)");
    page.sees("20 秒");
    assert_eq!(page.run("window.answers"), 1);
    mall.advance(Duration::from_secs(11)).unwrap();
    advance(&mall, &page, 20_000);
    page.sees("抢到了！");
    assert_eq!(page.run("window.answers"), 2);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn pass_from_before_the_opening_is_claimed_with_at_the_opening() {
    for is_cancelled in [false, true] {
        let mall = evening().start().unwrap();
        let sale = coming_sale(&mall);
        guard_with(&mall, sale, &["work"], (8, 30));
        let page = buyer(&mall, BEN).running(CLOCK).open(&format!("/#/sale/{sale}"));
        page.forgive(&format!("/api/sale/{sale}/pass"));
        page.button("先完成验证").click();
        page.sees("已通过");
        // At most 31 s: passes are issued from 30 s before the begin, at a time of the user's own.
        let pass_in = page.run("window.given.passInMs").as_u64().unwrap();
        advance(&mall, &page, pass_in);
        page.sees("验证已完成");
        page.button("即将开抢").is_disabled();
        page.is_accessible();
        if is_cancelled {
            page.button("不自动抢购").click();
            page.sees_no("验证已完成");
        }
        advance(&mall, &page, 31_000 - pass_in);
        if is_cancelled {
            page.button("立即抢购").is_enabled();
            assert_eq!(orders_of(&mall, BEN), [0; 0]);
            // With the pass of before.
            page.button("立即抢购").click();
        }
        page.sees("抢到了！");
        assert_eq!(page.run("window.answers"), 2);
    }
}
