//! Operations of operators.

use std::path::Path;
use std::time::Duration;

use mallbox::mall::operator::printing::{PaperColumns, PrinterAddress, PrinterOptions};
use mallbox_storage::PaymentMode;
use serde_json::{Value, json};

use super::super::operator::live::Stream;
use super::super::people::second_factor::code_at;
use super::super::selling::counter_payments::set_payment_mode;
use super::super::selling::guards::{call, proof};
use super::super::world::Response;
use super::Checker;
use super::judgement::judgement;
/// Sends a request without a token, with a customer's, and with an operator's. Returns the operator's
/// response.
pub(super) fn ask_as_each(check: &mut Checker<'_>, call: &str, path: &str, body: &Value) -> Response {
    let (customer, operator) = (check.w.customer.clone(), check.w.operator.clone());
    for (token, status) in [(String::new(), 401), (customer, 403)] {
        assert_eq!(check.ask(call, path, &token, body).status, status, "{call}");
    }
    check.ask(call, path, &operator, body)
}

/// Guards a sale, and takes a challenge of each kind.
fn guards(check: &mut Checker<'_>) {
    let (get, put) = ("GET /ops/sales/{id}/guard", "PUT /ops/sales/{id}/guard");
    let kinds = ["picture", "slider", "work"];
    for guard in [
        json!({ "kinds": ["service"] }),
        json!({ "kinds": kinds }),
        json!({ "kinds": ["riddle"] }),
        json!({ "kinds": kinds, "workBits": 7 }),
    ] {
        for sale in [2, 99] {
            let path = format!("/ops/sales/{sale}/guard");
            ask_as_each(check, put, &path, &guard);
            ask_as_each(check, get, &path, &Value::Null);
        }
    }
    let customer = check.w.customer.clone();
    for kind in kinds.into_iter().chain(["riddle"]) {
        let body = json!({ "kind": kind });
        check.ask("POST /sale/{voucherId}/challenge", "/sale/2/challenge", &customer, &body);
        let wrong = json!({ "challenge": "", "answer": { "text": "7kmhx" } });
        check.ask("POST /sale/{voucherId}/pass", "/sale/2/pass", &customer, &wrong);
    }
    let easy = json!({ "kinds": ["work"], "workBits": 8 });
    ask_as_each(check, put, "/ops/sales/2/guard", &easy);
    let given = check.ask("POST /sale/{voucherId}/challenge", "/sale/2/challenge", &customer, &Value::Null);
    let given = &given.body["data"];
    let ticket = given["deviceTicket"].as_str().unwrap();
    let answer = json!({ "challenge": given["challenge"], "answer": { "work": proof(&given["work"]) } });
    let issued = call(check.w, "/sale/2/pass", &customer, &[("x-device-ticket", ticket)], &answer);
    check.check("POST /sale/{voucherId}/pass", &issued);
    check.ask("GET /sale/{voucherId}", "/sale/2", "", &Value::Null);
    check.ask("GET /sale/{voucherId}/page", "/sale/2/page", "", &Value::Null);
    ask_as_each(check, put, "/ops/sales/2/guard", &json!({ "kinds": [] }));
}

fn thresholds(check: &mut Checker<'_>) {
    let customer = check.w.customer.clone();
    for (hours, sms_code) in [(72, true), (9_000, true), (0, false)] {
        let body = json!({ "accountHours": hours, "smsCode": sms_code });
        for sale in [2, 99] {
            let path = format!("/ops/sales/{sale}/thresholds");
            ask_as_each(check, "PUT /ops/sales/{id}/thresholds", &path, &body);
            ask_as_each(check, "GET /ops/sales/{id}/thresholds", &path, &Value::Null);
        }
        check.ask("GET /sale/{voucherId}/page", "/sale/2/page", "", &Value::Null);
        if hours > 0 {
            let claim = "/voucher-order/seckill/2";
            check.ask("POST /voucher-order/seckill/{voucherId}", claim, &customer, &Value::Null);
        }
    }
}

fn units_per_user(check: &mut Checker<'_>) {
    let customer = check.w.customer.clone();
    for per_user in [2, 0, 1] {
        for sale in [2, 99] {
            let path = format!("/ops/sales/{sale}/per-user");
            let body = json!({ "perUser": per_user });
            ask_as_each(check, "PUT /ops/sales/{id}/per-user", &path, &body);
            ask_as_each(check, "GET /ops/sales/{id}/per-user", &path, &Value::Null);
        }
        let claim = "/voucher-order/seckill/2?holding=9";
        check.ask("POST /voucher-order/seckill/{voucherId}", claim, &customer, &Value::Null);
    }
}

