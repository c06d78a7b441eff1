//! Reviews over HTTP: one per used order, lists, decisions, replies, and the score of the shop.

use std::time::Duration;

use serde_json::{Value, json};

use super::uploads::taken;
use super::world::{World, world};

/// Returns a mall with a shop 2 without a past, and its voucher 4.
pub fn with_new_shop() -> World {
    let w = world();
    let shop = json!({ "name": "茶馆", "typeId": 2, "x": 120.15, "y": 30.33 });
    assert_eq!(w.add("/shop", &shop), 2);
    let voucher = json!({ "shopId": 2, "title": "茶券", "payValue": 100, "actualValue": 200 });
    assert_eq!(w.add("/voucher", &voucher), 4);
    w
}

/// Returns a used order of a voucher.
pub fn used_order(w: &World, token: &str, voucher: u64) -> String {
    let order = paid_order(w, token, voucher);
    let receipt = w.ok("GET", &format!("/voucher-order/{order}/receipt"), token)["data"]["code"].clone();
    w.ok("POST", &format!("/ops/receipts/{}/use", receipt.as_str().unwrap()), &w.operator);
    order
}

fn paid_order(w: &World, token: &str, voucher: u64) -> String {
    let order =
        w.ok("POST", &format!("/voucher-order/{voucher}"), token)["dataText"].as_str().unwrap().to_owned();
    w.ok("POST", &format!("/voucher-order/{order}/pay"), token);
    order
}

/// Writes a review of a fresh order. Returns its id.
pub fn write(w: &World, token: &str, score: u64) -> u64 {
    let body = json!({ "orderId": used_order(w, token, 4), "score": score, "content": "面很香。" });
    call(w, "POST", "/remark", token, &body)["data"].as_u64().unwrap()
}

/// Sends a request that must succeed.
fn call(w: &World, method: &str, path: &str, token: &str, body: &Value) -> Value {
    let response = w.call(method, path, token, &body.to_string());
    assert_eq!(response.body["success"], true, "{method} {path}: {response:?}");
    response.body
}

fn refused(w: &World, method: &str, path: &str, token: &str, body: &Value) -> String {
    let response = w.call(method, path, token, &body.to_string());
    assert_eq!(response.body["success"], false, "{method} {path}: {response:?}");
    response.body["code"].as_str().unwrap().to_owned()
}

fn list(w: &World, query: &str) -> Vec<u64> {
    let reviews = w.ok("GET", &format!("/remark?itemId=2{query}"), "")["data"].clone();
    reviews.as_array().unwrap().iter().map(|review| review["id"].as_u64().unwrap()).collect()
}

/// Returns score and comments of shop 2.
fn rating(w: &World) -> (Value, Value) {
    let shop = w.ok("GET", "/shop/2", "")["data"].clone();
    (shop["score"].clone(), shop["comments"].clone())
}

fn decide(w: &World, review: u64, visibility: &str) {
    let body = json!({ "visibility": visibility, "reason": "广告" });
    call(w, "PUT", &format!("/ops/remarks/{review}/visibility"), &w.operator, &body);
}

