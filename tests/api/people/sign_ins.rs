//! Daily sign-ins: the pages' endpoints, midnight in the mall's time zone, and the operators' statistics.

use std::time::Duration;

use mallbox::mall::Settings;
use serde_json::{Value, json};

use super::world::{World, world};

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);

fn ask(w: &World, method: &str, path: &str, token: &str) -> Value {
    let response = w.call(method, path, token, "");
    assert_eq!(response.status, 200, "{method} {path}: {response:?}");
    response.body
}

fn sign(w: &World, token: &str) {
    assert_eq!(ask(w, "POST", "/user/sign", token), json!({ "success": true }));
}

fn get(w: &World, path: &str, token: &str) -> Value {
    ask(w, "GET", path, token)["data"].clone()
}

/// Advances the clock and logs in again, because sessions end before tomorrow.
fn later(w: &mut World, span: Duration) {
    w.advance(span);
    w.customer = w.log_in(super::world::CUSTOMER);
    w.operator = w.log_in(super::world::OPERATOR);
    w.other = w.log_in(super::world::OTHER);
}

#[test]
fn a_day_ends_at_midnight_on_the_malls_wall() {
    let mut w = world();
    assert_eq!(get(&w, "/user/sign/count", &w.customer), 0);
    assert_eq!(get(&w, "/user/sign/month", &w.customer), json!([]));
    sign(&w, &w.customer);
    sign(&w, &w.customer);
    assert_eq!(get(&w, "/user/sign/count", &w.customer), 1);
    assert_eq!(get(&w, "/user/sign/count", &w.other), 0);
    // At 20:00 the 22nd is four hours away in Shanghai; in UTC the date remains the 21st.
    later(&mut w, 4 * HOUR - Duration::from_millis(1));
    sign(&w, &w.customer);
    assert_eq!(get(&w, "/user/sign/month", &w.customer), json!([21]));
    w.advance(Duration::from_millis(1));
    assert_eq!(get(&w, "/user/sign/count", &w.customer), 1, "up to yesterday");
    sign(&w, &w.customer);
    assert_eq!(get(&w, "/user/sign/count", &w.customer), 2);
    assert_eq!(get(&w, "/user/sign/month", &w.customer), json!([21, 22]));
    later(&mut w, 2 * DAY - Duration::from_millis(1));
    assert_eq!(get(&w, "/user/sign/count", &w.customer), 2);
    w.advance(Duration::from_millis(1));
    assert_eq!(get(&w, "/user/sign/count", &w.customer), 0, "the 23rd was missed");
    assert_eq!(get(&w, "/user/sign/calendar", &w.customer)["longest"], 2);
}

#[test]
fn a_streak_goes_over_new_year_and_each_month_shows_its_own_days() {
    let mut w = world();
    later(&mut w, 39 * DAY);
    for _ in 0..5 {
        sign(&w, &w.customer);
        later(&mut w, DAY);
    }
    assert_eq!(get(&w, "/user/sign/count", &w.customer), 5);
    for (month, days) in [
        ("?month=2026-12", json!([30, 31])),
        ("?month=2027-01", json!([1, 2, 3])),
        ("", json!([1, 2, 3])),
        ("?month=", json!([1, 2, 3])),
        ("?month=2026-11", json!([])),
        ("?month=1999-02", json!([])),
    ] {
        assert_eq!(get(&w, &format!("/user/sign/month{month}"), &w.customer), days, "{month}");
    }
    let calendar = get(&w, "/user/sign/calendar?month=2026-12", &w.customer);
    let want = json!({
        "month": "2026-12", "today": "2027-01-04", "signed": [30, 31], "madeUp": [], "streak": 5, "longest": 5,
        "makeUpsLeft": 0, "hereSince": "2026-11-21",
    });
    assert_eq!(calendar, want);
}

#[test]
fn a_missed_day_of_this_month_is_made_up_for_so_often_and_not_from_before_the_account() {
    let mut w = world();
    sign(&w, &w.customer);
    later(&mut w, 5 * DAY);
    sign(&w, &w.customer);
    let make_up = |w: &World, date: &str| {
        let path = format!("/user/sign/make-up?date={date}");
        ask(w, "POST", &path, &w.customer).get("code").cloned().unwrap_or_else(|| json!("DONE"))
    };
    for (date, want) in [
        ("2026-11-20", "OUT_OF_RANGE"),
        ("2026-11-26", "OUT_OF_RANGE"),
        ("2026-11-27", "OUT_OF_RANGE"),
        ("2026-10-31", "OUT_OF_RANGE"),
        ("2026-11-31", "OUT_OF_RANGE"),
        ("", "OUT_OF_RANGE"),
        ("yesterday", "OUT_OF_RANGE"),
        ("2026-11-21", "SIGNED_ALREADY"),
        ("2026-11-25", "DONE"),
        ("2026-11-25", "SIGNED_ALREADY"),
        ("2026-11-24", "DONE"),
        ("2026-11-22", "DONE"),
        ("2026-11-23", "MAKE_UPS_USED"),
    ] {
        assert_eq!(make_up(&w, date), want, "{date}");
    }
    let want = json!({
        "month": "2026-11", "today": "2026-11-26", "signed": [21, 22, 24, 25, 26], "madeUp": [22, 24, 25],
        "streak": 3, "longest": 3, "makeUpsLeft": 0,
        "hereSince": "2026-11-21",
    });
    assert_eq!(get(&w, "/user/sign/calendar", &w.customer), want);
    assert_eq!(get(&w, "/user/sign/calendar", &w.other)["makeUpsLeft"], 3);
    // Another month, other days; the last month is closed.
    later(&mut w, 6 * DAY);
    assert_eq!(make_up(&w, "2026-11-30"), "OUT_OF_RANGE");
    assert_eq!(make_up(&w, "2026-12-01"), "DONE");
    let header = format!("authorization: {}\r\naccept-language: en\r\n", w.customer);
    let response = w.request("POST", "/api/user/sign/make-up?date=2026-12-01", &header, b"");
    assert_eq!(response.body["errorMsg"], "You have already signed in on that day.");
}