fn kiosks(check: &mut Checker<'_>) {
    for name in ["收银台", "收银台", ""] {
        ask_as_each(check, "POST /ops/kiosks", "/ops/kiosks", &json!({ "name": name }));
    }
    ask_as_each(check, "GET /ops/kiosks", "/ops/kiosks", &Value::Null);
    for id in [1, 1] {
        ask_as_each(check, "DELETE /ops/kiosks/{id}", &format!("/ops/kiosks/{id}"), &Value::Null);
    }
}

fn claim_gateways(check: &mut Checker<'_>) {
    let (path, mut tokens) = ("/ops/claim-gateways", vec![String::new(), check.w.customer.clone()]);
    for (name, voucher, hours) in [("one", 2, 1), ("one", 2, 1), ("two", 99, 1), ("", 2, 1), ("two", 2, 0)] {
        let body = json!({ "name": name, "vouchers": [voucher], "validHours": hours });
        let added = ask_as_each(check, "POST /ops/claim-gateways", path, &body);
        tokens.extend(added.body["data"]["token"].as_str().map(str::to_owned));
    }
    ask_as_each(check, "GET /ops/claim-gateways", path, &Value::Null);
    let batch = |claims: &Value| json!({ "requestId": "one", "claims": claims });
    let claims = json!([{ "userId": 2, "voucherId": 2, "holding": 0 }, { "userId": 99, "voucherId": 2 }]);
    for token in tokens {
        for body in [batch(&claims), batch(&claims), batch(&json!([claims[0]])), batch(&json!([])), json!({})]
        {
            check.ask("POST /voucher-order/seckill/batch", "/voucher-order/seckill/batch", &token, &body);
        }
    }
    for id in [1, 1] {
        let path = format!("/ops/claim-gateways/{id}");
        ask_as_each(check, "DELETE /ops/claim-gateways/{id}", &path, &Value::Null);
    }
}

fn claim_limits(check: &mut Checker<'_>) {
    for limit in
        [json!({ "claimsPerSecond": 5 }), json!({ "claimsPerSecond": -1 }), json!({ "claimsPerSecond": 0 })]
    {
        for sale in [2, 99] {
            let path = format!("/ops/sales/{sale}/claim-limit");
            ask_as_each(check, "PUT /ops/sales/{id}/claim-limit", &path, &limit);
            ask_as_each(check, "GET /ops/sales/{id}/claim-limit", &path, &Value::Null);
        }
    }
}

/// Waits in the room of a sale that has not begun, and is admitted to another.
fn waiting_rooms(check: &mut Checker<'_>) {
    let (get, put) = ("GET /ops/sales/{id}/waiting-room", "PUT /ops/sales/{id}/waiting-room");
    let customer = check.w.customer.clone();
    for room in [json!({ "perSecond": 5 }), json!({ "perSecond": 10_001 }), json!({})] {
        for sale in [2, 3, 99] {
            let path = format!("/ops/sales/{sale}/waiting-room");
            ask_as_each(check, put, &path, &room);
            ask_as_each(check, get, &path, &Value::Null);
        }
    }
    for sale in [2, 3, 99] {
        let path = format!("/sale/{sale}/waiting-room");
        for method in ["POST", "GET", "DELETE"] {
            for token in [customer.clone(), String::new()] {
                check.ask(&format!("{method} /sale/{{voucherId}}/waiting-room"), &path, &token, &Value::Null);
            }
        }
    }
    check.ask("GET /sale/{voucherId}/page", "/sale/2/page", "", &Value::Null);
    check.ask("POST /voucher-order/seckill/{voucherId}", "/voucher-order/seckill/2", &customer, &Value::Null);
    for sale in [2, 3] {
        ask_as_each(check, put, &format!("/ops/sales/{sale}/waiting-room"), &json!({ "perSecond": 0 }));
    }
}