#[test]
fn a_review_is_shown_with_everything_it_says() {
    let w = with_new_shop();
    call(&w, "PUT", "/user/info", &w.customer, &json!({ "nickName": "小鱼" }));
    let picture = format!("/imgs{}", taken(&w, &w.customer));
    let order = used_order(&w, &w.customer, 4);
    let body = json!({
        "orderId": order, "requestId": "once", "score": 45, "content": " 面很<b>香</b>。\n", "images": picture,
        "averagePrice": 4_750, "tags": ["service", "taste"],
    });
    let review = call(&w, "POST", "/remark", &w.customer, &body)["data"].as_u64().unwrap();
    assert_eq!(call(&w, "POST", "/remark", &w.customer, &body)["data"], review, "the same request");
    let expected = json!({
        "id": review, "itemId": 2, "userId": 2, "score": 45, "header": "", "content": "面很<b>香</b>。", "images": picture,
        "averagePrice": 4_750, "tags": ["taste", "service"], "name": "小鱼", "icon": "", "votes": 0, "voting": false,
        "mine": false, "origin": "order", "edited": false, "visibility": "shown",
        "createTime": "2026-11-21T20:00:00", "updateTime": "2026-11-21T20:00:00",
        "cursor": format!("0-1795262400000-{review}"),
    });
    assert_eq!(w.ok("GET", &format!("/remark/{review}"), "")["data"], expected);
    assert_eq!(w.ok("GET", "/remark?itemId=2&curIndex=1", &w.other)["data"], json!([expected]));
    let own = w.ok("GET", "/remark/of/me", &w.customer)["data"][0].clone();
    assert_eq!((&own["mine"], &own["orderId"]), (&json!(true), &json!(order)));
    assert_eq!(w.ok("GET", "/remark/of/me", &w.other)["data"], json!([]));
    let of_orders = format!("/remark/of/orders?ids=1,{order}");
    let found = json!([{ "orderId": order, "remarkId": review, "deleted": false }]);
    assert_eq!(w.ok("GET", &of_orders, &w.customer)["data"], found);
    assert_eq!(w.ok("GET", &of_orders, &w.other)["data"], json!([]));
    let summary = json!({
        "score": 45, "total": 1, "reviews": 1, "stars": [0, 0, 0, 0, 1], "pictures": 1, "folded": 0,
    });
    assert_eq!(w.ok("GET", "/remark/summary?itemId=2", "")["data"], summary);
    assert_eq!(rating(&w), (json!(45), json!(1)));
    w.assert_balanced();
}

#[test]
fn only_a_used_order_is_reviewed_by_its_buyer_and_once() {
    let w = with_new_shop();
    let (paid, used) = (paid_order(&w, &w.customer, 4), used_order(&w, &w.customer, 4));
    let body = |order: &str| json!({ "orderId": order, "score": 50 });
    assert_eq!(refused(&w, "POST", "/remark", &w.customer, &body(&paid)), "ORDER_NOT_USED");
    assert_eq!(refused(&w, "POST", "/remark", &w.other, &body(&used)), "NOT_FOUND");
    assert_eq!(refused(&w, "POST", "/remark", &w.customer, &body("404")), "NOT_FOUND");
    for bad in [
        json!({ "orderId": used }),
        json!({ "orderId": used, "score": 47 }),
        json!({ "orderId": used, "score": 55 }),
        json!({ "orderId": used, "score": 50, "content": "字".repeat(2_049) }),
        json!({ "orderId": used, "score": 50, "images": "/imgs/blogs/1/2/of-nobody.jpg" }),
        json!({ "orderId": used, "score": 50, "images": "https://evil.example/a.jpg" }),
        json!({ "orderId": used, "score": 50, "averagePrice": -1 }),
        json!({ "orderId": used, "score": 50, "tags": ["price"] }),
        json!({ "orderId": "x", "score": 50 }),
        json!({ "orderId": used, "score": 50, "requestId": "" }),
    ] {
        refused(&w, "POST", "/remark", &w.customer, &bad);
    }
    assert_eq!(list(&w, "").len(), 0);
    call(&w, "POST", "/remark", &w.customer, &body(&used));
    assert_eq!(refused(&w, "POST", "/remark", &w.customer, &body(&used)), "ALREADY_REVIEWED");
    assert_eq!(rating(&w), (json!(50), json!(1)));
}

#[test]
fn a_changed_repeat_is_refused_with_the_id_of_the_review_that_exists() {
    let w = with_new_shop();
    let order = used_order(&w, &w.customer, 4);
    let body = |score: u64, request: &str| json!({ "orderId": order, "score": score, "requestId": request });
    let post = |body: &Value| w.call("POST", "/remark", &w.customer, &body.to_string());
    let refused_for = |body: &Value, code: &str, review: u64| {
        let refused = post(body);
        let said = (refused.status, &refused.body["code"], &refused.body["data"], &refused.body["dataText"]);
        assert_eq!(said, (200, &json!(code), &json!(review), &json!(review.to_string())), "{refused:?}");
    };
    let review = post(&body(50, "once")).body["data"].as_u64().unwrap();
    refused_for(&body(10, "once"), "REVIEW_DIFFERS", review);
    refused_for(&body(10, "again"), "ALREADY_REVIEWED", review);
    assert_eq!(post(&body(50, "once")).body["data"], review);
    assert_eq!(rating(&w), (json!(50), json!(1)), "nothing changed");
    w.ok("DELETE", &format!("/remark/{review}"), &w.customer);
    refused_for(&body(50, "once"), "ALREADY_REVIEWED", review);
    let found = json!([{ "orderId": order, "remarkId": review, "deleted": true }]);
    assert_eq!(w.ok("GET", &format!("/remark/of/orders?ids={order}"), &w.customer)["data"], found);
    w.assert_balanced();
}

