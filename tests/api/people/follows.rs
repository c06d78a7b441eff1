//! Follows over HTTP: the endpoints used by hm-dianping's pages, and further lists.

use std::time::Duration;

use serde_json::{Value, json};

use super::world::{World, world};

/// Ids of the users: the operator, the customer, and another one.
const OPERATOR: u64 = 1;
const CUSTOMER: u64 = 2;
const OTHER: u64 = 3;

fn follow(w: &World, token: &str, whom: u64) {
    assert_eq!(w.ok("PUT", &format!("/follow/{whom}/true"), token), json!({"success": true}));
}

fn ids(body: &Value) -> Vec<u64> {
    body["data"].as_array().unwrap().iter().map(|brief| brief["id"].as_u64().unwrap()).collect()
}

#[test]
fn a_follow_is_seen_by_the_next_read_and_taken_back() {
    let w = world();
    let path = format!("/follow/or/not/{OPERATOR}");
    assert_eq!(w.ok("GET", &path, &w.customer)["data"], false);
    follow(&w, &w.customer, OPERATOR);
    follow(&w, &w.customer, OPERATOR);
    assert_eq!(w.ok("GET", &path, &w.customer)["data"], true);
    assert_eq!(w.ok("GET", &format!("/follow/or/not/{CUSTOMER}"), &w.operator)["data"], false);
    let card = |user: u64| w.ok("GET", &format!("/user/info/{user}"), "")["data"].take();
    assert_eq!((&card(OPERATOR)["fans"], &card(OPERATOR)["followee"]), (&json!(1), &json!(0)));
    assert_eq!((&card(CUSTOMER)["fans"], &card(CUSTOMER)["followee"]), (&json!(0), &json!(1)));
    for _ in 0..2 {
        w.ok("PUT", &format!("/follow/{OPERATOR}/false"), &w.customer);
        assert_eq!(w.ok("GET", &path, &w.customer)["data"], false);
    }
    assert_eq!(card(OPERATOR)["fans"], 0);
}

#[test]
fn common_follows_are_listed_with_name_and_picture() {
    let w = world();
    let edit = json!({"nickName": "掌柜", "icon": "/imgs/icons/1.svg"}).to_string();
    assert_eq!(w.call("PUT", "/user/info", &w.operator, &edit).status, 200);
    assert_eq!(w.ok("GET", &format!("/follow/common/{OTHER}"), &w.customer)["data"], json!([]));
    follow(&w, &w.customer, OPERATOR);
    follow(&w, &w.customer, OTHER);
    assert_eq!(w.ok("GET", &format!("/follow/common/{OTHER}"), &w.customer)["data"], json!([]));
    follow(&w, &w.other, OPERATOR);
    let brief = json!([{"id": OPERATOR, "nickName": "掌柜", "icon": "/imgs/icons/1.svg"}]);
    assert_eq!(w.ok("GET", &format!("/follow/common/{OTHER}"), &w.customer)["data"], brief);
    assert_eq!(w.ok("GET", &format!("/follow/common/{CUSTOMER}"), &w.other)["data"], brief);
}

#[test]
fn fans_and_followees_are_listed_the_newest_first_with_their_number() {
    let w = world();
    let mut fans: Vec<u64> = (0..12)
        .map(|number| {
            let token = w.log_in(&format!("137000000{number:02}"));
            follow(&w, &token, OPERATOR);
            w.advance(Duration::from_millis(1));
            w.ok("GET", "/user/me", &token)["data"]["id"].as_u64().unwrap()
        })
        .collect();
    fans.reverse();
    let page = |current: &str| w.ok("GET", &format!("/follow/fans/{OPERATOR}{current}"), "");
    assert_eq!((ids(&page("")), &page("")["total"]), (fans[..10].to_vec(), &json!(12)));
    assert_eq!(ids(&page("?current=2")), fans[10..]);
    assert_eq!(page("?current=3")["data"], json!([]));
    let followees = w.ok("GET", &format!("/follow/followees/{}", fans[0]), "");
    assert_eq!((ids(&followees), &followees["total"]), (vec![OPERATOR], &json!(1)));
    assert_eq!(w.ok("GET", "/follow/fans/999", "")["data"], json!([]));
}

#[test]
fn a_rush_of_fans_is_counted_exactly() {
    let w = world();
    let tokens: Vec<String> = (0..16).map(|number| w.log_in(&format!("136000000{number:02}"))).collect();
    std::thread::scope(|at_once| {
        for token in &tokens {
            at_once.spawn(|| (0..3).for_each(|_| follow(&w, token, OTHER)));
        }
    });
    assert_eq!(w.ok("GET", &format!("/user/info/{OTHER}"), "")["data"]["fans"], 16);
}