/// Adds a sold-out sale, and waits for its units.
fn waiting_lists(check: &mut Checker<'_>) {
    let (get, put) = ("GET /ops/sales/{id}/waiting-list", "PUT /ops/sales/{id}/waiting-list");
    let (customer, operator) = (check.w.customer.clone(), check.w.operator.clone());
    let form = json!({
        "shopId": 1, "title": "候补", "subTitle": "", "rules": "", "payValue": 100, "actualValue": 200, "stock": 1,
        "beginTime": "2026-11-21T19:00:00", "endTime": "2026-11-21T23:00:00",
    });
    let made = check.ask("POST /voucher/seckill", "/voucher/seckill", &operator, &form);
    let sale = made.body["data"].as_u64().unwrap_or_else(|| panic!("{made:?}"));
    let path = format!("/ops/sales/{sale}/waiting-list");
    for max in [json!({ "max": 5 }), json!({ "max": 10_001 }), json!({})] {
        ask_as_each(check, put, &path, &max);
        ask_as_each(check, put, "/ops/sales/99/waiting-list", &max);
        ask_as_each(check, get, &path, &Value::Null);
    }
    let list = format!("/sale/{sale}/waiting-list");
    let call = |method: &str| format!("{method} /sale/{{voucherId}}/waiting-list");
    check.ask(&call("POST"), &list, &customer, &Value::Null);
    let less = json!({ "add": -1 });
    check.ask("POST /ops/sales/{id}/stock", &format!("/ops/sales/{sale}/stock"), &operator, &less);
    for method in ["GET", "POST", "GET", "DELETE", "POST"] {
        for token in [String::new(), customer.clone()] {
            check.ask(&call(method), &list, &token, &Value::Null);
            check.ask(&call(method), "/sale/99/waiting-list", &token, &Value::Null);
        }
        ask_as_each(check, get, &path, &Value::Null);
    }
}

/// Makes two claims that the database refuses, replays the first and voids the second.
fn dead_letters(check: &mut Checker<'_>) {
    let (operator, other, none) = (check.w.operator.clone(), check.w.other.clone(), &Value::Null);
    check.w.ground().refuse_rows("orders", "NEW.user_id IN (1, 3)", "poison");
    // One after the other: two claims refused alone in the log would be taken for a failure of the database.
    let orders = [operator, other].map(|token| {
        let response = check.w.call("POST", "/voucher-order/seckill/2", &token, "");
        check.w.settle_log();
        response.body["dataText"].as_str().unwrap_or_else(|| panic!("{response:?}")).to_owned()
    });
    let listed = ask_as_each(check, "GET /ops/dead-letters", "/ops/dead-letters", none);
    assert_eq!(listed.body["total"], 2, "{listed:?}");
    let (replay, void) = ("POST /ops/dead-letters/{order}/replay", "POST /ops/dead-letters/{order}/void");
    let path = |order: &str, step: &str| format!("/ops/dead-letters/{order}/{step}");
    let refused = ask_as_each(check, replay, &path(&orders[0], "replay"), none);
    assert_eq!(refused.body["code"], "STILL_DEAD", "{refused:?}");
    check.w.ground().accept_rows("orders");
    ask_as_each(check, replay, &path(&orders[0], "replay"), none);
    ask_as_each(check, void, &path(&orders[1], "void"), none);
    ask_as_each(check, void, &path(&orders[0], "void"), none);
    ask_as_each(check, "GET /ops/dead-letters", "/ops/dead-letters?state=all&current=1", none);
}

/// Fails two tasks for good, replays the first and discards the second.
fn retries(check: &mut Checker<'_>) {
    let none = &Value::Null;
    for order in ["404", "405"] {
        super::super::operator::retries::fail(check.w, order);
    }
    let listed = ask_as_each(check, "GET /ops/retries", "/ops/retries", none);
    let tasks = listed.body["data"]["failed"].clone();
    let cursor = tasks[0]["cursor"].as_str().unwrap();
    ask_as_each(check, "GET /ops/retries", &format!("/ops/retries?kind=refund&after={cursor}"), none);
    for (task, step) in [(1, "replay"), (0, "discard"), (0, "discard")] {
        let path = format!("/ops/retries/{}/{step}", tasks[task]["id"]);
        ask_as_each(check, &format!("POST /ops/retries/{{id}}/{step}"), &path, none);
    }
}

pub(super) fn receipts(check: &mut Checker<'_>) {
    let (customer, none) = (check.w.customer.clone(), &Value::Null);
    let order = check.w.ok("POST", "/voucher-order/1", &customer)["dataText"].as_str().unwrap().to_owned();
    let (call, path) = ("GET /voucher-order/{id}/receipt", format!("/voucher-order/{order}/receipt"));
    for token in ["", &customer] {
        check.ask(call, &path, token, none);
    }
    check.w.ok("POST", &format!("/voucher-order/{order}/pay"), &customer);
    let code = check.ask(call, &path, &customer, none).body["data"]["code"].as_str().unwrap().to_owned();
    for token in ["", &customer] {
        check.ask("GET /voucher-order/{id}/receipt/text", &format!("{path}/text"), token, none);
    }
    for code in [&*code, "1234", &*code] {
        ask_as_each(check, "GET /ops/receipts/{code}", &format!("/ops/receipts/{code}"), none);
        ask_as_each(check, "POST /ops/receipts/{code}/use", &format!("/ops/receipts/{code}/use"), none);
    }
    check.ask(call, &path, &customer, none);
}

