//! The OpenAPI description compared with the API: the existing routes, and the actual responses.

mod authorisation;
mod cash;
mod judgement;
mod names;
mod operators;
mod reviews;
mod staff;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use image::ImageFormat;
use serde_json::{Value, json};

use self::cash::cash;
use self::operators::{
    accounts, ask_as_each, clock, events, live_figures, money_at_the_counter, printer_at, printing, receipts,
    running_sales, second_factor, users_and_audit_log,
};
use self::reviews::reviews;
use self::staff::staff;
use super::selling::payment_callbacks;
use super::world::{CUSTOMER, OTHER, Response, World, sale, shop, voucher, with_database_access_and, world};
use super::writing::uploads::{file, upload};

const METHODS: [&str; 4] = ["get", "post", "put", "delete"];

fn document(w: &World) -> Value {
    let reply = w.call("GET", "/openapi.json", "", "");
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.body
}

/// Returns every operation described, such as `POST /user/login`.
fn described(document: &Value) -> BTreeSet<String> {
    let mut calls = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            assert!(METHODS.contains(&method.as_str()), "{method} {path}");
            calls.insert(format!("{} {path}", method.to_uppercase()));
        }
    }
    calls
}

/// Replaces path parameters with a value.
fn filled(path: &str) -> String {
    path.split('/').map(|part| if part.starts_with('{') { "1" } else { part }).collect::<Vec<_>>().join("/")
}

#[test]
fn what_is_described_is_there_by_these_methods_and_no_others() {
    let w = world();
    let document = document(&w);
    for (path, item) in document["paths"].as_object().unwrap() {
        let reply = w.call("BREW", &filled(path), "", "");
        assert_eq!(reply.status, 405, "{path} is described and not there: {}", reply.text);
        let allowed = reply.head.lines().find_map(|line| line.strip_prefix("allow: ")).unwrap_or_default();
        let allowed: BTreeSet<_> =
            allowed.split(',').map(str::to_ascii_lowercase).filter(|method| method != "head").collect();
        let described: BTreeSet<_> = item.as_object().unwrap().keys().cloned().collect();
        assert_eq!(allowed, described, "{path}: left is what routes take, right what is described");
    }
}

#[test]
fn every_call_says_in_both_languages_what_it_does_and_has_a_name_of_its_own() {
    let w = world();
    let document = document(&w);
    let mut names = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let (en, zh) = (&operation["summary"], &operation["x-summary-zh"]);
            assert!(en.as_str().is_some_and(|text| !text.is_empty() && text.is_ascii()), "{method} {path}");
            assert!(zh.as_str().is_some_and(|text| !text.is_ascii()), "{method} {path}");
            assert!(names.insert(operation["operationId"].to_string()), "{method} {path}: {operation}");
            let of_path = operation["parameters"].as_array().into_iter().flatten();
            let of_path = of_path.filter(|parameter| parameter["in"] == "path").count();
            assert_eq!(of_path, path.matches('{').count(), "{method} {path}: names in the path");
        }
    }
}

#[test]
fn the_document_says_where_the_api_is() {
    for prefix in ["/api", "/mall/api", ""] {
        let w = World::with(prefix, |mall| mall);
        let want = if prefix.is_empty() { "/" } else { prefix };
        assert_eq!(document(&w)["servers"][0]["url"], want);
    }
}

/// Validates responses against the description.
struct Checker<'a> {
    w: &'a World,
    document: Value,
    /// Operations with a success, and operations with any response.
    good: BTreeSet<String>,
    seen: BTreeMap<String, usize>,
}

impl<'a> Checker<'a> {
    fn new(w: &'a World) -> Self {
        Self { w, document: document(w), good: BTreeSet::new(), seen: BTreeMap::new() }
    }

    /// Sends a request, and checks status and body. `call` is the operation in the description.
    fn ask(&mut self, call: &str, path: &str, token: &str, body: &Value) -> Response {
        let (method, _) = call.split_once(' ').unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let reply = self.w.call(method, path, token, &body);
        self.check(call, &reply);
        reply
    }

