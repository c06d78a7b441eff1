//! The authorisation matrix: every described call by every kind of caller, and the outcome of each.
//!
//! Callers, in the order of the columns: anonymous, with a forged token, another user, the owner, a blocked
//! user, a former operator, an operator, an operator who has not given the second factor, a staff member.
//! Outcomes: `+` success, `n` refused as not found, `-` refused by another rule, `1` 401, `3` 403, `f` 403
//! for lack of the second factor. The things in braces are made anew for each cell, by the owner or the
//! operator.

mod rows;

use std::collections::BTreeSet;

use image::ImageFormat;
use serde_json::{Value, json};

use super::super::operator::events::subscribe;
use super::super::operator::live::Stream;
use super::super::operator::staff;
use super::super::people::second_factor::enrol;
use super::super::selling::batch_claims::gateway;
use super::super::world::{CUSTOMER, Response, World, sale, shop, voucher, world};
use super::super::writing::uploads::{file, taken, upload};
use super::{described, document};
use rows::ROWS;

const CALLERS: [&str; 9] = [
    "anonymous",
    "forged",
    "another user",
    "the owner",
    "blocked",
    "former operator",
    "operator",
    "operator without factor",
    "staff",
];

/// The callers' tokens, in the order of the columns.
fn tokens(w: &World) -> [String; 9] {
    let (blocked, former) = (w.log_in("13900000004"), w.log_in("13900000005"));
    let id = |token: &str| w.ok("GET", "/user/me", token)["data"]["id"].as_u64().unwrap();
    let operate = |method: &str, path: String, body: Value| {
        let response = w.call(method, &path, &w.operator, &body.to_string());
        assert_eq!(response.body["success"], true, "{path}: {response:?}");
    };
    operate("POST", format!("/ops/users/{}/block", id(&blocked)), json!({ "reason": "buys for resale" }));
    let role = format!("/ops/users/{}/role", id(&former));
    operate("PUT", role.clone(), json!({ "role": "operator" }));
    w.ok("GET", "/ops/overview", &former);
    operate("PUT", role, json!({ "role": "customer" }));
    let cautious = w.log_in("13900000006");
    operate("PUT", format!("/ops/users/{}/role", id(&cautious)), json!({ "role": "operator" }));
    enrol(w, &cautious, &json!({}));
    let cautious = w.log_in("13900000006");
    let key = staff::kiosk(w, "matrix");
    staff::add(w, "matrix", "482913");
    let staff = staff::log_in(w, &key, "482913");
    let [other, owner, operator] = [&w.other, &w.customer, &w.operator].map(Clone::clone);
    [String::new(), "0123456789abcdef".repeat(3), other, owner, blocked, former, operator, cautious, staff]
}

/// Makes what rows name in braces. Phone numbers are consecutive.
struct Maker<'a> {
    w: &'a World,
    next_phone: u64,
}

