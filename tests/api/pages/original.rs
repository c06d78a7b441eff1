//! The original profile: responses for pages of hm-dianping, which show the message of a 200 and ignore other
//! statuses.

use mallbox::fixture::Builder;
use mallbox::http::Profile;
use mallbox::mall::Settings;
use mallbox_storage::Limit;
use serde_json::json;

use super::world::{CUSTOMER, Response, World};

const MINUTE: std::time::Duration = std::time::Duration::from_secs(60);
/// Header sent by mallbox's own pages.
const OWN_PAGE: &str = "x-mallbox-client: web\r\n";

pub fn original() -> World {
    World::with("/api", |mall| mall.profile(Profile::Original))
}

fn limited(mall: Builder) -> Builder {
    let claim_limit = Some(Limit { count: 5, per: MINUTE });
    let settings = Settings { inbox: true, claim_limit, ..Settings::default().without_limits() };
    mall.settings(settings)
}

/// Sends a request as one of mallbox's own pages.
pub fn own(w: &World, method: &str, path: &str, token: &str, body: &str) -> Response {
    let headers = format!("{OWN_PAGE}authorization: {token}\r\n");
    w.request(method, &format!("/api{path}"), &headers, body.as_bytes())
}

fn outcome(response: &Response) -> (u16, &str) {
    (response.status, response.body["code"].as_str().unwrap_or_default())
}

#[test]
fn a_limit_is_a_sentence_there_and_a_status_for_own_pages() {
    let w = World::with("/api", |mall| limited(mall).profile(Profile::Original));
    let claim = |token: &str| w.call("POST", "/voucher-order/seckill/2", token, "");
    let (one, two) = (w.customer.clone(), w.other.clone());
    assert!(claim(&one).body["success"] == true && claim(&two).body["success"] == true);
    let third = w.log_in("13900000004");
    for _ in 0..5 {
        assert_eq!(outcome(&claim(&third)), (200, "SOLD_OUT"));
    }
    let refused = claim(&third);
    assert_eq!(outcome(&refused), (200, "RATE_LIMITED"));
    assert_eq!(refused.body["success"], false);
    assert!(!refused.body["errorMsg"].as_str().unwrap().is_empty(), "{refused:?}");
    let refused = own(&w, "POST", "/voucher-order/seckill/2", &third, "");
    assert_eq!(outcome(&refused), (429, "RATE_LIMITED"));
    assert!(refused.head.to_lowercase().contains("retry-after"), "{refused:?}");
}

#[test]
fn the_holder_of_an_order_is_refused_as_such_before_any_limit() {
    for profile in [Profile::Original, Profile::Strict] {
        let w = World::with("/api", |mall| limited(mall).profile(profile));
        let claim = || w.call("POST", "/voucher-order/seckill/2", &w.customer, "");
        let order = claim().body["dataText"].clone();
        for again in 1..=30 {
            let response = claim();
            assert_eq!(outcome(&response), (200, "ALREADY_BOUGHT"), "{again}: {response:?}");
            assert_eq!(response.body["dataText"], order, "{again}");
        }
        // Repeated claims have a separate limit.
        let last = (31..=60).map(|_| claim()).find(|response| response.body["code"] == "RATE_LIMITED");
        let status = if profile == Profile::Original { 200 } else { 429 };
        assert_eq!(last.map(|response| response.status), Some(status));
        w.settle_log();
        w.assert_balanced();
    }
}

#[test]
fn the_holder_of_an_order_is_refused_as_such_when_the_sale_is_over_or_paused() {
    let w = original();
    let claim = |token: &str| w.call("POST", "/voucher-order/seckill/2", token, "").body;
    let order = claim(&w.customer)["dataText"].clone();
    w.ok("POST", "/ops/sales/2/pause", &w.operator);
    assert_eq!(
        (&claim(&w.customer)["code"], &claim(&w.other)["code"]),
        (&json!("ALREADY_BOUGHT"), &json!("PAUSED"))
    );
    w.ok("POST", "/ops/sales/2/end", &w.operator);
    assert_eq!(claim(&w.other)["code"], "ENDED");
    let response = claim(&w.customer);
    assert_eq!((&response["code"], &response["dataText"]), (&json!("ALREADY_BOUGHT"), &order));
}