    fn check(&mut self, call: &str, reply: &Response) {
        let (method, path) = call.split_once(' ').unwrap();
        let operation = &self.document["paths"][path][method.to_lowercase()];
        assert!(operation.is_object(), "{call} is not described");
        let mut response = &operation["responses"][reply.status.to_string()];
        if let Some(name) = response["$ref"].as_str() {
            response = self.document.pointer(name.trim_start_matches('#')).unwrap();
        }
        assert!(
            response.is_object(),
            "{call} answers {}, which is not described: {}",
            reply.status,
            reply.text
        );
        let schema = &response["content"]["application/json"]["schema"];
        if schema.is_null() {
            assert_eq!(reply.text, "", "{call} answers more than is described");
        } else {
            self.hold(call, schema, &reply.body);
        }
        let is_document = !reply.body["openapi"].is_null() || !reply.body["account"].is_null();
        if reply.body["success"] == true || is_document {
            self.good.insert(call.to_owned());
        }
        *self.seen.entry(call.to_owned()).or_default() += 1;
    }

    /// Checks an event; events are described in an extension of the text response.
    fn check_event(&mut self, call: &str, event: &Value) {
        let (method, path) = call.split_once(' ').unwrap();
        let response = &self.document["paths"][path][method.to_lowercase()]["responses"]["200"];
        let schema = &response["content"]["text/event-stream"]["schema"]["x-data"];
        assert!(schema.is_object(), "{call} tells events that are not described: {response}");
        self.hold(call, schema, event);
        self.good.insert(call.to_owned());
    }

    /// Checks a download of CSV, which is described as text.
    fn check_csv(&mut self, call: &str, reply: &Response) {
        let (method, path) = call.split_once(' ').unwrap();
        let response = &self.document["paths"][path][method.to_lowercase()]["responses"]["200"];
        assert_eq!(response["content"]["text/csv"]["schema"]["type"], "string", "{response}");
        assert!(reply.status == 200 && reply.head.contains("content-type: text/csv"), "{reply:?}");
        self.good.insert(call.to_owned());
    }

    fn hold(&self, call: &str, schema: &Value, value: &Value) {
        let schema = json!({ "allOf": [schema], "components": self.document["components"] });
        let validator = jsonschema::validator_for(&schema).unwrap();
        let faults: Vec<_> = validator.iter_errors(value).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{call}: {faults:?}: {value}");
    }
}

fn people(check: &mut Checker<'_>) {
    let (customer, none) = (check.w.customer.clone(), &Value::Null);
    check.ask("POST /user/code", &format!("/user/code?phone={OTHER}"), "", none);
    check.ask("POST /user/code", "/user/code?phone=1", "", none);
    check.ask("POST /user/code", "/user/code?phone=13900000088&ticket=true", "", none);
    let inbox = check.ask("GET /demo/inbox", &format!("/demo/inbox?phone={OTHER}"), "", none);
    let code = json!({ "phone": OTHER, "code": inbox.body["data"]["code"] });
    let token = check.ask("POST /user/login", "/user/login", "", &code).body["data"].clone();
    check.ask("POST /user/login", "/user/login", "", &json!({ "phone": OTHER, "code": "000000" }));
    check.ask("POST /user/login", "/user/login", "", &json!({ "phone": 1 }));
    check.ask("POST /user/logout", "/user/logout", token.as_str().unwrap(), none);
    let own = check.w.log_in("13900000008");
    for token in ["", own.as_str()] {
        let sessions = check.ask("GET /user/sessions", "/user/sessions", token, none);
        check.ask("DELETE /user/sessions", "/user/sessions", token, none);
        check.ask("DELETE /user/sessions/{id}", "/user/sessions/x", token, none);
        let id = sessions.body["data"][0]["id"].as_str().unwrap_or("x").to_owned();
        check.ask("DELETE /user/sessions/{id}", &format!("/user/sessions/{id}"), token, none);
    }
    let own = check.w.log_in("13900000008");
    let mut phone = json!({ "phone": "13900000018", "oldCode": "000000", "code": "000000" });
    for token in ["", own.as_str()] {
        check.ask("PUT /user/phone", "/user/phone", token, &phone);
    }
    for (name, number) in [("oldCode", "13900000008"), ("code", "13900000018")] {
        check.w.ok("POST", &format!("/user/code?phone={number}"), "");
        let inbox = check.w.ok("GET", &format!("/demo/inbox?phone={number}"), "");
        phone[name] = inbox["data"]["code"].clone();
    }
    check.ask("PUT /user/phone", "/user/phone", &own, &phone);
    check.ask("POST /user/logout", "/user/logout?all=true", &own, none);
    for token in ["", customer.as_str()] {
        check.ask("GET /user/me", "/user/me", token, none);
        check.ask("GET /user/role", "/user/role", token, none);
        check.ask("GET /user/{id}", "/user/2", token, none);
        check.ask("GET /user/info/{id}", "/user/info/2", token, none);
        let card = json!({ "nickName": "小鱼", "city": "杭州", "gender": true, "birthday": "2000-01-31" });
        check.ask("PUT /user/info", "/user/info", token, &card);
        check.ask("PUT /user/password", "/user/password", token, &json!({ "password": "correct horse" }));
    }
    let found = check.ask("GET /user/info/{id}", "/user/info/2", &customer, none);
    assert_eq!(found.body["data"]["birthday"], "2000-01-31", "with everything that may be absent");
    check.ask("PUT /user/password", "/user/password", &customer, &json!({ "password": "correct horse" }));
    check.ask("GET /user/{id}", "/user/99", "", none);
    check.ask("GET /user/{id}", "/user/x", "", none);
    check.ask("GET /user/info/{id}", "/user/info/99", "", none);
}

