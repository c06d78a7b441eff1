//! Login codes that staff make at a counter: what they open, and what they never do.

use std::time::Duration;

use mallbox::mall::Settings;
use serde_json::{Value, json};

use super::staff::{PIN, add, code, kiosk, log_in, on_duty, operate};
use super::world::{CUSTOMER, OPERATOR, OTHER, Response, World};

const NEW: &str = "13900000077";

fn make(w: &World, token: &str, phone: &str) -> Response {
    w.call("POST", "/staff/log-in-codes", token, &json!({ "phone": phone }).to_string())
}

/// Makes a code that must be made. Returns the code.
fn made(w: &World, token: &str, phone: &str) -> String {
    let response = make(w, token, phone);
    response.body["data"]["code"].as_str().unwrap_or_else(|| panic!("{response:?}")).to_owned()
}

fn use_code(w: &World, phone: &str, code: &str) -> Response {
    w.call("POST", "/user/login", "", &json!({ "phone": phone, "code": code }).to_string())
}

/// Logs in by a code that must be right. Returns the token.
fn used(w: &World, phone: &str, code: &str) -> String {
    let response = use_code(w, phone, code);
    response.body["data"].as_str().unwrap_or_else(|| panic!("{response:?}")).to_owned()
}

#[test]
fn a_code_logs_its_customer_in_once() {
    let (w, _, token) = on_duty();
    let response = make(&w, &token, CUSTOMER);
    let data = &response.body["data"];
    let first = data["code"].as_str().unwrap_or_else(|| panic!("{response:?}"));
    assert!(first.len() == 12 && first.bytes().all(|byte| byte.is_ascii_digit()), "{first}");
    assert_eq!((&data["validSeconds"], &data["isNew"]), (&json!(600), &json!(false)));
    let second = made(&w, &token, CUSTOMER);
    assert_eq!(code(&use_code(&w, CUSTOMER, first)), (200, "NO_CODE"), "the second replaced the first");
    let of_other = w.call("POST", "/user/login", "", &json!({ "phone": OTHER, "code": second }).to_string());
    assert_eq!(code(&of_other), (200, "NO_CODE"));
    let session = used(&w, CUSTOMER, &second);
    let [before, now] = [&w.customer, &session].map(|token| w.ok("GET", "/user/me", token)["data"].clone());
    assert_eq!(now, before);
    assert_eq!(code(&use_code(&w, CUSTOMER, &second)), (200, "NO_CODE"));

    let late = made(&w, &token, CUSTOMER);
    w.advance(Duration::from_secs(10 * 60));
    assert_eq!(code(&use_code(&w, CUSTOMER, &late)), (200, "NO_CODE"));

    let audit = w.ok("GET", "/ops/audit?max=50", &w.operator);
    let entries: Vec<&Value> = audit["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["action"] == "staff.log-in-code")
        .collect();
    assert_eq!(entries.len(), 3);
    let entry = entries[0];
    assert_eq!(
        (&entry["subject"], &entry["staffName"]),
        (&json!(format!("user {}", now["id"])), &json!("小安"))
    );
    let text = audit.to_string();
    for hidden in [CUSTOMER, first, &second, &late] {
        assert!(!text.contains(hidden), "{hidden} is in the audit log");
    }
}

#[test]
fn a_number_without_an_account_gets_one_by_the_log_in() {
    let (w, _, token) = on_duty();
    let response = make(&w, &token, NEW);
    assert_eq!(response.body["data"]["isNew"], true, "{response:?}");
    let session = used(&w, NEW, response.body["data"]["code"].as_str().unwrap());
    w.ok("GET", "/user/me", &session);
    assert_eq!(make(&w, &token, NEW).body["data"]["isNew"], false);
}

#[test]
fn a_code_proves_no_phone() {
    let (w, _, token) = on_duty();
    let session = used(&w, CUSTOMER, &made(&w, &token, CUSTOMER));
    let password = w.call("PUT", "/user/password", &session, r#"{"password":"correct horse battery"}"#);
    assert_eq!(code(&password), (200, "CODE_LOGIN_NEEDED"), "{password:?}");
    let old = made(&w, &token, CUSTOMER);
    w.ok("POST", &format!("/user/code?phone={NEW}"), "");
    let new = w.ok("GET", &format!("/demo/inbox?phone={NEW}"), "")["data"]["code"].clone();
    let form = json!({ "phone": NEW, "oldCode": old, "code": new });
    let change = w.call("PUT", "/user/phone", &w.customer, &form.to_string());
    assert_eq!((change.status, &change.body["success"]), (200, &json!(false)), "{change:?}");
    used(&w, CUSTOMER, &old);
}

#[test]
fn no_code_makes_an_operator() {
    let (w, _, token) = on_duty();
    for caller in [&token, &w.operator] {
        assert_eq!(code(&make(&w, caller, OPERATOR)), (200, "OPERATOR_PHONE"));
    }
    let [before, after] = [CUSTOMER, OTHER].map(|phone| made(&w, &token, phone));
    let session = used(&w, CUSTOMER, &before);
    for user in [&w.customer, &w.other] {
        let id = w.ok("GET", "/user/me", user)["data"]["id"].clone();
        operate(&w, "PUT", &format!("/ops/users/{id}/role"), &json!({ "role": "operator" }));
    }
    w.ok("GET", "/ops/audit", &w.customer);
    assert_eq!(w.call("GET", "/ops/audit", &session, "").status, 401, "a customer who became an operator");
    w.ok("GET", "/user/me", &session);
    assert_eq!(code(&use_code(&w, OTHER, &after)), (200, "NO_CODE"), "an operator since the code was made");
}

#[test]
fn codes_are_for_staff_few_and_off_by_default() {
    let (w, _, token) = on_duty();
    assert_eq!(make(&w, "", CUSTOMER).status, 401);
    assert_eq!(make(&w, &w.customer, CUSTOMER).status, 403);
    assert_eq!(code(&make(&w, &token, "139")), (200, "PHONE_INVALID"));
    for _ in 0..30 {
        made(&w, &token, CUSTOMER);
    }
    let limited = make(&w, &token, CUSTOMER);
    assert_eq!(code(&limited), (429, "RATE_LIMITED"), "{limited:?}");

    let off = Settings { inbox: true, ..Settings::default().without_limits() };
    let w = World::with("/api", |mall| mall.settings(off));
    let key = kiosk(&w, "收银台");
    add(&w, "小安", PIN);
    let token = log_in(&w, &key, PIN);
    assert_eq!(w.ok("GET", "/staff/me", &token)["data"]["counterCodes"], false);
    assert_eq!(code(&make(&w, &token, CUSTOMER)), (200, "COUNTER_CODES_OFF"));
}
