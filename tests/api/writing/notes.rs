//! Notes over HTTP: the endpoints used by hm-dianping's pages, and the right to delete a note.

use std::time::Duration;

use mallbox::fixture::Builder;
use serde_json::{Value, json};

use super::world::{World, world};

/// Ids of the users: the operator, and the customer.
const OPERATOR: u64 = 1;
const CUSTOMER: u64 = 2;

/// Sends a request that must succeed. Returns the body.
pub fn call_ok(w: &World, method: &str, path: &str, token: &str, body: &Value) -> Value {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let response = w.call(method, path, token, &body);
    assert_eq!(
        (response.status, &response.body["success"]),
        (200, &json!(true)),
        "{method} {path}: {}",
        response.text
    );
    response.body
}

/// Returns the `data` of a response.
pub fn seen(w: &World, path: &str, token: &str) -> Value {
    call_ok(w, "GET", path, token, &Value::Null)["data"].take()
}

/// Returns status and code of a response that must be a refusal.
pub fn refused(w: &World, method: &str, path: &str, token: &str) -> (u16, String) {
    let response = w.call(method, path, token, "");
    assert_eq!(response.body["success"], false, "{method} {path}: {}", response.text);
    (response.status, response.body["code"].as_str().unwrap().to_owned())
}

/// Writes a note about the shop. Returns the id.
pub fn write(w: &World, token: &str, title: &str) -> u64 {
    let images = "/imgs/a.jpg,/imgs/b.jpg";
    let note = json!({"shopId": 1, "title": title, "content": "一口汤，一口面", "images": images});
    call_ok(w, "POST", "/blog", token, &note)["data"].as_u64().unwrap()
}

pub fn ids(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|note| note["id"].as_u64().unwrap()).collect()
}

#[test]
fn a_note_is_shown_as_the_pages_expect_it() {
    let w = world();
    let edit = json!({"nickName": "小鱼", "icon": "/imgs/icons/2.svg"});
    call_ok(&w, "PUT", "/user/info", &w.customer, &edit);
    let form = json!({
        "shopId": 1, "title": "<i>一碗面</i>的早晨", "images": "/imgs//notes/1/a.jpg,/imgs/notes/2/b.png",
        "content": "<p>汤头清亮</p><script>alert(1)</script><br>下次还来",
    });
    let id = call_ok(&w, "POST", "/blog", &w.customer, &form)["data"].as_u64().unwrap();
    let want = json!({
        "id": id, "shopId": 1, "userId": CUSTOMER, "icon": "/imgs/icons/2.svg", "name": "小鱼",
        "title": "<i>一碗面</i>的早晨", "images": "/imgs//notes/1/a.jpg,/imgs/notes/2/b.png",
        "content": "<p>汤头清亮</p>&lt;script&gt;alert(1)&lt;/script&gt;<br/>下次还来", "liked": 0, "comments": 0, "isLike": false,
        "createTime": "2026-11-21T20:00:00", "updateTime": "2026-11-21T20:00:00",
    });
    for token in ["", &w.customer, &w.other] {
        assert_eq!(seen(&w, &format!("/blog/{id}"), token), want);
        assert_eq!(seen(&w, "/blog/hot", token), json!([want]));
        assert_eq!(seen(&w, &format!("/blog/of/user?&id={CUSTOMER}&current=1"), token), json!([want]));
    }
    assert_eq!(seen(&w, "/blog/of/me", &w.customer), json!([want]));
    assert_eq!(seen(&w, "/blog/of/me", &w.other), json!([]));
    let bare = call_ok(&w, "POST", "/blog", &w.other, &json!({"title": "只有标题"}))["data"].take();
    let bare = seen(&w, &format!("/blog/{bare}"), "");
    assert_eq!((&bare["images"], &bare["content"], &bare["shopId"]), (&json!(""), &json!(""), &json!(0)));
}

#[test]
fn lists_have_ten_a_page_the_newest_first() {
    let w = world();
    let mut written = Vec::new();
    for number in 0..12 {
        written.push(write(&w, &w.customer, &format!("第{number}篇")));
        if number % 3 == 0 {
            w.advance(Duration::from_secs(1));
        }
    }
    let foreign = write(&w, &w.other, "别人的");
    written.reverse();
    for path in ["/blog/of/me?", &format!("/blog/of/user?id={CUSTOMER}&")] {
        assert_eq!(ids(&seen(&w, path, &w.customer)), written[..10]);
        assert_eq!(ids(&seen(&w, &format!("{path}current=2"), &w.customer)), written[10..]);
        assert_eq!(seen(&w, &format!("{path}current=3"), &w.customer), json!([]));
    }
    let hot = [&[foreign], &written[..9]].concat();
    assert_eq!(ids(&seen(&w, "/blog/hot?current=1", "")), hot);
    assert_eq!(ids(&seen(&w, "/blog/hot?current=2", "")), written[9..]);
    assert_eq!(seen(&w, "/blog/of/user?id=99", ""), json!([]));
}