fn own_data(check: &mut Checker<'_>) {
    let (customer, none) = (check.w.customer.clone(), &Value::Null);
    for token in ["", &customer] {
        check.ask("GET /user/export", "/user/export", token, none);
    }
    let leaving = check.w.log_in("13900000066");
    let password = json!({ "password": "correct horse" });
    assert_eq!(check.w.call("PUT", "/user/password", &leaving, &password.to_string()).status, 200);
    for (token, path, body) in [
        ("", "/user/me", &password),
        (&*leaving, "/user/me", &json!({})),
        (&*leaving, "/user/me", &json!({ "password": 1 })),
        (&*leaving, "/user/me?forfeit=x", &password),
        (&*leaving, "/user/me?forfeit=true", &password),
    ] {
        check.ask("DELETE /user/me", path, token, body);
    }
}

fn follows(check: &mut Checker<'_>) {
    let (customer, other, none) = (check.w.customer.clone(), check.w.other.clone(), &Value::Null);
    for (token, path) in
        [(&customer, "1/true"), (&other, "1/true"), (&customer, "3/true"), (&customer, "3/false")]
    {
        check.ask("PUT /follow/{id}/{follow}", &format!("/follow/{path}"), token, none);
    }
    for path in ["2/true", "99/true", "x/true", "1/perhaps"] {
        check.ask("PUT /follow/{id}/{follow}", &format!("/follow/{path}"), &customer, none);
    }
    for token in ["", &customer] {
        for id in ["1", "3", "99", "x"] {
            for call in ["GET /follow/or/not/{id}", "GET /follow/common/{id}"] {
                let (_, path) = call.split_once(' ').unwrap();
                check.ask(call, &path.replace("{id}", id), token, none);
            }
        }
    }
    for query in ["", "?current=2", "?current=x"] {
        check.ask("GET /follow/fans/{id}", &format!("/follow/fans/1{query}"), "", none);
        check.ask("GET /follow/followees/{id}", &format!("/follow/followees/2{query}"), "", none);
    }
}

