//! The second factor of operators over HTTP.

#[path = "../../common/totp.rs"]
mod totp;

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::time::Duration;

use mallbox::mall::Settings;
use mallbox_storage::Timestamp;
use serde_json::{Value, json};

use super::world::{CUSTOMER, OPERATOR, Response, World, world};
pub use totp::code_at;

const STEP: Duration = Duration::from_secs(30);
const MINUTE: Duration = Duration::from_secs(60);
const CODE_WRONG: &str = "SECOND_FACTOR_WRONG";
const REQUIRED: &str = "SECOND_FACTOR_REQUIRED";

/// A user with a second factor in force.
pub struct Enrolled {
    /// Token of the session that set the factor up.
    token: String,
    secret: String,
    recovery_codes: Vec<String>,
}

impl Enrolled {
    /// Returns the code that the user's app shows now.
    fn code(&self, w: &World) -> String {
        code_at(&self.secret, w.mall.now())
    }

    /// Waits for a code that was not used yet, and returns the code.
    fn next_code(&self, w: &World) -> String {
        w.advance(STEP);
        self.code(w)
    }
}

fn send(w: &World, method: &str, path: &str, token: &str, body: &Value) -> Response {
    let path = format!("/user/second-factor{path}");
    w.call(method, &path, token, &body.to_string())
}

fn refusal(response: &Response) -> &str {
    assert_eq!(response.body["success"], false, "{response:?}");
    response.body["code"].as_str().unwrap()
}

fn data(response: &Response) -> &Value {
    assert_eq!((response.status, &response.body["success"]), (200, &json!(true)), "{response:?}");
    assert!(response.head.contains("cache-control: no-store"), "{}", response.head);
    &response.body["data"]
}

fn state(w: &World, token: &str) -> Value {
    data(&w.call("GET", "/user/second-factor", token, "")).clone()
}

fn give(w: &World, token: &str, code: &str) -> Response {
    send(w, "POST", "", token, &json!({ "code": code }))
}

/// Gives the second factor, and returns the new token.
fn given(w: &World, token: &str, code: &str) -> String {
    data(&give(w, token, code))["token"].as_str().unwrap().to_owned()
}

/// Returns status and code of an operators' call.
fn operate(w: &World, token: &str) -> (u16, String) {
    let response = w.call("GET", "/ops/users", token, "");
    (response.status, response.body["code"].as_str().unwrap_or_default().to_owned())
}

fn may_operate(w: &World, token: &str) -> bool {
    operate(w, token) == (200, String::new())
}

fn is_live(w: &World, token: &str) -> bool {
    w.call("GET", "/user/me", token, "").status == 200
}

fn begin(w: &World, token: &str, body: &Value) -> Response {
    send(w, "POST", "/enrolment", token, body)
}

/// Sets up the second factor of a session's user.
pub fn enrol(w: &World, token: &str, proof: &Value) -> Enrolled {
    let secret = data(&begin(w, token, proof))["secret"].as_str().unwrap().to_owned();
    let code = code_at(&secret, w.mall.now());
    let confirmed = send(w, "PUT", "", token, &json!({ "code": code }));
    let recovery_codes = data(&confirmed)["recoveryCodes"].as_array().unwrap();
    Enrolled {
        token: data(&confirmed)["token"].as_str().unwrap().to_owned(),
        secret,
        recovery_codes: recovery_codes.iter().map(|code| code.as_str().unwrap().to_owned()).collect(),
    }
}

/// Returns a mall whose operator has a second factor.
fn with_factor() -> (World, Enrolled) {
    let w = world();
    let token = w.log_in(OPERATOR);
    let operator = enrol(&w, &token, &json!({}));
    (w, operator)
}

