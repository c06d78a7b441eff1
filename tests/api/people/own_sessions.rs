//! The caller's own sessions: the list, the end of one and of all, lifetimes, and the password.

use std::time::Duration;

use mallbox::fixture::Fault;
use mallbox::mall::Settings;
use serde_json::{Value, json};

use super::world::{CUSTOMER, OPERATOR, OTHER, Response, World, world};

const MINUTE: Duration = Duration::from_secs(60);
const CHROME: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                      Chrome/138.0.0.0 Safari/537.36";

/// Logs in with a browser, by code, or by `password`. Returns the token.
fn log_in(w: &World, phone: &str, agent: &str, password: Option<&str>) -> String {
    let proof = match password {
        Some(password) => json!({ "phone": phone, "password": password }),
        None => {
            w.ok("POST", &format!("/user/code?phone={phone}"), "");
            let inbox = w.ok("GET", &format!("/demo/inbox?phone={phone}"), "");
            json!({ "phone": phone, "code": inbox["data"]["code"] })
        }
    };
    let headers = format!("user-agent: {agent}\r\n");
    let response = w.request("POST", "/api/user/login", &headers, proof.to_string().as_bytes());
    response.body["data"].as_str().unwrap_or_else(|| panic!("{response:?}")).to_owned()
}

fn list(w: &World, token: &str) -> Vec<Value> {
    w.ok("GET", "/user/sessions", token)["data"].as_array().unwrap().clone()
}

fn is_live(w: &World, token: &str) -> bool {
    w.call("GET", "/user/me", token, "").status == 200
}

fn set_password(w: &World, token: &str, form: &Value) -> Response {
    w.call("PUT", "/user/password", token, &form.to_string())
}

#[test]
fn a_user_sees_the_own_sessions_with_time_address_and_browser() {
    let w = world();
    let phone = log_in(&w, "13900000009", CHROME, None);
    w.advance(2 * MINUTE);
    let other = log_in(&w, "13900000009", "curl/8.14.1", None);
    w.advance(MINUTE);
    assert!(is_live(&w, &phone));
    let mut seen = list(&w, &other);
    for session in &mut seen {
        let id = session.as_object_mut().unwrap().remove("id").unwrap();
        assert!(id.as_str().is_some_and(|id| id.len() == 32 && !phone.contains(id) && !other.contains(id)));
    }
    assert_eq!(
        seen,
        [
            json!({
                "current": true, "origin": "code", "createTime": "2026-11-21T20:02:00",
                "seenTime": "2026-11-21T20:03:00", "address": "127.0.0.1", "browser": "curl/8.14.1",
            }),
            json!({
                "current": false, "origin": "code", "createTime": "2026-11-21T20:00:00",
                "seenTime": "2026-11-21T20:03:00", "address": "127.0.0.1", "browser": "Chrome 138 · Windows",
            }),
        ]
    );
    let whole = w.call("GET", "/user/sessions", &phone, "");
    assert!(whole.head.contains("cache-control: no-store"), "{}", whole.head);
    for token in [&phone, &other] {
        assert!(!whole.text.contains(token.as_str()), "no token");
    }
}

/// The log-in knows its user from the check behind the begin of the session.
#[test]
fn a_log_in_by_code_looks_up_no_phone() {
    let w = world();
    w.mall.faults().add(Fault::at_port("users.by_phone").error()).unwrap();
    for phone in [CUSTOMER, OPERATOR, "13900000009"] {
        assert!(is_live(&w, &log_in(&w, phone, CHROME, None)), "{phone}");
    }
}

#[test]
fn a_proxy_that_is_not_trusted_reports_no_address() {
    let w = world();
    w.ok("POST", "/user/code?phone=13900000009", "");
    let code = w.ok("GET", "/demo/inbox?phone=13900000009", "")["data"]["code"].clone();
    let form = json!({ "phone": "13900000009", "code": code }).to_string();
    let headers = "x-forwarded-for: 203.0.113.7\r\nuser-agent: <a>\tb<script>\r\n";
    let token = w.request("POST", "/api/user/login", headers, form.as_bytes()).body["data"].clone();
    let session = &list(&w, token.as_str().unwrap())[0];
    assert_eq!(session["address"], "127.0.0.1");
    assert_eq!(session["browser"], "a", "cleaned");
}