#[test]
fn lists_are_paged_by_cursor_without_gaps_while_reviews_are_written() {
    let w = with_new_shop();
    let mut all = Vec::new();
    for number in 0..12_u64 {
        all.push(write(&w, &w.customer, 10 + 5 * (number % 9)));
        w.advance(Duration::from_secs(1));
    }
    all.reverse();
    let first = w.ok("GET", "/remark?itemId=2", "");
    assert_eq!(first["total"], 12);
    let cursor = first["data"][9]["cursor"].as_str().unwrap();
    let new = write(&w, &w.other, 50);
    assert_eq!(list(&w, &format!("&after={cursor}")), all[10..]);
    assert_eq!(list(&w, "&curIndex=2"), all[9..], "pages move");
    assert_eq!(list(&w, "&stars=5").len(), 3);
    assert_eq!(list(&w, "&stars=1").len(), 2);
    assert_eq!(list(&w, "&pictures=true").len(), 0);
    call(&w, "PUT", &format!("/remark/{}/vote/true", all[5]), &w.other, &Value::Null);
    assert_eq!(list(&w, "&sort=best")[..2], [all[5], new]);
    for bad in ["&stars=0", "&stars=6", "&sort=worst", "&after=x", "&pictures=perhaps"] {
        assert_eq!(w.call("GET", &format!("/remark?itemId=2{bad}"), "", "").status, 400, "{bad}");
    }
    assert_eq!(w.call("GET", "/remark", "", "").status, 400, "of no shop");
}

#[test]
fn authors_edit_and_delete_their_own_reviews_only() {
    let w = with_new_shop();
    let review = write(&w, &w.customer, 50);
    let path = format!("/remark/{review}");
    let edit = json!({ "score": 20, "content": "变了。" });
    assert_eq!(refused(&w, "PUT", &path, &w.other, &edit), "NOT_FOUND");
    call(&w, "PUT", &path, &w.customer, &edit);
    let found = w.ok("GET", &path, "")["data"].clone();
    let said = (&found["score"], &found["content"], &found["edited"]);
    assert_eq!(said, (&json!(20), &json!("变了。"), &json!(true)));
    assert_eq!(rating(&w), (json!(20), json!(1)));
    assert_eq!(w.call("DELETE", &path, &w.other, "").status, 403);
    w.ok("DELETE", &path, &w.customer);
    w.ok("DELETE", &path, &w.customer);
    assert_eq!(refused(&w, "GET", &path, &w.customer, &Value::Null), "NOT_FOUND");
    assert_eq!(rating(&w), (json!(0), json!(0)));
    assert_eq!(w.ok("GET", "/remark/of/me", &w.customer)["data"], json!([]));
    w.assert_balanced();
}

#[test]
fn operators_fold_hide_show_and_delete_reviews_with_a_reason() {
    let w = with_new_shop();
    let review = write(&w, &w.customer, 10);
    let other = write(&w, &w.other, 50);
    let path = format!("/ops/remarks/{review}/visibility");
    for bad in [json!({ "visibility": "folded" }), json!({ "visibility": "reported", "reason": "x" })] {
        assert_eq!(w.call("PUT", &path, &w.operator, &bad.to_string()).status, 400, "{bad}");
    }
    call(&w, "PUT", &format!("/remark/{review}/vote/true"), &w.other, &Value::Null);
    decide(&w, review, "folded");
    assert_eq!((list(&w, ""), list(&w, "&folded=true")), (vec![other], vec![review]));
    assert_eq!(rating(&w), (json!(50), json!(1)));
    let vote = format!("/remark/{review}/vote/true");
    assert_eq!(refused(&w, "PUT", &vote, &w.other, &Value::Null), "REVIEW_FOLDED");
    assert_eq!(w.ok("GET", &format!("/remark/{review}"), "")["data"]["votes"], 0);
    decide(&w, review, "hidden");
    assert_eq!((list(&w, ""), list(&w, "&folded=true")), (vec![other], vec![]));
    assert_eq!(refused(&w, "GET", &format!("/remark/{review}"), &w.other, &Value::Null), "NOT_FOUND");
    let own = w.ok("GET", &format!("/remark/{review}"), &w.customer)["data"]["visibility"].clone();
    assert_eq!(own, "hidden", "its author sees it");
    let found = w.ok("GET", "/ops/remarks?visibility=hidden&shopId=2", &w.operator);
    assert_eq!((&found["total"], &found["data"][0]["id"]), (&json!(1), &json!(review)));
    decide(&w, review, "shown");
    assert_eq!(rating(&w), (json!(30), json!(2)));
    decide(&w, review, "deleted");
    decide(&w, review, "deleted");
    let body = json!({ "visibility": "shown", "reason": "x" });
    assert_eq!(refused(&w, "PUT", &path, &w.operator, &body), "NOT_FOUND");
    assert_eq!(rating(&w), (json!(50), json!(1)));
    let entries = w.ok("GET", "/ops/audit", &w.operator).to_string();
    for action in ["review.fold", "review.hide", "review.show", "review.delete", "广告"] {
        assert!(entries.contains(action), "{action}: {entries}");
    }
    w.assert_balanced();
}

