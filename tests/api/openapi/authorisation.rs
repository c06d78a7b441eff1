//! The authorisation matrix: every described call by every kind of caller, and the outcome of each.
//!
//! Callers, in the order of the columns: anonymous, with a forged token, another user, the owner, a blocked
//! user, a former operator, an operator, an operator who has not given the second factor, a person of the
//! staff. Outcomes: `+`
//! success, `n` refused as not found, `-` refused by another rule, `1` 401, `3` 403, `f` 403 for lack of the
//! second factor. The things in braces are made anew for each cell, by the owner or the operator.

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

/// Call, path and query, body, outcomes. An empty path is the path of the call.
type Row = (&'static str, &'static str, &'static str, &'static str);

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
/// Everybody may.
const PUBLIC: &str = "+++++++++";
/// A live session is needed, and concerns the caller only. Staff have no account.
const LOGGED_IN: &str = "11++1+++3";
/// The operator role is needed.
const OPERATORS: &str = "113313+f3";
/// The operator role is needed, or a session of staff.
const STAFF: &str = "113313+f+";

/// The count of a drawer that holds what it should.
const COUNT: &str = r#"{"counted":100,"expected":100,"requestId":"a"}"#;

/// `POST /user/login` and `POST /user/logout` are last, after the call that ends other sessions: both end the
/// callers' sessions.
const ROWS: &[Row] = &[
    ("GET /openapi.json", "", "", PUBLIC),
    ("POST /user/code", "/user/code?phone={phone}", "", PUBLIC),
    ("GET /demo/inbox", "/demo/inbox?phone={mailed}", "", PUBLIC),
    ("GET /user/me", "", "", LOGGED_IN),
    ("GET /user/role", "", "", LOGGED_IN),
    ("GET /user/{id}", "/user/2", "", PUBLIC),
    ("GET /user/info/{id}", "/user/info/2", "", PUBLIC),
    ("GET /user/export", "", "", LOGGED_IN),
    ("DELETE /user/me", "", r#"{"password":"wrong horse"}"#, "11--1---3"),
    ("PUT /user/info", "", r#"{"city":"杭州"}"#, LOGGED_IN),
    ("PUT /user/password", "", r#"{"password":"correct horse"}"#, LOGGED_IN),
    ("PUT /user/phone", "", r#"{"phone":"{phone}","oldCode":"000000","code":"000000"}"#, "11--1---3"),
    ("GET /user/sessions", "", "", LOGGED_IN),
    ("DELETE /user/sessions/{id}", "/user/sessions/{session}", "", "11n+1nnn3"),
    ("GET /user/second-factor", "", "", LOGGED_IN),
    // The factor in force asks for a code.
    ("POST /user/second-factor/enrolment", "", "", "113313+-3"),
    ("PUT /user/second-factor", "", r#"{"code":"000000"}"#, "11nn1n-n3"),
    ("POST /user/second-factor", "", r#"{"code":"000000"}"#, "11nn1nn-3"),
    ("POST /user/second-factor/recovery-codes", "", r#"{"code":"000000"}"#, "11nn1nn-3"),
    ("DELETE /user/second-factor", "", r#"{"code":"000000"}"#, "11nn1nn-3"),
    ("POST /user/sign", "", "", LOGGED_IN),
    ("POST /user/sign/make-up", "/user/sign/make-up?date=2026-11-20", "", "11--1---3"),
    ("GET /user/sign/count", "", "", LOGGED_IN),
    ("GET /user/signCount", "", "", LOGGED_IN),
    ("GET /user/sign/month", "", "", LOGGED_IN),
    ("GET /user/sign/calendar", "", "", LOGGED_IN),
    ("GET /user/level", "", "", LOGGED_IN),
    ("GET /user/credits", "", "", LOGGED_IN),
    ("GET /follow/or/not/{id}", "/follow/or/not/1", "", LOGGED_IN),
    ("GET /follow/common/{id}", "/follow/common/1", "", LOGGED_IN),
    ("GET /follow/fans/{id}", "/follow/fans/1", "", PUBLIC),
    ("GET /follow/followees/{id}", "/follow/followees/1", "", PUBLIC),
    ("PUT /follow/{id}/{follow}", "/follow/{person}/true", "", LOGGED_IN),
    ("POST /blog", "", r#"{"shopId":1,"title":"一碗面","content":"好吃","images":"/imgs/a.jpg"}"#, LOGGED_IN),
    ("GET /blog/{id}", "/blog/{note}", "", PUBLIC),
    ("GET /blog/hot", "", "", PUBLIC),
    ("GET /blog/of/me", "", "", LOGGED_IN),
    ("GET /blog/of/user", "/blog/of/user?id=2", "", PUBLIC),
    ("GET /blog/of/follow", "/blog/of/follow?lastId=9999999999999&offset=0", "", LOGGED_IN),
    ("GET /blog/likes/{id}", "/blog/likes/{note}", "", PUBLIC),
    ("PUT /blog/like/{id}", "/blog/like/{note}", "", LOGGED_IN),
    ("DELETE /blog/{id}", "/blog/{note}", "", "113+13+f3"),
    ("POST /blog-comments", "", r#"{"blogId":{note},"content":"同感"}"#, LOGGED_IN),
    ("GET /blog-comments/of/blog/{id}", "/blog-comments/of/blog/{note}", "", PUBLIC),
    ("GET /blog-comments/answers/{id}", "/blog-comments/answers/{comment}", "", PUBLIC),
    ("PUT /blog-comments/like/{id}", "/blog-comments/like/{comment}", "", LOGGED_IN),
    ("DELETE /blog-comments/{id}", "/blog-comments/{comment}", "", "113+13+f3"),
    ("GET /remark", "/remark?itemId=1", "", PUBLIC),
    ("GET /remark/summary", "/remark/summary?itemId=1", "", PUBLIC),
    ("GET /remark/recommended", "/remark/recommended?itemId=1", "", PUBLIC),
    ("GET /remark/of/me", "", "", LOGGED_IN),
    ("GET /remark/of/orders", "/remark/of/orders?ids={order}", "", LOGGED_IN),
    ("GET /remark/{id}", "/remark/{review}", "", PUBLIC),
    ("POST /remark", "", r#"{"orderId":"{used}","score":50}"#, "11n+1nnn3"),
    ("PUT /remark/{id}", "/remark/{review}", r#"{"score":40}"#, "11n+1nnn3"),
    ("DELETE /remark/{id}", "/remark/{review}", "", "113+13+f3"),
    // Nobody votes for the own review.
    ("PUT /remark/{id}/vote/{up}", "/remark/{review}/vote/true", "", "11+-1+++3"),
    ("DELETE /remark/{id}/vote", "/remark/{review}/vote", "", "11+-1+++3"),
    ("GET /ops/remarks", "", "", OPERATORS),
    (
        "PUT /ops/remarks/{id}/visibility",
        "/ops/remarks/{review}/visibility",
        r#"{"visibility":"folded","reason":"x"}"#,
        OPERATORS,
    ),
    ("PUT /ops/remarks/{id}/reply", "/ops/remarks/{review}/reply", r#"{"content":"谢谢"}"#, OPERATORS),
    ("DELETE /ops/remarks/{id}/reply", "/ops/remarks/{review}/reply", "", OPERATORS),
    ("GET /ops/remarks/{id}/votes", "/ops/remarks/{review}/votes", "", OPERATORS),
    ("GET /ops/votes", "", "", OPERATORS),
    ("GET /ops/archive/votes", "", "", OPERATORS),
    ("GET /ops/accounts/{day}/{file}", "/ops/accounts/2026-11-20/payments", "", OPERATORS),
    // Nothing is archived.
    ("GET /ops/archive/votes/{day}", "/ops/archive/votes/2026-11-20", "", "113313nf3"),
    ("POST /report", "", r#"{"kind":"note","id":{note},"reason":"广告"}"#, LOGGED_IN),
    ("POST /upload/blog", "", "", LOGGED_IN),
    ("GET /upload/blog/delete", "/upload/blog/delete?name={upload}", "", "11n+1nnn3"),
    ("GET /shop/{id}", "/shop/1", "", PUBLIC),
    ("GET /shop/areas", "", "", PUBLIC),
    ("GET /shop/of/type", "/shop/of/type?typeId=2", "", PUBLIC),
    ("GET /shop/near", "/shop/near?x=120.149993&y=30.334229&typeId=2", "", PUBLIC),
    ("GET /shop/of/name", "/shop/of/name?name=茶", "", PUBLIC),
    ("POST /shop", "", "{shop}", OPERATORS),
    ("PUT /shop", "", r#"{"id":1,"score":40}"#, OPERATORS),
    ("GET /shop-type/list", "", "", PUBLIC),
    ("POST /shop-type", "", r#"{"name":"丽人","icon":"/types/lr.svg","sort":9}"#, OPERATORS),
    ("PUT /shop-type/{id}", "/shop-type/1", r#"{"name":"KTV","icon":"/types/1.svg","sort":2}"#, OPERATORS),
    ("GET /voucher/list/{shopId}", "/voucher/list/1", "", PUBLIC),
    ("POST /voucher", "", "{voucher}", OPERATORS),
    ("PUT /voucher/{id}", "/voucher/1", r#"{"title":"周末券"}"#, OPERATORS),
    ("POST /voucher/seckill", "", "{sale-form}", OPERATORS),
    ("GET /sale/on", "", "", PUBLIC),
    ("GET /sale/{voucherId}", "/sale/2", "", PUBLIC),
    ("GET /sale/{voucherId}/page", "/sale/2/page", "", PUBLIC),
    // The sale has no guard.
    ("POST /sale/{voucherId}/challenge", "/sale/{sale}/challenge", "", "11--1---3"),
    (
        "POST /sale/{voucherId}/pass",
        "/sale/{sale}/pass",
        r#"{"challenge":"","answer":{"work":"0"}}"#,
        "11--1---3",
    ),
    ("GET /sale/{voucherId}/waiting-list", "/sale/{sale}/waiting-list", "", LOGGED_IN),
    // The sale has no waiting list.
    ("POST /sale/{voucherId}/waiting-list", "/sale/{sale}/waiting-list", "", "11--1---3"),
    ("DELETE /sale/{voucherId}/waiting-list", "/sale/{sale}/waiting-list", "", LOGGED_IN),
    // The sale has no waiting room.
    ("GET /sale/{voucherId}/waiting-room", "/sale/{sale}/waiting-room", "", "11--1---3"),
    ("POST /sale/{voucherId}/waiting-room", "/sale/{sale}/waiting-room", "", "11--1---3"),
    ("DELETE /sale/{voucherId}/waiting-room", "/sale/{sale}/waiting-room", "", "11--1---3"),
    ("POST /voucher-order/seckill/{voucherId}", "/voucher-order/seckill/{sale}", "", LOGGED_IN),
    // For the token of a gateway, which is no session.
    ("POST /voucher-order/seckill/batch", "", r#"{"requestId":"one","claims":[]}"#, "111111111"),
    ("POST /voucher-order/{id}", "/voucher-order/1", "", LOGGED_IN),
    ("GET /voucher-order/of/me", "", "", LOGGED_IN),
    ("GET /voucher-order/{id}", "/voucher-order/{order}", "", "11n+1nnn3"),
    ("POST /voucher-order/{id}/pay", "/voucher-order/{order}/pay", "", "11n+1nnn3"),
    ("POST /voucher-order/{id}/cancel", "/voucher-order/{order}/cancel", "", "11n+1nnn3"),
    ("POST /voucher-order/{id}/refund", "/voucher-order/{paid}/refund", "", "11n+1nnn3"),
    ("POST /voucher-order/{id}/use", "/voucher-order/{paid}/use", "", STAFF),
    ("GET /voucher-order/{id}/receipt", "/voucher-order/{paid}/receipt", "", "11n+1nnn3"),
    ("GET /voucher-order/{id}/receipt/text", "/voucher-order/{paid}/receipt/text", "", "11n+1nnn3"),
    // This mall has no gateway; with one, the signature decides, and no token.
    ("POST /payment/callback", "", "{}", "111111111"),
    ("GET /stats/signs", "", "", OPERATORS),
    ("GET /stats/visits", "", "", OPERATORS),
    ("GET /ops/overview", "", "", OPERATORS),
    ("GET /ops/live", "", "", OPERATORS),
    ("GET /ops/events", "", "", OPERATORS),
    ("GET /ops/events/stream", "", "", OPERATORS),
    ("GET /ops/events/subscribers", "", "", OPERATORS),
    ("POST /ops/events/subscribers", "", r#"{"name":"s{phone}","target":"log"}"#, OPERATORS),
    ("POST /ops/events/subscribers/{id}/pause", "/ops/events/subscribers/{subscriber}/pause", "", OPERATORS),
    (
        "POST /ops/events/subscribers/{id}/resume",
        "/ops/events/subscribers/{subscriber}/resume",
        "",
        OPERATORS,
    ),
    ("DELETE /ops/events/subscribers/{id}", "/ops/events/subscribers/{subscriber}", "", OPERATORS),
    ("GET /ops/audit", "", "", OPERATORS),
    ("GET /ops/security", "", "", OPERATORS),
    ("GET /ops/audit/verify", "", "", OPERATORS),
    ("GET /ops/sales", "", "", OPERATORS),
    ("GET /ops/vouchers", "", "", STAFF),
    ("GET /ops/orders", "", "", OPERATORS),
    ("GET /ops/reports", "", "", OPERATORS),
    ("GET /ops/users", "", "", OPERATORS),
    ("GET /ops/dead-letters", "", "", OPERATORS),
    ("GET /ops/retries", "", "", OPERATORS),
    ("GET /ops/sales/{id}", "/ops/sales/2", "", OPERATORS),
    ("PUT /ops/sales/{id}", "/ops/sales/{sale}", r#"{"endTime":"2026-11-22T01:00:00"}"#, OPERATORS),
    ("POST /ops/sales/{id}/stock", "/ops/sales/{sale}/stock", r#"{"add":10}"#, OPERATORS),
    ("GET /ops/sales/{id}/waves", "/ops/sales/2/waves", "", OPERATORS),
    ("PUT /ops/sales/{id}/waves", "/ops/sales/{sale}/waves", r#"{"waves":[]}"#, OPERATORS),
    ("GET /ops/sales/{id}/waiting-list", "/ops/sales/2/waiting-list", "", OPERATORS),
    ("GET /ops/kiosks", "", "", OPERATORS),
    ("POST /ops/kiosks", "", r#"{"name":"one"}"#, OPERATORS),
    // The one that was just added: the staff log in at the first.
    ("DELETE /ops/kiosks/{id}", "/ops/kiosks/2", "", OPERATORS),
    ("GET /ops/staff", "", "", OPERATORS),
    ("POST /ops/staff", "", r#"{"name":"p{phone}"}"#, OPERATORS),
    ("PUT /ops/staff/{id}/pin", "/ops/staff/{staff}/pin", "", OPERATORS),
    ("DELETE /ops/staff/{id}", "/ops/staff/{staff}", "", OPERATORS),
    // For the key of a kiosk, which is no session.
    ("POST /staff/login", "", r#"{"pin":"482913"}"#, "---------"),
    ("GET /staff/me", "", "", "11331333+"),
    ("POST /staff/sales", "", "{counter-sale}", STAFF),
    ("GET /staff/orders", "", "", STAFF),
    ("GET /staff/orders/{id}", "/staff/orders/{order}", "", STAFF),
    ("GET /ops/claim-gateways", "", "", OPERATORS),
    ("POST /ops/claim-gateways", "", r#"{"name":"g{phone}","vouchers":[2],"validHours":1}"#, OPERATORS),
    ("DELETE /ops/claim-gateways/{id}", "/ops/claim-gateways/{gateway}", "", OPERATORS),
    ("GET /ops/sales/{id}/judgement", "/ops/sales/2/judgement", "", OPERATORS),
    ("PUT /ops/sales/{id}/judgement", "/ops/sales/{sale}/judgement", r#"{"mode":"off"}"#, OPERATORS),
    (
        "POST /ops/sales/{id}/judgement/preview",
        "/ops/sales/2/judgement/preview",
        r#"{"rules":"limit = 1"}"#,
        OPERATORS,
    ),
    ("GET /ops/judgement/rules", "", "", OPERATORS),
    ("PUT /ops/judgement/rules", "", r#"{"rules":""}"#, OPERATORS),
    ("GET /ops/sales/{id}/attack", "/ops/sales/2/attack", "", OPERATORS),
    ("GET /ops/sales/{id}/attempts", "/ops/sales/2/attempts", "", OPERATORS),
    ("GET /ops/sales/{id}/thresholds", "/ops/sales/2/thresholds", "", OPERATORS),
    (
        "PUT /ops/sales/{id}/thresholds",
        "/ops/sales/{sale}/thresholds",
        r#"{"accountHours":0,"smsCode":false}"#,
        OPERATORS,
    ),
    ("GET /ops/sales/{id}/per-user", "/ops/sales/2/per-user", "", OPERATORS),
    ("PUT /ops/sales/{id}/per-user", "/ops/sales/{sale}/per-user", r#"{"perUser":2}"#, OPERATORS),
    ("GET /ops/sales/{id}/claim-limit", "/ops/sales/2/claim-limit", "", OPERATORS),
    (
        "PUT /ops/sales/{id}/claim-limit",
        "/ops/sales/{sale}/claim-limit",
        r#"{"claimsPerSecond":0}"#,
        OPERATORS,
    ),
    ("GET /ops/sales/{id}/waiting-room", "/ops/sales/2/waiting-room", "", OPERATORS),
    ("PUT /ops/sales/{id}/waiting-room", "/ops/sales/{sale}/waiting-room", r#"{"perSecond":0}"#, OPERATORS),
    ("PUT /ops/sales/{id}/waiting-list", "/ops/sales/{sale}/waiting-list", r#"{"max":9}"#, OPERATORS),
    ("GET /ops/sales/{id}/guard", "/ops/sales/2/guard", "", OPERATORS),
    ("PUT /ops/sales/{id}/guard", "/ops/sales/{sale}/guard", r#"{"kinds":["work"]}"#, OPERATORS),
    ("POST /ops/sales/{id}/pause", "/ops/sales/{sale}/pause", "", OPERATORS),
    ("POST /ops/sales/{id}/resume", "/ops/sales/{sale}/resume", "", OPERATORS),
    ("POST /ops/sales/{id}/end", "/ops/sales/{sale}/end", "", OPERATORS),
    ("GET /ops/vouchers/{id}", "/ops/vouchers/1", "", OPERATORS),
    ("POST /ops/orders/{id}/void", "/ops/orders/{order}/void", r#"{"reason":"买错了"}"#, OPERATORS),
    // The order's payment mode is the sandbox, so an operator is refused by that rule.
    (
        "POST /ops/orders/{id}/pay",
        "/ops/orders/{order}/pay",
        r#"{"amount":4750,"method":"cash"}"#,
        "113313-f-",
    ),
    (
        "POST /ops/orders/{id}/refund",
        "/ops/orders/{paid}/refund",
        r#"{"amount":4750,"method":"cash","reason":"买错了"}"#,
        "113313-f3",
    ),
    ("GET /ops/clock", "", "", OPERATORS),
    // The clock is sure, so nothing has to be confirmed.
    ("POST /ops/clock/confirm", "", r#"{"timeMs":0}"#, OPERATORS),
    // The mall has no printer, so an operator is refused by that rule.
    ("GET /ops/printer", "", "", STAFF),
    ("POST /ops/printer/test", "", "", "113313-f3"),
    ("POST /ops/orders/{id}/print", "/ops/orders/{paid}/print", "", "113313-f-"),
    ("GET /ops/cash", "", "", STAFF),
    // The operator of the column before opened the till.
    ("POST /ops/cash", "", r#"{"till":"2","float":100}"#, "113313+f-"),
    ("GET /ops/cash/{id}", "/ops/cash/1", "", STAFF),
    ("POST /ops/cash/{id}/in", "/ops/cash/1/in", r#"{"amount":1,"reason":"bank","requestId":"a"}"#, STAFF),
    ("POST /ops/cash/{id}/out", "/ops/cash/1/out", r#"{"amount":1,"reason":"bank","requestId":"b"}"#, STAFF),
    ("POST /ops/cash/{id}/print", "/ops/cash/1/print", "", "113313-f-"),
    ("POST /ops/cash/{id}/close", "/ops/cash/1/close", COUNT, STAFF),
    ("GET /ops/cash/reports", "", "", STAFF),
    ("GET /ops/cash/reports/{number}", "/ops/cash/reports/1", "", STAFF),
    ("POST /ops/cash/reports/{number}/print", "/ops/cash/reports/1/print", "", "113313-f-"),
    ("GET /ops/receipts/{code}", "/ops/receipts/{receipt}", "", STAFF),
    ("POST /ops/receipts/{code}/use", "/ops/receipts/{receipt}/use", "", STAFF),
    ("POST /ops/reports/note/{id}/hide", "/ops/reports/note/{note}/hide", "", OPERATORS),
    ("POST /ops/reports/note/{id}/show", "/ops/reports/note/{note}/show", "", OPERATORS),
    ("POST /ops/reports/comment/{id}/hide", "/ops/reports/comment/{comment}/hide", "", OPERATORS),
    ("POST /ops/reports/comment/{id}/show", "/ops/reports/comment/{comment}/show", "", OPERATORS),
    ("DELETE /ops/pictures/{name}", "/ops/pictures/{file}", "", OPERATORS),
    ("POST /ops/dead-letters/{order}/replay", "/ops/dead-letters/1/replay", "", "113313nf3"),
    ("POST /ops/dead-letters/{order}/void", "/ops/dead-letters/1/void", "", "113313nf3"),
    ("POST /ops/retries/{id}/replay", "/ops/retries/1/replay", "", "113313nf3"),
    ("POST /ops/retries/{id}/discard", "/ops/retries/1/discard", "", "113313nf3"),
    ("GET /ops/users/{id}", "/ops/users/{person}", "", OPERATORS),
    ("POST /ops/users/{id}/block", "/ops/users/{person}/block", r#"{"reason":"buys for resale"}"#, OPERATORS),
    ("POST /ops/users/{id}/unblock", "/ops/users/{person}/unblock", "", OPERATORS),
    (
        "PUT /ops/users/{id}/phone",
        "/ops/users/{person}/phone",
        r#"{"phone":"{phone}","reason":"lost"}"#,
        OPERATORS,
    ),
    ("GET /ops/users/{id}/level", "/ops/users/{person}/level", "", OPERATORS),
    ("PUT /ops/users/{id}/level", "/ops/users/{person}/level", r#"{"level":3}"#, OPERATORS),
    ("GET /ops/levels", "", "", OPERATORS),
    ("PUT /ops/levels", "", r#"{"credits":[0,100]}"#, OPERATORS),
    ("PUT /ops/users/{id}/role", "/ops/users/{person}/role", r#"{"role":"operator"}"#, OPERATORS),
    ("DELETE /user/sessions", "", "", LOGGED_IN),
    ("POST /user/login", "", r#"{"phone":"{phone}","code":"{code}"}"#, PUBLIC),
    ("POST /user/logout", "", "", PUBLIC),
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
