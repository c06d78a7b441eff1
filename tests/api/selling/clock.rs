//! Clock jumps during a sale: nothing is sold twice or lost, and no user is locked out.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use mallbox_storage::Timestamp;
use serde_json::json;

use super::world::{EVENING, World, sale, world};

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn set(w: &World, at: Timestamp) {
    // Amid running requests, without waiting for idle.
    w.mall.clock().set(at);
    w.advance(Duration::ZERO);
}

/// Results of a user who repeatedly buys and cancels.
#[derive(Default)]
struct Seen {
    orders: Vec<u64>,
    unexpected: Vec<String>,
    log_ins: u64,
}

fn buy_and_give_back(w: &World, phone: &str, path: &str, done: &AtomicBool, bought: &AtomicU64) -> Seen {
    let (mut seen, mut token) = (Seen::default(), w.log_in(phone));
    while !done.load(Relaxed) {
        let response = w.call("POST", path, &token, "");
        match (response.status, response.body["data"].as_u64()) {
            (200, Some(order)) if response.body["success"] == true => {
                seen.orders.push(order);
                bought.fetch_add(1, Relaxed);
                w.call("POST", &format!("/voucher-order/{order}/cancel"), &token, "");
            }
            // A cancellation refused with `NOT_YET`, or concurrent with the expiry.
            (200, Some(order)) if response.body["code"] == "ALREADY_BOUGHT" => {
                w.call("POST", &format!("/voucher-order/{order}/cancel"), &token, "");
            }
            (401, _) => {
                token = w.log_in(phone);
                seen.log_ins += 1;
            }
            _ => seen.unexpected.push(response.text),
        }
    }
    seen
}

#[test]
fn a_clock_that_jumps_during_a_sale_sells_nothing_twice_and_locks_nobody_out() {
    let w = world();
    let voucher = w.add("/voucher/seckill", &sale("2026-11-01T00:00:00", "2026-12-31T00:00:00", 1_000));
    let path = format!("/voucher-order/seckill/{voucher}");
    let (done, bought) = (AtomicBool::new(false), AtomicU64::new(0));
    let jumps = [EVENING + DAY, EVENING + DAY - HOUR, EVENING - HOUR, EVENING + 7 * DAY, EVENING];
    let seen: Vec<Seen> = std::thread::scope(|scope| {
        let buyers: Vec<_> = (0..6)
            .map(|number| {
                let (w, path, done, bought) = (&w, &path, &done, &bought);
                scope.spawn(move || buy_and_give_back(w, &format!("1391111000{number}"), path, done, bought))
            })
            .collect();
        for at in jumps {
            let before = bought.load(Relaxed);
            while bought.load(Relaxed) < before + 30 {
                std::thread::sleep(Duration::from_millis(5));
            }
            set(&w, at);
        }
        std::thread::sleep(Duration::from_millis(300));
        done.store(true, Relaxed);
        buyers.into_iter().map(|buyer| buyer.join().unwrap()).collect()
    });
    let unexpected: Vec<_> = seen.iter().flat_map(|seen| &seen.unexpected).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
    let orders: Vec<u64> = seen.iter().flat_map(|seen| seen.orders.iter().copied()).collect();
    let log_ins: u64 = seen.iter().map(|seen| seen.log_ins).sum();
    println!("{} jumps, {} orders, {log_ins} log-ins anew", jumps.len(), orders.len());
    assert_eq!(orders.iter().collect::<HashSet<_>>().len(), orders.len(), "an order id came twice");
    assert!(log_ins >= 6, "a token outlived a day");
    // Units still held are returned at their deadline; the stock is complete again.
    set(&w, EVENING + 8 * DAY);
    w.assert_balanced();
    assert_eq!(w.call("GET", &format!("/sale/{voucher}"), "", "").body["data"]["stock"], 1_000);
}

#[test]
fn windows_deadlines_and_tokens_follow_the_clock_both_ways() {
    let w = world();
    let claim = |token: &str| w.call("POST", "/voucher-order/seckill/2", token, "").body["code"].clone();
    set(&w, EVENING - 2 * HOUR);
    assert_eq!(claim(&w.customer), "NOT_OPEN");
    set(&w, EVENING + 4 * HOUR);
    // The sessions of the evening are four hours old.
    assert_eq!(w.call("POST", "/voucher-order/seckill/2", &w.customer, "").status, 401);
    let late = w.log_in("13900000002");
    assert_eq!(claim(&late), "ENDED");
    set(&w, EVENING);
    let response = w.call("POST", "/voucher-order/seckill/2", &late, "");
    assert_eq!(response.body["success"], true, "{response:?}");
    let order = response.body["dataText"].as_str().unwrap();
    // A session unused for longer than its lifetime ends, whichever way the clock moved meanwhile.
    let status = || {
        let token = w.log_in("13900000002");
        w.call("GET", &format!("/voucher-order/{order}"), &token, "").body["data"]["status"].clone()
    };
    // An order persisted after its deadline gets a new deadline from then on.
    while status() == json!(0) {
        std::thread::sleep(Duration::from_millis(5));
    }
    set(&w, EVENING - HOUR);
    assert_eq!(status(), json!(1), "an hour back is no deadline");
    set(&w, EVENING + Duration::from_secs(16 * 60));
    assert_eq!(status(), json!(4));
    w.assert_balanced();
}

#[test]
fn before_2022_nothing_is_sold_and_readyz_says_why() {
    let w = world();
    let voucher = w.add("/voucher/seckill", &sale("2020-01-01T00:00:00", "2027-01-01T00:00:00", 5));
    let path = format!("/voucher-order/seckill/{voucher}");
    let ready = || w.ask_once("GET", "/readyz", "", b"");
    assert_eq!(ready().status, 200);
    // A board without a battery starts in 1970; the shop has a sale that was open in 2021.
    let too_early = Timestamp::from_millis(1_640_995_199_999);
    set(&w, too_early);
    for path in [path.as_str(), "/voucher-order/1"] {
        let response = w.call_once("POST", path, &w.customer, "");
        assert_eq!((response.status, &response.body["code"]), (503, &json!("BUSY")), "{response:?}");
        assert!(response.head.contains("retry-after: "), "{}", response.head);
    }
    let response = ready();
    assert_eq!(response.status, 503);
    assert!(response.text.contains("the clock is before 2022"), "{}", response.text);
    assert_eq!(w.call("GET", "/shop/1", "", "").status, 200, "reading goes on");
    set(&w, EVENING);
    assert_eq!(ready().status, 200);
    let customer = w.log_in("13900000002");
    assert_eq!(w.call("POST", &path, &customer, "").body["success"], true);
    w.assert_balanced();
}