#[test]
fn an_operator_sets_up_a_second_factor_and_needs_it_from_then_on() {
    let w = world();
    let token = w.log_in(OPERATOR);
    let none = json!({ "state": "none", "recoveryCodes": 0, "required": false, "given": false });
    assert_eq!(state(&w, &token), none);
    let begun = begin(&w, &token, &json!({}));
    let (secret, uri) = (data(&begun)["secret"].as_str().unwrap(), data(&begun)["uri"].as_str().unwrap());
    assert_eq!(uri, format!("otpauth://totp/mallbox:{OPERATOR}?secret={secret}&issuer=mallbox"));
    assert!(data(&begun)["qr"]["path"].as_str().unwrap().starts_with('M'), "{begun:?}");
    assert_eq!(state(&w, &token)["state"], "pending");
    assert!(may_operate(&w, &token), "not in force yet");

    let right = code_at(secret, w.mall.now());
    let wrong = send(&w, "PUT", "", &token, &json!({ "code": code_at(secret, w.mall.now() + MINUTE) }));
    assert_eq!(refusal(&wrong), CODE_WRONG);
    let confirmed = send(&w, "PUT", "", &token, &json!({ "code": right }));
    let fresh = data(&confirmed)["token"].as_str().unwrap();
    let codes: BTreeSet<_> =
        data(&confirmed)["recoveryCodes"].as_array().unwrap().iter().map(Value::to_string).collect();
    assert_eq!(codes.len(), 10);
    assert!(!is_live(&w, &token) && !is_live(&w, &w.operator), "the former token and other sessions end");
    assert!(may_operate(&w, fresh));
    let active = json!({
        "state": "active", "since": "2026-11-21T20:00:00", "recoveryCodes": 10, "required": false, "given": true,
    });
    assert_eq!(state(&w, fresh), active);

    // The next log-in is a customer's until the code.
    w.advance(STEP);
    let next = w.log_in(OPERATOR);
    assert_eq!(operate(&w, &next), (403, REQUIRED.to_owned()));
    assert_eq!(state(&w, &next)["given"], false);
    for (method, path) in
        [("GET", "/user/me"), ("POST", "/voucher-order/seckill/2"), ("GET", "/user/sessions")]
    {
        w.ok(method, path, &next);
    }
    let raised = given(&w, &next, &code_at(secret, w.mall.now()));
    assert!(may_operate(&w, &raised) && !is_live(&w, &next), "a new token, and the former one ends");
    assert!(is_live(&w, fresh), "other sessions stay");
}

