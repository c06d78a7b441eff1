//! Visits: every user shown a page counts once a day as a visitor, and every time as a view.

use std::time::Duration;

use mallbox::fixture::Fault;
use mallbox::mall::people::visits::Caller;
use mallbox_test_patience::Deadline;
use serde_json::{Value, json};

use super::world::{CUSTOMER, EVENING, OPERATOR, World, world};

const HOUR: Duration = Duration::from_secs(3_600);

/// Sends a request with a token and a browser. Returns the status.
fn look(w: &World, method: &str, path: &str, token: &str, browser: &str) -> u16 {
    let token = if token.is_empty() { String::new() } else { format!("authorization: {token}\r\n") };
    w.request(method, &format!("/api{path}"), &format!("{token}user-agent: {browser}\r\n"), b"").status
}

fn look_at(w: &World, paths: &[&str], token: &str, browser: &str) {
    for path in paths {
        assert_eq!(look(w, "GET", path, token, browser), 200, "{path}");
    }
}

fn stats(w: &World, query: &str) -> Value {
    w.ok("GET", &format!("/stats/visits{query}"), &w.operator)["data"].clone()
}

/// Returns visitors and views of the period.
fn sum(w: &World, query: &str) -> (u64, u64) {
    let stats = stats(w, query);
    (stats["uv"].as_u64().unwrap(), stats["pv"].as_u64().unwrap())
}

/// Returns the number of visits with an outcome, from `/metrics`.
fn visits_by_outcome(w: &World, what: &str) -> u64 {
    let text = w.request("GET", "/metrics", "", b"").text;
    let name = format!("mallbox_visits_total{{became=\"{what}\"}} ");
    text.lines().find_map(|line| line.strip_prefix(&name)).unwrap().parse().unwrap()
}

fn later(w: &mut World, span: Duration) {
    w.advance(span);
    w.operator = w.log_in(OPERATOR);
    w.customer = w.log_in(CUSTOMER);
}

fn note(w: &World, about: Value) -> u64 {
    let body = json!({ "shopId": about, "title": "一碗面", "content": "面也筋道", "images": "" });
    let response = w.call("POST", "/blog", &w.customer, &body.to_string());
    response.body["data"].as_u64().unwrap_or_else(|| panic!("{response:?}"))
}

#[test]
fn what_is_shown_is_counted_for_its_shop_and_for_the_mall() {
    let w = world();
    let (about, about_none) = (note(&w, json!(1)), note(&w, Value::Null));
    let (about, about_none) = (format!("/blog/{about}"), format!("/blog/{about_none}"));
    assert_eq!((sum(&w, ""), sum(&w, "?shopId=1")), ((0, 0), (0, 0)));
    let shown = ["/shop/1", "/sale/2/page", &about, "/shop/1"];
    look_at(&w, &shown, "", "Firefox");
    look_at(&w, &[&about_none, "/shop-type/list"], "", "Firefox");
    assert_eq!((sum(&w, ""), sum(&w, "?shopId=1")), ((1, 6), (1, 4)));
    look_at(&w, &["/shop/1"], "", "Safari");
    assert_eq!((sum(&w, "?shopId="), sum(&w, "?shopId=1")), ((2, 7), (2, 5)));
    assert_eq!((sum(&w, "?shopId=0"), sum(&w, "?shopId=2")), ((2, 7), (0, 0)));
}

#[test]
fn what_nobody_sees_is_no_visit() {
    let w = world();
    let none = [
        ("GET", "/shop/404"),
        ("GET", "/shop/x"),
        ("GET", "/blog/404"),
        ("GET", "/sale/404/page"),
        ("HEAD", "/shop/1"),
        ("HEAD", "/shop-type/list"),
        ("GET", "/shop/of/type"),
        ("GET", "/sale/2"),
        ("GET", "/voucher/list/1"),
        ("POST", "/shop/1"),
    ];
    for (method, path) in none {
        look(&w, method, path, "", "Firefox");
    }
    assert_eq!((sum(&w, ""), sum(&w, "?shopId=1")), ((0, 0), (0, 0)));
}

#[test]
fn a_user_is_one_whatever_they_browse_with_and_a_dead_token_is_a_stranger() {
    let w = world();
    for browser in ["Firefox", "Safari"] {
        look_at(&w, &["/shop/1"], &w.customer, browser);
        look_at(&w, &["/shop/1"], &w.log_in(CUSTOMER), browser);
    }
    assert_eq!(sum(&w, "?shopId=1"), (1, 4));
    look_at(&w, &["/shop/1"], &w.other, "Firefox");
    assert_eq!(sum(&w, "?shopId=1"), (2, 5));
    for token in ["", "nonsense", &"0".repeat(48)] {
        look_at(&w, &["/shop/1"], token, "Firefox");
    }
    assert_eq!(sum(&w, "?shopId=1"), (3, 8));
}

