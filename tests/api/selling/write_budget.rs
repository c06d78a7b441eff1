//! Budgets of writes per user: purchases, unpaid orders, and likes, follows and profile edits together.

use std::time::Duration;

use mallbox::mall::Settings;
use mallbox_storage::Limit;
use serde_json::json;

use super::world::{Response, World};

const MINUTE: Duration = Duration::from_secs(60);

/// Returns a mall with the given budgets and no other limits.
fn with(choose: impl FnOnce(Settings) -> Settings) -> World {
    let settings = Settings { inbox: true, ..Settings::default().without_limits() };
    World::with("/api", |mall| mall.settings(choose(settings)))
}

fn a_minute(count: u32) -> Option<Limit> {
    Some(Limit { count, per: MINUTE })
}

fn buy(w: &World, token: &str) -> Response {
    w.call("POST", "/voucher-order/1", token, "")
}

fn assert_bought(response: &Response) -> String {
    response.body["dataText"].as_str().unwrap_or_else(|| panic!("{response:?}")).to_owned()
}

fn assert_limited(response: &Response) {
    assert_eq!((response.status, &response.body["code"]), (429, &json!("RATE_LIMITED")), "{response:?}");
    assert!(response.head.contains("retry-after: "), "{}", response.head);
}

#[test]
fn likes_follows_and_profile_edits_share_a_budget_that_refills() {
    let w = with(|settings| Settings { action_limit: a_minute(4), ..settings });
    let note = json!({"shopId": 1, "title": "一碗面", "content": "好吃"}).to_string();
    let note = w.call("POST", "/blog", &w.other, &note).body["data"].as_u64().unwrap();
    let comment = json!({"blogId": note, "content": "同感"}).to_string();
    let comment = w.call("POST", "/blog-comments", &w.other, &comment).body["data"].as_u64().unwrap();
    let city = json!({"city": "杭州"}).to_string();
    let writes = [
        ("PUT", format!("/blog/like/{note}?like=true"), ""),
        ("PUT", format!("/blog-comments/like/{comment}?like=true"), ""),
        ("PUT", "/follow/3/true".to_owned(), ""),
        ("PUT", "/user/info".to_owned(), city.as_str()),
        ("PUT", "/follow/3/false".to_owned(), ""),
    ];
    for (method, path, body) in &writes[..4] {
        let response = w.call(method, path, &w.customer, body);
        assert_eq!(response.body["success"], true, "{path}: {response:?}");
    }
    for (method, path, body) in &writes {
        assert_limited(&w.call_once(method, path, &w.customer, body));
    }
    w.ok("GET", "/follow/or/not/3", &w.customer);
    let (method, path, _) = &writes[0];
    w.ok(method, path, &w.other);
    w.advance(MINUTE / 4);
    let (method, path, _) = &writes[4];
    w.ok(method, path, &w.customer);
    assert_limited(&w.call_once(method, path, &w.customer, ""));
}

#[test]
fn purchases_have_a_budget_and_claims_another() {
    let w = with(|settings| Settings {
        order_limit: a_minute(3),
        action_limit: a_minute(1),
        claim_limit: a_minute(1),
        ..settings
    });
    for _ in 0..3 {
        assert_bought(&buy(&w, &w.customer));
    }
    assert_limited(&buy(&w, &w.customer));
    w.ok("PUT", "/follow/3/true", &w.customer);
    assert_limited(&w.call_once("PUT", "/follow/3/true", &w.customer, ""));
    // A claim spends no other budget, and no other write spends the claim's.
    assert_bought(&w.call("POST", "/voucher-order/seckill/2", &w.customer, ""));
    assert_bought(&buy(&w, &w.other));
    w.advance(MINUTE / 3);
    assert_bought(&buy(&w, &w.customer));
}

#[test]
fn unpaid_orders_are_capped_until_some_are_paid_or_cancelled() {
    let w = with(|settings| Settings { unpaid_orders_max: Some(3), ..settings });
    // A claim counts, and is never refused by the cap.
    assert_bought(&w.call("POST", "/voucher-order/seckill/2", &w.customer, ""));
    w.settle_log();
    let named = json!({"requestId": "cart 7"}).to_string();
    let first = assert_bought(&w.call("POST", "/voucher-order/1", &w.customer, &named));
    let second = assert_bought(&buy(&w, &w.customer));
    let refused = buy(&w, &w.customer);
    assert_eq!((refused.status, &refused.body["code"]), (200, &json!("TOO_MANY_UNPAID")), "{refused:?}");
    assert!(refused.body["errorMsg"].as_str().unwrap().contains("3笔"), "{refused:?}");
    let repeat = assert_bought(&w.call("POST", "/voucher-order/1", &w.customer, &named));
    assert_eq!(repeat, first, "a repeat buys nothing more");

    w.ok("POST", &format!("/voucher-order/{first}/pay"), &w.customer);
    assert_bought(&buy(&w, &w.customer));
    assert_eq!(buy(&w, &w.customer).body["code"], "TOO_MANY_UNPAID");
    w.ok("POST", &format!("/voucher-order/{second}/cancel"), &w.customer);
    assert_bought(&buy(&w, &w.customer));
    assert_bought(&buy(&w, &w.other));
    w.assert_balanced();
}

#[test]
fn purchases_at_once_stay_within_the_cap() {
    let w = with(|settings| Settings { unpaid_orders_max: Some(5), ..settings });
    let bought = std::thread::scope(|scope| {
        let buyers: Vec<_> = (0..20).map(|_| scope.spawn(|| buy(&w, &w.customer))).collect();
        buyers.into_iter().map(|buyer| buyer.join().unwrap()).collect::<Vec<_>>()
    });
    let accepted = bought.iter().filter(|response| response.body["success"] == true).count();
    assert_eq!(accepted, 5, "{bought:?}");
    let listed = w.ok("GET", "/voucher-order/of/me", &w.customer);
    assert_eq!(listed["data"].as_array().unwrap().len(), 5, "{listed}");
}

#[test]
fn the_budgets_are_on_unless_turned_off() {
    let w = World::with("/api", |mall| mall.settings(Settings::default()));
    let bought = (0..30).filter(|_| buy(&w, &w.customer).body["success"] == true).count();
    assert_eq!(bought, 10, "purchases a minute");
    for minute in 0..2 {
        w.advance(MINUTE);
        // No order expires before a quarter of an hour.
        let bought = (0..30).filter(|_| buy(&w, &w.customer).body["success"] == true).count();
        assert_eq!(bought, if minute == 0 { 10 } else { 0 }, "20 unpaid orders at once");
    }
    let followed =
        (0..150).filter(|_| w.call("PUT", "/follow/3/true", &w.customer, "").status == 200).count();
    assert_eq!(followed, 120, "likes, follows and edits a minute");
}