fn likes_and_feed(check: &mut Checker<'_>) {
    let (other, none) = (check.w.other.clone(), &Value::Null);
    // By the operator, who has followers.
    let note = check.w.add("/blog", &json!({ "shopId": 1, "title": "一碗面", "content": "好吃" }));
    let comment = check.w.add("/blog-comments", &json!({ "blogId": note, "content": "同感" }));
    for token in ["", &other, &other] {
        for id in [&*note.to_string(), "99", "x"] {
            check.ask("PUT /blog/like/{id}", &format!("/blog/like/{id}"), token, none);
            check.ask("PUT /blog/like/{id}", &format!("/blog/like/{id}?like=true"), token, none);
            check.ask("GET /blog/likes/{id}", &format!("/blog/likes/{id}"), token, none);
        }
        for id in [&*comment.to_string(), "99", "x"] {
            check.ask("PUT /blog-comments/like/{id}", &format!("/blog-comments/like/{id}"), token, none);
        }
        for query in
            ["lastId=9999999999999&offset=0", "lastId=0", "offset=0", "lastId=x", "lastId=1&offset=-1"]
        {
            check.ask("GET /blog/of/follow", &format!("/blog/of/follow?{query}"), token, none);
        }
    }
}

fn notes(check: &mut Checker<'_>) {
    let (customer, other, none) = (check.w.customer.clone(), check.w.other.clone(), &Value::Null);
    let note = json!({ "shopId": 1, "title": "一碗面", "content": "好吃", "images": "/imgs/a.jpg" });
    for token in ["", &customer, &customer] {
        check.ask("POST /blog", "/blog", token, &note);
        check.ask("GET /blog/of/me", "/blog/of/me?current=1", token, none);
    }
    check.ask("POST /blog", "/blog", &customer, &json!({ "title": 1 }));
    for (token, answers) in [("", 0), (&customer, 0), (&other, 1), (&customer, 2), (&customer, 99)] {
        let body = json!({ "blogId": 1, "answerId": answers, "content": "在哪里？" });
        check.ask("POST /blog-comments", "/blog-comments", token, &body);
    }
    for id in ["1", "99", "x"] {
        check.ask("GET /blog/{id}", &format!("/blog/{id}"), &other, none);
        check.ask("GET /blog/of/user", &format!("/blog/of/user?id={id}"), "", none);
        check.ask("GET /blog-comments/of/blog/{id}", &format!("/blog-comments/of/blog/{id}"), "", none);
        check.ask("GET /blog-comments/answers/{id}", &format!("/blog-comments/answers/{id}"), "", none);
        for kind in ["note", "comment", "review", "shop"] {
            let body = json!({ "kind": kind, "id": id.parse::<u64>().unwrap_or_default(), "reason": "广告" });
            check.ask("POST /report", "/report", &other, &body);
        }
    }
    check.ask("GET /blog/hot", "/blog/hot?current=1", "", none);
    ask_as_each(check, "GET /ops/reports", "/ops/reports?current=1", none);
    for kind in ["note", "comment"] {
        for step in ["hide", "show"] {
            let call = format!("POST /ops/reports/{kind}/{{id}}/{step}");
            ask_as_each(check, &call, &format!("/ops/reports/{kind}/1/{step}"), none);
        }
    }
    for token in ["", &other, &customer] {
        check.ask("DELETE /blog-comments/{id}", "/blog-comments/1", token, none);
        check.ask("DELETE /blog/{id}", "/blog/1", token, none);
    }
}

fn pictures(check: &mut Checker<'_>) {
    let (customer, call, remove) = (check.w.customer.clone(), "POST /upload/blog", "GET /upload/blog/delete");
    for token in ["", &customer] {
        for file in [file(ImageFormat::Png), b"no picture".to_vec(), vec![b' '; 6 << 20]] {
            let reply = upload(check.w, token, &file);
            check.check(call, &reply);
            if let Some(name) = reply.body["data"].as_str() {
                let erased = format!("/ops/pictures/{}", name.rsplit('/').next().unwrap());
                let again = upload(check.w, token, &file).body["data"].as_str().unwrap().to_owned();
                let (call, operator) = ("DELETE /ops/pictures/{name}", check.w.operator.clone());
                ask_as_each(check, call, &erased, &Value::Null);
                check.ask(call, &erased, &operator, &Value::Null);
                let name = again;
                let removed = format!("/upload/blog/delete?name={name}");
                assert_eq!(check.ask(remove, &removed, token, &Value::Null).body["success"], true);
            }
        }
        check.ask(call, "/upload/blog", token, &json!({}));
        check.ask(remove, "/upload/blog/delete", token, &Value::Null);
        check.ask(remove, "/upload/blog/delete?name=/blogs/1/2/nobodys.jpg", token, &Value::Null);
    }
}

