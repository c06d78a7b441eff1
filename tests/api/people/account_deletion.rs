//! A user's own data as a download, and the deletion of the account.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use mallbox::fixture::Fault;
use mallbox_storage::{OrderStatus, UserId};
use mallbox_test_patience::until_ok;
use serde_json::{Value, json};

use super::super::writing::uploads::{show, taken};
use super::world::{CUSTOMER, Response, World, world};

const PASSWORD: &str = "correct horse";
const MINUTE: Duration = Duration::from_secs(60);
const SETTLE_TIMEOUT: Duration = Duration::from_secs(20);

fn call(w: &World, method: &str, path: &str, token: &str, body: &Value) -> Response {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    w.call(method, path, token, &body)
}

fn done(w: &World, method: &str, path: &str, token: &str, body: &Value) -> Value {
    let response = call(w, method, path, token, body);
    assert_eq!((response.status, &response.body["success"]), (200, &json!(true)), "{path}: {response:?}");
    response.body
}

fn id(w: &World, token: &str) -> u64 {
    w.ok("GET", "/user/me", token)["data"]["id"].as_u64().unwrap()
}

fn set_password(w: &World, token: &str) {
    done(w, "PUT", "/user/password", token, &json!({ "password": PASSWORD }));
}

fn buy(w: &World, token: &str) -> String {
    w.ok("POST", "/voucher-order/1", token)["dataText"].as_str().unwrap().to_owned()
}

fn delete(w: &World, token: &str) -> Response {
    call(w, "DELETE", "/user/me", token, &json!({ "password": PASSWORD }))
}

fn assert_refused(response: &Response, code: &str) {
    assert_eq!((response.status, &response.body["code"]), (200, &json!(code)), "{response:?}");
}

/// Writes a note with a comment and a like by the token's user. Returns the note.
fn write(w: &World, token: &str) -> u64 {
    let form = json!({"shopId": 1, "title": "一碗面", "content": "好吃"});
    let note = done(w, "POST", "/blog", token, &form)["data"].as_u64().unwrap();
    done(w, "POST", "/blog-comments", token, &json!({"blogId": note, "content": "同感"}));
    w.ok("PUT", &format!("/blog/like/{note}?like=true"), token);
    note
}

/// Returns the statuses of a user's orders in the database.
fn statuses(w: &World, user: u64) -> Vec<OrderStatus> {
    let orders = w.mall.app().unwrap().context.storage.selling.orders.clone();
    let page = mallbox_storage::Page::new(1, 50);
    let rows = async move { orders.of_user(UserId::new(user), page).await.unwrap() };
    w.mall.wait_for(rows).unwrap().into_iter().map(|order| order.status).collect()
}

