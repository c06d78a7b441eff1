//! Every endpoint: status and complete body, field by field.

use std::time::Duration;

use serde_json::{Value, json};

use super::world::{CUSTOMER, World, shop, world};

fn assert_says(w: &World, method: &str, path: &str, token: &str, body: &Value, want: &Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut response = w.call(method, path, token, &body);
    // Drawn.
    let data = response.body.get_mut("data").and_then(Value::as_object_mut);
    if let Some(poll_in) = data.and_then(|data| data.remove("pollInMs")) {
        assert!(poll_in.as_u64().is_some_and(|ms| (1_000..80_000).contains(&ms)), "{path}: {poll_in}");
    }
    assert_eq!((response.status, &response.body), (200, want), "{method} {path}");
    assert!(response.head.contains("content-type: application/json"), "{}", response.head);
}

#[test]
fn people_are_as_the_pages_know_them() {
    let w = world();
    let none = &Value::Null;
    let done = json!({"success": true});
    let card = json!({
        "nickName": "小鱼", "icon": "/imgs/icons/a.jpg", "city": "杭州", "introduce": "爱吃", "gender": true,
        "birthday": "2000-01-31",
    });
    assert_says(&w, "PUT", "/user/info", &w.customer, &card, &done);
    let brief = json!({"success": true, "data": {"id": 2, "nickName": "小鱼", "icon": "/imgs/icons/a.jpg"}});
    assert_says(&w, "GET", "/user/me", &w.customer, none, &brief);
    assert_says(&w, "GET", "/user/me", &format!("Bearer {}", w.customer), none, &brief);
    assert_says(&w, "GET", "/user/role", &w.customer, none, &json!({"success": true, "data": "customer"}));
    assert_says(&w, "GET", "/user/role", &w.operator, none, &json!({"success": true, "data": "operator"}));
    assert_says(&w, "GET", "/user/2", "", none, &brief);
    assert_says(&w, "GET", "/user/99", "", none, &done);
    let mut full = json!({"success": true, "data": {
        "userId": 2, "city": "杭州", "introduce": "爱吃", "fans": 0, "followee": 0, "gender": true,
        "birthday": "2000-01-31", "credits": 0, "level": 0,
    }});
    assert_says(&w, "GET", "/user/info/2", &w.customer, none, &full);
    assert_says(&w, "GET", "/user/info/99", "", none, &done);
    // A withdrawn birthday is omitted; `false` and `""` are sent.
    let edit = json!({"birthday": "", "gender": false, "city": "", "introduce": null});
    assert_says(&w, "PUT", "/user/info", &w.customer, &edit, &done);
    let data = full["data"].as_object_mut().unwrap();
    data.remove("birthday");
    data.extend([("gender".to_owned(), json!(false)), ("city".to_owned(), json!(""))]);
    assert_says(&w, "GET", "/user/info/2", &w.customer, none, &full);

    let first = json!({"password": "correct horse", "oldPassword": null});
    assert_says(&w, "PUT", "/user/password", &w.customer, &first, &done);
    let form = json!({"phone": CUSTOMER, "password": "correct horse", "code": ""});
    let token = w.call("POST", "/user/login", "", &form.to_string()).body;
    let token = token["data"].as_str().unwrap();
    assert_says(&w, "GET", "/user/me", token, none, &brief);
    assert_says(&w, "POST", "/user/logout", token, none, &done);
    assert_eq!(w.call("GET", "/user/me", token, "").status, 401);
    assert_says(&w, "POST", "/user/logout", token, none, &done);
    assert_says(&w, "POST", "/user/code?phone=13900000099", "", none, &done);
    let inbox = w.call("GET", "/demo/inbox?phone=13900000099", "", "");
    assert_eq!(inbox.body["data"]["phone"], "13900000099");
    assert!(inbox.head.contains("cache-control: no-store"), "{}", inbox.head);
    let code = json!({"phone": "13900000099", "code": inbox.body["data"]["code"]});
    let new = w.call("POST", "/user/login", "", &code.to_string());
    let me = w.call("GET", "/user/me", new.body["data"].as_str().unwrap(), "").body;
    let name = me["data"]["nickName"].as_str().unwrap();
    assert!(name.starts_with("user_") && name.len() == 15, "{me}");
}

