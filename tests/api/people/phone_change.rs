//! A user's phone number: changed by the user with two codes, or by an operator.

use serde_json::{Value, json};

use super::world::{CUSTOMER, OTHER, Response, World, world};

const NEW: &str = "13900000088";

fn code(w: &World, phone: &str) -> Value {
    w.ok("POST", &format!("/user/code?phone={phone}"), "");
    w.ok("GET", &format!("/demo/inbox?phone={phone}"), "")["data"]["code"].clone()
}

fn wrong(code: &Value) -> &'static str {
    if code == "000000" { "000001" } else { "000000" }
}

fn change(w: &World, token: &str, form: &Value) -> Response {
    w.call("PUT", "/user/phone", token, &form.to_string())
}

fn log_in(w: &World, form: &Value) -> Response {
    w.call("POST", "/user/login", "", &form.to_string())
}

fn id(w: &World, token: &str) -> Value {
    w.ok("GET", "/user/me", token)["data"]["id"].clone()
}

fn is_live(w: &World, token: &str) -> bool {
    w.call("GET", "/user/me", token, "").status == 200
}

#[test]
fn a_user_changes_the_phone_with_a_code_to_each() {
    let w = world();
    let (user, second) = (id(&w, &w.customer), w.log_in(CUSTOMER));
    let form = json!({ "phone": NEW, "oldCode": code(&w, CUSTOMER), "code": code(&w, NEW) });
    let done = change(&w, &w.customer, &form);
    assert_eq!(done.body, json!({ "success": true }), "{done:?}");
    assert!(is_live(&w, &w.customer) && !is_live(&w, &second), "the others' sessions end");
    let token = log_in(&w, &json!({ "phone": NEW, "code": code(&w, NEW) })).body["data"].clone();
    assert_eq!(id(&w, token.as_str().unwrap()), user, "the new number is the user's");
    let token = log_in(&w, &json!({ "phone": CUSTOMER, "code": code(&w, CUSTOMER) })).body["data"].clone();
    assert_ne!(id(&w, token.as_str().unwrap()), user, "the old one is a new user's");
    let found = w.ok("GET", &format!("/ops/users/{user}"), &w.operator);
    assert_eq!(found["data"]["phone"], NEW);
}

#[test]
fn either_code_alone_changes_nothing() {
    let w = world();
    let user = id(&w, &w.customer);
    let (old, new) = (code(&w, CUSTOMER), code(&w, NEW));
    for (form, want) in [
        (json!({ "phone": NEW, "oldCode": wrong(&old), "code": new }), "CODE_WRONG"),
        (json!({ "phone": NEW, "oldCode": old, "code": wrong(&new) }), "CODE_WRONG"),
        (json!({ "phone": NEW, "oldCode": old, "code": new }), "NO_CODE"),
    ] {
        let refused = change(&w, &w.customer, &form);
        assert_eq!(refused.body["code"], want, "{form}: {refused:?}");
    }
    assert_eq!(w.ok("GET", &format!("/ops/users/{user}"), &w.operator)["data"]["phone"], CUSTOMER);
}

#[test]
fn a_refusal_says_which_of_the_two_codes_is_meant() {
    let w = world();
    let (old, new) = (code(&w, CUSTOMER), code(&w, NEW));
    let refused = |old: &Value, new: &Value| {
        let body = change(&w, &w.customer, &json!({ "phone": NEW, "oldCode": old, "code": new })).body;
        (body["code"].as_str().unwrap().to_owned(), body["field"].as_str().unwrap_or_default().to_owned())
    };
    let pair = |code: &str, field: &str| (code.to_owned(), field.to_owned());
    assert_eq!(refused(&json!(wrong(&old)), &new), pair("CODE_WRONG", "oldCode"));
    assert_eq!(refused(&old, &json!(wrong(&new))), pair("CODE_WRONG", ""));
    assert_eq!(refused(&old, &new), pair("NO_CODE", "oldCode"), "the code was right, and is used up");
}