impl Maker<'_> {
    /// Replaces each name in braces by a thing made for this cell.
    fn fill(&mut self, text: &str) -> String {
        self.next_phone += 1;
        let mut filled = text.to_owned();
        for name in [
            "code",
            "mailed",
            "phone",
            "person",
            "session",
            "note",
            "comment",
            "upload",
            "file",
            "order",
            "paid",
            "receipt",
            "review",
            "used",
            "sale-form",
            "sale",
            "shop",
            "subscriber",
            "gateway",
            "staff",
            "counter-sale",
            "voucher",
        ] {
            let name_in_braces = format!("{{{name}}}");
            if filled.contains(&name_in_braces) {
                filled = filled.replace(&name_in_braces, &self.make(name));
            }
        }
        filled
    }

    fn make(&self, name: &str) -> String {
        let (w, owner, phone) = (self.w, &self.w.customer, self.next_phone.to_string());
        let sale = sale("2026-11-21T19:00:00", "2026-11-21T23:00:00", 2);
        let post = |path: &str, body: &Value| {
            let response = w.call("POST", path, owner, &body.to_string());
            response.body["data"].as_u64().unwrap_or_else(|| panic!("{path}: {response:?}"))
        };
        match name {
            "phone" => phone,
            "code" => {
                w.ok("POST", &format!("/user/code?phone={phone}"), "");
                let inbox = w.ok("GET", &format!("/demo/inbox?phone={phone}"), "");
                inbox["data"]["code"].as_str().unwrap().to_owned()
            }
            "mailed" => {
                w.ok("POST", &format!("/user/code?phone={phone}"), "");
                phone
            }
            "person" => w.ok("GET", "/user/me", &w.log_in(&phone))["data"]["id"].to_string(),
            "session" => {
                let sessions = w.ok("GET", "/user/sessions", &w.log_in(CUSTOMER));
                let mut sessions = sessions["data"].as_array().unwrap().iter();
                let new = sessions.find(|session| session["current"] == true).unwrap();
                new["id"].as_str().unwrap().to_owned()
            }
            "note" => {
                post("/blog", &json!({ "shopId": 1, "title": "一碗面", "content": "好吃" })).to_string()
            }
            "comment" => {
                let note = self.make("note").parse::<u64>().unwrap();
                post("/blog-comments", &json!({ "blogId": note, "content": "同感" })).to_string()
            }
            "upload" => taken(w, owner),
            "file" => taken(w, owner).rsplit('/').next().unwrap().to_owned(),
            "order" => w.ok("POST", "/voucher-order/1", owner)["dataText"].as_str().unwrap().to_owned(),
            "paid" => {
                let order = self.make("order");
                w.ok("POST", &format!("/voucher-order/{order}/pay"), owner);
                order
            }
            "receipt" => {
                let receipt = w.ok("GET", &format!("/voucher-order/{}/receipt", self.make("paid")), owner);
                receipt["data"]["code"].as_str().unwrap().to_owned()
            }
            "review" => {
                let review = json!({ "orderId": self.make("used"), "score": 50 });
                post("/remark", &review).to_string()
            }
            "used" => {
                let order = self.make("paid");
                let receipt = w.ok("GET", &format!("/voucher-order/{order}/receipt"), owner);
                let code = receipt["data"]["code"].as_str().unwrap();
                w.ok("POST", &format!("/ops/receipts/{code}/use"), &w.operator);
                order
            }
            "sale" => w.add("/voucher/seckill", &sale).to_string(),
            "sale-form" => sale.to_string(),
            "shop" => shop().to_string(),
            "subscriber" => {
                let list = w.ok("GET", "/ops/events/subscribers", &w.operator);
                let listed = list["data"]["subscribers"].as_array().unwrap();
                match listed.iter().find(|subscriber| subscriber["name"] == "kept") {
                    Some(kept) => kept["id"].to_string(),
                    None => subscribe(w, &json!({ "name": "kept", "target": "log" }))["id"].to_string(),
                }
            }
            "gateway" => gateway(w, &format!("of {phone}"), &[2], 1).0.to_string(),
            "staff" => staff::add_with_pin_of_the_mall(w, &phone).to_string(),
            "counter-sale" => staff::sale(1, 4_750, &phone).to_string(),
            "voucher" => voucher().to_string(),
            _ => unreachable!("{name} is not among the things of rows"),
        }
    }
}

/// Returns the outcome's letter, or the status if the table has no letter for the outcome.
fn outcome(response: &Response) -> String {
    let body = &response.body;
    let letter = match response.status {
        200 if body["success"] == true || body["openapi"].is_string() || body["account"].is_object() => "+",
        200 if response.head.contains("content-type: text/csv") => "+",
        200 if body["code"] == "NOT_FOUND" => "n",
        200 if body["success"] == false => "-",
        401 => "1",
        403 if body["code"] == "SECOND_FACTOR_REQUIRED" => "f",
        403 => "3",
        other => return format!("({other})"),
    };
    letter.to_owned()
}

fn ask(w: &World, call: &str, path: &str, token: &str, body: &str) -> String {
    match call {
        // The response is endless: its head decides.
        "GET /ops/live" | "GET /ops/events/stream" => match Stream::of(w, path, token).status() {
            "200" => "+".to_owned(),
            _ => outcome(&w.call("GET", path, token, body)),
        },
        "POST /upload/blog" => outcome(&upload(w, token, &file(ImageFormat::Png))),
        _ => outcome(&w.call(call.split_once(' ').unwrap().0, path, token, body)),
    }
}

#[test]
fn every_call_lets_in_whom_the_matrix_names_and_nobody_else() {
    let w = world();
    let listed: BTreeSet<String> = ROWS.iter().map(|(call, ..)| (*call).to_owned()).collect();
    assert_eq!(listed, described(&document(&w)), "left: rows of the matrix, right: calls of the description");
    assert_eq!(listed.len(), ROWS.len(), "a call has two rows");
    let (tokens, mut maker) = (tokens(&w), Maker { w: &w, next_phone: 13_900_001_000 });
    let mut wrong = Vec::new();
    for (call, path, body, want) in ROWS {
        let path = if path.is_empty() { call.split_once(' ').unwrap().1 } else { path };
        let cells = tokens.iter().map(|token| {
            // Path and body belong together: a code belongs to a phone.
            let filled = maker.fill(&format!("{path}\n{body}"));
            let (path, body) = filled.split_once('\n').unwrap();
            ask(&w, call, path, token, body)
        });
        let cells: String = cells.collect();
        if cells != *want {
            wrong.push(format!("{call}: {cells} instead of {want}"));
        }
    }
    assert!(wrong.is_empty(), "callers are {CALLERS:?}:\n{}", wrong.join("\n"));
}