/// Returns a printer that is a file.
pub(super) fn printer_at(path: &Path) -> PrinterOptions {
    PrinterOptions {
        address: PrinterAddress::Device(path.to_owned()),
        columns: PaperColumns::Narrow,
        heading: "mallbox".to_owned(),
    }
}

/// Prints a receipt before and after the payment, and a test page.
pub(super) fn printing(check: &mut Checker<'_>) {
    let (customer, none) = (check.w.customer.clone(), &Value::Null);
    ask_as_each(check, "GET /ops/printer", "/ops/printer", none);
    let order = check.w.ok("POST", "/voucher-order/1", &customer)["dataText"].as_str().unwrap().to_owned();
    let (call, path) = ("POST /ops/orders/{id}/print", format!("/ops/orders/{order}/print"));
    ask_as_each(check, call, &path, none);
    check.w.ok("POST", &format!("/voucher-order/{order}/pay"), &customer);
    for path in [&*path, "/ops/orders/x/print"] {
        ask_as_each(check, call, path, none);
    }
    ask_as_each(check, "POST /ops/printer/test", "/ops/printer/test", none);
    ask_as_each(check, "GET /ops/printer", "/ops/printer", none);
}

/// Reads and confirms a clock that is sure.
pub(super) fn clock(check: &mut Checker<'_>) {
    ask_as_each(check, "GET /ops/clock", "/ops/clock", &Value::Null);
    for body in [json!({ "timeMs": 1_795_262_400_000_i64 }), json!({ "timeMs": "soon" }), json!({})] {
        ask_as_each(check, "POST /ops/clock/confirm", "/ops/clock/confirm", &body);
    }
}

/// Pays and refunds an order at the counter, twice each.
pub(super) fn money_at_the_counter(check: &mut Checker<'_>) {
    set_payment_mode(check.w, PaymentMode::Counter);
    let customer = check.w.customer.clone();
    let order = check.w.ok("POST", "/voucher-order/1", &customer)["dataText"].as_str().unwrap().to_owned();
    let pay = format!("/voucher-order/{order}/pay");
    let refused = check.ask("POST /voucher-order/{id}/pay", &pay, &customer, &Value::Null);
    assert_eq!(refused.body["code"], "PAY_AT_COUNTER", "{refused:?}");
    for (step, amount) in [("pay", 1), ("pay", 4_750), ("pay", 4_750), ("refund", 4_750), ("refund", 4_750)] {
        let (call, path) = (format!("POST /ops/orders/{{id}}/{step}"), format!("/ops/orders/{order}/{step}"));
        let body = json!({ "amount": amount, "method": "terminal", "reason": "买错了" });
        ask_as_each(check, &call, &path, &body);
    }
    set_payment_mode(check.w, PaymentMode::Sandbox);
}