#[test]
fn refusals_are_answers_and_a_missing_log_in_stays_401() {
    let w = original();
    let large = vec![b' '; (1 << 20) + 1];
    type Row<'a> = (&'a str, &'a str, &'a str, &'a [u8], (u16, &'a str));
    let rows: [Row<'_>; 7] = [
        ("GET", "/user/me", "", b"", (401, "NOT_LOGGED_IN")),
        ("GET", "/shop/x", "", b"", (200, "BAD_REQUEST")),
        ("POST", "/user/login", "", &large, (200, "TOO_LARGE")),
        ("POST", "/voucher-order/2", "customer", b"", (200, "BAD_REQUEST")),
        ("GET", "/ops/sales", "customer", b"", (200, "FORBIDDEN")),
        ("GET", "/nothing", "", b"", (404, "NOT_FOUND")),
        ("PUT", "/user/me", "", b"", (405, "METHOD_NOT_ALLOWED")),
    ];
    for (method, path, who, body, want) in rows {
        let token = if who.is_empty() { String::new() } else { format!("authorization: {}\r\n", w.customer) };
        let response = w.request(method, &format!("/api{path}"), &token, body);
        assert_eq!(outcome(&response), want, "{method} {path}: {response:?}");
        assert_eq!(response.body["success"], false, "{method} {path}");
    }
    let again = w.call("POST", &format!("/user/code?phone={CUSTOMER}"), "", "");
    assert_eq!(again.status, 200);
}