fn shops_and_vouchers(check: &mut Checker<'_>) {
    let (customer, operator, none) = (check.w.customer.clone(), check.w.operator.clone(), &Value::Null);
    for token in ["", &customer, &operator] {
        check.ask("POST /shop", "/shop", token, &shop());
        check.ask("PUT /shop", "/shop", token, &json!({ "id": 1, "score": 40 }));
        check.ask("POST /voucher", "/voucher", token, &voucher());
        let sale = sale("2026-11-21T19:00:00", "2026-11-21T23:00:00", 2);
        check.ask("POST /voucher/seckill", "/voucher/seckill", token, &sale);
    }
    for body in [json!({ "name": "丽人", "icon": "/types/lr.svg", "sort": 9 }), json!({ "sort": "x" })] {
        ask_as_each(check, "POST /shop-type", "/shop-type", &body);
        ask_as_each(check, "PUT /shop-type/{id}", "/shop-type/1", &body);
        ask_as_each(check, "PUT /shop-type/{id}", "/shop-type/99", &body);
    }
    check.ask("POST /shop", "/shop", &operator, &json!({ "x": "east" }));
    check.ask("POST /shop", "/shop", &operator, &json!({ "x": "e".repeat(1_100_000) }));
    check.ask("GET /shop-type/list", "/shop-type/list", "", none);
    check.ask("GET /shop/areas", "/shop/areas", "", none);
    for id in ["1", "99", "x"] {
        check.ask("GET /shop/{id}", &format!("/shop/{id}"), "", none);
        check.ask("GET /voucher/list/{shopId}", &format!("/voucher/list/{id}"), "", none);
    }
    for query in ["", "?x=120.149993&y=30.334229&typeId=2&radius=3000&current=1", "?x=120.149993"] {
        check.ask("GET /shop/near", &format!("/shop/near{query}"), "", none);
        check.ask("GET /shop/of/type", &format!("/shop/of/type{query}"), "", none);
    }
    for query in ["", "?typeId=2&current=1&sortBy=score", "?&current=x", "?name=%E8%8C%B6"] {
        check.ask("GET /shop/of/type", &format!("/shop/of/type{query}"), "", none);
        check.ask("GET /shop/of/name", &format!("/shop/of/name{query}"), "", none);
    }
}

fn sales_and_orders(check: &mut Checker<'_>) {
    let (customer, operator, none) = (check.w.customer.clone(), check.w.operator.clone(), &Value::Null);
    for id in ["2", "3", "99", "x"] {
        check.ask("GET /sale/{voucherId}", &format!("/sale/{id}"), "", none);
        check.ask("GET /sale/{voucherId}/page", &format!("/sale/{id}/page"), "", none);
        for token in ["", &customer, &customer] {
            let claim = "POST /voucher-order/seckill/{voucherId}";
            check.ask(claim, &format!("/voucher-order/seckill/{id}"), token, none);
        }
    }
    for query in ["", "?current=2", "?current=x"] {
        check.ask("GET /sale/on", &format!("/sale/on{query}"), "", none);
    }
    let page = check.w.request("GET", "/api/sale/2/page", "if-none-match: *\r\n", b"");
    assert_eq!(page.status, 304);
    check.check("GET /sale/{voucherId}/page", &page);
    let buy = |check: &mut Checker<'_>, id: &str, token: &str| {
        let (call, path) = ("POST /voucher-order/{id}", format!("/voucher-order/{id}"));
        for request in [json!({ "requestId": "cart 7" }), json!({ "requestId": "" })] {
            check.ask(call, &path, token, &request);
        }
        check.ask(call, &path, token, &Value::Null)
    };
    for (id, token) in [("1", ""), ("2", customer.as_str()), ("99", &customer), ("x", &customer)] {
        buy(check, id, token);
    }
    for steps in [&["cancel", "pay"][..], &["refund", "pay", "refund"], &["use", "pay", "use", "cancel"]] {
        let id = buy(check, "1", &customer).body["dataText"].as_str().unwrap().to_owned();
        for step in steps {
            let call = format!("POST /voucher-order/{{id}}/{step}");
            for token in ["", if *step == "use" { &operator } else { &customer }] {
                check.ask(&call, &format!("/voucher-order/{id}/{step}"), token, none);
            }
        }
        check.ask("GET /voucher-order/{id}", &format!("/voucher-order/{id}"), &customer, none);
    }
    check.ask("GET /voucher-order/{id}", "/voucher-order/1", &customer, none);
    for query in ["", "?current=2", "?current=x"] {
        check.ask("GET /voucher-order/of/me", &format!("/voucher-order/of/me{query}"), &customer, none);
    }
}