pub(super) fn running_sales(check: &mut Checker<'_>) {
    let none = &Value::Null;
    for stock in [json!({ "add": 10, "requestId": "truck 7" }), json!({ "add": 0 })] {
        ask_as_each(check, "POST /ops/sales/{id}/stock", "/ops/sales/2/stock", &stock);
        ask_as_each(check, "POST /ops/sales/{id}/stock", "/ops/sales/3/stock", &stock);
    }
    let wave = |units| json!({ "waves": [{ "time": "2026-11-21T20:30:00", "units": units }] });
    for waves in [wave(5), wave(0), json!({}), json!({ "waves": [] })] {
        for sale in [2, 3, 99] {
            let path = format!("/ops/sales/{sale}/waves");
            ask_as_each(check, "PUT /ops/sales/{id}/waves", &path, &waves);
            ask_as_each(check, "GET /ops/sales/{id}/waves", &path, none);
        }
    }
    guards(check);
    judgement(check);
    kiosks(check);
    claim_gateways(check);
    thresholds(check);
    units_per_user(check);
    claim_limits(check);
    waiting_rooms(check);
    waiting_lists(check);
    dead_letters(check);
    retries(check);
    let found = ask_as_each(check, "GET /ops/orders", "/ops/orders?voucher=2&status=1", none);
    let order = found.body["data"][0]["id"].as_str().unwrap_or_else(|| panic!("{found:?}"));
    let reason = json!({ "reason": "买错了" });
    ask_as_each(check, "POST /ops/orders/{id}/void", &format!("/ops/orders/{order}/void"), &reason);
    ask_as_each(check, "POST /ops/orders/{id}/void", "/ops/orders/1/void", &reason);
    for id in ["2", "3", "99", "x"] {
        let path = format!("/ops/sales/{id}");
        ask_as_each(check, "GET /ops/vouchers/{id}", &format!("/ops/vouchers/{id}"), none);
        for edit in [json!({ "title": "周末券", "status": 1, "payValue": 300 }), json!({ "status": 9 })] {
            ask_as_each(check, "PUT /voucher/{id}", &format!("/voucher/{id}"), &edit);
        }
        let end = json!({ "endTime": "2026-11-22T01:00:00" });
        for step in ["pause", "resume", "end"] {
            let operator = check.w.operator.clone();
            check.ask(&format!("POST /ops/sales/{{id}}/{step}"), &format!("{path}/{step}"), &operator, none);
            check.ask("GET /ops/sales/{id}", &path, &operator, none);
            check.ask("PUT /ops/sales/{id}", &path, &operator, &end);
        }
    }
    for query in ["", "?current=2", "?current=x"] {
        ask_as_each(check, "GET /ops/sales", &format!("/ops/sales{query}"), none);
        ask_as_each(check, "GET /ops/vouchers", &format!("/ops/vouchers{query}"), none);
    }
}

pub(super) fn users_and_audit_log(check: &mut Checker<'_>) {
    let none = &Value::Null;
    let reason = json!({ "reason": "buys for resale" });
    for id in ["3", "99", "x"] {
        let path = format!("/ops/users/{id}");
        ask_as_each(check, "POST /ops/users/{id}/block", &format!("{path}/block"), &reason);
        ask_as_each(check, "GET /ops/users/{id}", &path, none);
        ask_as_each(check, "GET /ops/users", "/ops/users?blocked=true&phone=139&role=customer", none);
        ask_as_each(check, "POST /ops/users/{id}/unblock", &format!("{path}/unblock"), none);
        let phone = json!({ "phone": "13900000003", "reason": "lost" });
        ask_as_each(check, "PUT /ops/users/{id}/phone", &format!("{path}/phone"), &phone);
        let level = format!("{path}/level");
        for body in
            [json!({ "level": 3 }), json!({ "level": 10 }), json!({ "level": null }), json!({ "level": "x" })]
        {
            ask_as_each(check, "PUT /ops/users/{id}/level", &level, &body);
        }
        ask_as_each(check, "GET /ops/users/{id}/level", &level, none);
        for role in ["operator", "customer", "king"] {
            let role = json!({ "role": role });
            ask_as_each(check, "PUT /ops/users/{id}/role", &format!("{path}/role"), &role);
        }
    }
    for credits in [json!([0, 10, 1_000]), json!([1]), json!("x")] {
        ask_as_each(check, "PUT /ops/levels", "/ops/levels", &json!({ "credits": credits }));
        ask_as_each(check, "GET /ops/levels", "/ops/levels", none);
    }
    let last = ask_as_each(check, "POST /ops/users/{id}/block", "/ops/users/1/block", &reason);
    assert_eq!(last.body["code"], "LAST_OPERATOR", "{last:?}");
    ask_as_each(check, "GET /ops/overview", "/ops/overview", none);
    ask_as_each(check, "GET /ops/audit", "/ops/audit?max=5&before=9", none);
    ask_as_each(check, "GET /ops/audit/verify", "/ops/audit/verify", none);
    for query in
        ["", "?event=forbidden&client=127.0.0.1&current=1", "?event=&client=", "?event=x", "?client=x"]
    {
        ask_as_each(check, "GET /ops/security", &format!("/ops/security{query}"), none);
    }
}

pub(super) fn accounts(check: &mut Checker<'_>) {
    let call = "GET /ops/accounts/{day}/{file}";
    for path in ["x/payments", "9999-12-31/payments", "2026-11-21/taxes"] {
        ask_as_each(check, call, &format!("/ops/accounts/{path}"), &Value::Null);
    }
    for file in ["orders", "payments", "books"] {
        let path = format!("/ops/accounts/2026-11-21/{file}");
        let reply = check.w.call("GET", &path, &check.w.operator, "");
        check.check_csv(call, &reply);
    }
}

