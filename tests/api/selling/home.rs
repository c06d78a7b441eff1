//! Sales on the home page.

use std::time::Duration;

use serde_json::{Value, json};

use super::world::{World, sale, shop, voucher, world};

const NINE: &str = "2026-11-21T21:00:00";
const TEN: &str = "2026-11-21T22:00:00";
const ELEVEN: &str = "2026-11-21T23:00:00";

fn on(w: &World, page: u32) -> (Vec<u64>, Value) {
    let response = w.ok("GET", &format!("/sale/on?current={page}"), "");
    let ids = response["data"].as_array().unwrap().iter().map(|sale| sale["voucherId"].as_u64().unwrap());
    (ids.collect(), response)
}

#[test]
fn sales_that_are_on_are_shown_whole_and_before_those_to_come() {
    let w = world();
    let seller = json!({
        "id": 1, "name": "103茶餐厅", "images": "/imgs/a.jpg,/imgs/b.jpg", "area": "大关", "address": "金华路29号",
        "openHours": "10:00-22:00",
    });
    let card = |id, stock, state, begin, end, begins_in_ms, ends_in_ms| {
        json!({
            "voucherId": id, "title": "100元秒杀券", "subTitle": "", "payValue": 100, "actualValue": 10000,
            "shop": seller, "stock": stock, "units": stock, "state": state, "serverTime": "2026-11-21T20:00:00", "beginTime": begin,
            "endTime": end, "beginsInMs": begins_in_ms, "endsInMs": ends_in_ms, "pressAgainMs": 10_000,
            "guarded": false, "waitingList": false, "waitingRoom": false,
        })
    };
    let running = card(2, 2, "OPEN", "2026-11-21T19:00:00", ELEVEN, -3_600_000, 10_800_000);
    let to_come = card(3, -1, "NOT_OPEN", NINE, TEN, 3_600_000, 7_200_000);
    let response = w.call("GET", "/sale/on?current=1", "", "");
    assert_eq!(response.body, json!({"success": true, "data": [running, to_come], "total": 2}));
    assert!(response.head.contains("cache-control: no-store"), "{}", response.head);
    assert_eq!(w.ok("GET", "/sale/on", ""), response.body);
    assert_eq!(on(&w, 2), (vec![], json!({"success": true, "data": [], "total": 2})));

    // Stock and shop names are never stale.
    w.call("POST", "/voucher-order/seckill/2", &w.customer, "");
    assert_eq!(on(&w, 1).1["data"][0]["stock"], 1);
    w.call("PUT", "/shop", &w.operator, &json!({"id": 1, "name": "104茶餐厅"}).to_string());
    assert_eq!(on(&w, 1).1["data"][1]["shop"]["name"], "104茶餐厅");
}

#[test]
fn what_opens_moves_up_and_what_is_over_or_off_the_shelf_is_gone_at_once() {
    let w = world();
    assert_eq!(on(&w, 1).0, [2, 3]);
    let short = w.add("/voucher/seckill", &sale("2026-11-21T20:10:00", "2026-11-21T20:20:00", 5));
    assert_eq!(on(&w, 1).0, [2, short, 3]);
    let mut hidden = sale("2026-11-21T19:00:00", ELEVEN, 5);
    hidden["status"] = json!(2);
    let hidden = w.add("/voucher/seckill", &hidden);
    w.add("/voucher", &voucher());
    let (ids, response) = on(&w, 1);
    assert!(!ids.contains(&hidden) && response["total"] == 3, "{response}");
    // The list is one second old, and every sale is in its current position.
    w.advance(Duration::from_millis(599_500));
    assert_eq!(on(&w, 1).0, [2, short, 3]);
    w.advance(Duration::from_secs(1));
    assert_eq!(on(&w, 1).0, [short, 2, 3]);
    w.advance(Duration::from_millis(599_000));
    assert_eq!(on(&w, 1).0, [short, 2, 3]);
    w.advance(Duration::from_secs(1));
    assert_eq!(on(&w, 1).0, [2, 3]);

    w.ok("POST", "/ops/sales/2/pause", &w.operator);
    assert_eq!(on(&w, 1).1["data"][1]["state"], "PAUSED");
    w.ok("POST", "/ops/sales/2/end", &w.operator);
    assert_eq!(on(&w, 1).0, [3]);
    w.advance(Duration::from_secs(2 * 60 * 60));
    assert_eq!(on(&w, 1), (vec![], json!({"success": true, "data": [], "total": 0})));
}

#[test]
fn a_sale_that_is_held_or_sold_out_comes_after_all_that_sell_or_will() {
    let w = world();
    // Ends first, and would therefore be listed first.
    let one_left = w.add("/voucher/seckill", &sale("2026-11-21T19:00:00", TEN, 1));
    let held = w.add("/voucher/seckill", &sale("2026-11-21T19:00:00", NINE, 5));
    assert_eq!(on(&w, 1).0, [held, one_left, 2, 3]);
    w.ok("POST", &format!("/ops/sales/{held}/pause"), &w.operator);
    assert_eq!(on(&w, 1).0, [one_left, 2, 3, held]);
    w.call("POST", &format!("/voucher-order/seckill/{one_left}"), &w.customer, "");
    assert_eq!(on(&w, 1).0, [2, 3, held, one_left]);
}

#[test]
fn there_are_ten_on_a_page() {
    let w = world();
    let other = w.add("/shop", &shop());
    for minute in 10..21 {
        let mut to_come = sale(&format!("2026-11-21T20:{minute}:00"), ELEVEN, 5);
        to_come["shopId"] = json!(other);
        w.add("/voucher/seckill", &to_come);
    }
    let (first, response) = on(&w, 1);
    assert_eq!((first.as_slice(), &response["total"]), (&[2, 4, 5, 6, 7, 8, 9, 10, 11, 12][..], &json!(13)));
    assert_eq!(response["data"][1]["shop"]["id"], other);
    assert_eq!(on(&w, 2).0, [13, 14, 3]);
    assert_eq!(on(&w, 0).0, first);
    assert_eq!(on(&w, 3).0, [] as [u64; 0]);
    assert_eq!(on(&w, u32::MAX).0, [] as [u64; 0]);
    assert_eq!(w.call("GET", "/sale/on?current=x", "", "").status, 400);
}

#[test]
fn areas_are_where_their_shops_are_and_may_be_minutes_old() {
    let w = world();
    let areas = |w: &World| w.ok("GET", "/shop/areas", "")["data"].clone();
    let more = |area: &str, x: f64, y: f64| {
        let mut more = shop();
        (more["area"], more["x"], more["y"]) = (json!(area), json!(x), json!(y));
        w.add("/shop", &more);
    };
    let first = json!([{ "area": "大关", "x": 120.14919, "y": 30.31608, "shops": 1 }]);
    assert_eq!(areas(&w), first);
    more("拱宸桥", 120.0, 30.0);
    more("拱宸桥", 120.2, 30.1);
    more("", 1.0, 1.0);
    assert_eq!(areas(&w), first);
    // A stale entry is served once more during revalidation (stale-while-revalidate).
    w.advance(Duration::from_secs(31 * 60));
    let fuller = json!({ "area": "拱宸桥", "x": 120.1, "y": 30.05, "shops": 2 });
    assert_eq!(areas(&w), json!([fuller, first[0]]));
}