#[test]
fn an_export_has_all_of_ones_own_data_and_nobody_elses() {
    let w = world();
    let card = json!({"nickName": "小鱼", "city": "杭州", "introduce": "爱吃", "birthday": "2000-01-31"});
    done(&w, "PUT", "/user/info", &w.customer, &card);
    let note = write(&w, &w.customer);
    write(&w, &w.other);
    w.ok("PUT", "/follow/3/true", &w.customer);
    w.ok("POST", "/user/sign", &w.customer);
    let (unpaid, paid) = (buy(&w, &w.customer), buy(&w, &w.customer));
    w.ok("POST", &format!("/voucher-order/{paid}/pay"), &w.customer);
    buy(&w, &w.other);
    w.call("PUT", "/ops/sales/2/waiting-list", &w.operator, r#"{"max":5}"#);
    w.call("POST", "/ops/sales/2/stock", &w.operator, r#"{"add":-99}"#);
    w.ok("POST", "/sale/2/waiting-list", &w.customer);
    let receipt = w.ok("GET", &format!("/voucher-order/{paid}/receipt"), &w.customer)["data"]["code"].clone();

    let response = w.call("GET", "/user/export", &w.customer, "");
    assert_eq!(response.status, 200, "{response:?}");
    for line in [
        "content-type: application/json",
        "content-disposition: attachment; filename=\"mallbox-user-2.json\"",
        "cache-control: no-store",
    ] {
        assert!(response.head.contains(line), "{line}: {}", response.head);
    }
    let export = &response.body;
    let account = json!({
        "id": 2, "phone": CUSTOMER, "nickName": "小鱼", "icon": "", "city": "杭州", "introduce": "爱吃",
        "gender": false, "birthday": "2000-01-31", "credits": 52, "level": 0,
        "createTime": "2026-11-21T20:00:00", "exportTime": "2026-11-21T20:00:00",
    });
    assert_eq!(export["account"], account, "5 credits for the sign-in, 47 for the paid order");
    let sessions =
        json!([{"createTime": "2026-11-21T20:00:00", "seenTime": "2026-11-21T20:00:00", "browser": ""}]);
    assert_eq!(export["sessions"], sessions, "the fixture's log-in, without an address");
    let orders: Vec<_> = export["orders"].as_array().unwrap().iter().collect();
    assert_eq!(orders.len(), 2, "{export}");
    assert!(orders.iter().any(|order| order["id"] == *unpaid && order["receipt"].is_null()), "{export}");
    assert!(orders.iter().any(|order| order["id"] == *paid && order["receipt"] == receipt), "{export}");
    assert_eq!(export["notes"][0]["id"], note);
    assert_eq!(export["comments"][0]["content"], "同感");
    assert_eq!(export["likes"], json!([{"kind": "note", "id": note, "createTime": "2026-11-21T20:00:00"}]));
    assert_eq!(export["following"][0]["id"], 3);
    assert_eq!(export["signIns"], json!([{"day": "2026-11-21", "isMadeUp": false}]));
    for list in ["waitingLists", "notes", "comments", "likes", "following", "signIns"] {
        assert_eq!(export[list].as_array().unwrap().len(), 1, "{list}: {export}");
    }
    assert!(!response.text.contains("password"), "{export}");
}

#[test]
fn an_export_lists_where_the_account_is_logged_in_and_has_no_token() {
    const AGENT: &str = "user-agent: curl/8.14.1\r\n";
    let w = world();
    set_password(&w, &w.customer);
    w.advance(MINUTE);
    let form = json!({"phone": CUSTOMER, "password": PASSWORD}).to_string();
    let second = w.request("POST", "/api/user/login", AGENT, form.as_bytes()).body["data"].clone();
    let second = second.as_str().unwrap();
    w.advance(MINUTE);
    let response = w.call("GET", "/user/export", second, "");
    let session = |created: &str, seen: &str| json!({"createTime": created, "seenTime": seen, "browser": ""});
    let mut own = session("2026-11-21T20:01:00", "2026-11-21T20:02:00");
    own["browser"] = json!("curl/8.14.1");
    own["address"] = json!("127.0.0.1");
    let first = session("2026-11-21T20:00:00", "2026-11-21T20:00:00");
    assert_eq!(response.body["sessions"], json!([own, first]), "newest first");
    let own = w.ok("GET", "/user/sessions", second)["data"].clone();
    for secret in [second, &w.customer, own[0]["id"].as_str().unwrap(), own[1]["id"].as_str().unwrap()] {
        assert!(!response.text.contains(secret), "{}", response.text);
    }
}

#[test]
fn an_export_of_many_rows_comes_in_pages_and_whole() {
    const NOTES: usize = 450;
    let w = world();
    let form = json!({"shopId": 1, "title": "一碗面", "content": "好吃"});
    for _ in 0..NOTES {
        done(&w, "POST", "/blog", &w.customer, &form);
    }
    let export = w.call("GET", "/user/export", &w.customer, "").body;
    let ids: Vec<u64> =
        export["notes"].as_array().unwrap().iter().map(|note| note["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), NOTES);
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "each once, by id");
}

#[test]
fn an_export_has_the_sign_ins_of_many_years() {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let mut w = world();
    let mut days = Vec::new();
    for day in ["2026-11-21", "2027-11-22", "2027-11-23", "2029-11-21"] {
        w.ok("POST", "/user/sign", &w.customer);
        days.push(json!({ "day": day, "isMadeUp": false }));
        w.advance(match day {
            "2026-11-21" => 366 * DAY,
            "2027-11-22" => DAY,
            _ => 729 * DAY,
        });
        w.customer = w.log_in(CUSTOMER);
    }
    assert_eq!(w.call("GET", "/user/export", &w.customer, "").body["signIns"], json!(days));
}

#[test]
fn an_export_is_limited_and_ones_own() {
    let w = world();
    for _ in 0..5 {
        assert_eq!(w.call("GET", "/user/export", &w.customer, "").status, 200);
    }
    let limited = w.call("GET", "/user/export", &w.customer, "");
    assert_eq!((limited.status, &limited.body["code"]), (429, &json!("RATE_LIMITED")), "{limited:?}");
    assert_eq!(w.call("GET", "/user/export", &w.other, "").body["account"]["id"], 3);
    assert_eq!(w.call("GET", "/user/export", "", "").status, 401);
}

#[test]
fn an_export_that_cannot_be_finished_is_not_taken_for_whole() {
    let w = world();
    w.mall.faults().add(Fault::at_port("personal_data.likes").error()).unwrap();
    let mut stream = w.connect();
    let token = &w.customer;
    write!(
        stream,
        "GET /api/user/export HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: {token}\r\n\r\n"
    )
    .unwrap();
    let mut answer = Vec::new();
    // The connection may be reset.
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    assert!(!answer.ends_with("0\r\n\r\n"), "the last chunk says that it is whole: {answer}");
}

#[test]
fn a_deletion_needs_the_users_own_code_or_password() {
    let w = world();
    set_password(&w, &w.customer);
    let form = |body: &Value| call(&w, "DELETE", "/user/me", &w.customer, body);
    assert_eq!(w.call("DELETE", "/user/me", "", "{}").status, 401);
    assert_eq!(w.call("DELETE", "/user/me", &w.customer, "").status, 400);
    assert_refused(&form(&json!({})), "MISSING");
    assert_refused(&form(&json!({"code": "", "password": ""})), "MISSING");
    assert_refused(&form(&json!({"password": "wrong horse"})), "PASSWORD_WRONG");
    assert_refused(&form(&json!({"code": "000000"})), "NO_CODE");
    // The code of another phone is nobody's proof.
    w.ok("POST", "/user/code?phone=13900000003", "");
    let code = w.ok("GET", "/demo/inbox?phone=13900000003", "")["data"]["code"].clone();
    assert_refused(&form(&json!({ "code": code })), "NO_CODE");
    assert_eq!(id(&w, &w.customer), 2);

    w.ok("POST", &format!("/user/code?phone={CUSTOMER}"), "");
    let code = w.ok("GET", &format!("/demo/inbox?phone={CUSTOMER}"), "")["data"]["code"].clone();
    assert_eq!(form(&json!({ "code": code })).body, json!({"success": true}));
    assert_eq!(w.call("GET", "/user/me", &w.customer, "").status, 401);
}

#[test]
fn a_deleted_user_is_gone_and_what_they_wrote_stays() {
    let w = world();
    let second = w.log_in(CUSTOMER);
    set_password(&w, &w.customer);
    let icon = taken(&w, &w.customer);
    let card = json!({"nickName": "小鱼", "city": "杭州", "introduce": "爱吃", "gender": true,
        "birthday": "2000-01-31", "icon": format!("/imgs{icon}")});
    done(&w, "PUT", "/user/info", &w.customer, &card);
    let note = write(&w, &w.customer);
    w.ok("PUT", "/follow/3/true", &w.customer);
    w.ok("PUT", "/follow/2/true", &w.other);
    // Copies of the caches must not outlive the account.
    w.ok("GET", "/user/2", "");
    w.ok("GET", &format!("/blog/{note}"), "");

    assert_eq!(delete(&w, &w.customer).body, json!({"success": true}));
    for token in [&w.customer, &second] {
        assert_eq!(w.call("GET", "/user/me", token, "").status, 401, "every session has ended");
    }
    let brief = json!({"id": 2, "nickName": "已注销用户", "icon": ""});
    assert_eq!(w.ok("GET", "/user/2", "")["data"], brief);
    let english = w.request("GET", "/api/user/2", "accept-language: en\r\n", b"");
    assert_eq!(english.body["data"]["nickName"], "Deleted user");
    let empty = json!({"userId": 2, "city": "", "introduce": "", "fans": 0, "followee": 0, "gender": false,
        "credits": 0, "level": 0});
    assert_eq!(w.ok("GET", "/user/info/2", &w.other)["data"], empty);
    let seen = w.ok("GET", &format!("/blog/{note}"), "")["data"].take();
    assert_eq!(
        (&seen["name"], &seen["icon"], &seen["title"]),
        (&json!("已注销用户"), &json!(""), &json!("一碗面"))
    );
    assert_eq!(seen["liked"], 1, "counts stay");
    let comments = w.ok("GET", &format!("/blog-comments/of/blog/{note}"), "")["data"].take();
    assert_eq!((&comments[0]["name"], &comments[0]["content"]), (&json!("已注销用户"), &json!("同感")));
    assert_eq!(show(&w, &icon).status, 404);
    for list in ["fans", "followees"] {
        assert_eq!(w.ok("GET", &format!("/follow/{list}/3"), "")["total"], 0, "{list}");
    }
    assert_refused(&w.call("PUT", "/follow/2/true", &w.other, ""), "NOT_FOUND");
    let listed = w.ok("GET", "/ops/users/2", &w.operator)["data"].take();
    assert_eq!((&listed["phone"], &listed["deleteTime"]), (&json!(""), &json!("2026-11-21T20:00:00")));
    assert!(!w.call("GET", "/ops/users?phone=13900000002", &w.operator, "").text.contains(CUSTOMER));
    w.assert_balanced();

    // The phone is free: a new user, with nothing of the old one.
    let wrong = json!({ "phone": CUSTOMER, "password": PASSWORD });
    assert_refused(&call(&w, "POST", "/user/login", "", &wrong), "PASSWORD_WRONG");
    let again = w.log_in(CUSTOMER);
    let new = id(&w, &again);
    assert!(new > 3, "{new}");
    let export = w.call("GET", "/user/export", &again, "").body;
    assert_eq!((&export["account"]["phone"], &export["notes"]), (&json!(CUSTOMER), &json!([])));
}

#[test]
fn unpaid_orders_are_cancelled_and_paid_ones_refuse_until_given_up() {
    let w = world();
    set_password(&w, &w.customer);
    let left = || w.ok("GET", "/sale/2", "")["data"]["stock"].as_u64().unwrap();
    let before = left();
    w.ok("POST", "/voucher-order/seckill/2", &w.customer);
    assert_eq!(left(), before - 1);
    let paid = buy(&w, &w.customer);
    w.ok("POST", &format!("/voucher-order/{paid}/pay"), &w.customer);
    let refused = delete(&w, &w.customer);
    assert_refused(&refused, "PAID_ORDERS");
    assert!(refused.body["errorMsg"].as_str().unwrap().contains("1张"), "{refused:?}");
    assert_eq!(id(&w, &w.customer), 2, "the session goes on");
    w.settle_log();
    assert!(statuses(&w, 2).contains(&OrderStatus::Unpaid), "a refusal cancels nothing");

    let forfeit = json!({ "password": PASSWORD });
    done(&w, "DELETE", "/user/me?forfeit=true", &w.customer, &forfeit);
    let mut kept = statuses(&w, 2);
    kept.sort_by_key(|status| *status as u8);
    assert_eq!(kept, [OrderStatus::Paid, OrderStatus::Cancelled]);
    assert_eq!(left(), before, "the unit is sold to somebody else");
    w.assert_balanced();
}

#[test]
fn a_refund_makes_the_way_free() {
    let w = world();
    set_password(&w, &w.customer);
    let paid = buy(&w, &w.customer);
    w.ok("POST", &format!("/voucher-order/{paid}/pay"), &w.customer);
    assert_refused(&delete(&w, &w.customer), "PAID_ORDERS");
    w.ok("POST", &format!("/voucher-order/{paid}/refund"), &w.customer);
    assert_eq!(delete(&w, &w.customer).body, json!({"success": true}));
}

#[test]
fn the_last_operator_cannot_leave() {
    let w = world();
    set_password(&w, &w.operator);
    assert_refused(&delete(&w, &w.operator), "LAST_OPERATOR");
    done(&w, "PUT", "/ops/users/3/role", &w.operator, &json!({ "role": "operator" }));
    assert_eq!(delete(&w, &w.operator).body, json!({"success": true}));
    assert_eq!(w.call("GET", "/ops/overview", &w.operator, "").status, 401);
    w.ok("GET", "/ops/overview", &w.other);
}

/// A deletion that stops at any of its steps leaves the account whole, or deleted; a repeat finishes it.
#[test]
fn a_deletion_that_is_interrupted_leaves_nothing_half_deleted() {
    let points = [
        ("order_log.of_user", false),
        ("orders.find", false),
        ("orders.step", false),
        ("personal_data.delete", false),
        ("sessions.end_all", true),
        ("feeds.refresh", true),
        ("pictures.remove", true),
    ];
    for (point, is_deleted) in points {
        let w = world();
        set_password(&w, &w.customer);
        let icon = taken(&w, &w.customer);
        let card = json!({"nickName": "小鱼", "city": "杭州", "icon": format!("/imgs{icon}")});
        done(&w, "PUT", "/user/info", &w.customer, &card);
        buy(&w, &w.customer);
        w.mall.faults().add(Fault::at_port(point).error()).unwrap();
        let body = json!({ "password": PASSWORD }).to_string();
        let stopped = w.call_once("DELETE", "/user/me", &w.customer, &body);
        assert_eq!(stopped.status, 503, "{point}: {stopped:?}");
        w.mall.faults().cancel_all();

        let name = w.ok("GET", "/user/2", "")["data"]["nickName"].clone();
        let city = w.ok("GET", "/user/info/2", &w.other)["data"]["city"].clone();
        if is_deleted {
            assert_eq!((&name, &city), (&json!("已注销用户"), &json!("")), "{point}");
            let repeat = delete(&w, &w.customer);
            assert_eq!(repeat.status, if point == "sessions.end_all" { 200 } else { 401 }, "{repeat:?}");
        } else {
            assert_eq!((&name, &city), (&json!("小鱼"), &json!("杭州")), "{point}");
            until_ok(SETTLE_TIMEOUT, || match delete(&w, &w.customer).status {
                200 => Ok(()),
                other => Err(format!("{point}: {other}")),
            })
            .unwrap();
        }
        assert_eq!(w.call("GET", "/user/me", &w.customer, "").status, 401, "{point}");
        assert!(!statuses(&w, 2).contains(&OrderStatus::Unpaid), "{point}");
        w.assert_balanced();
    }
}

/// A process that dies between the transaction and the end of the sessions leaves them to a background job.
#[test]
fn sessions_that_outlive_their_user_end_within_a_minute_and_are_good_for_nothing() {
    let w = world();
    set_password(&w, &w.customer);
    w.mall.faults().add(Fault::at_port("sessions.end_all").error()).unwrap();
    let body = json!({ "password": PASSWORD }).to_string();
    assert_eq!(w.call_once("DELETE", "/user/me", &w.customer, &body).status, 503);
    w.mall.faults().cancel_all();
    for (method, path) in [("GET", "/user/me"), ("GET", "/user/export"), ("POST", "/voucher-order/1")] {
        assert_eq!(w.call(method, path, &w.customer, "").status, 401, "{path}");
    }
    let edit = json!({"city": "杭州"});
    assert_refused(&call(&w, "PUT", "/user/info", &w.customer, &edit), "NOT_FOUND");
    w.ok("GET", "/follow/or/not/1", &w.customer);
    w.advance(MINUTE * 2);
    assert_eq!(w.call("GET", "/follow/or/not/1", &w.customer, "").status, 401);
}

#[test]
fn a_deletion_beside_purchases_and_claims_leaves_no_open_order() {
    let w = world();
    set_password(&w, &w.customer);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..8 {
                    let response = w.call("POST", "/voucher-order/1", &w.customer, "");
                    assert!(matches!(response.status, 200 | 401), "{response:?}");
                }
            });
        }
        scope.spawn(|| w.call("POST", "/voucher-order/seckill/2", &w.customer, ""));
        let deleted = scope.spawn(|| {
            until_ok(SETTLE_TIMEOUT, || match delete(&w, &w.customer) {
                // 401: an attempt whose response was lost to the time limit has succeeded.
                response if response.body["success"] == true || response.status == 401 => Ok(()),
                response => Err(format!("{response:?}")),
            })
        });
        deleted.join().unwrap().unwrap();
    });
    w.settle_log();
    assert_eq!(w.call("GET", "/user/me", &w.customer, "").status, 401);
    // A claim that was under way may become an order after the deletion.
    w.advance(MINUTE * 2);
    assert!(!statuses(&w, 2).contains(&OrderStatus::Unpaid));
    assert_eq!(units_left(&w), 2);
    w.assert_balanced();
}