/// Checks responses of a mall with a payment gateway.
fn money_of_a_gateway(check: &mut Checker<'_>) {
    for (call, reply) in payment_callbacks::exchange() {
        check.check(call, &reply);
    }
}

/// Drives the sign-ins. Must be last: sessions end before the next day, which is needed to make up a missed
/// sign-in.
fn sign_ins(check: &mut Checker<'_>) {
    let none = &Value::Null;
    for query in ["", "?from=2026-11-21&to=2026-11-22&current=1", "?from=x"] {
        ask_as_each(check, "GET /stats/signs", &format!("/stats/signs{query}"), none);
    }
    for query in ["", "?from=2026-11-21&to=2026-11-22&shopId=1", "?shopId=x"] {
        ask_as_each(check, "GET /stats/visits", &format!("/stats/visits{query}"), none);
    }
    check.w.advance(Duration::from_secs(24 * 3_600));
    for token in [String::new(), check.w.log_in(CUSTOMER)] {
        check.ask("POST /user/sign", "/user/sign", &token, none);
        check.ask("GET /user/level", "/user/level", &token, none);
        for query in ["", "?before=1", "?before=x"] {
            check.ask("GET /user/credits", &format!("/user/credits{query}"), &token, none);
        }
        check.ask("GET /user/sign/count", "/user/sign/count", &token, none);
        check.ask("GET /user/signCount", "/user/signCount", &token, none);
        for query in ["", "?month=2026-11", "?month=13"] {
            check.ask("GET /user/sign/month", &format!("/user/sign/month{query}"), &token, none);
            check.ask("GET /user/sign/calendar", &format!("/user/sign/calendar{query}"), &token, none);
        }
        for date in ["2026-11-21", "2026-11-21", "2026-11-20"] {
            check.ask("POST /user/sign/make-up", &format!("/user/sign/make-up?date={date}"), &token, none);
        }
    }
}

#[test]
fn every_call_answers_what_is_described() {
    let paper = tempfile::NamedTempFile::new().unwrap();
    let w = with_database_access_and(|mall| mall.printer(printer_at(paper.path())));
    let mut check = Checker::new(&w);
    check.ask("GET /openapi.json", "/openapi.json", "", &Value::Null);
    people(&mut check);
    follows(&mut check);
    notes(&mut check);
    reviews(&mut check);
    likes_and_feed(&mut check);
    pictures(&mut check);
    shops_and_vouchers(&mut check);
    sales_and_orders(&mut check);
    receipts(&mut check);
    printing(&mut check);
    clock(&mut check);
    money_at_the_counter(&mut check);
    staff(&mut check);
    cash(&mut check);
    money_of_a_gateway(&mut check);
    running_sales(&mut check);
    accounts(&mut check);
    users_and_audit_log(&mut check);
    second_factor(&mut check);
    own_data(&mut check);
    live_figures(&mut check);
    events(&mut check);
    sign_ins(&mut check);
    let described = described(&check.document);
    let silent: Vec<_> = described.difference(&check.good).collect();
    assert!(silent.is_empty(), "never seen to say yes: {silent:?}; add them to a list in this file");
    assert!(check.seen.values().sum::<usize>() > 100, "{:?}", check.seen);
}