#[test]
fn a_user_ends_one_session_and_nobody_elses() {
    let w = world();
    let (one, two) = (w.log_in(CUSTOMER), w.log_in(CUSTOMER));
    let own = list(&w, &one);
    assert_eq!(own.len(), 3, "with the world's own");
    let id = |token: &str| {
        let current = list(&w, token).into_iter().find(|session| session["current"] == true).unwrap();
        current["id"].as_str().unwrap().to_owned()
    };
    let path = format!("/user/sessions/{}", id(&two));
    for stranger in [&w.other, &w.operator] {
        let refused = w.call("DELETE", &path, stranger, "");
        assert_eq!(refused.body["code"], "NOT_FOUND", "{refused:?}");
    }
    assert!(is_live(&w, &two));
    w.ok("DELETE", &path, &one);
    assert!(!is_live(&w, &two) && is_live(&w, &one) && is_live(&w, &w.customer));
    assert_eq!(w.call("DELETE", &path, &one, "").body["code"], "NOT_FOUND", "it is over");
    w.ok("DELETE", &format!("/user/sessions/{}", id(&one)), &one);
    assert!(!is_live(&w, &one), "one's own, as a log-out");
}

#[test]
fn a_log_in_ends_the_session_that_asked_for_it_and_no_other() {
    let w = world();
    let kept = w.log_in(CUSTOMER);
    let try_with = |is_right: bool| {
        w.ok("POST", &format!("/user/code?phone={CUSTOMER}"), "");
        let inbox = w.ok("GET", &format!("/demo/inbox?phone={CUSTOMER}"), "");
        let code = if is_right { inbox["data"]["code"].clone() } else { json!("wrong") };
        let form = json!({ "phone": CUSTOMER, "code": code });
        w.call("POST", "/user/login", &w.customer, &form.to_string()).body["data"].clone()
    };
    assert_eq!(try_with(false), Value::Null);
    assert!(is_live(&w, &w.customer), "a failed log-in ends nothing");
    let new = try_with(true);
    assert!(is_live(&w, new.as_str().unwrap()) && is_live(&w, &kept));
    assert!(!is_live(&w, &w.customer));
}

#[test]
fn a_user_logs_out_everywhere_or_everywhere_else() {
    let w = world();
    let (one, two) = (w.log_in(CUSTOMER), w.log_in(CUSTOMER));
    assert_eq!(w.ok("DELETE", "/user/sessions", &one)["data"], 2);
    assert!(is_live(&w, &one) && !is_live(&w, &two) && !is_live(&w, &w.customer));
    assert_eq!(w.ok("DELETE", "/user/sessions", &one)["data"], 0);
    let (two, three) = (w.log_in(CUSTOMER), w.log_in(CUSTOMER));
    w.ok("POST", "/user/logout?all=false", &two);
    assert!(!is_live(&w, &two) && is_live(&w, &three));
    w.ok("POST", "/user/logout?all=true", &three);
    assert!(!is_live(&w, &three) && !is_live(&w, &one));
    assert!(is_live(&w, &w.other), "others stay");
    // Without a live session nothing happens, as with a plain log-out.
    w.ok("POST", "/user/logout?all=true", &three);
    w.ok("POST", "/user/logout?all=true", "");
}