#[test]
fn an_author_and_an_operator_delete_a_note_and_nobody_else() {
    let w = world();
    let (mine, reported) = (write(&w, &w.customer, "我的"), write(&w, &w.customer, "别人删的"));
    let path = format!("/blog/{mine}");
    assert_eq!(refused(&w, "DELETE", &path, &w.other), (403, "FORBIDDEN".to_owned()));
    for _ in 0..2 {
        call_ok(&w, "DELETE", &path, &w.customer, &Value::Null);
        for token in ["", &w.customer, &w.operator] {
            assert_eq!(refused(&w, "GET", &path, token), (200, "NOT_FOUND".to_owned()));
        }
    }
    assert_eq!(refused(&w, "DELETE", &path, &w.other), (200, "NOT_FOUND".to_owned()));
    assert_eq!(ids(&seen(&w, "/blog/hot", "")), [reported]);
    call_ok(&w, "DELETE", &format!("/blog/{reported}"), &w.operator, &Value::Null);
    assert_eq!(seen(&w, "/blog/of/me", &w.customer), json!([]));
    let log = seen(&w, "/ops/audit?max=2", &w.operator);
    assert_eq!(
        (&log[0]["action"], &log[0]["subject"], &log[0]["userId"]),
        (&json!("note.delete"), &json!(format!("note {reported}")), &json!(OPERATOR)),
        "{log}"
    );
    assert_ne!(log[1]["action"], "note.delete", "what an author does is nobody's deed: {log}");
}

#[test]
fn readers_report_and_the_operator_hides_and_shows_again() {
    let w = world();
    let note = write(&w, &w.customer, "加微信领券");
    let comment = json!({"blogId": note, "content": "骗人的"});
    let comment = call_ok(&w, "POST", "/blog-comments", &w.other, &comment)["data"].as_u64().unwrap();
    let report = |token: &str, kind: &str, id: u64, reason: &str| {
        let body = json!({"kind": kind, "id": id, "reason": reason});
        assert_eq!(call_ok(&w, "POST", "/report", token, &body), json!({"success": true}));
    };
    assert_eq!(seen(&w, "/ops/reports", &w.operator), json!([]));
    report(&w.other, "note", note, "<b>广告</b>");
    report(&w.other, "note", note, "还是广告");
    w.advance(Duration::from_secs(60));
    report(&w.operator, "note", note, "");
    report(&w.customer, "comment", comment, "骂人");
    let open = call_ok(&w, "GET", "/ops/reports", &w.operator, &Value::Null);
    let images = "/imgs/a.jpg,/imgs/b.jpg";
    assert_eq!(
        open,
        json!({"success": true, "total": 2, "data": [
            {"kind": "note", "id": note, "blogId": note, "userId": CUSTOMER, "title": "加微信领券",
             "content": "一口汤，一口面", "images": images, "count": 2, "reasons": ["<b>广告</b>"],
             "latestTime": "2026-11-21T20:01:00"},
            {"kind": "comment", "id": comment, "blogId": note, "userId": 3, "title": "", "content": "骗人的",
             "images": "", "count": 1, "reasons": ["骂人"], "latestTime": "2026-11-21T20:01:00"},
        ]})
    );
    assert_eq!(ids(&seen(&w, "/blog/hot", "")), [note], "what is reported is seen still");
    let decide = |step: &str| {
        for _ in 0..2 {
            call_ok(&w, "POST", &format!("/ops/reports/note/{note}/{step}"), &w.operator, &Value::Null);
        }
    };
    decide("hide");
    assert_eq!(ids(&seen(&w, "/ops/reports", &w.operator)), [comment]);
    for (path, token) in
        [(format!("/blog/{note}"), &w.customer), (format!("/blog-comments/of/blog/{note}"), &w.other)]
    {
        assert_eq!(refused(&w, "GET", &path, token), (200, "NOT_FOUND".to_owned()));
    }
    assert_eq!(seen(&w, "/blog/of/me", &w.customer), json!([]));
    decide("show");
    assert_eq!(ids(&seen(&w, "/blog/of/me", &w.customer)), [note]);
    report(&w.other, "note", note, "还是广告");
    assert_eq!(ids(&seen(&w, "/ops/reports", &w.operator)), [comment], "it was decided");
    call_ok(&w, "POST", &format!("/ops/reports/comment/{comment}/hide"), &w.operator, &Value::Null);
    assert_eq!(seen(&w, &format!("/blog/{note}"), "")["comments"], 0);
    assert_eq!(seen(&w, "/ops/reports", &w.operator), json!([]));
    let log = seen(&w, "/ops/audit?max=3", &w.operator);
    let actions: Vec<_> =
        log.as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["comment.hide", "note.show", "note.show"]);
}

#[test]
fn a_user_who_writes_too_much_waits() {
    let w = World::with("/api", Builder::with_limits);
    let note = write(&w, &w.customer, "第一篇");
    for _ in 1..10 {
        call_ok(&w, "POST", "/blog-comments", &w.customer, &json!({"blogId": note, "content": "顶"}));
    }
    for (path, body) in [
        ("/blog", json!({"title": "x"})),
        ("/blog-comments", json!({"blogId": note, "content": "x"})),
        ("/report", json!({"kind": "note", "id": note})),
    ] {
        let response = w.call("POST", path, &w.customer, &body.to_string());
        assert_eq!(
            (response.status, &response.body["code"]),
            (429, &json!("RATE_LIMITED")),
            "{}",
            response.text
        );
        assert!(response.head.contains("retry-after: 6"), "{}", response.head);
    }
    write(&w, &w.other, "别人不受影响");
    w.advance(Duration::from_secs(6));
    write(&w, &w.customer, "等过之后");
}
