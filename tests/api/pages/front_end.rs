//! Every request of hm-dianping's front end, in the form and order of its pages: a customer logs in, browses,
//! buys, writes a note with a picture, likes, follows, reads the feed, and logs out.

use std::collections::HashMap;

use image::ImageFormat;
use serde_json::{Value, json};

use super::original::original;
use super::uploads::{file, upload};
use super::world::{EVENING, World, world};

/// Body of a request.
enum Body {
    None,
    Json(&'static str),
    /// A picture, as an upload form sends it.
    Picture,
}

/// Expected response.
enum Expected {
    /// No `data`.
    Nothing,
    /// At least these fields; of a list at least these items, in order.
    Has(&'static str),
    /// A value stored under a name: `{name}` stands for the value in later requests.
    Kept(&'static str),
}

use Body::{Json, None, Picture};
use Expected::{Has, Kept, Nothing};

/// Page, method, path, body, response. Names in braces stand for stored values.
const WALK: &[(&str, &str, &str, Body, Expected)] = &[
    ("login", "POST", "/user/code?phone=13900000077", None, Nothing),
    ("login", "POST", "/user/login", Json(r#"{"phone": "13900000077", "code": "{code}"}"#), Kept("token")),
    (
        "index",
        "GET",
        "/shop-type/list",
        None,
        Has(r#"[{"id": 2, "name": "美食", "icon": "/types/2.svg"}, {"id": 1}]"#),
    ),
    ("index", "GET", "/blog/hot?current=1", None, Has(r#"[{"id": 1, "liked": 0, "isLike": false}]"#)),
    ("index", "PUT", "/blog/like/1", None, Nothing),
    ("index", "GET", "/blog/1", None, Has(r#"{"id": 1, "liked": 1, "isLike": true, "images": ""}"#)),
    ("shop-list", "GET", "/shop-type/list", None, Has(r#"[{"id": 2}]"#)),
    (
        "shop-list",
        "GET",
        "/shop/of/type?&typeId=2&current=1&x=120.149993&y=30.334229",
        None,
        Has(r#"[{"id": 1, "name": "103茶餐厅", "typeId": 2}]"#),
    ),
    ("shop-list", "GET", "/shop/of/type?&typeId=2&current=2&x=120.149993&y=30.334229", None, Has("[]")),
    (
        "shop-list",
        "GET",
        "/shop/of/type?&typeId=2&current=1&sortBy=comments&x=120.149993&y=30.334229",
        None,
        Has(r#"[{"id": 1}]"#),
    ),
    (
        "shop-list",
        "GET",
        "/shop/of/type?&typeId=2&current=1&sortBy=score&x=120.149993&y=30.334229",
        None,
        Has(r#"[{"id": 1}]"#),
    ),
    (
        "shop-detail",
        "GET",
        "/shop/1",
        None,
        Has(
            r#"{"id": 1, "name": "103茶餐厅", "typeId": 2, "images": "/imgs/a.jpg,/imgs/b.jpg", "area": "大关",
               "address": "金华路29号", "x": 120.149192, "y": 30.316078, "avgPrice": 80, "sold": 4215, "comments": 3035,
               "score": 37, "openHours": "10:00-22:00"}"#,
        ),
    ),
    (
        "shop-detail",
        "GET",
        "/voucher/list/1",
        None,
        Has(
            r#"[{"id": 1, "shopId": 1, "title": "50元代金券", "payValue": 4750, "actualValue": 5000, "type": 0, "status": 1},
               {"id": 2, "type": 1, "stock": 2, "beginTime": "2026-11-21T19:00:00", "endTime": "2026-11-21T23:00:00"},
               {"id": 3, "type": 1, "stock": 999999}]"#,
        ),
    ),
    ("shop-detail", "POST", "/voucher-order/seckill/2", None, Kept("order")),
    ("shop-detail", "GET", "/voucher/list/1", None, Has(r#"[{"id": 1}, {"id": 2, "stock": 1}]"#)),
    ("blog-edit", "GET", "/user/me", None, Kept("me")),
    ("blog-edit", "POST", "/upload/blog", Picture, Kept("spoiled")),
    ("blog-edit", "GET", "/upload/blog/delete?name=/imgs{spoiled}", None, Nothing),
    ("blog-edit", "POST", "/upload/blog", Picture, Kept("picture")),
    ("blog-edit", "GET", "/shop/of/name?name=", None, Has(r#"[{"id": 1}]"#)),
    ("blog-edit", "GET", "/shop/of/name?name=茶餐厅", None, Has(r#"[{"id": 1, "name": "103茶餐厅"}]"#)),
    (
        "blog-edit",
        "POST",
        "/blog",
        Json(r#"{"title": "一碗面", "content": "好吃<br/>再来", "images": "/imgs{picture}", "shopId": 1}"#),
        Kept("note"),
    ),
    (
        "blog-detail",
        "GET",
        "/blog/{note}",
        None,
        Has(
            r#"{"title": "一碗面", "content": "好吃<br/>再来", "shopId": 1, "liked": 0, "comments": 0, "isLike": false,
               "createTime": "2026-11-21T20:00:00", "updateTime": "2026-11-21T20:00:00"}"#,
        ),
    ),
    ("blog-detail", "GET", "/shop/1", None, Has(r#"{"name": "103茶餐厅"}"#)),
    ("blog-detail", "GET", "/blog/likes/{note}", None, Has("[]")),
    ("blog-detail", "GET", "/blog/1", None, Has(r#"{"id": 1, "userId": 1, "isLike": true}"#)),
    ("blog-detail", "GET", "/blog/likes/1", None, Has(r#"[{"icon": ""}]"#)),
    ("blog-detail", "GET", "/follow/or/not/1", None, Has("false")),
    ("blog-detail", "PUT", "/follow/1/true", None, Nothing),
    ("blog-detail", "GET", "/follow/or/not/1", None, Has("true")),
    ("blog-detail", "PUT", "/blog/like/1", None, Nothing),
    ("blog-detail", "GET", "/blog/1", None, Has(r#"{"liked": 0, "isLike": false}"#)),
    ("other-info", "GET", "/user/1", None, Has(r#"{"id": 1}"#)),
    (
        "other-info",
        "GET",
        "/user/info/1",
        None,
        Has(r#"{"userId": 1, "fans": 1, "followee": 0, "gender": false, "level": 0}"#),
    ),
    ("other-info", "GET", "/blog/of/user?&id=1&current=1", None, Has(r#"[{"id": 1, "userId": 1}]"#)),
    ("other-info", "GET", "/follow/common/1", None, Has("[]")),
    ("info", "GET", "/user/me", None, Has(r#"{"icon": ""}"#)),
    ("info", "GET", "/user/info/{me}", None, Has(r#"{"fans": 0, "followee": 1}"#)),
    ("info", "GET", "/blog/of/me?&current=1", None, Has(r#"[{"title": "一碗面"}]"#)),
    (
        "info",
        "GET",
        "/blog/of/follow?&offset=0&lastId={now}",
        None,
        Has(r#"{"list": [{"id": 1, "userId": 1, "isLike": false}], "minTime": 1795262400000, "offset": 1}"#),
    ),
    ("info", "GET", "/blog/of/follow?offset=1&lastId=1795262400000", None, Nothing),
    ("info", "POST", "/user/sign", None, Nothing),
    ("info", "GET", "/user/sign/count", None, Has("1")),
    ("info", "POST", "/user/logout", None, Nothing),
];

/// Further requests of the pages: empty results, and requests without a log-in.
const STRAYS: &[(&str, &str, u16, &str)] = &[
    ("GET", "/user/me", 401, r#"{"success": false, "code": "NOT_LOGGED_IN"}"#),
    ("GET", "/blog/of/me?&current=1", 401, r#"{"success": false}"#),
    ("GET", "/follow/or/not/1", 401, r#"{"success": false}"#),
    ("GET", "/user/999", 200, r#"{"success": true}"#),
    ("GET", "/user/info/999", 200, r#"{"success": true}"#),
    ("GET", "/shop/999", 200, r#"{"success": false, "code": "NOT_FOUND"}"#),
    ("GET", "/blog/999", 200, r#"{"success": false, "code": "NOT_FOUND"}"#),
    ("GET", "/blog/likes/999", 200, r#"{"success": true, "data": []}"#),
    ("GET", "/blog/of/user?&id=999&current=1", 200, r#"{"success": true, "data": []}"#),
    ("GET", "/blog/hot?current=9", 200, r#"{"success": true, "data": []}"#),
    ("GET", "/voucher/list/999", 200, r#"{"success": true, "data": []}"#),
];

/// Stored values by name.
type Kepts = HashMap<&'static str, String>;

fn filled(text: &str, kept: &Kepts) -> String {
    kept.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

/// Returns whether `told` contains all of `wanted`.
fn has(actual: &Value, wanted: &Value) -> bool {
    match (actual, wanted) {
        (Value::Object(actual), Value::Object(wanted)) => {
            wanted.iter().all(|(name, wanted)| actual.get(name).is_some_and(|actual| has(actual, wanted)))
        }
        (Value::Array(actual), Value::Array(wanted)) => {
            actual.len() >= wanted.len()
                && (!wanted.is_empty() || actual.is_empty())
                && actual.iter().zip(wanted).all(|(actual, wanted)| has(actual, wanted))
        }
        _ => actual == wanted,
    }
}

fn keep(name: &'static str, actual: &Value, kept: &mut Kepts) {
    let text = match actual {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        other => other["id"].as_u64().unwrap_or_else(|| panic!("{name}: {other}")).to_string(),
    };
    kept.insert(name, text);
}

fn send(w: &World, method: &str, path: &str, body: &Body, kept: &Kepts) -> super::world::Response {
    let token = kept.get("token").map(String::as_str).unwrap_or_default();
    match body {
        None => w.call(method, path, token, ""),
        Json(text) => w.call(method, path, token, &filled(text, kept)),
        Picture => upload(w, token, &file(ImageFormat::Jpeg)),
    }
}

/// Returns a mall with a shop, vouchers and a note by the operator.
fn furnished(w: World) -> World {
    w.add("/blog", &json!({"shopId": 1, "title": "开业了", "content": "欢迎", "images": ""}));
    w
}

#[test]
fn the_front_ends_calls_are_answered_as_its_pages_expect() {
    for w in [furnished(world()), furnished(original())] {
        walk(&w);
    }
}

fn walk(w: &World) {
    let mut kept = Kepts::from([("now", EVENING.as_millis().to_string())]);
    for (page, method, path, body, expected) in WALK {
        let path = filled(path, &kept);
        let response = send(w, method, &path, body, &kept);
        let place = format!("{page}: {method} {path}: {}", response.text);
        assert_eq!((response.status, &response.body["success"]), (200, &json!(true)), "{place}");
        let data = response.body.get("data");
        match expected {
            Nothing => assert_eq!(data, Option::None, "{place}"),
            Has(wanted) => {
                let wanted: Value = serde_json::from_str(wanted).unwrap();
                assert!(data.is_some_and(|data| has(data, &wanted)), "{place}: {wanted}");
            }
            Kept(name) => keep(name, data.unwrap_or_else(|| panic!("{place}")), &mut kept),
        }
        if path.starts_with("/user/code") {
            let (_, code) = w.mall.inbox().unwrap().pop().unwrap();
            kept.insert("code", code);
        }
    }
    // Shown pictures exist, and withdrawn ones do not.
    assert_eq!(
        w.request("GET", &format!("/imgs/{}", kept["picture"]), "", b"").status,
        200,
        "merged slashes"
    );
    assert_eq!(w.request("GET", &format!("/imgs{}", kept["spoiled"]), "", b"").status, 404);
    assert_eq!(w.call("GET", "/user/me", &kept["token"], "").status, 401, "they have left");
    w.settle_log();
    w.assert_balanced();
}

#[test]
fn stray_requests_get_the_responses_that_the_pages_expect() {
    let malls = [furnished(world()), furnished(original())];
    for (w, (method, path, status, expected)) in
        malls.iter().flat_map(|w| STRAYS.iter().map(move |stray| (w, stray)))
    {
        let response = w.call(method, path, "", "");
        let wanted: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(response.status, *status, "{method} {path}: {}", response.text);
        assert!(has(&response.body, &wanted), "{method} {path}: {}", response.text);
        assert_eq!(
            response.body.get("data").is_some(),
            wanted.get("data").is_some(),
            "{method} {path}: {}",
            response.text
        );
    }
}
