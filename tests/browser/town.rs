//! Location and history: the map, and the calendar of sign-ins.

use serde_json::Value;

use crate::harness::{Page, Place as _};
use crate::people::{NOBODY, browser_of, evening};

/// A user with weeks of sign-ins.
const REGULAR: &str = "13900000002";

/// Returns the distances shown in a list of shops, in metres, in list order.
fn distances(page: &Page) -> Vec<f64> {
    page.rests();
    let words = page.text();
    let words: Vec<_> = words.split(' ').collect();
    let metres = |pair: &[&str]| {
        let far: f64 = pair[0].parse().ok()?;
        match pair[1] {
            "m" => Some(far),
            "km" => Some(far * 1_000.0),
            _ => None,
        }
    };
    words.windows(2).filter_map(metres).collect()
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn place_chosen_on_the_map_tells_what_is_near() {
    let mall = evening().start().unwrap();
    let areas = mall.call("GET", "/api/shop/areas", "", &Value::Null).unwrap();
    let (area, shops) = (areas.data()[0]["area"].as_str().unwrap(), &areas.data()[0]["shops"]);
    let page = browser_of(&mall, NOBODY).open("/#/shops");
    assert_eq!(distances(&page), [0.0; 0], "without a place nothing is near");
    page.button("离我最近").click();
    page.link("选位置").first().click();
    page.button(&format!("{area}，{shops}家店")).click();
    page.sees("评分最高");
    let near = distances(&page);
    assert!(near.len() > 3 && near.is_sorted() && near[0] < 1_000.0, "{near:?}");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn day_that_was_missed_is_made_up_for() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, REGULAR).open("/#/sign-in");
    page.button("今天签到").click();
    page.sees("签到成功，已连续");
    page.button("今天已签到").is_disabled();
    let missed = page.button("日漏签，补签").first();
    missed.is_there();
    let left = |times: u32| page.sees(&format!("本月还可以补 {times} 次"));
    left(3);
    missed.click();
    page.part("补签这一天？").button("补签").click();
    page.sees("补签成功");
    left(2);
    page.image("日，已补签").first().is_there();
    page.reload();
    page.image("日，已补签").first().is_there();
}
