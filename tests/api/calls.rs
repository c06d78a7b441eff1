//! Every call: its status and its whole body, field by field.

use std::time::Duration;

use serde_json::{Value, json};

use super::world::{CUSTOMER, World, shop, world};

fn assert_says(w: &World, method: &str, path: &str, token: &str, body: &Value, want: &Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let said = w.call(method, path, token, &body);
    assert_eq!((said.status, &said.body), (200, want), "{method} {path}");
    assert!(said.head.contains("content-type: application/json"), "{}", said.head);
}

#[test]
fn people_are_as_the_pages_know_them() {
    let w = world();
    let none = &Value::Null;
    let done = json!({"success": true});
    let card = json!({
        "nickName": "小鱼", "icon": "/imgs/a.jpg", "city": "杭州", "introduce": "爱吃", "gender": true,
        "birthday": "2000-01-31",
    });
    assert_says(&w, "PUT", "/user/info", &w.customer, &card, &done);
    let brief = json!({"success": true, "data": {"id": 2, "nickName": "小鱼", "icon": "/imgs/a.jpg"}});
    assert_says(&w, "GET", "/user/me", &w.customer, none, &brief);
    assert_says(&w, "GET", "/user/me", &format!("Bearer {}", w.customer), none, &brief);
    assert_says(&w, "GET", "/user/2", "", none, &brief);
    assert_says(&w, "GET", "/user/99", "", none, &done);
    let mut full = json!({"success": true, "data": {
        "userId": 2, "city": "杭州", "introduce": "爱吃", "fans": 0, "followee": 0, "gender": true,
        "birthday": "2000-01-31", "credits": 0, "level": 0,
    }});
    assert_says(&w, "GET", "/user/info/2", "", none, &full);
    assert_says(&w, "GET", "/user/info/99", "", none, &done);
    // A birthday that is taken back is left out, and `false` and `""` are sent.
    let edit = json!({"birthday": "", "gender": false, "city": "", "introduce": null});
    assert_says(&w, "PUT", "/user/info", &w.customer, &edit, &done);
    let data = full["data"].as_object_mut().unwrap();
    data.remove("birthday");
    data.extend([("gender".to_owned(), json!(false)), ("city".to_owned(), json!(""))]);
    assert_says(&w, "GET", "/user/info/2", "", none, &full);

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
    let said = w.call("GET", "/user/me", &w.customer, "");
    assert_eq!((said.status, &said.body["code"]), (401, &json!("NOT_LOGGED_IN")));
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
    // Without a price, and with every text there all the same.
    let want = json!({
        "id": 2, "name": "新店", "typeId": 1, "images": "", "area": "", "address": "桥弄街27号", "x": 120.0, "y": 30.0,
        "sold": 0, "comments": 0, "score": 0, "openHours": "", "createTime": "2026-11-21T20:00:00",
        "updateTime": "2026-11-21T20:01:00",
    });
    assert_says(&w, "GET", "/shop/2", "", none, &json!({"success": true, "data": want}));
}

/// Shop 1 is 2,019.77 m south of where the pages ask.
const HERE: &str = "x=120.149993&y=30.334229";

/// Ids and distances of a list.
fn distances(w: &World, path: &str) -> Vec<(u64, f64)> {
    let said = w.call("GET", path, "", "");
    assert_eq!((said.status, &said.body["success"]), (200, &json!(true)), "{path}: {}", said.text);
    let list = said.body["data"].as_array().unwrap_or_else(|| panic!("{path}: {}", said.text));
    list.iter().map(|shop| (shop["id"].as_u64().unwrap(), shop["distance"].as_f64().unwrap())).collect()
}

fn ids(w: &World, path: &str) -> Vec<u64> {
    distances(w, path).into_iter().map(|(id, _)| id).collect()
}

/// A shop so many metres north of [`HERE`].
fn shop_north(w: &World, metres: f64, type_id: u64, comments: u64, score: u64) -> u64 {
    let mut body = shop();
    let y = 30.334229 + metres / 111_195.080;
    body.as_object_mut().unwrap().extend([
        ("typeId".to_owned(), json!(type_id)),
        ("x".to_owned(), json!(120.149993)),
        ("y".to_owned(), json!(y)),
        ("comments".to_owned(), json!(comments)),
        ("score".to_owned(), json!(score)),
    ]);
    w.add("/shop", &body)
}

#[test]
fn shops_nearby_are_as_the_pages_know_them() {
    let w = world();
    let said = w.call("GET", &format!("/shop/of/type?&typeId=2&current=1&{HERE}"), "", "");
    let mut want = shop();
    want.as_object_mut().unwrap().extend([
        ("id".to_owned(), json!(1)),
        ("createTime".to_owned(), json!("2026-11-21T20:00:00")),
        ("updateTime".to_owned(), json!("2026-11-21T20:00:00")),
        ("distance".to_owned(), json!(2019.77)),
    ]);
    assert_eq!(said.body, json!({"success": true, "data": [want]}));
    let far = "x=121&y=31";
    for path in [
        format!("/shop/of/type?typeId=1&{HERE}"),
        format!("/shop/of/type?typeId=2&current=2&{HERE}"),
        format!("/shop/of/type?current=4294967295&{HERE}"),
        format!("/shop/of/type?typeId=99&sortBy=score&{HERE}"),
        format!("/shop/of/type?{far}"),
        format!("/shop/of/type?sortBy=comments&{far}"),
        format!("/shop/near?{far}"),
        format!("/shop/near?radius=2019.7&{HERE}"),
        format!("/shop/near?current=4294967295&{HERE}"),
    ] {
        assert_says(&w, "GET", &path, "", &Value::Null, &json!({"success": true, "data": []}));
    }
    assert_eq!(distances(&w, &format!("/shop/near?radius=2019.8&{HERE}")), [(1, 2019.77)]);
}

