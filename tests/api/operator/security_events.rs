//! Security events over HTTP: what is recorded, counted and shown to operators.

use std::collections::BTreeSet;
use std::time::Duration;

use mallbox::fixture::Fault;
use serde_json::{Value, json};

use super::world::{CUSTOMER, OPERATOR, OTHER, Response, World, world};

const PASSWORD: &str = "correct horse";

fn log_in(w: &World, phone: &str, field: &str, value: &str) -> Response {
    w.call("POST", "/user/login", "", &json!({ "phone": phone, field: value }).to_string())
}

/// Requests a login code. Returns the code.
fn code(w: &World, phone: &str) -> String {
    w.ok("POST", &format!("/user/code?phone={phone}"), "");
    let inbox = w.ok("GET", &format!("/demo/inbox?phone={phone}"), "");
    inbox["data"]["code"].as_str().unwrap().to_owned()
}

fn shown(w: &World, query: &str) -> Value {
    let response = w.call("GET", &format!("/ops/security{query}"), &w.mall.operator(), "");
    assert_eq!((response.status, &response.body["success"]), (200, &json!(true)), "{response:?}");
    assert!(response.head.contains("cache-control: no-store"), "{}", response.head);
    for phone in [OPERATOR, CUSTOMER, OTHER] {
        assert!(!response.text.contains(phone), "no phone number is shown");
    }
    response.body["data"].clone()
}

/// Returns names and codes of the events, oldest first.
fn names(data: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let events = data["events"].as_array().unwrap().iter().rev();
    events.map(|event| (text(&event["event"]), text(&event["code"]))).collect()
}

/// Returns the counts of an event: total, last hour, last day.
fn counts(data: &Value, event: &str) -> [u64; 3] {
    let count = data["counts"].as_array().unwrap().iter().find(|count| count["event"] == event).unwrap();
    ["total", "lastHour", "lastDay"].map(|name| count[name].as_u64().unwrap())
}

