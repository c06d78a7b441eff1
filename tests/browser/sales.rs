//! Sales, shops and users in large numbers, or with little data.

use serde_json::{Value, json};

use crate::harness::{Place as _, Screen};
use crate::people::{ANNE, NOBODY, RUNNING, browser_of, evening, leave};

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn every_sale_can_be_reached_from_the_first_page_and_a_kiosk() {
    let mall = evening().start().unwrap();
    for number in 1..=12 {
        let sale = json!({
            "shopId": 1, "title": format!("第{number}场"), "subTitle": "", "rules": "", "payValue": 100, "actualValue": 200,
            "stock": 5, "beginTime": format!("2026-11-21T21:{number:02}:00"), "endTime": "2026-11-21T23:00:00",
        });
        let made = mall.call("POST", "/api/voucher/seckill", &mall.operator(), &sale).unwrap();
        assert!(made.is_success(), "{}", made.text);
    }
    let page = browser_of(&mall, NOBODY).open("/");
    page.part("限时秒杀").link("更多").click();
    page.sees("第8场");
    page.run("scrollTo(0, document.body.scrollHeight); 0");
    page.sees("第12场");
    page.link("第12场").click();
    page.is_at("/#/sale/64");

    let kiosk = browser_of(&mall, NOBODY).on(Screen::Tablet).open("/?kiosk=600");
    kiosk.link("全部秒杀").click();
    kiosk.sees("第8场");
    kiosk.run("scrollTo(0, document.body.scrollHeight); 0");
    kiosk.sees("第12场");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn sale_that_is_sold_out_stands_behind_those_that_are_not() {
    let mall = evening().start().unwrap();
    leave(&mall, RUNNING, 0);
    let page = browser_of(&mall, NOBODY).open("/");
    page.sees("已抢光");
    let titles = page.run("[...document.querySelectorAll('.sale-card h3')].map((one) => one.textContent)");
    assert_eq!(titles, json!(["9.9元抢198元双人运河宴", "100元代金券秒杀"]));
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn new_shop_without_pictures_and_reviews_looks_finished() {
    let mall = evening().start().unwrap();
    let shop = json!({
        "name": "新开的面馆", "typeId": 1, "images": "", "area": "大关", "address": "金华路1号", "x": 120.15, "y": 30.33,
        "avgPrice": 20, "openHours": "10:00-22:00",
    });
    let made = mall.call("POST", "/api/shop", &mall.operator(), &shop).unwrap();
    let id = made.data().as_u64().unwrap_or_else(|| panic!("{}", made.text));
    let page = browser_of(&mall, NOBODY).open(&format!("/#/shop/{id}"));
    page.sees("暂无评分");
    page.sees_no("0.0");
    page.rests();
    assert_eq!(
        page.run(
            "document.querySelectorAll('.front-pictures .picture.none, .front-pictures .icon').length > 0"
        ),
        true
    );
    assert_eq!(page.run("document.querySelectorAll('.skeleton').length"), 0);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn author_of_a_comment_is_as_large_as_a_finger_and_map_names_grow_with_the_text() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, ANNE).open("/#/note/1");
    page.sees("评论");
    page.rests();
    let small = "[...document.querySelectorAll('.comment-name')].filter((one) => { \
        const { width, height } = one.getBoundingClientRect(); return width < 24 || height < 24; }).length";
    assert_eq!(page.run("document.querySelectorAll('.comment-name').length > 0"), true);
    assert_eq!(page.run(small), 0);

    let page = browser_of(&mall, NOBODY).open("/#/shop/1");
    let size = "parseFloat(getComputedStyle(document.querySelector('.map-name')).fontSize)";
    page.sees("鲫先生家常菜");
    page.rests();
    let Value::Number(before) = page.run(size) else { panic!("no name is on the map") };
    page.enlarges_text();
    assert_eq!(page.run(size).as_f64(), before.as_f64().map(|size| 2.0 * size));
}
