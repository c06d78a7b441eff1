//! Users and the audit log, as operators see them: `/ops/users` and `/ops/audit`.

use mallbox_storage::{Actor, UserId};
use serde_json::{Value, json};

use super::world::{CUSTOMER, OPERATOR, OTHER, Response, World, world};

const BLOCK: &str = r#"{"reason":"buys for resale"}"#;
const TO_OPERATOR: &str = r#"{"role":"operator"}"#;
const TO_CUSTOMER: &str = r#"{"role":"customer"}"#;

/// Sends a request in English.
fn ask(w: &World, method: &str, path: &str, token: &str, body: &str) -> Response {
    let headers = format!("authorization: {token}\r\naccept-language: en\r\n");
    w.request(method, &format!("/api{path}"), &headers, body.as_bytes())
}

fn user(id: u64, phone: &str, name: &Value, role: &str) -> Value {
    json!({
        "id": id, "phone": phone, "nickName": name, "icon": "", "role": role,
        "createTime": "2026-11-21T20:00:00",
    })
}

fn ids(response: &Response) -> Vec<u64> {
    response.body["data"].as_array().unwrap().iter().map(|user| user["id"].as_u64().unwrap()).collect()
}

#[test]
fn operators_find_people() {
    let w = world();
    let one = ask(&w, "GET", "/ops/users/2", &w.operator, "");
    assert_eq!(one.body["data"], user(2, CUSTOMER, &one.body["data"]["nickName"], "customer"));
    assert!(one.head.contains("cache-control: no-store"), "{}", one.head);
    let name = one.body["data"]["nickName"].as_str().unwrap();
    for (query, expected) in [
        (String::new(), &[1, 2, 3][..]),
        (format!("phone={OTHER}"), &[3]),
        ("phone=1390000".to_owned(), &[1, 2, 3]),
        ("phone=138".to_owned(), &[]),
        (format!("name={}", &name[5..]), &[2]),
        ("role=operator".to_owned(), &[1]),
        ("role=customer&phone=139".to_owned(), &[2, 3]),
        ("blocked=true".to_owned(), &[]),
        ("current=2".to_owned(), &[]),
    ] {
        let response = ask(&w, "GET", &format!("/ops/users?{query}"), &w.operator, "");
        assert_eq!((response.status, ids(&response)), (200, expected.to_vec()), "{query}");
    }
}

#[test]
fn a_blocked_user_is_logged_out_at_once_and_refused_with_the_reason() {
    let w = world();
    assert_eq!(ask(&w, "GET", "/user/me", &w.customer, "").status, 200);
    let blocked = ask(&w, "POST", "/ops/users/2/block", &w.operator, BLOCK);
    assert_eq!(blocked.body["data"]["sessionsEnded"], 1);
    let block = json!({"since": "2026-11-21T20:00:00", "reason": "buys for resale"});
    assert_eq!(blocked.body["data"]["blocked"], block);
    assert_eq!(ask(&w, "GET", "/user/me", &w.customer, "").status, 401);
    assert_eq!(ask(&w, "POST", "/voucher-order/seckill/2", &w.customer, "").status, 401);
    let shown = ask(&w, "GET", "/ops/users/2", &w.operator, "");
    assert_eq!(shown.body["data"]["blocked"], block);
    assert_eq!(ids(&ask(&w, "GET", "/ops/users?blocked=true", &w.operator, "")), [2]);

    for (language, sentence) in [("en", "This account is blocked"), ("zh", "账号已被停用")] {
        assert_eq!(w.call("POST", &format!("/user/code?phone={CUSTOMER}"), "", "").status, 200);
        let code = w.call("GET", &format!("/demo/inbox?phone={CUSTOMER}"), "", "").body;
        let form = json!({"phone": CUSTOMER, "code": code["data"]["code"]}).to_string();
        let header = format!("accept-language: {language}\r\n");
        let response = w.request("POST", "/api/user/login", &header, form.as_bytes());
        assert_eq!((response.status, &response.body["code"]), (200, &json!("BLOCKED")), "{response:?}");
        assert!(response.body["errorMsg"].as_str().unwrap().starts_with(sentence), "{response:?}");
        assert!(!response.text.contains("resale"), "the reason is for operators");
    }

    let free = ask(&w, "POST", "/ops/users/2/unblock", &w.operator, "");
    assert_eq!(free.body["data"].get("blocked"), None);
    let token = w.log_in(CUSTOMER);
    assert_eq!(ask(&w, "GET", "/user/me", &token, "").status, 200);
    assert_eq!(ask(&w, "GET", "/user/me", &w.customer, "").status, 401, "the old session stays dead");
}