#[test]
fn a_session_slides_and_then_ends() {
    let w = world();
    let minutes = |n: u64| Duration::from_secs(60 * n);
    for _ in 0..3 {
        w.advance(minutes(29));
        assert_eq!(w.call("GET", "/user/me", &w.customer, "").status, 200);
    }
    w.advance(minutes(31));
    let response = w.call("GET", "/user/me", &w.customer, "");
    assert_eq!((response.status, &response.body["code"]), (401, &json!("NOT_LOGGED_IN")));
}

#[test]
fn shops_are_as_the_pages_know_them() {
    let w = world();
    let none = &Value::Null;
    let types = json!({"success": true, "data": [
        {"id": 2, "name": "美食", "icon": "/types/2.svg", "sort": 1},
        {"id": 1, "name": "KTV", "icon": "/types/1.svg", "sort": 2},
    ]});
    assert_says(&w, "GET", "/shop-type/list", "", none, &types);
    let mut want = shop();
    want.as_object_mut().unwrap().extend([
        ("id".to_owned(), json!(1)),
        ("createTime".to_owned(), json!("2026-11-21T20:00:00")),
        ("updateTime".to_owned(), json!("2026-11-21T20:00:00")),
    ]);
    assert_says(&w, "GET", "/shop/1", "", none, &json!({"success": true, "data": want}));
    let list = json!({"success": true, "data": [want]});
    let empty = json!({"success": true, "data": []});
    for query in [
        "",
        "?",
        "?&typeId=2&current=1",
        "?typeId=0&current=1",
        "?typeId=&current=",
        "?current=0",
        "?sortBy=",
        "?typeId=2&sortBy=score",
        "?typeId=2&sortBy=comments&current=1",
        "?sortBy=price",
        "?%74ypeId=2",
        "?&typeId=2&current=1&x=&y=",
    ] {
        assert_says(&w, "GET", &format!("/shop/of/type{query}"), "", none, &list);
    }
    for query in
        ["?typeId=1", "?typeId=99", "?current=2", "?current=4294967295", "?typeId=18446744073709551615"]
    {
        assert_says(&w, "GET", &format!("/shop/of/type{query}"), "", none, &empty);
    }
    for query in ["", "?name=", "?name=茶", "?&name=%E8%8C%B6&current=1", "?name=+103+", "?name&current=0"] {
        assert_says(&w, "GET", &format!("/shop/of/name{query}"), "", none, &list);
    }
    for query in ["?name=酒", "?name=%25", "?name=_", "?name=%ff", "?name=%27+OR+1=1", "?current=2"] {
        assert_says(&w, "GET", &format!("/shop/of/name{query}"), "", none, &empty);
    }
    let least = json!({"name": "<b>新</b>店", "typeId": 1, "x": 120, "y": 30, "id": 77, "images": null});
    assert_says(&w, "POST", "/shop", &w.operator, &least, &json!({"success": true, "data": 2}));
    w.advance(Duration::from_secs(60));
    let edit = json!({"id": 2, "address": "桥弄街27号"});
    assert_says(&w, "PUT", "/shop", &w.operator, &edit, &json!({"success": true}));
    // Without a price; every text field is present.
    let want = json!({
        "id": 2, "name": "<b>新</b>店", "typeId": 1, "images": "", "area": "", "address": "桥弄街27号", "x": 120.0, "y": 30.0,
        "sold": 0, "comments": 0, "score": 0, "openHours": "", "createTime": "2026-11-21T20:00:00",
        "updateTime": "2026-11-21T20:01:00",
    });
    assert_says(&w, "GET", "/shop/2", "", none, &json!({"success": true, "data": want}));
}