#[test]
fn each_code_may_have_a_ticket_and_then_needs_it() {
    let w = world();
    let user = id(&w, &w.customer);
    let with_ticket = |phone: &str| {
        let ticket = w.ok("POST", &format!("/user/code?phone={phone}&ticket=true"), "")["data"].clone();
        (w.ok("GET", &format!("/demo/inbox?phone={phone}"), "")["data"]["code"].clone(), ticket)
    };
    let ((old, old_ticket), (new, ticket)) = (with_ticket(CUSTOMER), with_ticket(NEW));
    for (old_ticket, ticket, field) in [
        (&json!(""), &ticket, "oldCode"),
        (&json!(null), &ticket, "oldCode"),
        (&json!("x"), &ticket, "oldCode"),
        (&ticket, &old_ticket, "oldCode"),
    ] {
        let form =
            json!({ "phone": NEW, "oldCode": old, "oldTicket": old_ticket, "code": new, "ticket": ticket });
        let refused = change(&w, &w.customer, &form).body;
        assert_eq!((&refused["code"], &refused["field"]), (&json!("NO_CODE"), &json!(field)), "{form}");
    }
    let form =
        json!({ "phone": NEW, "oldCode": old, "oldTicket": old_ticket, "code": new, "ticket": ticket });
    assert_eq!(change(&w, &w.customer, &form).body, json!({ "success": true }));
    assert_eq!(w.ok("GET", &format!("/ops/users/{user}"), &w.operator)["data"]["phone"], NEW);

    // One with a ticket, the other from the same address.
    let (old, old_ticket) = with_ticket(NEW);
    let form =
        json!({ "phone": CUSTOMER, "oldCode": old, "oldTicket": old_ticket, "code": code(&w, CUSTOMER) });
    assert_eq!(change(&w, &w.customer, &form).body, json!({ "success": true }));
}

#[test]
fn whose_a_number_is_learns_only_who_has_it_in_hand() {
    let w = world();
    let refusal = |phone: &str, new: &Value| {
        let form = json!({ "phone": phone, "oldCode": code(&w, CUSTOMER), "code": new });
        change(&w, &w.customer, &form).body
    };
    // Without its code, a number of a user is refused as a number of nobody.
    let (taken, free) = (code(&w, OTHER), code(&w, NEW));
    assert_eq!(refusal(OTHER, &json!(wrong(&taken))), refusal(NEW, &json!(wrong(&free))));
    let taken = code(&w, OTHER);
    assert_eq!(refusal(OTHER, &taken)["code"], "PHONE_TAKEN");
    assert!(is_live(&w, &w.other));
    let user = id(&w, &w.customer);
    assert_eq!(w.ok("GET", &format!("/ops/users/{user}"), &w.operator)["data"]["phone"], CUSTOMER);
}

#[test]
fn an_operator_replaces_a_lost_phone() {
    let w = world();
    let user = id(&w, &w.customer);
    let path = format!("/ops/users/{user}/phone");
    let set = |phone: &str, reason: &str| {
        w.call("PUT", &path, &w.operator, &json!({ "phone": phone, "reason": reason }).to_string())
    };
    assert_eq!(set("1", "lost").body["code"], "PHONE_INVALID");
    assert_eq!(set(NEW, " ").body["code"], "BAD_REQUEST", "a reason is needed");
    assert_eq!(set(OTHER, "lost").body["code"], "PHONE_TAKEN");
    assert!(is_live(&w, &w.customer), "a refusal ends nothing");
    let done = set(NEW, "lost the phone").body;
    assert_eq!((&done["data"]["phone"], &done["data"]["sessionsEnded"]), (&json!(NEW), &json!(1)), "{done}");
    assert!(!is_live(&w, &w.customer));
    assert_eq!(set(NEW, "again").body["data"]["sessionsEnded"], 0, "a repeat is no error");
    let token = log_in(&w, &json!({ "phone": NEW, "code": code(&w, NEW) })).body["data"].clone();
    assert_eq!(id(&w, token.as_str().unwrap()), user);

    let entries = w.ok("GET", "/ops/audit", &w.operator).to_string();
    assert!(entries.contains("user.phone") && entries.contains("lost the phone"), "{entries}");
    assert!(!entries.contains(NEW) && !entries.contains(OTHER), "no number in the log");
    w.call("PUT", "/user/password", token.as_str().unwrap(), r#"{"password":"correct horse"}"#);
    let deleted = w.call("DELETE", "/user/me", token.as_str().unwrap(), r#"{"password":"correct horse"}"#);
    assert_eq!(deleted.body, json!({ "success": true }));
    assert_eq!(set(NEW, "lost").body["code"], "NOT_FOUND", "the account is deleted");
    let unknown =
        w.call("PUT", "/ops/users/99/phone", &w.operator, r#"{"phone":"13900000077","reason":"x"}"#);
    assert_eq!(unknown.body["code"], "NOT_FOUND");
}
