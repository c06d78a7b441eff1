//! Invalid requests, and the response to each.

use std::time::Duration;

use mallbox::fixture::Builder;
use serde_json::json;

use super::world::{World, world};

#[derive(Clone, Copy)]
pub enum Who {
    Nobody,
    Customer,
    Operator,
}

use Who::{Customer, Nobody, Operator};

pub const WHOLE: &str = "a whole number from 0 to 18446744073709551615";
pub const PAGE: &str = "current: expected a whole number from 0 to 4294967295";
pub const OBJECT: &str = "expected a JSON object";

/// User, method, path, body → status, code, text contained in the English message.
pub type Row = (Who, &'static str, &'static str, &'static [u8], u16, &'static str, &'static str);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // Users.
    (Nobody, "POST", "/user/code", b"", 200, "PHONE_INVALID", "mobile number"),
    (Nobody, "POST", "/user/code?phone=", b"", 200, "PHONE_INVALID", ""),
    (Nobody, "POST", "/user/code?phone=139000000020", b"", 200, "PHONE_INVALID", ""),
    (Nobody, "POST", "/user/code?phone=23900000002", b"", 200, "PHONE_INVALID", ""),
    (Nobody, "POST", "/user/code?phone=+8613900000002", b"", 200, "PHONE_INVALID", ""),
    (Nobody, "POST", "/user/code?phone=%EF%BC%91", b"", 200, "PHONE_INVALID", ""),
    (Nobody, "POST", "/user/code?phone=1&phone=2", b"", 400, "BAD_REQUEST", "phone"),
    (Nobody, "GET", "/user/code?phone=13900000002", b"", 405, "METHOD_NOT_ALLOWED", ""),
    (Nobody, "TRACE", "/user/me", b"", 405, "METHOD_NOT_ALLOWED", ""),
    (Nobody, "POST", "/user/login", b"", 400, "BAD_REQUEST", "the body is empty: expected a JSON object"),
    (Nobody, "POST", "/user/login", b"{", 400, "BAD_REQUEST", "invalid JSON"),
    (Nobody, "POST", "/user/login", b"null", 400, "BAD_REQUEST", OBJECT),
    (Nobody, "POST", "/user/login", b"[]", 400, "BAD_REQUEST", OBJECT),
    (Nobody, "POST", "/user/login", br#"["13900000002","1","x"]"#, 400, "BAD_REQUEST", OBJECT),
    (Nobody, "POST", "/user/login", b"phone=13900000002&code=1", 400, "BAD_REQUEST", "invalid JSON"),
    (Nobody, "POST", "/user/login", b"\xff\xfe", 400, "BAD_REQUEST", "invalid JSON"),
    (Nobody, "POST", "/user/login", b"{\"phone\":\"\xff\"}", 400, "BAD_REQUEST", "invalid JSON"),
    (Nobody, "POST", "/user/login", b"{}", 200, "MISSING", "code"),
    (Nobody, "POST", "/user/login", br#"{"phone":null,"code":null}"#, 200, "MISSING", "code"),
    (Nobody, "POST", "/user/login", br#"{"phone":null,"code":"1"}"#, 200, "PHONE_INVALID", ""),
    (Nobody, "POST", "/user/login", br#"{"phone":1}"#, 400, "BAD_REQUEST", "phone: expected text, not integer `1`"),
    (Nobody, "POST", "/user/login", br#"{"phone":"13900000002","code":1}"#, 400, "BAD_REQUEST", "code: expected text"),
    (Nobody, "POST", "/user/login", br#"{"phone":"13900000002","code":{}}"#, 400, "BAD_REQUEST", "code: expected text"),
    (Nobody, "POST", "/user/login", br#"{"phone":"x","code":"1"}"#, 200, "PHONE_INVALID", ""),
    (Nobody, "POST", "/user/login", br#"{"phone":"13900000077","code":"000000"}"#, 200, "NO_CODE", "request a new one"),
    (Nobody, "POST", "/user/login", br#"{"phone":"13900000077","password":"x"}"#, 200, "PASSWORD_WRONG", ""),
    (Nobody, "GET", "/user/me", b"", 401, "NOT_LOGGED_IN", "log in"),
    (Nobody, "GET", "/user/role", b"", 401, "NOT_LOGGED_IN", "log in"),
    (Nobody, "GET", "/user/export", b"", 401, "NOT_LOGGED_IN", "log in"),
    (Nobody, "DELETE", "/user/me", b"{}", 401, "NOT_LOGGED_IN", "log in"),
    (Customer, "DELETE", "/user/me", b"", 400, "BAD_REQUEST", OBJECT),
    (Customer, "DELETE", "/user/me", b"{}", 200, "MISSING", "code"),
    (Customer, "DELETE", "/user/me?forfeit=x", b"{}", 400, "BAD_REQUEST", "forfeit"),
    (Customer, "DELETE", "/user/me", br#"{"code":"000000"}"#, 200, "NO_CODE", "request a new one"),
    (Nobody, "GET", "/user/x", b"", 400, "BAD_REQUEST", WHOLE),
    (Nobody, "GET", "/user/-1", b"", 400, "BAD_REQUEST", WHOLE),
    (Nobody, "GET", "/user/1.5", b"", 400, "BAD_REQUEST", "1.5: expected"),
    (Nobody, "GET", "/user/18446744073709551616", b"", 400, "BAD_REQUEST", WHOLE),
    (Nobody, "GET", "/user/%ff", b"", 400, "BAD_REQUEST", "not UTF-8"),
    (Nobody, "GET", "/user/info/x", b"", 400, "BAD_REQUEST", WHOLE),
    (Nobody, "GET", "/user/", b"", 404, "NOT_FOUND", ""),
    (Nobody, "PUT", "/follow/1/true", b"", 401, "NOT_LOGGED_IN", ""),
    (Nobody, "GET", "/follow/or/not/1", b"", 401, "NOT_LOGGED_IN", ""),
    (Nobody, "GET", "/follow/common/1", b"", 401, "NOT_LOGGED_IN", ""),
    (Customer, "PUT", "/follow/2/true", b"", 200, "ONESELF", "You cannot follow yourself"),
    (Customer, "PUT", "/follow/99/true", b"", 200, "NOT_FOUND", "This user does not exist"),
    (Customer, "PUT", "/follow/x/true", b"", 400, "BAD_REQUEST", WHOLE),
    (Customer, "PUT", "/follow/1/perhaps", b"", 400, "BAD_REQUEST", "true or false"),
    (Nobody, "GET", "/follow/fans/x", b"", 400, "BAD_REQUEST", WHOLE),
    (Nobody, "GET", "/follow/fans/1?current=-1", b"", 400, "BAD_REQUEST", PAGE),
    (Nobody, "PUT", "/user/info", b"{}", 401, "NOT_LOGGED_IN", ""),
    (Customer, "PUT", "/user/info", b"", 400, "BAD_REQUEST", OBJECT),
    (Customer, "PUT", "/user/info", br#"{"nickName":""}"#, 200, "MISSING", "nickName"),
    (Customer, "PUT", "/user/info", br#"{"nickName":5}"#, 400, "BAD_REQUEST", "nickName: expected text"),
    (Customer, "PUT", "/user/info", br#"{"gender":1}"#, 400, "BAD_REQUEST", "gender: expected true or false"),
    (Customer, "PUT", "/user/info", br#"{"birthday":"2000-02-30"}"#, 200, "OUT_OF_RANGE", "a day like 2000-01-31"),
    (Customer, "PUT", "/user/info", br#"{"birthday":"2999-01-01"}"#, 200, "OUT_OF_RANGE", "not after today"),
    (Customer, "PUT", "/user/info", br#"{"icon":"javascript:1"}"#, 200, "OUT_OF_RANGE", "icon"),
    (Nobody, "PUT", "/user/phone", b"{}", 401, "NOT_LOGGED_IN", ""),
    (Customer, "PUT", "/user/phone", b"{}", 200, "PHONE_INVALID", ""),
    (Customer, "PUT", "/user/phone", br#"{"phone":"13900000077"}"#, 200, "MISSING", "oldCode"),
    (Customer, "PUT", "/user/phone", br#"{"phone":"13900000077","oldCode":"1"}"#, 200, "MISSING", "code"),
    (Customer, "PUT", "/user/phone", br#"{"phone":"13900000002","oldCode":"1","code":"1"}"#, 200, "OUT_OF_RANGE", "other than the present"),
    (Customer, "PUT", "/user/phone", br#"{"phone":13900000077}"#, 400, "BAD_REQUEST", "phone: expected text"),
    (Nobody, "GET", "/user/sessions", b"", 401, "NOT_LOGGED_IN", ""),
    (Nobody, "DELETE", "/user/sessions", b"", 401, "NOT_LOGGED_IN", ""),
    (Customer, "DELETE", "/user/sessions/x", b"", 200, "NOT_FOUND", "This session does not exist"),
    (Customer, "DELETE", "/user/sessions/%ff", b"", 400, "BAD_REQUEST", "not UTF-8"),
    (Customer, "POST", "/user/logout?all=perhaps", b"", 400, "BAD_REQUEST", "all: expected true or false"),
    (Nobody, "PUT", "/user/password", br#"{"password":"12345678"}"#, 401, "NOT_LOGGED_IN", ""),
    (Customer, "PUT", "/user/password", b"{}", 200, "PASSWORD_LENGTH", "8 to 72"),
    (Customer, "PUT", "/user/password", br#"{"password":null}"#, 200, "PASSWORD_LENGTH", "8 to 72"),
    (Customer, "PUT", "/user/password", br#"{"password":12345678}"#, 400, "BAD_REQUEST", "password: expected text"),
    (Nobody, "GET", "/demo/inbox", b"", 200, "PHONE_INVALID", ""),
    (Nobody, "GET", "/demo/inbox?phone=13900000077", b"", 200, "NOT_FOUND", "code"),
    // Shops.
    (Nobody, "GET", "/shop/0", b"", 200, "NOT_FOUND", "This shop does not exist"),
    (Nobody, "GET", "/shop/18446744073709551615", b"", 200, "NOT_FOUND", "This shop does not exist"),
    (Nobody, "GET", "/shop/x", b"", 400, "BAD_REQUEST", "x: expected"),
    (Nobody, "DELETE", "/shop/1", b"", 405, "METHOD_NOT_ALLOWED", ""),
    (Nobody, "POST", "/shop-type/list", b"", 405, "METHOD_NOT_ALLOWED", ""),
    (Nobody, "GET", "/shop/of/type?current=-1", b"", 400, "BAD_REQUEST", PAGE),
    (Nobody, "GET", "/shop/of/type?current=99999999999", b"", 400, "BAD_REQUEST", PAGE),
    (Nobody, "GET", "/shop/of/type?current=1.5", b"", 400, "BAD_REQUEST", PAGE),
    (Nobody, "GET", "/shop/of/type?typeId=null", b"", 400, "BAD_REQUEST", "typeId: expected"),
    (Nobody, "GET", "/shop/of/type?typeId=1&typeId=2", b"", 400, "BAD_REQUEST", "typeId"),
    (Nobody, "GET", "/shop/of/type?x=120", b"", 400, "BAD_REQUEST", "y: expected -85.05 to 85.05 degrees"),
    (Nobody, "GET", "/shop/of/type?y=30", b"", 400, "BAD_REQUEST", "x: expected -180 to 180 degrees"),
    (Nobody, "GET", "/shop/of/type?x=181&y=30", b"", 400, "BAD_REQUEST", "x: expected -180 to 180 degrees"),
    (Nobody, "GET", "/shop/of/type?x=120&y=-85.06", b"", 400, "BAD_REQUEST", "y: expected -85.05"),
    (Nobody, "GET", "/shop/of/type?x=east&y=30", b"", 400, "BAD_REQUEST", "x: expected a number"),
    (Nobody, "GET", "/shop/of/type?x=NaN&y=30", b"", 400, "BAD_REQUEST", "x: expected -180 to 180 degrees"),
    (Nobody, "GET", "/shop/of/type?x=120&y=inf", b"", 400, "BAD_REQUEST", "y: expected -85.05"),
    (Nobody, "GET", "/shop/near", b"", 400, "BAD_REQUEST", "x: expected -180 to 180 degrees"),
    (Nobody, "GET", "/shop/near?x=1&y=", b"", 400, "BAD_REQUEST", "y: expected -85.05"),
    (Nobody, "GET", "/shop/near?x=1&y=2&radius=0", b"", 400, "BAD_REQUEST", "radius: expected more than 0"),
    (Nobody, "GET", "/shop/near?x=1&y=2&radius=-1", b"", 400, "BAD_REQUEST", "radius: expected more than 0"),
    (Nobody, "GET", "/shop/near?x=1&y=2&radius=NaN", b"", 400, "BAD_REQUEST", "at most 100000 metres"),
    (Nobody, "GET", "/shop/near?x=1&y=2&radius=100000.1", b"", 400, "BAD_REQUEST", "at most 100000 metres"),
    (Nobody, "GET", "/shop/near?x=1&y=2&current=-1", b"", 400, "BAD_REQUEST", PAGE),
    (Nobody, "POST", "/shop/near?x=1&y=2", b"", 405, "METHOD_NOT_ALLOWED", ""),
    (Nobody, "GET", "/shop/of/name?current=x", b"", 400, "BAD_REQUEST", PAGE),
    (Nobody, "POST", "/shop", b"{}", 401, "NOT_LOGGED_IN", ""),
    (Customer, "POST", "/shop", b"{}", 403, "FORBIDDEN", "operator"),
    (Customer, "GET", "/ops/sales", b"", 403, "FORBIDDEN", "mallbox user grant PHONE"),
    (Nobody, "POST", "/shop-type", b"{}", 401, "NOT_LOGGED_IN", ""),
    (Customer, "POST", "/shop-type", b"{}", 403, "FORBIDDEN", "mallbox user grant PHONE"),
    (Operator, "POST", "/shop", b"[\"a\",1]", 400, "BAD_REQUEST", OBJECT),
    (Operator, "POST", "/shop", b"{}", 200, "MISSING", "name"),
    (Operator, "POST", "/shop", br#"{"name":"a","typeId":"1"}"#, 400, "BAD_REQUEST", "typeId: expected a whole number"),
    (Operator, "POST", "/shop", br#"{"name":"a","typeId":-1}"#, 400, "BAD_REQUEST", "not integer `-1`"),
    (Operator, "POST", "/shop", br#"{"name":"a","typeId":1,"x":"1"}"#, 400, "BAD_REQUEST", "x: expected a number"),
    (Operator, "POST", "/shop", br#"{"name":"a","typeId":1,"x":1e999}"#, 400, "BAD_REQUEST", "invalid JSON"),
    (Operator, "POST", "/shop", br#"{"name":"a","typeId":1,"x":181,"y":0}"#, 200, "OUT_OF_RANGE", "-180 to 180"),
    (Operator, "POST", "/shop", br#"{"name":"a","typeId":9,"x":1,"y":0}"#, 200, "NOT_FOUND", "shop type"),
    (Operator, "PUT", "/shop", br#"{"name":"a"}"#, 200, "MISSING", "id"),
    (Operator, "PUT", "/shop", br#"{"id":"1"}"#, 400, "BAD_REQUEST", "id: expected a whole number"),
    (Operator, "PUT", "/shop", br#"{"id":1,"score":3.5}"#, 400, "BAD_REQUEST", "score: expected a whole number"),
    (Operator, "PUT", "/shop", br#"{"id":1,"score":51}"#, 200, "OUT_OF_RANGE", "10 to 50"),
    (Operator, "PUT", "/shop", br#"{"id":99,"name":"a"}"#, 200, "NOT_FOUND", "shop"),
    (Customer, "PUT", "/shop", br#"{"id":1}"#, 403, "FORBIDDEN", ""),
    // Vouchers.
    (Nobody, "GET", "/voucher/list/x", b"", 400, "BAD_REQUEST", WHOLE),
    (Customer, "POST", "/voucher", b"{}", 403, "FORBIDDEN", ""),
    (Nobody, "POST", "/voucher/seckill", b"{}", 401, "NOT_LOGGED_IN", ""),
    (Operator, "POST", "/voucher", b"{}", 200, "MISSING", "title"),
    (Operator, "POST", "/voucher", br#"{"title":"a","payValue":1.5}"#, 400, "BAD_REQUEST", "payValue: expected"),
    (Operator, "POST", "/voucher", br#"{"title":"a","shopId":1,"payValue":9007199254740992}"#, 200, "OUT_OF_RANGE", "payValue: expected a whole number"),
    (Operator, "POST", "/voucher", br#"{"title":"a","status":9}"#, 200, "OUT_OF_RANGE", "status"),
    (Operator, "POST", "/voucher", br#"{"title":"a","shopId":99,"payValue":1,"actualValue":1}"#, 200, "NOT_FOUND", "shop"),
    (Operator, "POST", "/voucher/seckill", br#"{"stock":"5"}"#, 400, "BAD_REQUEST", "stock: expected a whole number"),
    (Operator, "POST", "/voucher/seckill", br#"{"beginTime":1795}"#, 400, "BAD_REQUEST", "beginTime: expected text"),
    (Operator, "POST", "/voucher/seckill", br#"{"beginTime":"2026-11-20T00:00:00Z"}"#, 200, "OUT_OF_RANGE", "without a zone"),
    (Operator, "POST", "/voucher/seckill", br#"{"endTime":"2026-02-30T00:00:00"}"#, 200, "OUT_OF_RANGE", "endTime"),
    (Operator, "POST", "/voucher/seckill", br#"{"title":"a","shopId":1,"payValue":1,"actualValue":1,"stock":0}"#, 200, "OUT_OF_RANGE", "-1 for unlimited"),
    (Operator, "POST", "/voucher/seckill", br#"{"title":"a","shopId":1,"payValue":1,"actualValue":1,"stock":1,"beginTime":"2026-11-21T18:00:00","endTime":"2026-11-21T19:00:00"}"#, 200, "OUT_OF_RANGE", "endTime: expected a time like 2026-11-21T10:00:00, without a zone, after beginTime and in the future"),
    // Sales and orders.
    (Nobody, "GET", "/sale/99", b"", 200, "UNKNOWN_SALE", "This sale does not exist"),
    (Nobody, "GET", "/sale/1", b"", 200, "UNKNOWN_SALE", ""),
    (Nobody, "GET", "/sale/x/page", b"", 400, "BAD_REQUEST", WHOLE),
    (Nobody, "POST", "/sale/2/challenge", b"", 401, "NOT_LOGGED_IN", ""),
    (Customer, "POST", "/sale/2/challenge", b"", 200, "NOT_GUARDED", "needs no check"),
    (Customer, "POST", "/sale/99/challenge", b"", 200, "UNKNOWN_SALE", ""),
    (Customer, "POST", "/sale/2/challenge", br#"{"kind":"riddle"}"#, 200, "KIND_NOT_ALLOWED", ""),
    (Customer, "POST", "/sale/2/challenge", br#"{"kind":1}"#, 400, "BAD_REQUEST", "kind: expected text"),
    (Customer, "POST", "/sale/2/pass", b"", 400, "BAD_REQUEST", ""),
    (Customer, "POST", "/sale/2/pass", br#"{"challenge":""}"#, 400, "BAD_REQUEST", "answer"),
    (Customer, "POST", "/sale/2/pass", br#"{"challenge":"","answer":{}}"#, 400, "BAD_REQUEST", "answer: expected work, or text"),
    (Customer, "POST", "/sale/2/pass", br#"{"challenge":"","answer":{"work":"1","text":"a"}}"#, 400, "BAD_REQUEST", "answer: expected work, or text"),
    (Customer, "POST", "/sale/2/pass", br#"{"challenge":"","answer":{"left":-1,"track":[]}}"#, 400, "BAD_REQUEST", "answer: expected a whole number"),
    (Customer, "POST", "/sale/2/pass", br#"{"challenge":"","answer":{"left":1,"track":[[1,2]]}}"#, 400, "BAD_REQUEST", "answer: "),
    (Nobody, "POST", "/sale/2/waiting-room", b"", 401, "NOT_LOGGED_IN", ""),
    (Customer, "POST", "/sale/2/waiting-room", b"", 200, "NO_WAITING_ROOM", "no waiting room"),
    (Customer, "POST", "/sale/99/waiting-room", b"", 200, "UNKNOWN_SALE", ""),
    (Customer, "POST", "/sale/2/waiting-room", br#"{"ticket":1}"#, 400, "BAD_REQUEST", "ticket: expected text"),
    (Nobody, "POST", "/voucher-order/seckill/2", b"", 401, "NOT_LOGGED_IN", ""),
    (Nobody, "POST", "/voucher-order/seckill/batch", b"{}", 401, "GATEWAY_TOKEN_INVALID", "gateway token"),
    (Customer, "POST", "/voucher-order/seckill/batch", b"{", 401, "GATEWAY_TOKEN_INVALID", ""),
    (Customer, "POST", "/voucher-order/seckill/3", b"", 200, "NOT_OPEN", "not started"),
    (Customer, "POST", "/voucher-order/seckill/99", b"", 200, "UNKNOWN_SALE", ""),
    (Customer, "POST", "/voucher-order/seckill/9223372036854775808", b"", 200, "UNKNOWN_SALE", ""),
    (Customer, "POST", "/voucher-order/seckill/x", b"", 400, "BAD_REQUEST", WHOLE),
    (Customer, "GET", "/voucher-order/seckill/2", b"", 405, "METHOD_NOT_ALLOWED", ""),
    (Customer, "POST", "/voucher-order/2", b"", 400, "BAD_REQUEST", "flash sale"),
    (Customer, "POST", "/voucher-order/99", b"", 200, "NOT_FOUND", "voucher"),
    (Nobody, "GET", "/voucher-order/of/me", b"", 401, "NOT_LOGGED_IN", ""),
    (Customer, "GET", "/voucher-order/of/me?current=-1", b"", 400, "BAD_REQUEST", PAGE),
    (Customer, "GET", "/voucher-order/1", b"", 200, "NOT_FOUND", "order"),
    (Customer, "POST", "/voucher-order/18446744073709551615/pay", b"", 200, "NOT_FOUND", "order"),
    (Customer, "POST", "/voucher-order/-1/cancel", b"", 400, "BAD_REQUEST", WHOLE),
    (Customer, "POST", "/voucher-order/0/refund", b"", 200, "NOT_FOUND", "order"),
    (Customer, "POST", "/voucher-order/1/use", b"", 403, "FORBIDDEN", ""),
    (Operator, "POST", "/voucher-order/1/use", b"", 200, "NOT_FOUND", "order"),
    (Customer, "POST", "/voucher-order/1/eat", b"", 404, "NOT_FOUND", "This path does not exist"),
    (Nobody, "GET", "/nowhere", b"", 404, "NOT_FOUND", ""),
    (Nobody, "GET", "/shop-type/list/", b"", 404, "NOT_FOUND", ""),
];

#[test]
fn every_bad_request_is_refused_with_the_reason() {
    let w = world();
    for &(who, method, path, body, status, code, says) in
        ROWS.iter().chain(super::writing::bad_requests::ROWS).chain(super::operator::bad_requests::ROWS)
    {
        let token = match who {
            Nobody => String::new(),
            Customer => format!("authorization: {}\r\n", w.customer),
            Operator => format!("authorization: Bearer {}\r\n", w.operator),
        };
        let row = format!("{method} {path} {}", String::from_utf8_lossy(body));
        let response =
            w.request(method, &format!("/api{path}"), &format!("{token}accept-language: en\r\n"), body);
        assert_eq!(
            (response.status, &response.body["code"]),
            (status, &json!(code)),
            "{row}: {}",
            response.text
        );
        let sentence = response.body["errorMsg"].as_str().unwrap();
        assert!(sentence.contains(says), "{row}: {sentence}");
        assert!(!sentence.contains("struct") && !sentence.contains("u64"), "{row}: {sentence}");
        let fields = response.body.as_object().unwrap();
        assert!(fields.len() == 3 && fields["success"] == false, "{row}: {}", response.text);
        let response = w.request(method, &format!("/api{path}"), &token, body);
        assert_eq!(
            (response.status, &response.body["code"]),
            (status, &json!(code)),
            "{row}: {}",
            response.text
        );
        let chinese = response.body["errorMsg"].as_str().unwrap();
        assert!(!chinese.is_ascii(), "{row}: {chinese}");
        for english in ["expected", "not ", "the ", "a flash sale", "duplicate", "missing"] {
            assert!(!chinese.contains(english), "{row}: {chinese}");
        }
    }
}

#[test]
fn large_and_deep_bodies_are_refused_and_harm_nobody() {
    let w = world();
    for (body, status) in [
        ("x".repeat(1_100_000), 413),
        ("[".repeat(1_000_000), 400),
        (r#"{"a":"#.repeat(200_000), 400),
        (format!(r#"{{"phone":"{}","code":"1"}}"#, "1".repeat(1_000_000)), 200),
        (format!(r#"{{"phone":"13900000077","password":"{}"}}"#, "x".repeat(1_000_000)), 200),
        (format!(r#"{{{}"phone":"x","code":"1"}}"#, r#""a":1,"#.repeat(150_000)), 200),
    ] {
        let response = w.call("POST", "/user/login", "", &body);
        assert_eq!((response.status, &response.body["success"]), (status, &json!(false)), "{}", &body[..20]);
    }
    // A very long name is quoted by its beginning.
    let response = w.call(
        "POST",
        "/user/login",
        "",
        &format!(r#"{{"phone":"x","code":{{"{}":1}}}}"#, "茶".repeat(1_000)),
    );
    assert_eq!(response.status, 400);
    let path = format!("/shop/of/name?name=a&name=b&{}=1", "a".repeat(8_000));
    assert!(
        response.text.len() < 1_000 && w.call("GET", &path, "", "").text.len() < 1_000,
        "{}",
        response.text
    );
    let response = w.call("GET", &format!("/shop/{}", "a".repeat(8_000)), "", "");
    assert!(response.status == 400 && response.text.len() < 600, "{} {}", response.status, response.text);
    assert_eq!(w.call("GET", "/user/me", &w.customer, "").status, 200);
}

#[test]
fn odd_tokens_count_as_none() {
    let w = world();
    for token in ["x", "Bearer", "Bearer ", "Basic abc", "null", "undefined", &"a".repeat(9_000), "\u{fc}"] {
        let response = w.call("GET", "/user/me", token, "");
        assert_eq!((response.status, &response.body["code"]), (401, &json!("NOT_LOGGED_IN")), "{token}");
        assert_eq!(w.call("GET", "/shop/1", token, "").status, 200, "{token}");
    }
}

#[test]
fn limits_say_when_to_come_back() {
    let w = World::with("/api", Builder::with_limits);
    assert_eq!(w.call("POST", "/user/code?phone=13900000002", "", "").body, json!({"success": true}));
    let soon = w.call("POST", "/user/code?phone=13900000002", "", "");
    let want =
        json!({"success": false, "errorMsg": "验证码发送太频繁，请 55 秒后再试", "code": "CODE_TOO_SOON"});
    assert_eq!((soon.status, soon.body), (200, want));
    w.advance(Duration::from_secs(55));
    assert_eq!(w.call("POST", "/user/code?phone=13900000002", "", "").body, json!({"success": true}));
    let code = w.call("GET", "/demo/inbox?phone=13900000002", "", "").body["data"]["code"].clone();
    let wrong = if code == "000000" { "000001" } else { "000000" };
    let tried = |code: &str| {
        let form = json!({"phone": "13900000002", "code": code}).to_string();
        w.call("POST", "/user/login", "", &form).body["code"].clone()
    };
    for _ in 0..5 {
        assert_eq!(tried(wrong), "CODE_WRONG");
    }
    assert_eq!(tried(code.as_str().unwrap()), "NO_CODE", "five tries are all a code has");
    let claim = |token: &str| w.call("POST", "/voucher-order/seckill/2", token, "");
    assert!([&w.customer, &w.other].map(|buyer| claim(buyer).body["success"] == true) == [true; 2]);
    for n in 0..6 {
        let response = claim(&w.operator);
        assert_eq!(response.status, if n < 5 { 200 } else { 429 }, "{n}");
        assert_eq!(n == 5, response.head.contains("retry-after: 12"), "{}", response.head);
    }
}