#[test]
fn a_role_works_at_the_very_next_request() {
    let w = world();
    assert_eq!(ask(&w, "GET", "/ops/users", &w.customer, "").status, 403);
    let granted = ask(&w, "PUT", "/ops/users/2/role", &w.operator, TO_OPERATOR);
    assert_eq!(granted.body["data"]["role"], "operator");
    assert_eq!(ask(&w, "GET", "/ops/users", &w.customer, "").status, 200);
    // The new operator revokes the rights of the old one, who cannot revoke the new one's.
    assert_eq!(ask(&w, "PUT", "/ops/users/1/role", &w.customer, TO_CUSTOMER).status, 200);
    let late = ask(&w, "PUT", "/ops/users/2/role", &w.operator, TO_CUSTOMER);
    assert_eq!((late.status, &late.body["code"]), (403, &json!("FORBIDDEN")));
    for (method, path, body) in
        [("PUT", "/ops/users/2/role", TO_CUSTOMER), ("POST", "/ops/users/2/block", BLOCK)]
    {
        let last = ask(&w, method, path, &w.customer, body);
        assert_eq!((last.status, &last.body["code"]), (200, &json!("LAST_OPERATOR")), "{path}");
        assert!(last.body["errorMsg"].as_str().unwrap().contains("appoint another one first"), "{last:?}");
    }
    assert_eq!(ask(&w, "GET", "/ops/users", &w.customer, "").status, 200);
}

