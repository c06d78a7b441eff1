//! What strangers, caches and later users of a browser must not get to see.

use serde_json::{Value, json};

use super::super::writing::uploads::{show, taken};
use super::world::{CUSTOMER, OPERATOR, Response, World, world};

const NO_STORE: &str = "cache-control: no-store";

/// Returns method and path of each described call whose response depends on a token.
fn calls_with_a_token(w: &World) -> Vec<(String, String)> {
    let document = w.call("GET", "/openapi.json", "", "").body;
    let mut calls = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let security = operation["security"].as_array().unwrap();
            if security.iter().any(|way| way.get("token").is_some()) {
                let parts = path.split('/').map(|part| if part.starts_with('{') { "2" } else { part });
                calls.push((method.to_uppercase(), parts.collect::<Vec<_>>().join("/")));
            }
        }
    }
    calls
}

fn assert_not_stored(call: &str, response: &Response) {
    let rules: Vec<&str> = response.head.lines().filter(|line| line.starts_with("cache-control: ")).collect();
    assert_eq!(rules, [NO_STORE], "{call}: {response:?}");
}

#[test]
fn no_cache_stores_a_response_that_depends_on_a_token() {
    let w = world();
    let calls = calls_with_a_token(&w);
    assert!(calls.len() > 60, "{calls:?}");
    for (method, path) in calls {
        // Endless for an operator; their own tests read the head.
        let is_endless = ["/ops/live", "/ops/events/stream"].contains(&&*path);
        for phone in [None, Some(CUSTOMER), Some(OPERATOR)] {
            if is_endless && phone == Some(OPERATOR) {
                continue;
            }
            // Logging out, among others, ends the session.
            let token = phone.map(|phone| w.log_in(phone)).unwrap_or_default();
            let response = w.call_once(&method, &path, &token, "{}");
            assert_not_stored(&format!("{method} {path} by {phone:?}"), &response);
        }
    }
}

#[test]
fn a_page_for_everybody_is_still_stored() {
    let w = world();
    for token in ["", &w.customer] {
        let head = w.call("GET", "/sale/2/page", token, "").head;
        assert!(head.contains("cache-control: public, max-age=30"), "{head}");
        let head = w.call("GET", "/openapi.json", token, "").head;
        assert!(head.contains("cache-control: no-cache"), "{head}");
    }
    assert_not_stored("an unknown path", &w.call("GET", "/nothing", "", ""));
}

/// Returns the user's profile as read by the holder of a token.
fn card(w: &World, user: u64, token: &str) -> Value {
    w.ok("GET", &format!("/user/info/{user}"), token)["data"].take()
}

#[test]
fn who_counts_ids_without_a_log_in_learns_no_birthday_gender_or_city() {
    let w = world();
    let edit = json!({
        "nickName": "小鱼", "city": "杭州", "introduce": "爱吃", "gender": true, "birthday": "2000-01-31",
    });
    assert_eq!(w.call("PUT", "/user/info", &w.customer, &edit.to_string()).body["success"], true);
    let full = json!({
        "userId": 2, "city": "杭州", "introduce": "爱吃", "fans": 0, "followee": 0, "gender": true,
        "birthday": "2000-01-31", "credits": 0, "level": 0,
    });
    for token in [&w.customer, &w.other, &w.operator] {
        assert_eq!(card(&w, 2, token), full);
    }
    let public = json!({
        "userId": 2, "introduce": "爱吃", "fans": 0, "followee": 0, "credits": 0, "level": 0,
    });
    for token in ["", &"0123456789abcdef".repeat(3)] {
        assert_eq!(card(&w, 2, token), public, "{token}");
    }
    let brief = json!({"id": 2, "nickName": "小鱼", "icon": ""});
    assert_eq!(w.ok("GET", "/user/2", "")["data"], brief);
}

/// Writes a note with pictures. Returns the note.
fn note_with(w: &World, token: &str, names: &[&str]) -> u64 {
    let images: Vec<String> = names.iter().map(|name| format!("/imgs{name}")).collect();
    let form = json!({"title": "一碗面", "content": "好吃", "images": images.join(",")});
    let response = w.call("POST", "/blog", token, &form.to_string());
    response.body["data"].as_u64().unwrap_or_else(|| panic!("{response:?}"))
}

fn decide(w: &World, note: u64, step: &str) {
    // Sessions end while a test moves the clock.
    w.ok("POST", &format!("/ops/reports/note/{note}/{step}"), &w.log_in(OPERATOR));
}

#[test]
fn pictures_of_a_hidden_note_are_not_served_and_come_back_with_the_note() {
    let w = world();
    let [one, both, other] = [(); 3].map(|()| taken(&w, &w.customer));
    let note = note_with(&w, &w.customer, &[&one, &both]);
    let second = note_with(&w, &w.customer, &[&both, &other]);
    let statuses = || [&one, &both, &other].map(|name| show(&w, name).status);
    assert_eq!(statuses(), [200, 200, 200]);
    decide(&w, note, "hide");
    assert_eq!(statuses(), [404, 200, 200], "the second note is visible");
    let hidden = w.request("GET", &format!("/imgs{one}"), "if-none-match: *\r\n", b"");
    assert_eq!(hidden.status, 404, "a copy that is known is not confirmed");
    assert!(hidden.head.contains(NO_STORE), "a cache must not remember it as missing: {}", hidden.head);
    decide(&w, second, "hide");
    assert_eq!(statuses(), [404, 404, 404]);
    w.advance(super::super::writing::uploads::DAY * 2);
    decide(&w, note, "show");
    assert_eq!(statuses(), [200, 200, 404], "no sweep takes what may come back");
}

#[test]
fn an_operator_removes_a_picture_for_good_and_on_the_record() {
    let w = world();
    let [shown, icon, kept] = [(); 3].map(|()| taken(&w, &w.customer));
    note_with(&w, &w.customer, &[&shown, &kept]);
    let card = json!({"nickName": "小鱼", "icon": format!("/imgs{icon}")});
    assert_eq!(w.call("PUT", "/user/info", &w.customer, &card.to_string()).body["success"], true);
    let file = |name: &str| name.rsplit('/').next().unwrap().to_owned();
    for (token, status) in [("", 401), (&*w.customer, 403)] {
        let response = w.call("DELETE", &format!("/ops/pictures/{}", file(&shown)), token, "");
        assert_eq!(response.status, status, "{response:?}");
    }
    assert_eq!(show(&w, &shown).status, 200);
    w.ok("DELETE", &format!("/ops/pictures/{}", file(&shown)), &w.operator);
    let whole_path = icon.replace('/', "%2F");
    w.ok("DELETE", &format!("/ops/pictures/{whole_path}"), &w.operator);
    assert_eq!([&shown, &icon, &kept].map(|name| show(&w, name).status), [404, 404, 200]);
    let again = w.call("DELETE", &format!("/ops/pictures/{}", file(&shown)), &w.operator, "");
    assert_eq!((again.status, &again.body["code"]), (200, &json!("NOT_FOUND")), "{again:?}");
    let log = w.ok("GET", "/ops/audit?max=3", &w.operator)["data"].take();
    let actions: Vec<(&str, &str)> = log
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["action"].as_str().unwrap(), entry["subject"].as_str().unwrap()))
        .collect();
    let erased = format!("picture {icon}");
    assert!(actions.contains(&("picture.erase", erased.as_str())), "{log}");
    w.assert_balanced();
}