#[test]
fn a_shop_replies_once_and_its_reply_can_be_changed_and_removed() {
    let w = with_new_shop();
    let review = write(&w, &w.customer, 50);
    let path = format!("/ops/remarks/{review}/reply");
    let shown = || w.ok("GET", &format!("/remark/{review}"), "")["data"].get("reply").cloned();
    for text in ["谢谢光临！", "欢迎再来！"] {
        call(&w, "PUT", &path, &w.operator, &json!({ "content": text }));
        assert_eq!(shown(), Some(json!({ "content": text, "createTime": "2026-11-21T20:00:00" })));
    }
    for bad in ["", " ", &"字".repeat(513)] {
        refused(&w, "PUT", &path, &w.operator, &json!({ "content": bad }));
    }
    w.ok("DELETE", &path, &w.operator);
    assert_eq!(shown(), None);
    let unknown = refused(&w, "PUT", "/ops/remarks/99/reply", &w.operator, &json!({ "content": "x" }));
    assert_eq!(unknown, "NOT_FOUND");
}

#[test]
fn a_reported_review_is_decided_by_an_operator() {
    let w = with_new_shop();
    let review = write(&w, &w.customer, 50);
    let report = json!({ "kind": "review", "id": review, "reason": "广告" });
    call(&w, "POST", "/report", &w.other, &report);
    let open = w.ok("GET", "/ops/reports", &w.operator)["data"][0].clone();
    let told = (&open["kind"], &open["id"], &open["itemId"], open.get("blogId"), &open["content"]);
    assert_eq!(told, (&json!("review"), &json!(review), &json!(2), None, &json!("面很香。")));
    decide(&w, review, "shown");
    assert_eq!(w.ok("GET", "/ops/reports", &w.operator)["total"], 0);
    decide(&w, review, "hidden");
    assert_eq!(refused(&w, "POST", "/report", &w.operator, &report), "NOT_FOUND");
}

#[test]
fn an_edit_of_a_shop_leaves_its_score_to_its_reviews() {
    let w = with_new_shop();
    write(&w, &w.customer, 50);
    let edit = json!({ "id": 2, "name": "茶楼", "score": 10, "comments": 900 });
    call(&w, "PUT", "/shop", &w.operator, &edit);
    assert_eq!(rating(&w), (json!(50), json!(1)));
    w.assert_balanced();
}

#[test]
fn reviews_and_votes_are_in_the_export_of_their_author() {
    let w = with_new_shop();
    let review = write(&w, &w.customer, 45);
    call(&w, "PUT", &format!("/remark/{review}/vote/true"), &w.other, &Value::Null);
    let export = |token: &str| -> Value {
        serde_json::from_str(&w.call("GET", "/user/export", token, "").text).unwrap()
    };
    let (author, voter) = (export(&w.customer), export(&w.other));
    assert_eq!((&author["reviews"][0]["id"], &author["reviews"][0]["score"]), (&json!(review), &json!(45)));
    assert_eq!(author["votes"], json!([]));
    let vote = json!({ "reviewId": review, "up": true, "createTime": "2026-11-21T20:00:00" });
    assert_eq!((&voter["reviews"], &voter["votes"]), (&json!([]), &json!([vote])));
}