#[test]
fn vouchers_and_sales_are_as_the_pages_know_them() {
    let w = world();
    let none = &Value::Null;
    let sale = |id, stock, begin, end| {
        json!({
            "id": id, "shopId": 1, "title": "100元秒杀券", "subTitle": "", "rules": "", "payValue": 100,
            "actualValue": 10000, "type": 1, "status": 1, "stock": stock, "beginTime": begin, "endTime": end,
        })
    };
    let ordinary = json!({
        "id": 1, "shopId": 1, "title": "50元代金券", "subTitle": "周末可用", "rules": "全场通用\n无需预约",
        "payValue": 4750, "actualValue": 5000, "type": 0, "status": 1,
    });
    let list = json!([
        ordinary,
        sale(2, 2, "2026-11-21T19:00:00", "2026-11-21T23:00:00"),
        sale(3, 999_999, "2026-11-21T21:00:00", "2026-11-21T22:00:00"),
    ]);
    assert_says(&w, "GET", "/voucher/list/1", "", none, &json!({"success": true, "data": list}));
    assert_says(&w, "GET", "/voucher/list/99", "", none, &json!({"success": true, "data": []}));

    let live = |id, stock, units, state, begin, end, begins_in_ms, ends_in_ms| {
        json!({"success": true, "data": {
            "voucherId": id, "stock": stock, "units": units, "serverTime": "2026-11-21T20:00:00", "state": state, "beginTime": begin,
            "endTime": end, "beginsInMs": begins_in_ms, "endsInMs": ends_in_ms, "pressAgainMs": 10_000, "guarded": false,
            "waitingList": false, "waitingRoom": false,
        }})
    };
    let (seven, nine, ten, eleven) =
        ("2026-11-21T19:00:00", "2026-11-21T21:00:00", "2026-11-21T22:00:00", "2026-11-21T23:00:00");
    assert_says(
        &w,
        "GET",
        "/sale/2",
        "",
        none,
        &live(2, 2, 2, "OPEN", seven, eleven, -3_600_000, 10_800_000),
    );
    assert_says(
        &w,
        "GET",
        "/sale/3",
        "",
        none,
        &live(3, -1, -1, "NOT_OPEN", nine, ten, 3_600_000, 7_200_000),
    );
    assert!(w.call("GET", "/sale/2", "", "").head.contains("cache-control: no-store"));

    let page = json!({"success": true, "data": {
        "voucherId": 2, "title": "100元秒杀券", "subTitle": "", "rules": "", "payValue": 100, "actualValue": 10000,
        "beginTime": seven, "endTime": eleven, "payWithinSeconds": 900, "payment": "sandbox", "minLevel": 0, "perUser": 1,
        "shop": {
            "id": 1, "name": "103茶餐厅", "images": "/imgs/a.jpg,/imgs/b.jpg", "area": "大关", "address": "金华路29号",
            "openHours": "10:00-22:00",
        },
    }});
    assert_says(&w, "GET", "/sale/2/page", "", none, &page);
    let head = w.call("GET", "/sale/2/page", "", "").head;
    assert!(head.contains("cache-control: public, max-age="), "{head}");
    let etag = head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
    let known = w.request("GET", "/api/sale/2/page", &format!("if-none-match: {etag}\r\n"), b"");
    assert_eq!((known.status, known.text.as_str()), (304, ""));
}

#[test]
fn what_is_off_the_shelf_is_not_sold() {
    let w = world();
    let mut hidden = super::world::sale("2026-11-21T19:00:00", "2026-11-21T23:00:00", 2);
    hidden["status"] = json!(2);
    let id = w.add("/voucher/seckill", &hidden);
    for (method, path) in [
        ("POST", format!("/voucher-order/seckill/{id}")),
        ("GET", format!("/sale/{id}")),
        ("GET", format!("/sale/{id}/page")),
    ] {
        let response = w.call(method, &path, &w.customer, "");
        assert_eq!((response.status, &response.body["code"]), (200, &json!("UNKNOWN_SALE")), "{path}");
    }
    let list = w.call("GET", "/voucher/list/1", "", "").body;
    assert!(list["data"].as_array().unwrap().iter().all(|voucher| voucher["id"] != id), "{list}");
}