#[test]
fn every_attack_and_every_change_of_rights_leaves_its_event() {
    let w = world();
    log_in(&w, OTHER, "code", "000000");
    let right = code(&w, OTHER);
    log_in(&w, OTHER, "code", if right == "000000" { "000001" } else { "000000" });
    let token = log_in(&w, OTHER, "code", &right).body["data"].as_str().unwrap().to_owned();
    let password = |old: &str| json!({ "password": PASSWORD, "oldPassword": old }).to_string();
    w.call("PUT", "/user/password", &token, &password(""));
    w.call("PUT", "/user/password", &token, &password("battery staple"));
    log_in(&w, OTHER, "password", "battery staple");
    log_in(&w, OTHER, "password", PASSWORD);
    // Five attempts are allowed; a call repeated after a 503 counts twice.
    for _ in 0..6 {
        log_in(&w, CUSTOMER, "password", "battery staple");
    }
    w.call("GET", "/ops/users/3", &token, "");
    w.call("GET", "/ops/users/3", "", "");
    w.call("POST", "/user/login", "", "[");
    w.request("POST", "/api/user/logout", "sec-fetch-site: cross-site\r\n", b"");
    w.ask_once("GET", "/api/user/me", "host: localhost\r\n", b"");
    for role in ["operator", "customer"] {
        w.call("PUT", "/ops/users/3/role", &w.operator, &json!({ "role": role }).to_string());
    }
    w.call("POST", "/user/logout", &token, "");
    w.call("POST", "/user/logout", &token, "");
    w.call("POST", "/ops/users/3/block", &w.operator, r#"{"reason":"guesses"}"#);
    let right = code(&w, OTHER);
    log_in(&w, OTHER, "code", &right);
    w.call("POST", "/ops/users/3/unblock", &w.operator, "");

    let data = shown(&w, "");
    let want = [
        ("login_code_failed", "NO_CODE"),
        ("code_requested", ""),
        ("login_code_failed", "CODE_WRONG"),
        ("login_code_succeeded", ""),
        ("password_changed", ""),
        ("password_change_failed", "PASSWORD_WRONG"),
        ("login_password_failed", "PASSWORD_WRONG"),
        ("login_password_succeeded", ""),
        ("login_password_failed", "PASSWORD_WRONG"),
        ("rate_limited", "RATE_LIMITED"),
        ("forbidden", "FORBIDDEN"),
        ("unauthenticated", "NOT_LOGGED_IN"),
        ("malformed_request", "BAD_REQUEST"),
        ("cross_site", "CROSS_SITE"),
        ("wrong_host", "BAD_HOST"),
        ("role_granted", ""),
        ("role_revoked", ""),
        ("session_ended", ""),
        ("user_blocked", ""),
        ("code_requested", ""),
        ("login_code_failed", "BLOCKED"),
        ("user_unblocked", ""),
    ];
    let want: Vec<_> = want.map(|(event, code)| (event.to_owned(), code.to_owned())).into();
    let mut events = names(&data);
    events.dedup();
    assert_eq!(events, want);

    let event = |name: &str| shown(&w, &format!("?event={name}"))["events"][0].clone();
    let granted = event("role_granted");
    assert_eq!((&granted["userId"], &granted["subjectId"]), (&json!(1), &json!(3)));
    assert_eq!((&granted["method"], &granted["route"]), (&json!("PUT"), &json!("/ops/users/{id}/role")));
    assert_eq!((&granted["client"], &granted["time"]), (&json!("127.0.0.1"), &json!("2026-11-21T20:00:00")));
    let hash = |name: &str| event(name)["phoneHash"].as_str().unwrap().to_owned();
    assert_eq!(hash("login_password_succeeded"), hash("login_code_succeeded"), "one phone, one hash");
    assert_ne!(hash("login_password_failed"), hash("login_code_succeeded"), "another phone, another hash");
    assert_eq!(hash("rate_limited").len(), 12);
    assert_eq!(event("login_code_succeeded")["userId"], 3);
    assert_eq!(event("forbidden")["userId"], 3);
}

#[test]
fn a_call_by_a_wrong_method_is_an_event_within_the_api_and_outside() {
    let w = world();
    assert_eq!(w.call("DELETE", "/ops/users/3", &w.customer, "").status, 405);
    assert_eq!(w.request("POST", "/console", "", b"").status, 405);
    let data = shown(&w, "?event=malformed_request");
    let field = |event: &Value, name: &str| event[name].as_str().unwrap_or_default().to_owned();
    let events = data["events"].as_array().unwrap().iter();
    let events: Vec<_> =
        events.map(|event| ["method", "route", "code", "client"].map(|name| field(event, name))).collect();
    let want = [("POST", ""), ("DELETE", "/ops/users/{id}")];
    let want = want.map(|(method, route)| [method, route, "METHOD_NOT_ALLOWED", "127.0.0.1"]);
    assert_eq!(events, want);
}

#[test]
fn events_are_selected_by_kind_and_address_and_come_in_pages() {
    let w = world();
    // Fewer of each kind than may be listed in a second.
    for _ in 0..15 {
        w.call("GET", "/ops/users", "", "");
        w.call("GET", "/ops/users", &w.customer, "");
        log_in(&w, OTHER, "code", "000000");
        w.request("POST", "/api/user/logout", "sec-fetch-site: cross-site\r\n", b"");
    }
    w.request("GET", "/", "host: localhost\r\n", b"");
    let all = shown(&w, "");
    assert_eq!((&all["total"], all["events"].as_array().unwrap().len()), (&json!(61), 50));
    assert_eq!(all["events"][0]["event"], "wrong_host", "the newest is first");
    let second = shown(&w, "?current=2");
    assert_eq!(second["events"].as_array().unwrap().len(), 11);
    assert_eq!(second["events"][10]["number"], 1);
    for (query, total) in [
        ("?event=forbidden", 15),
        ("?event=user_blocked", 0),
        ("?client=127.0.0.1", 61),
        ("?client=::ffff:127.0.0.1&event=unauthenticated", 15),
        ("?client=203.0.113.7", 0),
        ("?event=&client=&current=", 61),
    ] {
        assert_eq!(shown(&w, query)["total"], total, "{query}");
    }
    for query in ["?event=x", "?client=x", "?client=127.0.0.1:80", "?current=x"] {
        let response = w.call("GET", &format!("/ops/security{query}"), &w.mall.operator(), "");
        assert_eq!((response.status, &response.body["code"]), (400, &json!("BAD_REQUEST")), "{query}");
    }
}

#[test]
fn counts_are_of_the_last_hour_and_the_last_day() {
    let w = world();
    let refuse = || w.call("GET", "/ops/users", "", "");
    refuse();
    w.advance(Duration::from_secs(2 * 3600));
    refuse();
    let data = shown(&w, "");
    assert_eq!(data["since"], "2026-11-21T20:00:00");
    assert_eq!(counts(&data, "unauthenticated"), [2, 1, 2]);
    assert_eq!(counts(&data, "forbidden"), [0, 0, 0]);
    w.advance(Duration::from_secs(23 * 3600));
    assert_eq!(counts(&shown(&w, ""), "unauthenticated"), [2, 0, 1]);

    let metrics = w.request("GET", "/metrics", "", b"").text;
    for line in [
        r#"mallbox_security_events_total{event="unauthenticated"} 2"#,
        r#"mallbox_security_events_total{event="connection_refused"} 0"#,
        r#"mallbox_responses_total{class="other",code="NOT_LOGGED_IN"} 2"#,
    ] {
        assert!(metrics.lines().any(|said| said == line), "{line} is not in\n{metrics}");
    }
}

#[test]
fn a_flood_is_counted_to_the_last_call() {
    let w = world();
    // In one connection, so that many calls fit into a second.
    let call = "GET /api/ops/users HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let last = "GET /api/ops/users HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let mut stream = w.connect();
    std::io::Write::write_all(&mut stream, format!("{}{last}", call.repeat(499)).as_bytes()).unwrap();
    let mut responses = Vec::new();
    std::io::Read::read_to_end(&mut stream, &mut responses).unwrap();
    let data = shown(&w, "?event=unauthenticated");
    assert_eq!(counts(&data, "unauthenticated"), [500; 3]);
    assert!(data["total"].as_u64().unwrap() <= 200, "{}", data["total"]);
}

#[test]
fn an_operators_log_in_is_in_the_audit_log_and_a_customers_is_not() {
    let w = world();
    let before = w.ok("GET", "/ops/audit", &w.operator)["data"][0]["number"].as_u64().unwrap();
    let right = code(&w, CUSTOMER);
    assert_eq!(log_in(&w, CUSTOMER, "code", &right).body["success"], true);
    let right = code(&w, OPERATOR);
    let token = log_in(&w, OPERATOR, "code", &right).body["data"].as_str().unwrap().to_owned();
    w.ok("GET", "/ops/overview", &token);
    let log = w.ok("GET", "/ops/audit", &w.operator)["data"].clone();
    assert_eq!(log[0]["number"], before + 1, "one entry: {log}");
    assert_eq!((&log[0]["action"], &log[0]["subject"]), (&json!("user.log-in"), &json!("user 1")));
    assert_eq!(log[0]["detail"], json!({ "address": "127.0.0.1", "by": "code" }));
    assert_eq!(log[0]["userId"], 1);
    let check = w.ok("GET", "/ops/audit/verify", &w.operator);
    assert_eq!(check["data"]["inOrder"], true);
    let events = names(&shown(&w, ""));
    assert!(
        events.ends_with(
            &["login_code_succeeded", "operator_login"].map(|name| (name.to_owned(), String::new()))
        )
    );
}

#[test]
fn an_operator_whom_the_audit_log_cannot_record_is_not_logged_in() {
    let w = world();
    let sessions = || w.ok("GET", "/user/sessions", &w.operator)["data"].as_array().unwrap().len();
    let before = sessions();
    let form = json!({ "phone": OPERATOR, "code": code(&w, OPERATOR) }).to_string();
    w.mall.faults().add(Fault::at_port("audit.append").error()).unwrap();
    let refused = w.call_once("POST", "/user/login", "", &form);
    assert_eq!((refused.status, &refused.body["success"]), (503, &json!(false)), "{refused:?}");
    w.mall.faults().cancel_all();
    assert_eq!(sessions(), before, "the session begun has ended");
    let events = names(&shown(&w, ""));
    assert!(
        !events.iter().any(|(event, _)| event.ends_with("succeeded") || event == "operator_login"),
        "{events:?}"
    );
}

#[test]
fn the_manual_explains_every_event_in_both_languages() {
    let w = world();
    let data = shown(&w, "");
    let names = |count: &Value| count["event"].as_str().unwrap().to_owned();
    let events: BTreeSet<_> = data["counts"].as_array().unwrap().iter().map(names).collect();
    for language in ["en", "zh"] {
        let page = std::fs::read_to_string(match language {
            "en" => "web/manual/security.md",
            _ => "web/manual/security.zh.md",
        });
        let page = page.unwrap();
        let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
        let named: BTreeSet<_> = rows.flat_map(|cell| cell.split('`')).map(str::to_owned).collect();
        let missing: Vec<_> = events.difference(&named).collect();
        assert!(missing.is_empty(), "{language}: {missing:?}");
    }
}
