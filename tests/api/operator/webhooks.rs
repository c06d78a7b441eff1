//! Webhooks: a real receiver that loses responses, fails, and is away.

use std::time::Duration;

use serde_json::{Value, json};

use super::events::{order, subscribe};
use super::webhook_receiver::{Switches, WebhookReceiver};
use super::world::{World, world};

const SECRET: &str = "a secret of both sides";
/// Longer than the first pause before a retry.
const RETRY: Duration = Duration::from_secs(6);
/// Interval of events to a webhook that keeps failing, and more.
const PROBE: Duration = Duration::from_secs(61);

fn hook(w: &World, name: &str, receiver: &WebhookReceiver, kinds: &[&str]) -> u64 {
    let form = json!({
        "name": name, "target": "webhook", "url": receiver.url(), "secret": SECRET, "kinds": kinds,
    });
    subscribe(w, &form)["id"].as_u64().unwrap()
}

fn note(w: &World) {
    let note = json!({ "shopId": 1, "title": "一碗面", "content": "好吃" });
    let written = w.call("POST", "/blog", &w.customer, &note.to_string());
    assert_eq!(written.body["success"], true, "{}", written.text);
}

/// Returns all events as the mall lists them.
fn listed(w: &World) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    loop {
        let after = all.last().map_or(0, |event| event["position"].as_u64().unwrap());
        let page = w.ok("GET", &format!("/ops/events?after={after}"), &w.operator);
        let page = page["data"]["events"].as_array().unwrap();
        if page.is_empty() {
            return all;
        }
        all.extend(page.iter().cloned());
    }
}

fn subscriber(w: &World, name: &str) -> Value {
    let list = w.ok("GET", "/ops/events/subscribers", &w.operator);
    let listed = list["data"]["subscribers"].as_array().unwrap();
    listed.iter().find(|subscriber| subscriber["name"] == name).unwrap().clone()
}

#[test]
fn every_event_arrives_signed_and_in_order_over_lost_responses_and_failures() {
    let w = world();
    let receiver = WebhookReceiver::start(SECRET);
    receiver.set(Switches { loses_every: 3, fails_every: 4, ..Switches::default() });
    hook(&w, "erp", &receiver, &[]);
    for _ in 0..6 {
        note(&w);
    }
    for token in [&w.customer, &w.other] {
        let order = order(&w, token);
        w.ok("POST", &format!("/voucher-order/{order}/cancel"), token);
    }
    let mut received = receiver.wait_while(10, || w.advance(RETRY));
    receiver.assert_in_order();
    assert!(receiver.events().len() > 10, "a lost response is a repetition");
    received.sort_by_key(|event| event["position"].as_u64());
    assert_eq!(received, listed(&w));
    let state = subscriber(&w, "erp");
    assert_eq!((&state["cursor"], &state["lag"]), (&json!(10), &json!(0)));
    w.advance(Duration::from_secs(3_600));
    assert_eq!(receiver.unique().len(), 10);
}

#[test]
fn a_webhook_that_is_away_holds_its_own_events_back_and_no_others() {
    const NOTES: usize = 40;
    let w = world();
    let (dead, alive) = (WebhookReceiver::start(SECRET), WebhookReceiver::start(SECRET));
    hook(&w, "dead", &dead, &[]);
    hook(&w, "alive", &alive, &[]);
    dead.kill();
    for _ in 0..NOTES {
        note(&w);
        w.advance(Duration::from_secs(1));
    }
    alive.wait_while(NOTES, || w.advance(Duration::from_secs(1)));
    let state = subscriber(&w, "dead");
    assert!(state["error"].as_str().is_some_and(|error| error.contains("keeps failing")), "{state}");
    assert!(state["lag"].as_u64().unwrap() > 0 && state["lost"] == 0, "{state}");
    let shown = w.ok("GET", "/ops/events/subscribers", &w.operator).to_string();
    assert!(!shown.contains("k3p9") && !shown.contains(SECRET), "{shown}");
    dead.restart();
    dead.wait_while(NOTES, || w.advance(PROBE));
    dead.assert_in_order();
    w.advance(PROBE);
    let state = subscriber(&w, "dead");
    assert_eq!((&state["lag"], state.get("error")), (&json!(0), None), "{state}");
}

#[test]
fn a_subscriber_gets_the_kinds_it_wants_and_none_while_paused() {
    let w = world();
    let receiver = WebhookReceiver::start(SECRET);
    let id = hook(&w, "erp", &receiver, &["order.cancelled", "stock.changed"]);
    let path = format!("/ops/events/subscribers/{id}");
    let order = order(&w, &w.customer);
    w.ok("POST", &format!("/voucher-order/{order}/cancel"), &w.customer);
    receiver.wait_while(1, || w.advance(Duration::from_secs(1)));
    w.ok("POST", &format!("{path}/pause"), &w.operator);
    w.call("POST", "/ops/sales/2/stock", &w.operator, r#"{"add": 5}"#);
    w.advance(PROBE);
    assert_eq!(receiver.requests(), 1);
    assert_eq!(subscriber(&w, "erp")["lag"], 1);
    w.ok("POST", &format!("{path}/resume"), &w.operator);
    let received = receiver.wait_while(2, || w.advance(Duration::from_secs(1)));
    let kinds: Vec<&str> = received.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["order.cancelled", "stock.changed"]);
}

#[test]
fn events_on_their_way_to_a_deleted_subscriber_are_dropped() {
    let w = world();
    let receiver = WebhookReceiver::start(SECRET);
    let id = hook(&w, "erp", &receiver, &[]);
    receiver.set(Switches { fails_every: 1, ..Switches::default() });
    note(&w);
    w.advance(Duration::from_secs(1));
    w.advance(Duration::from_secs(1));
    let before = receiver.requests();
    assert!(before > 0);
    w.ok("DELETE", &format!("/ops/events/subscribers/{id}"), &w.operator);
    receiver.set(Switches::default());
    w.advance(Duration::from_secs(3_600));
    assert_eq!((receiver.requests(), receiver.events().len()), (before, 0));
}
