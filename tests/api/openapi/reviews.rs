//! Operations of reviews and votes.

use serde_json::{Value, json};

use super::super::writing::reviews::used_order;
use super::super::writing::votes::archive;
use super::Checker;
use super::operators::ask_as_each;

pub(super) fn reviews(check: &mut Checker<'_>) {
    let (customer, other, none) = (check.w.customer.clone(), check.w.other.clone(), &Value::Null);
    let order = used_order(check.w, &customer, 1);
    let review = json!({
        "orderId": order, "requestId": "once", "score": 45, "content": "好吃", "images": "/imgs/a.jpg",
        "averagePrice": 4_750, "tags": ["taste", "environment", "service"],
    });
    let mut bad = review.clone();
    bad["score"] = json!(47);
    for (token, body) in
        [("", &review), (&*customer, &bad), (&other, &review), (&customer, &json!({})), (&customer, &review)]
    {
        check.ask("POST /remark", "/remark", token, body);
    }
    let written = check.ask("POST /remark", "/remark", &customer, &review).body["data"].to_string();
    for id in [&*written, "99", "x"] {
        let path = format!("/remark/{id}");
        for up in ["true", "false", "true", "perhaps"] {
            check.ask("PUT /remark/{id}/vote/{up}", &format!("{path}/vote/{up}"), &other, none);
        }
        check.ask("PUT /remark/{id}/vote/{up}", &format!("{path}/vote/true"), "", none);
        for token in ["", &*other, &*customer] {
            check.ask("DELETE /remark/{id}/vote", &format!("{path}/vote"), token, none);
        }
        let ops = format!("/ops/remarks/{id}");
        ask_as_each(
            check,
            "PUT /ops/remarks/{id}/reply",
            &format!("{ops}/reply"),
            &json!({ "content": "谢谢" }),
        );
        for token in ["", &other, &customer] {
            check.ask("GET /remark/{id}", &path, token, none);
            check.ask("PUT /remark/{id}", &path, token, &json!({ "score": 40, "content": "还行" }));
            check.ask("PUT /remark/{id}", &path, token, &json!({ "score": "x" }));
        }
        ask_as_each(check, "GET /ops/remarks/{id}/votes", &format!("{ops}/votes?after=9"), none);
    }
    for query in ["", "&curIndex=2", "&sort=best&pictures=true&stars=4", "&stars=9", "&after=x", "&folded=x"]
    {
        check.ask("GET /remark", &format!("/remark?itemId=1{query}"), &other, none);
    }
    for query in ["?itemId=1", "?itemId=1&start=0&stop=9", "?itemId=1&stop=100", "?itemId=x"] {
        check.ask("GET /remark/recommended", &format!("/remark/recommended{query}"), &other, none);
    }
    for query in ["?itemId=1", "?itemId=99", ""] {
        check.ask("GET /remark/summary", &format!("/remark/summary{query}"), "", none);
    }
    for token in ["", &customer] {
        check.ask("GET /remark/of/me", "/remark/of/me?curIndex=1", token, none);
        check.ask("GET /remark/of/orders", &format!("/remark/of/orders?ids={order}"), token, none);
        check.ask("GET /remark/of/orders", "/remark/of/orders?ids=x", token, none);
    }
    for query in ["", "?visibility=shown&shopId=1&current=1", "?visibility=x"] {
        ask_as_each(check, "GET /ops/remarks", &format!("/ops/remarks{query}"), none);
    }
    for query in ["", "?after=1795262400000-1-9", "?after=x"] {
        ask_as_each(check, "GET /ops/votes", &format!("/ops/votes{query}"), none);
    }
    for query in ["", "?after=2026-11-20", "?after=x"] {
        ask_as_each(check, "GET /ops/archive/votes", &format!("/ops/archive/votes{query}"), none);
    }
    archive(check.w);
    for (day, query) in
        [("2026-11-21", ""), ("2026-11-21", "?after=0-1"), ("2026-11-21", "?after=x"), ("x", "")]
    {
        let path = format!("/ops/archive/votes/{day}{query}");
        ask_as_each(check, "GET /ops/archive/votes/{day}", &path, none);
    }
    ask_as_each(check, "GET /ops/archive/votes", "/ops/archive/votes", none);
    for id in [&*written, "99", "x"] {
        let ops = format!("/ops/remarks/{id}");
        let decision = json!({ "visibility": "folded", "reason": "广告" });
        ask_as_each(check, "DELETE /ops/remarks/{id}/reply", &format!("{ops}/reply"), none);
        ask_as_each(check, "PUT /ops/remarks/{id}/visibility", &format!("{ops}/visibility"), &decision);
        ask_as_each(check, "PUT /ops/remarks/{id}/visibility", &format!("{ops}/visibility"), none);
        for token in ["", &other, &customer] {
            check.ask("DELETE /remark/{id}", &format!("/remark/{id}"), token, none);
        }
    }
}