pub(super) fn live_figures(check: &mut Checker<'_>) {
    let (call, operator) = ("GET /ops/live", check.w.operator.clone());
    for token in [String::new(), check.w.customer.clone()] {
        check.ask(call, "/ops/live", &token, &Value::Null);
    }
    let mut stream = Stream::open(check.w, &operator);
    for _ in 0..2 {
        let figures = stream.figures();
        check.check_event(call, &figures);
    }
}

/// Makes subscribers, and reads the event of a note.
pub(super) fn events(check: &mut Checker<'_>) {
    let (none, subscribers) = (&Value::Null, "/ops/events/subscribers");
    let hook = json!({ "name": "erp", "target": "webhook", "url": "http://127.0.0.1:9/" });
    let wrong = json!({ "name": "erp", "target": 1 });
    let mut id = Value::Null;
    for form in [hook.clone(), hook, wrong] {
        let made = ask_as_each(check, "POST /ops/events/subscribers", subscribers, &form);
        id = if id.is_null() { made.body["data"]["id"].clone() } else { id };
    }
    let note = json!({ "shopId": 1, "title": "一碗面", "content": "好吃" });
    check.w.call("POST", "/blog", &check.w.customer, &note.to_string());
    check.w.advance(Duration::from_secs(1));
    for query in ["", "?after=0", "?after=x"] {
        ask_as_each(check, "GET /ops/events", &format!("/ops/events{query}"), none);
    }
    let call = "GET /ops/events/stream";
    for token in [String::new(), check.w.customer.clone()] {
        check.ask(call, "/ops/events/stream", &token, none);
    }
    let event = Stream::of(check.w, "/ops/events/stream?after=0", &check.w.operator).figures();
    check.check_event(call, &event);
    ask_as_each(check, "GET /ops/events/subscribers", subscribers, none);
    for id in [id.to_string(), "99".to_owned(), "x".to_owned()] {
        for step in ["pause", "resume"] {
            let (call, path) =
                (format!("POST /ops/events/subscribers/{{id}}/{step}"), format!("{subscribers}/{id}/{step}"));
            ask_as_each(check, &call, &path, none);
        }
        let call = "DELETE /ops/events/subscribers/{id}";
        ask_as_each(check, call, &format!("{subscribers}/{id}"), none);
    }
}

/// Sets up a second factor, gives a code, renews the recovery codes, and removes the factor.
pub(super) fn second_factor(check: &mut Checker<'_>) {
    // Not the operator of the other calls, whose session would end.
    let (operator, none) = (check.w.log_in("13900000055"), &Value::Null);
    let id = check.w.ok("GET", "/user/me", &operator)["data"]["id"].clone();
    let role = json!({ "role": "operator" });
    let appointed =
        check.w.call("PUT", &format!("/ops/users/{id}/role"), &check.w.operator, &role.to_string());
    assert_eq!(appointed.status, 200, "{appointed:?}");
    let [enrolment, factor, codes] =
        ["/enrolment", "", "/recovery-codes"].map(|path| format!("/user/second-factor{path}"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let begun = check.ask(&format!("POST {enrolment}"), &enrolment, &operator, none);
    let secret = text(&begun.body["data"]["secret"]);
    let code = |check: &Checker<'_>| json!({ "code": code_at(&secret, check.w.mall.now()) });
    let first = code(check);
    let confirmed = check.ask(&format!("PUT {factor}"), &factor, &operator, &first);
    let mut token = text(&confirmed.body["data"]["token"]);
    for (call, path) in [("GET", &factor), ("POST", &factor), ("POST", &codes), ("DELETE", &factor)] {
        check.w.advance(Duration::from_secs(30));
        let body = code(check);
        for (token, body) in
            [("", &body), (&*token, &json!({ "code": "000000" })), (&*token, &json!({ "code": 1 }))]
        {
            let body = if call == "GET" { none } else { body };
            check.ask(&format!("{call} {path}"), path, token, body);
        }
        let body = if call == "GET" { none.clone() } else { body };
        let done = check.ask(&format!("{call} {path}"), path, &token, &body);
        token = done.body["data"]["token"].as_str().map_or(token, str::to_owned);
    }
    for token in ["", &*check.w.customer.clone(), &*token] {
        check.ask(&format!("POST {enrolment}"), &enrolment, token, &json!({ "password": "wrong horse" }));
        check.ask(&format!("PUT {factor}"), &factor, token, &json!({ "code": "000000" }));
    }
}