#[test]
fn what_spring_takes_is_taken() {
    let w = original();
    let code = |method: &str, path: &str, body: &str| {
        let response = w.call(method, path, &w.customer, body);
        assert_eq!(response.status, 200, "{method} {path}: {response:?}");
        response.body["code"].as_str().map_or_else(|| "done".to_owned(), str::to_owned)
    };
    let of_me = r#"{"shopId": "1", "title": 7, "content": "x", "images": "/imgs/a.jpg"}"#;
    for (method, path, body, want) in [
        ("POST", "/blog", of_me, "done"),
        ("POST", "/blog", r#"{"shopId": 1.0, "title": "t", "images": ""}"#, "done"),
        ("POST", "/blog", r#"{"title": "t", "content": "x", "images": "/imgs/a.jpg"}"#, "MISSING"),
        ("POST", "/blog", r#"{"shopId": 1, "title": "t", "content": "x"}"#, "MISSING"),
        ("POST", "/blog", r#"{"shopId": "one", "title": "t", "images": ""}"#, "BAD_REQUEST"),
        ("PUT", "/follow/1/1", "", "done"),
        ("PUT", "/follow/1/off", "", "done"),
        ("PUT", "/follow/1/YES", "", "done"),
        ("PUT", "/follow/1/maybe", "", "BAD_REQUEST"),
        ("GET", "/blog/hot?current=-1", "", "done"),
        ("GET", "/shop/of/type?typeId=2&current=-1", "", "done"),
        ("GET", "/shop/of/type?typeId=2&x=120.15", "", "done"),
        ("GET", "/shop/of/type?typeId=2&y=30.3", "", "done"),
        ("GET", "/user/signCount", "", "done"),
        ("GET", "/user/sign/count", "", "done"),
    ] {
        assert_eq!(code(method, path, body), want, "{method} {path} {body}");
    }
    assert_eq!(w.ok("GET", "/follow/or/not/1", &w.customer)["data"], true);
    assert_eq!(w.ok("GET", "/blog/of/me", &w.customer)["data"][1]["title"], "7");
    let shops = w.ok("GET", "/shop/of/type?typeId=2&current=-1&x=120.15", "")["data"].clone();
    assert_eq!(shops[0]["id"], 1, "as without a place");
    assert!(shops[0].get("distance").is_none());
    // A page sends the code as a number.
    w.call("POST", &format!("/user/code?phone={CUSTOMER}"), "", "");
    let code = w.mall.inbox().unwrap().pop().unwrap().1;
    if !code.starts_with('0') {
        let form = format!(r#"{{"phone": {CUSTOMER}, "code": {code}}}"#);
        assert_eq!(w.call("POST", "/user/login", "", &form).body["success"], true);
    }
    // Own pages, and other pages in the strict profile, still get the error.
    let refused = own(&w, "POST", "/blog", &w.customer, of_me);
    assert_eq!(outcome(&refused), (400, "BAD_REQUEST"), "{refused:?}");
    assert_eq!(outcome(&own(&w, "GET", "/blog/hot?current=-1", "", "")), (400, "BAD_REQUEST"));
    assert_eq!(own(&w, "POST", "/blog", &w.customer, r#"{"title": "without a shop"}"#).status, 200);
}

#[test]
fn text_is_stored_as_written_and_a_notes_content_is_escaped_for_pages_that_insert_it_as_html() {
    for w in [original(), World::with("/api", |mall| mall)] {
        let written = "<p>1 < 2 && 3 > 2</p><br>&nbsp;<script>alert(1)</script>＜";
        let escaped =
            "<p>1 &lt; 2 &amp;&amp; 3 &gt; 2</p><br/>&amp;nbsp;&lt;script&gt;alert(1)&lt;/script&gt;＜";
        let form = json!({"shopId": 1, "title": "a < b", "content": written, "images": "/imgs/a.jpg"});
        let response = w.call("POST", "/blog", &w.customer, &form.to_string());
        let note = response.body["data"].as_u64().unwrap_or_else(|| panic!("{response:?}"));
        w.ok("PUT", "/follow/2/true", &w.other);
        for path in [format!("/blog/{note}"), "/blog/hot".into(), "/blog/of/user?id=2".into()] {
            let first = |body: &serde_json::Value| match &body["data"] {
                serde_json::Value::Array(list) => list[0].clone(),
                one => one.clone(),
            };
            let (foreign, own) = (first(&w.ok("GET", &path, "")), first(&own(&w, "GET", &path, "", "").body));
            assert_eq!(
                (&foreign["title"], &foreign["content"]),
                (&json!("a < b"), &json!(escaped)),
                "{path}"
            );
            assert_eq!((&own["title"], &own["content"]), (&json!("a < b"), &json!(written)), "{path}");
        }
    }
}

#[test]
fn a_picture_of_another_address_keeps_it_for_other_front_ends() {
    let w = original();
    let address = "https://p0.example/x/y.jpg?w=1";
    let edit = json!({"id": 1, "images": format!("{address},/imgs/b.jpg")});
    assert_eq!(w.call("PUT", "/shop", &w.operator, &edit.to_string()).body["success"], true);
    let images = |response: &Response| response.body["data"]["images"].clone();
    let foreign = w.call("GET", "/shop/1", "", "");
    assert_eq!(images(&foreign), format!("{address},/imgs/b.jpg"));
    let here = json!("/imgs/remote/p0.example/x/y.jpg,/imgs/b.jpg");
    assert_eq!(images(&own(&w, "GET", "/shop/1", "", "")), here);
    // An own page that sends back the shown value changes nothing.
    let same = json!({"id": 1, "images": here, "area": "大关"}).to_string();
    assert_eq!(own(&w, "PUT", "/shop", &w.operator, &same).body["success"], true);
    assert_eq!(images(&w.call("GET", "/shop/1", "", "")), images(&foreign));
    let page = |own_page: bool| {
        let response = if own_page {
            own(&w, "GET", "/sale/2/page", "", "")
        } else {
            w.call("GET", "/sale/2/page", "", "")
        };
        assert!(response.head.to_lowercase().contains("vary: x-mallbox-client"), "{}", response.head);
        response.body["data"]["shop"]["images"].clone()
    };
    assert_eq!((page(true), page(false)), (here, images(&foreign)));
}