#[test]
fn how_many_days_may_be_made_up_for_is_the_malls_to_say() {
    let settings = Settings { inbox: true, make_ups_a_month: 0, ..Settings::default().without_limits() };
    let mut w = World::with("/api", |mall| mall.settings(settings));
    later(&mut w, 2 * DAY);
    let response = ask(&w, "POST", "/user/sign/make-up?date=2026-11-22", &w.customer);
    assert_eq!(response["code"], "MAKE_UPS_USED", "{response}");
    assert_eq!(get(&w, "/user/sign/calendar", &w.customer)["makeUpsLeft"], 0);
}

#[test]
fn operators_see_how_many_signed_and_who_on_every_day() {
    let mut w = world();
    for day in 0..3 {
        sign(&w, &w.customer);
        if day != 1 {
            sign(&w, &w.other);
        }
        later(&mut w, DAY);
    }
    let stats = get(&w, "/stats/signs?from=2026-11-21&to=2026-11-23", &w.operator);
    let days = json!([
        { "date": "2026-11-21", "signed": 2 }, { "date": "2026-11-22", "signed": 1 },
        { "date": "2026-11-23", "signed": 2 },
    ]);
    assert_eq!((&stats["days"], &stats["all"]), (&days, &json!(1)));
    let name = get(&w, "/user/2", "")["nickName"].clone();
    assert_eq!(stats["users"], json!([{ "id": 2, "nickName": name, "icon": "" }]));
    let both = get(&w, "/stats/signs?from=2026-11-21&to=2026-11-21", &w.operator);
    let ids: Vec<_> = both["users"].as_array().unwrap().iter().map(|user| user["id"].clone()).collect();
    assert_eq!((&both["all"], ids), (&json!(2), vec![json!(2), json!(3)]));
    let beyond = get(&w, "/stats/signs?from=2026-11-21&to=2026-11-21&current=2", &w.operator);
    assert_eq!((&beyond["all"], &beyond["users"]), (&json!(2), &json!([])));
    let week = get(&w, "/stats/signs", &w.operator)["days"].clone();
    let week = week.as_array().unwrap();
    assert_eq!((week.len(), &week[6]["date"]), (7, &json!("2026-11-24")));
}

#[test]
fn who_may_not_and_what_is_no_day_are_refused() {
    let w = world();
    for (method, path) in [
        ("POST", "/user/sign"),
        ("GET", "/user/sign/count"),
        ("GET", "/user/sign/month"),
        ("GET", "/user/sign/calendar"),
        ("POST", "/user/sign/make-up?date=2026-11-20"),
        ("GET", "/stats/signs"),
    ] {
        assert_eq!(w.call(method, path, "", "").status, 401, "{path}");
    }
    assert_eq!(w.call("GET", "/stats/signs", &w.customer, "").status, 403);
    for (path, token) in [
        ("/user/sign/month?month=2026-13", &w.customer),
        ("/user/sign/month?month=2026-1", &w.customer),
        ("/user/sign/calendar?month=11", &w.customer),
        ("/stats/signs?from=2026-11-22&to=2026-11-21", &w.operator),
        ("/stats/signs?from=2026-11-22", &w.operator),
        ("/stats/signs?from=2026-10-21&to=2026-11-21", &w.operator),
        ("/stats/signs?from=1900-01-01&to=9999-12-31", &w.operator),
        ("/stats/signs?to=2026-02-29", &w.operator),
        ("/stats/signs?current=x", &w.operator),
    ] {
        let response = w.call("GET", path, token, "");
        assert_eq!(
            (response.status, &response.body["code"]),
            (400, &json!("BAD_REQUEST")),
            "{path}: {response:?}"
        );
    }
    assert_eq!(
        get(&w, "/stats/signs?from=2026-10-22&to=2026-11-21", &w.operator)["days"].as_array().unwrap().len(),
        31
    );
}