#[test]
fn a_session_with_the_second_factor_is_as_old_as_the_log_in() {
    let (w, operator) = with_factor();
    let token = w.log_in(OPERATOR);
    w.advance(5 * MINUTE);
    let raised = given(&w, &token, &operator.code(&w));
    let sessions = w.ok("GET", "/user/sessions", &raised)["data"].clone();
    let current = sessions.as_array().unwrap().iter().find(|session| session["current"] == true).unwrap();
    assert_eq!((&current["createTime"], &current["origin"]), (&json!("2026-11-21T20:00:00"), &json!("code")));
    assert_eq!(current["seenTime"], "2026-11-21T20:05:00");
    // Which matters to a step that needs a fresh log-in.
    w.advance(5 * MINUTE);
    let refused = w.call("PUT", "/user/password", &raised, r#"{"password":"correct horse"}"#);
    assert_eq!(refusal(&refused), "CODE_LOGIN_NEEDED");
}

#[test]
fn a_code_works_once() {
    let (w, operator) = with_factor();
    let [one, two] = [(); 2].map(|()| w.log_in(OPERATOR));
    assert_eq!(refusal(&give(&w, &one, &operator.code(&w))), "SECOND_FACTOR_USED", "it confirmed the factor");
    let code = operator.next_code(&w);
    given(&w, &one, &code);
    assert_eq!(refusal(&give(&w, &two, &code)), "SECOND_FACTOR_USED");
    let next = operator.next_code(&w);
    assert_eq!(refusal(&give(&w, &two, &code)), "SECOND_FACTOR_USED", "still within the window");
    let raised = given(&w, &two, &next);
    assert!(may_operate(&w, &raised));
}

#[test]
fn of_many_uses_of_a_code_at_once_one_counts() {
    const SESSIONS: usize = 6;
    let (w, operator) = with_factor();
    for _ in 0..3 {
        let code = operator.next_code(&w);
        let tokens: Vec<String> = (0..SESSIONS).map(|_| w.log_in(OPERATOR)).collect();
        let barrier = Barrier::new(SESSIONS);
        let responses: Vec<Response> = std::thread::scope(|scope| {
            let threads: Vec<_> = tokens
                .iter()
                .map(|token| {
                    let (w, code, barrier) = (&w, &code, &barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        give(w, token, code)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let successes = responses.iter().filter(|response| response.body["success"] == true).count();
        assert_eq!(successes, 1, "{responses:?}");
        for response in responses.iter().filter(|response| response.body["success"] == false) {
            assert_eq!(refusal(response), "SECOND_FACTOR_USED");
        }
    }
}

#[test]
fn a_code_is_good_for_its_step_and_one_on_either_side_by_the_malls_clock() {
    let (w, operator) = with_factor();
    w.advance(10 * MINUTE);
    let now: Timestamp = w.mall.now();
    for (at, is_good) in [
        (now - STEP - STEP, false),
        (now + STEP + STEP, false),
        (now - STEP, true),
        (now, true),
        (now + STEP, true),
    ] {
        let response = give(&w, &w.log_in(OPERATOR), &code_at(&operator.secret, at));
        assert_eq!(response.body["success"], is_good, "{at:?}: {response:?}");
    }
    w.advance(100 * MINUTE);
    let late = give(&w, &w.log_in(OPERATOR), &code_at(&operator.secret, now));
    assert_eq!(refusal(&late), CODE_WRONG, "the mall's clock has moved");
    given(&w, &w.log_in(OPERATOR), &operator.code(&w));
}

#[test]
fn recovery_codes_work_once_each_as_people_type_them() {
    let (w, operator) = with_factor();
    let [first, second, ..] = operator.recovery_codes.as_slice() else { panic!("too few") };
    let token = w.log_in(OPERATOR);
    let response = give(&w, &token, &format!(" {} ", first.to_lowercase().replace('-', " ")));
    assert_eq!(data(&response)["recoveryCodes"], 9, "{response:?}");
    let raised = data(&response)["token"].as_str().unwrap();
    assert!(may_operate(&w, raised));
    assert_eq!(refusal(&give(&w, &w.log_in(OPERATOR), first)), CODE_WRONG, "used up");
    assert_eq!(state(&w, raised)["recoveryCodes"], 9);

    let renewed = send(&w, "POST", "/recovery-codes", raised, &json!({ "code": operator.next_code(&w) }));
    let codes: Vec<&str> =
        data(&renewed).as_array().unwrap().iter().map(|code| code.as_str().unwrap()).collect();
    assert_eq!(codes.len(), 10);
    assert_eq!(refusal(&give(&w, &w.log_in(OPERATOR), second)), CODE_WRONG, "former codes are void");
    given(&w, &w.log_in(OPERATOR), codes[9]);
    assert_eq!(state(&w, raised)["recoveryCodes"], 9);
}

#[test]
fn five_wrong_codes_and_the_next_try_ends_the_session() {
    let (w, operator) = with_factor();
    let token = w.log_in(OPERATOR);
    for wrong in ["000000", "AAAA-AAAA-AAAA-AAAA-AAAA-AAAA", "1", "0000000", "０００００１"] {
        assert_eq!(refusal(&give(&w, &token, wrong)), CODE_WRONG, "{wrong}");
    }
    assert_eq!(refusal(&give(&w, &token, " ")), "MISSING", "nothing is no try");
    assert!(is_live(&w, &token));
    let ended = give(&w, &token, &operator.next_code(&w));
    assert_eq!((ended.status, refusal(&ended)), (401, "NOT_LOGGED_IN"));
    assert!(!is_live(&w, &token));
    given(&w, &w.log_in(OPERATOR), &operator.code(&w));
}

#[test]
fn guessing_in_many_sessions_is_limited_and_recovery_codes_work_all_the_same() {
    let settings = Settings { inbox: true, ..Settings::default() };
    let w = World::with("/api", |mall| mall.settings(settings));
    let operator = enrol(&w, &w.log_in(OPERATOR), &json!({}));
    for session in 0..2 {
        let token = w.log_in(OPERATOR);
        for _ in 0..5 {
            assert_eq!(refusal(&give(&w, &token, "000000")), CODE_WRONG, "{session}");
        }
    }
    let token = w.log_in(OPERATOR);
    let limited = give(&w, &token, &operator.next_code(&w));
    assert_eq!((limited.status, refusal(&limited)), (429, "RATE_LIMITED"));
    assert!(limited.head.contains("retry-after: "), "{}", limited.head);
    given(&w, &token, &operator.recovery_codes[0]);
    w.advance(6 * MINUTE);
    given(&w, &w.log_in(OPERATOR), &operator.code(&w));
}

#[test]
fn a_mall_that_requires_a_second_factor_lets_operators_only_enrol() {
    let settings =
        Settings { inbox: true, operator_second_factor: true, ..Settings::default().without_limits() };
    let w = World::unfurnished("/api", |mall| mall.settings(settings));
    let required = (403, "SECOND_FACTOR_ENROLMENT_REQUIRED".to_owned());
    assert_eq!(operate(&w, &w.operator), required);
    assert_eq!((state(&w, &w.operator)["required"].clone(), operate(&w, &w.customer).0), (json!(true), 403));
    assert_eq!(state(&w, &w.customer)["required"], false, "customers need none");
    w.ok("GET", "/user/me", &w.operator);
    let operator = enrol(&w, &w.operator, &json!({}));
    assert!(may_operate(&w, &operator.token));

    let code = operator.next_code(&w);
    let refused = send(&w, "DELETE", "", &operator.token, &json!({ "code": code }));
    assert_eq!(refusal(&refused), "SECOND_FACTOR_STAYS");
    // It is replaced instead, with a code of the former one.
    assert_eq!(refusal(&begin(&w, &operator.token, &json!({}))), "MISSING");
    assert_eq!(refusal(&begin(&w, &operator.token, &json!({ "code": "000000" }))), CODE_WRONG);
    w.advance(STEP);
    let other = enrol(&w, &operator.token, &json!({ "code": operator.code(&w) }));
    assert!(may_operate(&w, &other.token));
    w.advance(STEP);
    let token = w.log_in(OPERATOR);
    assert_eq!(refusal(&give(&w, &token, &operator.code(&w))), CODE_WRONG, "of the former app");
    assert_eq!(refusal(&give(&w, &token, &operator.recovery_codes[0])), CODE_WRONG);
    given(&w, &token, &other.code(&w));
}

#[test]
fn a_factor_is_removed_with_a_code_where_none_is_required() {
    let (w, operator) = with_factor();
    let other = w.log_in(OPERATOR);
    assert_eq!(refusal(&send(&w, "DELETE", "", &operator.token, &json!({}))), "MISSING");
    assert_eq!(refusal(&send(&w, "DELETE", "", &operator.token, &json!({ "code": "000000" }))), CODE_WRONG);
    let code = operator.next_code(&w);
    let removed = send(&w, "DELETE", "", &operator.token, &json!({ "code": code }));
    assert_eq!(removed.body["success"], true, "{removed:?}");
    assert!(!is_live(&w, &other), "other sessions end");
    assert!(may_operate(&w, &operator.token) && may_operate(&w, &w.log_in(OPERATOR)));
    assert_eq!(state(&w, &operator.token)["state"], "none");
    assert_eq!(refusal(&give(&w, &operator.token, &operator.recovery_codes[0])), "NOT_FOUND");
}

#[test]
fn a_token_alone_enrols_nobody() {
    let w = world();
    assert_eq!(begin(&w, &w.customer, &json!({})).status, 403, "for operators");
    let token = w.log_in(OPERATOR);
    assert_eq!(w.call("PUT", "/user/password", &token, r#"{"password":"correct horse"}"#).status, 200);
    w.advance(10 * MINUTE);
    assert_eq!(refusal(&begin(&w, &token, &json!({}))), "FRESH_LOGIN_NEEDED", "at the exact instant");
    let wrong = begin(&w, &token, &json!({ "password": "battery staple" }));
    assert_eq!(refusal(&wrong), "PASSWORD_WRONG");
    let enrolled = enrol(&w, &token, &json!({ "password": "correct horse" }));
    assert!(may_operate(&w, &enrolled.token));
}

#[test]
fn an_enrolment_lasts_ten_minutes_and_a_new_one_replaces_it() {
    let w = world();
    let token = w.log_in(OPERATOR);
    assert_eq!(refusal(&send(&w, "PUT", "", &token, &json!({ "code": "123456" }))), "NOT_FOUND");
    let secret = |begun: &Response| data(begun)["secret"].as_str().unwrap().to_owned();
    let first = secret(&begin(&w, &token, &json!({})));
    let second = secret(&begin(&w, &token, &json!({})));
    assert_ne!(first, second);
    let code = |secret: &str| json!({ "code": code_at(secret, w.mall.now()) });
    assert_eq!(refusal(&send(&w, "PUT", "", &token, &code(&first))), CODE_WRONG);
    w.advance(10 * MINUTE);
    assert_eq!(state(&w, &token)["state"], "none");
    assert_eq!(refusal(&send(&w, "PUT", "", &token, &code(&second))), "NOT_FOUND", "at the exact instant");
}

#[test]
fn who_loses_and_regains_the_role_keeps_the_factor() {
    let (w, operator) = with_factor();
    let user = w.ok("GET", "/user/me", &w.customer)["data"]["id"].clone();
    let set_role = |role: &str| {
        let body = json!({ "role": role }).to_string();
        assert_eq!(w.call("PUT", &format!("/ops/users/{user}/role"), &operator.token, &body).status, 200);
    };
    set_role("operator");
    let second = enrol(&w, &w.log_in(CUSTOMER), &json!({}));
    assert!(may_operate(&w, &second.token));
    let listed = w.ok("GET", "/ops/users?role=operator", &second.token)["data"].clone();
    let times: Vec<_> = listed.as_array().unwrap().iter().map(|user| &user["secondFactorTime"]).collect();
    assert_eq!(times, [&json!("2026-11-21T20:00:00"); 2], "operators see who has one");
    set_role("customer");
    assert_eq!(operate(&w, &second.token), (403, "FORBIDDEN".to_owned()));
    assert!(is_live(&w, &second.token), "a customer's calls work");
    set_role("operator");
    assert_eq!(operate(&w, &w.log_in(CUSTOMER)), (403, REQUIRED.to_owned()));
    assert!(may_operate(&w, &second.token));
}

#[test]
fn an_operator_without_the_second_factor_deletes_own_notes_only() {
    let (w, operator) = with_factor();
    let write = |token: &str| {
        let body = json!({ "shopId": 1, "title": "一碗面", "content": "好吃" }).to_string();
        w.call("POST", "/blog", token, &body).body["data"].as_u64().unwrap()
    };
    let token = w.log_in(OPERATOR);
    let (own, others) = (write(&token), write(&w.customer));
    w.ok("DELETE", &format!("/blog/{own}"), &token);
    let refused = w.call("DELETE", &format!("/blog/{others}"), &token, "");
    assert_eq!((refused.status, refusal(&refused)), (403, REQUIRED));
    w.ok("DELETE", &format!("/blog/{others}"), &operator.token);
}

#[test]
fn every_step_is_audited_and_recorded_without_a_secret() {
    let (w, operator) = with_factor();
    let token = w.log_in(OPERATOR);
    assert_eq!(refusal(&give(&w, &token, "000000")), CODE_WRONG);
    let raised = given(&w, &token, &operator.recovery_codes[0]);
    let code = operator.next_code(&w);
    data(&send(&w, "POST", "/recovery-codes", &raised, &json!({ "code": code })));
    assert_eq!(operate(&w, &w.log_in(OPERATOR)).0, 403);
    let audit = w.call("GET", "/ops/audit", &raised, "");
    for action in
        ["user.enrol-second-factor", "user.second-factor", "user.renew-recovery-codes", "recovery code"]
    {
        assert!(audit.text.contains(action), "{action}: {}", audit.text);
    }
    let events = w.call("GET", "/ops/security", &raised, "");
    let seen: Vec<_> = events.body["data"]["events"].as_array().unwrap().iter().rev().collect();
    let names: Vec<_> = seen.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "second_factor_enrolled",
            "second_factor_failed",
            "recovery_code_used",
            "recovery_codes_renewed",
            "forbidden",
        ]
    );
    assert!(seen.iter().all(|event| event["userId"] == 1 && event["client"] == "127.0.0.1"), "{seen:?}");
    w.advance(STEP);
    let removed = send(&w, "DELETE", "", &raised, &json!({ "code": operator.code(&w) }));
    assert_eq!(removed.body["success"], true, "{removed:?}");
    let audit_after = w.call("GET", "/ops/audit", &raised, "");
    assert!(audit_after.text.contains("user.remove-second-factor"), "{}", audit_after.text);
    for text in [&audit.text, &audit_after.text, &events.text] {
        for secret in operator.recovery_codes.iter().chain([&operator.secret, &code]) {
            assert!(!text.contains(secret.as_str()), "{text}");
        }
    }
}

#[test]
fn an_ended_session_gives_no_second_factor() {
    let (w, operator) = with_factor();
    let token = w.log_in(OPERATOR);
    w.ok("POST", "/user/logout", &token);
    assert_eq!(give(&w, &token, &operator.next_code(&w)).status, 401);
    assert_eq!(give(&w, "", &operator.code(&w)).status, 401);
    given(&w, &w.log_in(OPERATOR), &operator.code(&w));
}
