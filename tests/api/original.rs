//! The original profile: what pages of hm-dianping get, which show the sentence of a 200 and nothing of other statuses.

use mallbox::fixture::Builder;
use mallbox::http::Profile;
use mallbox::mall::Settings;
use mallbox_storage::Limit;
use serde_json::json;

use super::world::{CUSTOMER, Said, World};

const MINUTE: std::time::Duration = std::time::Duration::from_secs(60);
/// What mallbox's own pages send.
const OWN_PAGE: &str = "x-mallbox-client: web\r\n";

pub fn original() -> World {
    World::with("/api", |mall| mall.profile(Profile::Original))
}

fn limited(mall: Builder) -> Builder {
    let claim_limit = Some(Limit { count: 5, per: MINUTE });
    let settings = Settings { inbox: true, claim_limit, ..Settings::default().without_limits() };
    mall.settings(settings)
}

/// A call of one of mallbox's own pages.
pub fn own(w: &World, method: &str, path: &str, token: &str, body: &str) -> Said {
    let headers = format!("{OWN_PAGE}authorization: {token}\r\n");
    w.ask(method, &format!("/api{path}"), &headers, body.as_bytes())
}

fn outcome(said: &Said) -> (u16, &str) {
    (said.status, said.body["code"].as_str().unwrap_or_default())
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
fn who_holds_an_order_hears_so_before_any_limit() {
    for profile in [Profile::Original, Profile::Strict] {
        let w = World::with("/api", |mall| limited(mall).profile(profile));
        let claim = || w.call("POST", "/voucher-order/seckill/2", &w.customer, "");
        let order = claim().body["dataText"].clone();
        for again in 1..=30 {
            let said = claim();
            assert_eq!(outcome(&said), (200, "ALREADY_BOUGHT"), "{again}: {said:?}");
            assert_eq!(said.body["dataText"], order, "{again}");
        }
        // Repeats have a ceiling of their own.
        let last = (31..=60).map(|_| claim()).find(|said| said.body["code"] == "RATE_LIMITED");
        let status = if profile == Profile::Original { 200 } else { 429 };
        assert_eq!(last.map(|said| said.status), Some(status));
        w.settle_log();
        w.assert_balanced();
    }
}

#[test]
fn who_holds_an_order_hears_so_when_the_sale_is_over_or_held() {
    let w = original();
    let claim = |token: &str| w.call("POST", "/voucher-order/seckill/2", token, "").body;
    let order = claim(&w.customer)["dataText"].clone();
    w.told("POST", "/ops/sales/2/pause", &w.operator);
    assert_eq!(
        (&claim(&w.customer)["code"], &claim(&w.other)["code"]),
        (&json!("ALREADY_BOUGHT"), &json!("PAUSED"))
    );
    w.told("POST", "/ops/sales/2/end", &w.operator);
    assert_eq!(claim(&w.other)["code"], "ENDED");
    let said = claim(&w.customer);
    assert_eq!((&said["code"], &said["dataText"]), (&json!("ALREADY_BOUGHT"), &order));
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
        ("DELETE", "/user/me", "", b"", (405, "METHOD_NOT_ALLOWED")),
    ];
    for (method, path, who, body, want) in rows {
        let token = if who.is_empty() { String::new() } else { format!("authorization: {}\r\n", w.customer) };
        let said = w.ask(method, &format!("/api{path}"), &token, body);
        assert_eq!(outcome(&said), want, "{method} {path}: {said:?}");
        assert_eq!(said.body["success"], false, "{method} {path}");
    }
    let again = w.call("POST", &format!("/user/code?phone={CUSTOMER}"), "", "");
    assert_eq!(again.status, 200);
}
