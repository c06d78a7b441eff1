//! Staff over HTTP: what a wait, a crash and a removed kiosk leave of log-ins, and what PINs tell nobody.

use std::time::Duration;

use mallbox::fixture::Fault;
use mallbox::mall::base::staff_list::StaffList;
use serde_json::{Value, json};

use super::staff::{PIN, add, code, kiosk, log_in, on_duty, operate, try_pin};
use super::world::{CUSTOMER, OPERATOR, world};

#[test]
fn kiosks_that_hammer_lock_out_no_other() {
    let w = world();
    let [till, entrance, bar] = ["收银台", "入口", "吧台"].map(|name| kiosk(&w, name));
    add(&w, "小安", PIN);
    // More attempts within an hour than the mall allows, nearly all of them during the waits of both.
    for _ in 0..35 {
        for _ in 0..10 {
            for key in [&till, &entrance] {
                let refused = try_pin(&w, key, "999990");
                assert!(["PIN_WRONG", "RATE_LIMITED"].contains(&code(&refused).1), "{refused:?}");
            }
        }
        w.advance(Duration::from_secs(60));
    }
    assert_eq!(code(&try_pin(&w, &till, PIN)).1, "RATE_LIMITED");
    log_in(&w, &bar, PIN);
}

#[test]
fn operators_find_no_pins_by_choosing_them() {
    let w = world();
    add(&w, "小安", PIN);
    add(&w, "小波", "582913");
    let choose = |method: &str, path: &str, body: Value| {
        let response = w.call_once(method, path, &w.operator, &body.to_string());
        (response.status, response.body["code"].as_str().unwrap_or_default().to_owned())
    };
    // Of nobody: says nothing about a PIN, and costs nothing.
    for pin in [PIN, "682913"].repeat(3) {
        let refused = choose("PUT", "/ops/staff/9/pin", json!({ "pin": pin }));
        assert_eq!(refused, (200, "NOT_FOUND".to_owned()), "{pin}");
    }
    for _ in 0..5 {
        let refused = choose("POST", "/ops/staff", json!({ "name": "小成", "pin": PIN }));
        assert_eq!(refused, (200, "PIN_TAKEN".to_owned()));
    }
    for (method, path, pin) in
        [("POST", "/ops/staff", PIN), ("POST", "/ops/staff", "682913"), ("PUT", "/ops/staff/2/pin", "682913")]
    {
        let refused = choose(method, path, json!({ "name": "小成", "pin": pin }));
        assert_eq!(refused, (429, "RATE_LIMITED".to_owned()), "{path} {pin}");
    }
    operate(&w, "POST", "/ops/staff", &json!({ "name": "小成" }));
    log_in(&w, &kiosk(&w, "收银台"), PIN);
    w.advance(Duration::from_secs(31));
    add(&w, "小丁", "682913");
}

#[test]
fn a_pin_is_no_password_and_no_code_and_neither_is_a_pin() {
    let (w, key, _) = on_duty();
    for (phone, token) in [(OPERATOR, &w.operator), (CUSTOMER, &w.customer)] {
        let password = json!({ "password": "730461958274" }).to_string();
        let set = w.call("PUT", "/user/password", token, &password);
        assert_eq!(set.body["success"], true, "{set:?}");
        w.ok("POST", &format!("/user/code?phone={phone}"), "");
        let inbox = w.mall.inbox().unwrap();
        let pending = inbox.iter().rev().find(|(to, _)| to.as_str() == phone).unwrap().1.clone();
        for form in [json!({ "phone": phone, "password": PIN }), json!({ "phone": phone, "code": PIN })] {
            let refused = w.call("POST", "/user/login", "", &form.to_string());
            assert_eq!(refused.body["success"], false, "{form}: {refused:?}");
        }
        for pin in ["730461958274", &pending] {
            assert_eq!(code(&try_pin(&w, &key, pin)), (200, "PIN_WRONG"), "{pin}");
        }
        // Both are what they are: the PIN was not refused for want of them.
        for form in [
            json!({ "phone": phone, "password": "730461958274" }),
            json!({ "phone": phone, "code": pending }),
        ] {
            let begun = w.call("POST", "/user/login", "", &form.to_string());
            assert_eq!(begun.body["success"], true, "{form}: {begun:?}");
        }
    }
}

#[test]
fn a_removed_kiosk_takes_the_sessions_that_began_there_along() {
    let (w, _, token) = on_duty();
    let other = log_in(&w, &kiosk(&w, "入口"), PIN);
    w.ok("DELETE", "/ops/kiosks/1", &w.operator);
    assert_eq!(w.call("GET", "/staff/me", &token, "").status, 401);
    assert_eq!(w.call("GET", "/staff/orders", &token, "").status, 401);
    w.ok("GET", "/staff/me", &other);
    // The number of the kiosk in a token cannot be changed.
    let forged = token.replacen("s00000001", "s00000002", 1);
    assert_ne!(forged, token);
    assert_eq!(w.call("GET", "/staff/me", &forged, "").status, 401);
}

#[test]
fn a_session_left_by_an_interrupted_change_of_the_pin_is_over() {
    let (w, key, token) = on_duty();
    w.advance(Duration::from_secs(1));
    w.mall.faults().add(Fault::at_port("sessions.end_all").error()).unwrap();
    let failed = w.call_once("PUT", "/ops/staff/1/pin", &w.operator, r#"{"pin":"582913"}"#);
    assert_eq!(failed.body["success"], false, "{failed:?}");
    w.mall.faults().cancel_all();
    assert_eq!(w.call("GET", "/staff/me", &token, "").status, 401);
    // After a clock set back, too, the new PIN leads to a session.
    w.mall.set_clock("2026-11-21T19:59:30").unwrap();
    let token = log_in(&w, &key, "582913");
    w.ok("GET", "/staff/me", &token);
}

#[test]
fn the_audit_log_names_people_whom_the_list_has_forgotten() {
    let (w, _, _) = on_duty();
    let forgetting = w.mall.app().unwrap().context.storage.base.upkeep.clone();
    let empty = StaffList::default().to_setting();
    w.mall
        .wait_for(async move { forgetting.put_setting(StaffList::SETTING, &empty).await })
        .unwrap()
        .unwrap();
    let audit = operate(&w, "GET", "/ops/audit?max=50", &Value::Null);
    let entries = audit.as_array().unwrap();
    let entry = entries.iter().find(|entry| entry["action"] == "staff.log-in").unwrap();
    assert_eq!(entry["staffName"], "小安");
}