#[test]
fn a_first_password_needs_a_log_in_by_code_a_moment_ago() {
    let w = world();
    let token = log_in(&w, "13900000009", CHROME, None);
    w.advance(10 * MINUTE);
    let refused = set_password(&w, &token, &json!({ "password": "correct horse" }));
    assert_eq!(refused.body["code"], "CODE_LOGIN_NEEDED", "{refused:?}");
    assert!(refused.body["errorMsg"].as_str().unwrap().contains("验证码"), "it tells what to do");
    let english = w.request(
        "PUT",
        "/api/user/password",
        &format!("authorization: {token}\r\naccept-language: en\r\n"),
        br#"{"password":"correct horse"}"#,
    );
    assert!(english.body["errorMsg"].as_str().unwrap().contains("log in with a code"), "{english:?}");

    let again = log_in(&w, "13900000009", CHROME, None);
    assert_eq!(set_password(&w, &again, &json!({ "password": "correct horse" })).body["success"], true);
    assert!(!is_live(&w, &token), "other sessions end");
    let by_password = log_in(&w, "13900000009", CHROME, Some("correct horse"));
    let current = list(&w, &by_password).into_iter().find(|session| session["current"] == true).unwrap();
    assert_eq!(current["origin"], "password");
    let refused = set_password(&w, &by_password, &json!({ "password": "battery staple" }));
    assert_eq!(refused.body["code"], "MISSING", "{refused:?}");
}

#[test]
fn a_forgotten_password_is_set_anew_after_a_log_in_by_code() {
    let w = world();
    let token = log_in(&w, CUSTOMER, CHROME, None);
    assert_eq!(set_password(&w, &token, &json!({ "password": "correct horse" })).body["success"], true);
    w.advance(10 * MINUTE);
    let refused = set_password(&w, &token, &json!({ "password": "battery staple" }));
    assert_eq!(refused.body["code"], "MISSING", "{refused:?}");
    let token = log_in(&w, CUSTOMER, CHROME, None);
    assert_eq!(set_password(&w, &token, &json!({ "password": "battery staple" })).body["success"], true);
    log_in(&w, CUSTOMER, CHROME, Some("battery staple"));
}

fn with_lifetimes() -> World {
    let settings = Settings { inbox: true, ..Settings::default().without_limits() };
    World::with("/api", |mall| mall.settings(settings))
}

/// Uses sessions every 20 minutes.
fn keep_using(w: &World, tokens: &[&str], times: u32) {
    for _ in 0..times {
        w.advance(20 * MINUTE);
        for token in tokens {
            assert!(is_live(w, token), "{}", w.mall.wall_time().unwrap());
        }
    }
}

#[test]
fn an_operators_session_ends_after_twelve_hours_and_a_customers_does_not() {
    let w = with_lifetimes();
    let (operator, customer) = (w.log_in(OPERATOR), w.log_in(OTHER));
    keep_using(&w, &[&operator, &customer], 35);
    assert_eq!(w.call("GET", "/ops/users", &operator, "").status, 200);
    w.advance(20 * MINUTE);
    let refused = w.call("GET", "/ops/users", &operator, "");
    assert_eq!((refused.status, refused.body["code"].as_str()), (401, Some("NOT_LOGGED_IN")));
    assert!(!is_live(&w, &operator) && is_live(&w, &customer));
}

#[test]
fn a_session_from_before_a_promotion_is_too_old_for_operators_calls() {
    let w = with_lifetimes();
    let (old, id) = (w.log_in(OTHER), w.ok("GET", "/user/me", &w.other)["data"]["id"].clone());
    keep_using(&w, &[&old], 36);
    let operator = w.log_in(OPERATOR);
    let path = format!("/ops/users/{id}/role");
    assert_eq!(w.call("PUT", &path, &operator, r#"{"role":"operator"}"#).status, 200);
    let young = w.log_in(OTHER);
    assert_eq!(w.call("GET", "/ops/overview", &young, "").status, 200);
    // A call that pages poll, and the deletion of another author's note.
    let second = w.log_in(CUSTOMER);
    let note = r#"{"shopId":1,"title":"一碗面","content":"好吃","images":"/imgs/a.jpg"}"#;
    let note = w.call("POST", "/blog", &second, note).body["data"].clone();
    let refused = w.call("DELETE", &format!("/blog/{note}"), &old, "");
    assert_eq!(refused.status, 401, "{refused:?}");
    assert!(!is_live(&w, &old));
    assert_eq!(w.call("DELETE", &format!("/blog/{note}"), &young, "").status, 200);
}