/// Returns the units left in the open sale.
fn units_left(w: &World) -> Value {
    w.ok("GET", "/sale/2", "")["data"]["stock"].clone()
}

/// Deletes the account with fresh codes, until it is deleted.
fn delete_by_code(w: &World, phone: &str, token: &str) {
    until_ok(SETTLE_TIMEOUT, || {
        w.ok("POST", &format!("/user/code?phone={phone}"), "");
        let code = w.ok("GET", &format!("/demo/inbox?phone={phone}"), "")["data"]["code"].clone();
        match w.call_once("DELETE", "/user/me", token, &json!({ "code": code }).to_string()) {
            // 401: an attempt whose response was lost to the time limit has succeeded.
            response if response.body["success"] == true || response.status == 401 => Ok(()),
            response => Err(format!("{response:?}")),
        }
    })
    .unwrap();
}

/// A claim admitted before the deletion, and accepted behind it, returns its unit within a minute, long
/// before the deadline of its order.
#[test]
fn a_claim_that_is_accepted_behind_the_deletion_does_not_linger() {
    let w = world();
    let slow = Fault::at_port("sales.claim").delay(Duration::from_millis(1_200)).times(1);
    w.mall.faults().add(slow).unwrap();
    std::thread::scope(|scope| {
        // The response may be lost to the time limit, but the claim goes on.
        scope.spawn(|| w.call_once("POST", "/voucher-order/seckill/2", &w.customer, ""));
        // A fault that has happened as often as it should is no longer listed.
        until_ok(SETTLE_TIMEOUT, || match w.mall.faults().list().len() {
            0 => Ok(()),
            _ => Err("the claim is not under way yet".to_owned()),
        })
        .unwrap();
        delete_by_code(&w, CUSTOMER, &w.customer);
    });
    w.settle_log();
    assert_eq!(w.call("GET", "/user/me", &w.customer, "").status, 401);
    w.advance(MINUTE * 2);
    assert!(!statuses(&w, 2).contains(&OrderStatus::Unpaid));
    assert_eq!(units_left(&w), 2, "the unit is for sale again");
    w.assert_balanced();
}

#[test]
fn accounts_deleted_in_the_middle_of_a_rush_give_every_unit_back() {
    const USERS: u64 = 8;
    let w = world();
    let phones: Vec<String> = (0..USERS).map(|number| format!("1500000000{number}")).collect();
    let people: Vec<(&String, String)> = phones.iter().map(|phone| (phone, w.log_in(phone))).collect();
    let ids: Vec<u64> = people.iter().map(|(_, token)| id(&w, token)).collect();
    let start = std::sync::Barrier::new(2 * people.len());
    std::thread::scope(|scope| {
        for (phone, token) in &people {
            let (w, start) = (&w, &start);
            scope.spawn(move || {
                start.wait();
                for _ in 0..4 {
                    w.call("POST", "/voucher-order/seckill/2", token, "");
                }
            });
            scope.spawn(move || {
                start.wait();
                delete_by_code(w, phone, token);
            });
        }
    });
    w.settle_log();
    w.advance(MINUTE * 2);
    for user in ids {
        assert!(!statuses(&w, user).contains(&OrderStatus::Unpaid), "user {user}");
    }
    assert_eq!(units_left(&w), 2);
    w.assert_balanced();
}