#[test]
fn days_end_at_midnight_on_the_malls_wall_and_only_users_are_known_again() {
    let mut w = world();
    // At 20:00 the 22nd is four hours away in Shanghai; in UTC the date remains the 21st.
    for hours in [0, 3, 2, 24] {
        later(&mut w, hours * HOUR);
        look_at(&w, &["/shop/1", "/shop/1"], &w.customer, "Firefox");
        look_at(&w, &["/shop/1"], "", "Firefox");
    }
    let all = stats(&w, "?from=2026-11-20&to=2026-11-23&shopId=1");
    let day = |date, uv, pv| json!({ "date": date, "uv": uv, "pv": pv });
    let days = json!([
        day("2026-11-20", 0, 0),
        day("2026-11-21", 2, 6),
        day("2026-11-22", 2, 3),
        day("2026-11-23", 2, 3)
    ]);
    // One user, and one anonymous visitor a day.
    assert_eq!(all, json!({ "uv": 4, "pv": 12, "days": days }));
    assert_eq!(sum(&w, "?from=2026-11-21&to=2026-11-21"), (2, 6));
    let week = stats(&w, "")["days"].clone();
    assert_eq!((week.as_array().unwrap().len(), &week[6]["date"]), (7, &json!("2026-11-23")));
}

#[test]
fn a_visit_belongs_to_the_day_it_was_on_and_not_to_that_of_its_gathering() {
    let w = world();
    let firefox = Caller::new(None, None, b"Firefox");
    w.mall.app().unwrap().visits.saw(firefox, None, EVENING - 21 * HOUR);
    assert_eq!(sum(&w, "?from=2026-11-20&to=2026-11-20"), (1, 1));
    assert_eq!(sum(&w, "?from=2026-11-21&to=2026-11-21"), (0, 0));
}

#[test]
fn visits_are_taken_down_soon_though_nobody_asks() {
    let w = world();
    w.mall.run_clock();
    look_at(&w, &["/shop/1", "/shop/1"], "", "Firefox");
    let until = Deadline::after(Duration::from_secs(20));
    while visits_by_outcome(&w, "noted") < 2 {
        assert!(!until.is_over());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(visits_by_outcome(&w, "noted"), 2);
}

#[test]
fn a_store_in_trouble_costs_visits_and_keeps_nobody_waiting() {
    let w = world();
    w.mall.faults().add(Fault::at_port("visitors.note").error().times(1)).unwrap();
    look_at(&w, &["/shop/1", "/shop/1"], "", "Firefox");
    assert_eq!(sum(&w, ""), (0, 0));
    assert_eq!((visits_by_outcome(&w, "noted"), visits_by_outcome(&w, "lost")), (0, 2));
    look_at(&w, &["/shop/1"], "", "Firefox");
    assert_eq!((sum(&w, ""), visits_by_outcome(&w, "noted"), visits_by_outcome(&w, "lost")), ((1, 1), 1, 2));
    w.mall.faults().add(Fault::at_port("visitors.count").error().times(1)).unwrap();
    assert_eq!(w.call_once("GET", "/stats/visits", &w.operator, "").status, 503);
}

#[test]
fn more_than_can_wait_are_dropped_and_counted() {
    let w = world();
    let app = w.mall.app().unwrap();
    let firefox = Caller::new(None, None, b"Firefox");
    (0..70_000).for_each(|_| app.visits.saw(firefox, None, EVENING));
    let (uv, pv) = sum(&w, "");
    let dropped = app.visits.figures().dropped.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!((uv, pv + dropped), (1, 70_000));
    assert!(pv > 60_000 && dropped > 1_000, "{pv} {dropped}");
}

#[test]
fn who_may_not_and_what_is_no_day_are_refused() {
    let w = world();
    assert_eq!(w.call("GET", "/stats/visits", "", "").status, 401);
    assert_eq!(w.call("GET", "/stats/visits", &w.customer, "").status, 403);
    for query in
        ["?from=2026-11-22&to=2026-11-21", "?from=2026-10-21&to=2026-11-21", "?to=2026-02-29", "?shopId=x"]
    {
        let response = w.call("GET", &format!("/stats/visits{query}"), &w.operator, "");
        assert_eq!(
            (response.status, &response.body["code"]),
            (400, &json!("BAD_REQUEST")),
            "{query}: {response:?}"
        );
    }
    let month = stats(&w, "?from=2026-10-22&to=2026-11-21");
    assert_eq!(month["days"].as_array().unwrap().len(), 31);
}