#[test]
fn shops_nearby_come_nearest_first_a_page_at_a_time_or_sorted() {
    let w = world();
    // Ids 2 to 8: 600, 500, … metres away, the last one here; 9 and 10 are of the other type, 11 is too far.
    for n in 0..7_u32 {
        shop_north(&w, f64::from(600 - 100 * n), 2, u64::from(n % 3), u64::from(20 + n));
    }
    shop_north(&w, 50.0, 1, 9, 50);
    shop_north(&w, 4_999.0, 1, 9, 10);
    shop_north(&w, 5_001.0, 1, 9, 49);
    for (query, expected) in [
        ("/shop/of/type?typeId=2&current=1", &[8, 7, 6, 5, 4][..]),
        ("/shop/of/type?&typeId=2&current=2", &[3, 2, 1]),
        ("/shop/of/type?typeId=2&current=3", &[]),
        ("/shop/of/type?typeId=0", &[8, 9, 7, 6, 5]),
        ("/shop/of/type?current=2", &[4, 3, 2, 1, 10]),
        ("/shop/of/type?typeId=2&sortBy=comments", &[1, 4, 7, 3, 6]),
        ("/shop/of/type?typeId=2&sortBy=comments&current=2", &[2, 5, 8]),
        ("/shop/of/type?sortBy=score", &[9, 1, 8, 7, 6]),
        ("/shop/of/type?sortBy=score&current=2", &[5, 4, 3, 2, 10]),
        ("/shop/of/type?sortBy=price", &[8, 9, 7, 6, 5]),
        ("/shop/near?", &[8, 9, 7, 6, 5, 4, 3, 2, 1, 10]),
        ("/shop/near?current=2", &[]),
        ("/shop/near?radius=6000&current=2", &[11]),
        ("/shop/near?typeId=1&radius=100000", &[9, 10, 11]),
        ("/shop/near?radius=150&typeId=0", &[8, 9, 7]),
    ] {
        assert_eq!(ids(&w, &format!("{query}&{HERE}")), expected, "{query}");
    }
    let told = distances(&w, &format!("/shop/near?typeId=1&{HERE}"));
    assert_eq!(told, [(9, 50.0), (10, 4_999.0)]);
}

#[test]
fn a_shop_that_moves_is_found_where_it_is_at_once() {
    let w = world();
    let there = "/shop/near?x=-179.9999&y=-85.05";
    assert_eq!(ids(&w, there), [0_u64; 0]);
    let edit = json!({"id": 1, "x": 180, "y": -85.05}).to_string();
    assert_eq!(w.call("PUT", "/shop", &w.operator, &edit).status, 200);
    assert_eq!(distances(&w, there), [(1, 0.96)]);
    assert_eq!(ids(&w, &format!("/shop/near?{HERE}")), [0_u64; 0]);
    // And of another type.
    assert_eq!(w.call("PUT", "/shop", &w.operator, r#"{"id":1,"typeId":1}"#).status, 200);
    assert_eq!(ids(&w, &format!("{there}&typeId=1")), [1]);
    assert_eq!(ids(&w, &format!("{there}&typeId=2")), [0_u64; 0]);
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

    let live = |id, stock, state, begin, end, begins_in_ms, ends_in_ms| {
        json!({"success": true, "data": {
            "voucherId": id, "stock": stock, "serverTime": "2026-11-21T20:00:00", "state": state, "beginTime": begin,
            "endTime": end, "beginsInMs": begins_in_ms, "endsInMs": ends_in_ms,
        }})
    };
    let (seven, nine, ten, eleven) =
        ("2026-11-21T19:00:00", "2026-11-21T21:00:00", "2026-11-21T22:00:00", "2026-11-21T23:00:00");
    assert_says(&w, "GET", "/sale/2", "", none, &live(2, 2, "OPEN", seven, eleven, -3_600_000, 10_800_000));
    assert_says(&w, "GET", "/sale/3", "", none, &live(3, -1, "NOT_OPEN", nine, ten, 3_600_000, 7_200_000));
    assert!(w.call("GET", "/sale/2", "", "").head.contains("cache-control: no-store"));

    let page = json!({"success": true, "data": {
        "voucherId": 2, "title": "100元秒杀券", "subTitle": "", "rules": "", "payValue": 100, "actualValue": 10000,
        "beginTime": seven, "endTime": eleven, "payWithinSeconds": 900, "minLevel": 0,
        "shop": {
            "id": 1, "name": "103茶餐厅", "images": "/imgs/a.jpg,/imgs/b.jpg", "area": "大关", "address": "金华路29号",
            "openHours": "10:00-22:00",
        },
    }});
    assert_says(&w, "GET", "/sale/2/page", "", none, &page);
    let head = w.call("GET", "/sale/2/page", "", "").head;
    assert!(head.contains("cache-control: public, max-age="), "{head}");
    let etag = head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
    let known = w.ask("GET", "/api/sale/2/page", &format!("if-none-match: {etag}\r\n"), b"");
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
        let said = w.call(method, &path, &w.customer, "");
        assert_eq!((said.status, &said.body["code"]), (200, &json!("UNKNOWN_SALE")), "{path}");
    }
    let list = w.call("GET", "/voucher/list/1", "", "").body;
    assert!(list["data"].as_array().unwrap().iter().all(|voucher| voucher["id"] != id), "{list}");
}