#[test]
fn nobody_but_an_operator_gets_anywhere_and_bad_requests_are_refused() {
    let w = world();
    for (method, path) in [
        ("GET", "/ops/users"),
        ("GET", "/ops/users/2"),
        ("POST", "/ops/users/2/block"),
        ("POST", "/ops/users/2/unblock"),
        ("PUT", "/ops/users/2/role"),
        ("GET", "/ops/audit"),
        ("GET", "/ops/audit/verify"),
    ] {
        for (token, status) in [("", 401), (w.customer.as_str(), 403), ("x", 401)] {
            assert_eq!(ask(&w, method, path, token, "{}").status, status, "{method} {path}");
        }
    }
    let long = json!({"reason": "长".repeat(201)}).to_string();
    for (method, path, body, status, code, holds) in [
        ("GET", "/ops/users/99", "", 200, "NOT_FOUND", "This user does not exist"),
        ("GET", "/ops/users/x", "", 400, "BAD_REQUEST", "x: expected a whole number"),
        ("GET", "/ops/users?role=king", "", 400, "BAD_REQUEST", "role"),
        ("GET", "/ops/users?current=-1", "", 400, "BAD_REQUEST", "current"),
        ("POST", "/ops/users/99/block", BLOCK, 200, "NOT_FOUND", "This user does not exist"),
        ("POST", "/ops/users/2/block", "", 400, "BAD_REQUEST", "the body is empty"),
        ("POST", "/ops/users/2/block", "{}", 400, "BAD_REQUEST", "reason: expected 1 to 200"),
        ("POST", "/ops/users/2/block", &long, 400, "BAD_REQUEST", "reason: expected 1 to 200"),
        ("POST", "/ops/users/2/block", r#"{"reason":7}"#, 400, "BAD_REQUEST", "reason: expected text"),
        ("GET", "/ops/users/2/block", "", 405, "METHOD_NOT_ALLOWED", ""),
        ("POST", "/ops/users/99/unblock", "", 200, "NOT_FOUND", ""),
        ("PUT", "/ops/users/2/role", "{}", 400, "BAD_REQUEST", "role"),
        ("PUT", "/ops/users/2/role", r#"{"role":"king"}"#, 400, "BAD_REQUEST", "role: "),
        ("PUT", "/ops/users/18446744073709551615/role", TO_OPERATOR, 200, "NOT_FOUND", ""),
        ("GET", "/ops/audit?before=x", "", 400, "BAD_REQUEST", "before"),
        ("GET", "/ops/audit?max=-1", "", 400, "BAD_REQUEST", "max"),
        ("POST", "/ops/audit", "{}", 405, "METHOD_NOT_ALLOWED", ""),
        ("DELETE", "/ops/audit", "", 405, "METHOD_NOT_ALLOWED", ""),
    ] {
        let response = ask(&w, method, path, &w.operator, body);
        assert_eq!(
            (response.status, &response.body["code"]),
            (status, &json!(code)),
            "{method} {path} {response:?}"
        );
        assert!(response.body["errorMsg"].as_str().unwrap().contains(holds), "{path}: {response:?}");
    }
}

#[test]
fn every_action_is_in_the_audit_log_the_refused_ones_too() {
    let w = world();
    ask(&w, "POST", "/ops/users/2/block", &w.operator, BLOCK);
    ask(&w, "PUT", "/ops/users/1/role", &w.operator, TO_CUSTOMER);
    ask(&w, "POST", "/ops/users/2/unblock", &w.operator, "");
    let log = ask(&w, "GET", "/ops/audit", &w.operator, "");
    let entries = log.body["data"].as_array().unwrap();
    let rows: Vec<_> = entries
        .iter()
        .map(|e| {
            (e["number"].as_u64().unwrap(), e["action"].as_str().unwrap(), e["subject"].as_str().unwrap())
        })
        .collect();
    let want = [
        (9, "user.unblock", "user 2"),
        (8, "user.role", "user 1"),
        (7, "user.role", "user 1"),
        (6, "user.block", "user 2"),
        (5, "sale.add", "shop 1"),
        (4, "sale.add", "shop 1"),
        (3, "voucher.add", "shop 1"),
        (2, "shop.add", "shops"),
        (1, "user.role", "user 1"),
    ];
    assert_eq!(rows, want);
    assert_eq!(entries[1]["detail"]["entry"], 7);
    assert_eq!(entries[1]["detail"]["ended"], "refused");
    assert_eq!(entries[3]["detail"], json!({"reason": "buys for resale"}));
    assert_eq!((&entries[3]["userId"], &entries[3]["time"]), (&json!(1), &json!("2026-11-21T20:00:00")));
    assert_eq!((&entries[5]["userId"], &entries[5]["detail"]["stock"]), (&json!(1), &json!(2)));
    assert_eq!(entries[8].get("userId"), None, "the command line named the operator");
    for phone in [OPERATOR, CUSTOMER] {
        assert!(!log.text.contains(phone), "a log for ever holds no phone number");
    }

    let page = ask(&w, "GET", "/ops/audit?before=8&max=2", &w.operator, "");
    assert_eq!(page.body["data"], json!(entries[2..4]));
    let check = ask(&w, "GET", "/ops/audit/verify", &w.operator, "");
    assert_eq!(check.body["data"], json!({"inOrder": true, "entries": 9, "head": entries[0]["hash"]}));
    w.assert_balanced();
}

#[test]
fn a_page_of_the_log_has_its_limit() {
    let w = world();
    let context = w.mall.app().unwrap().context.clone();
    let appending = async move {
        for _ in 0..510 {
            let by = Actor::User(UserId::new(1));
            context.storage.operator.audit.append(context.now(), by, "a", "b", "no JSON").await.unwrap();
        }
    };
    w.mall.wait_for(appending).unwrap();
    let page =
        |query: &str| ask(&w, "GET", &format!("/ops/audit{query}"), &w.operator, "").body["data"].clone();
    assert_eq!(page("").as_array().unwrap().len(), 50);
    assert_eq!(page("")[0]["detail"], "no JSON");
    assert_eq!(page("?max=4000000000").as_array().unwrap().len(), 500);
    assert_eq!(page("?max=0"), json!([]));
}
