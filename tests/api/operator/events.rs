//! Events of the mall: subscribers, pages of events, and the stream for operators.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use mallbox::mall::Settings;
use mallbox_storage::EventKind;
use mallbox_test_patience::Deadline;
use serde_json::{Value, json};

use super::world::{CUSTOMER, World, world};

/// Interval at which the mall gives events their positions.
const RELAY: Duration = Duration::from_secs(1);
const SUBSCRIBERS: &str = "/ops/events/subscribers";

/// Makes a subscriber. Returns the response's data.
pub fn subscribe(w: &World, form: &Value) -> Value {
    let response = w.call("POST", SUBSCRIBERS, &w.operator, &form.to_string());
    assert_eq!(response.body["success"], true, "{}", response.text);
    response.body["data"].clone()
}

/// Returns the events behind a position, once all have a position.
pub fn events(w: &World, after: u64) -> Vec<Value> {
    w.advance(RELAY);
    w.ok("GET", &format!("/ops/events?after={after}"), &w.operator)["data"]["events"]
        .as_array()
        .unwrap()
        .clone()
}

/// Claims a unit of sale 2, and waits for the order.
pub fn order(w: &World, token: &str) -> String {
    let claimed = w.call("POST", "/voucher-order/seckill/2", token, "");
    assert_eq!(claimed.body["success"], true, "{}", claimed.text);
    w.settle_log();
    claimed.body["dataText"].as_str().unwrap().to_owned()
}

fn kinds_of(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["kind"].as_str().unwrap()).collect()
}

#[test]
fn events_are_written_while_there_is_a_subscriber() {
    let w = world();
    order(&w, &w.customer);
    assert_eq!(events(&w, 0), [] as [Value; 0]);
    let log = subscribe(&w, &json!({ "name": "log", "target": "log" }));
    assert_eq!(log.get("secret"), None);
    let order = order(&w, &w.other);
    w.ok("POST", &format!("/voucher-order/{order}/cancel"), &w.other);
    w.call("POST", "/ops/sales/2/stock", &w.operator, r#"{"add": 5, "requestId": "truck"}"#);
    let found = events(&w, 0);
    assert_eq!(kinds_of(&found), ["order.accepted", "order.cancelled", "stock.changed"]);
    assert_eq!(found[0]["key"], format!("order/{order}"));
    assert_eq!(found[0]["at"], "2026-11-21T12:00:01.000Z");
    assert_eq!((&found[1]["position"], &found[1]["data"]["status"]), (&json!(2), &json!(4)));
    assert_eq!(found[1]["data"]["orderId"], order);
    assert_eq!((&found[2]["key"], &found[2]["data"]["change"]), (&json!("voucher/2"), &json!(5)));
    let shown = found.iter().map(Value::to_string).collect::<String>();
    assert!(!shown.contains(CUSTOMER), "no phone numbers: {shown}");
    assert_eq!(kinds_of(&events(&w, 2)), ["stock.changed"]);
    w.ok("DELETE", &format!("{SUBSCRIBERS}/{}", log["id"]), &w.operator);
    w.call("POST", "/ops/sales/2/stock", &w.operator, r#"{"add": 5, "requestId": "truck 2"}"#);
    assert_eq!(events(&w, 3), [] as [Value; 0], "nobody subscribes any more");
}

#[test]
fn a_reminder_comes_before_the_deadline_of_an_order_that_is_still_unpaid() {
    let w = world();
    subscribe(&w, &json!({ "name": "log", "target": "log" }));
    let (paid, unpaid) = (order(&w, &w.customer), order(&w, &w.other));
    w.ok("POST", &format!("/voucher-order/{paid}/pay"), &w.customer);
    w.advance(Duration::from_secs(9 * 60));
    assert!(!kinds_of(&events(&w, 0)).contains(&"order.payment_due"));
    w.advance(Duration::from_secs(60));
    let reminders: Vec<Value> =
        events(&w, 0).into_iter().filter(|event| event["kind"] == "order.payment_due").collect();
    assert_eq!(reminders.len(), 1);
    assert_eq!(reminders[0]["key"], format!("order/{unpaid}"));
    assert!(reminders[0]["data"]["deadlineMs"].is_u64(), "{reminders:?}");
}

#[test]
fn a_subscriber_is_listed_paused_and_deleted_and_every_action_is_audited() {
    let w = world();
    let form = json!({
        "name": "erp", "target": "webhook", "url": "http://127.0.0.1:9/hook?key=k3p9", "kinds": ["order.paid"],
    });
    let made = subscribe(&w, &form);
    let (id, secret) = (made["id"].as_u64().unwrap(), made["secret"].as_str().unwrap());
    assert_eq!(secret.len(), 64);
    let list = w.ok("GET", SUBSCRIBERS, &w.operator);
    let listed = &list["data"]["subscribers"][0];
    for (name, want) in [
        ("name", json!("erp")),
        ("target", json!("webhook")),
        ("kinds", json!(["order.paid"])),
        ("cursor", json!(0)),
        ("lag", json!(0)),
        ("paused", json!(false)),
        ("lost", json!(0)),
        ("createTime", json!("2026-11-21T20:00:00")),
    ] {
        assert_eq!(listed[name], want, "{name}");
    }
    for _ in 0..2 {
        w.ok("POST", &format!("{SUBSCRIBERS}/{id}/pause"), &w.operator);
    }
    assert_eq!(w.ok("GET", SUBSCRIBERS, &w.operator)["data"]["subscribers"][0]["paused"], true);
    w.ok("POST", &format!("{SUBSCRIBERS}/{id}/resume"), &w.operator);
    w.ok("DELETE", &format!("{SUBSCRIBERS}/{id}"), &w.operator);
    for (method, path) in [("DELETE", ""), ("POST", "/pause"), ("POST", "/resume")] {
        let gone = w.call(method, &format!("{SUBSCRIBERS}/{id}{path}"), &w.operator, "");
        assert_eq!(gone.body["code"], "NOT_FOUND", "{method} {path}");
    }
    let audit = w.ok("GET", "/ops/audit", &w.operator).to_string();
    for action in ["create", "pause", "resume", "delete"] {
        assert!(audit.contains(&format!("\"event_subscriber.{action}\"")), "{action}: {audit}");
    }
    for text in [&audit, &list.to_string()] {
        assert!(!text.contains("k3p9") && !text.contains(secret), "{text}");
    }
}

#[test]
fn a_subscription_that_cannot_be_is_refused_with_the_reason() {
    let w = world();
    subscribe(&w, &json!({ "name": "a", "target": "log" }));
    let streams = if w.is_on_servers() { "" } else { "NO_STREAMS" };
    let hook = |url: &str| json!({ "name": "b", "target": "webhook", "url": url });
    for (form, code) in [
        (json!({ "name": "a", "target": "log" }), "SUBSCRIBER_NAME_TAKEN"),
        (json!({ "name": "", "target": "log" }), "OUT_OF_RANGE"),
        (json!({ "name": "b c", "target": "log" }), "OUT_OF_RANGE"),
        (json!({ "name": "b".repeat(41), "target": "log" }), "OUT_OF_RANGE"),
        (json!({ "name": "b", "target": "mail" }), "BAD_REQUEST"),
        (json!({ "name": "b", "target": "log", "kinds": ["order.lost"] }), "BAD_REQUEST"),
        (json!({ "name": "b", "target": "webhook" }), "MISSING"),
        (hook("http://192.0.2.1/hook"), "WEBHOOK_URL"),
        (hook("ftp://127.0.0.1/hook"), "WEBHOOK_URL"),
        (hook("https://user@example.com/hook"), "WEBHOOK_URL"),
        (hook(&format!("https://example.com/{}", "x".repeat(2_048))), "WEBHOOK_URL"),
        (
            json!({ "name": "b", "target": "webhook", "url": "https://example.com/", "secret": "short" }),
            "OUT_OF_RANGE",
        ),
        (json!({ "name": "b", "target": "stream" }), streams),
    ] {
        let response = w.call("POST", SUBSCRIBERS, &w.operator, &form.to_string());
        assert_eq!(response.body["code"].as_str().unwrap_or_default(), code, "{form}: {}", response.text);
    }
    for number in 0..30 {
        let form = json!({ "name": format!("n{number}"), "target": "log" });
        let response = w.call("POST", SUBSCRIBERS, &w.operator, &form.to_string());
        if response.body["code"] == "SUBSCRIBERS_FULL" {
            return;
        }
    }
    panic!("no limit");
}

/// A reader of the stream.
struct Reader(BufReader<TcpStream>);

impl Reader {
    /// Opens the stream, once a place is free: a reader that went away keeps its place for a moment.
    fn open(w: &World, query: &str, headers: &str) -> Self {
        let deadline = Deadline::after(Duration::from_secs(10));
        loop {
            let (head, lines) = Self::begin(w, query, headers);
            if head.starts_with("HTTP/1.1 200") {
                assert!(head.contains("text/event-stream"), "{head}");
                return Self(lines);
            }
            assert!(head.starts_with("HTTP/1.1 503") && !deadline.is_over(), "{head}");
        }
    }

    fn begin(w: &World, query: &str, headers: &str) -> (String, BufReader<TcpStream>) {
        let mut stream = w.connect();
        let token = &w.operator;
        let request = format!(
            "GET /api/ops/events/stream{query} HTTP/1.1\r\nhost: localhost\r\nauthorization: {token}\r\n{headers}\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") && lines.read_line(&mut head).unwrap() > 0 {}
        (head, lines)
    }

    /// Returns id, name and data of the next event.
    fn next(&mut self) -> (String, String, Value) {
        let (mut id, mut name) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "the stream ended");
            if let Some(text) = line.strip_prefix("id: ") {
                text.trim_end().clone_into(&mut id);
            } else if let Some(text) = line.strip_prefix("event: ") {
                text.trim_end().clone_into(&mut name);
            } else if let Some(data) = line.strip_prefix("data: ") {
                return (id, name, serde_json::from_str(data).unwrap());
            }
        }
    }

    fn positions(&mut self, number: usize) -> Vec<String> {
        (0..number).map(|_| self.next().0).collect()
    }
}

#[test]
fn every_reader_of_the_stream_gets_every_event_and_goes_on_where_it_stopped() {
    let settings = Settings {
        inbox: true,
        live_every: Duration::from_millis(40),
        live_places: 3,
        ..Settings::default()
    };
    let mut w = World::with("/api", |mall| mall.settings(settings.without_limits()));
    assert_eq!(Reader::open(&w, "", "").next().2["code"], "NO_SUBSCRIBER");
    let log = subscribe(&w, &json!({ "name": "log", "target": "log" }));
    let (mut one, mut other) = (Reader::open(&w, "", ""), Reader::open(&w, "?after=0", ""));
    let order = order(&w, &w.customer);
    w.ok("POST", &format!("/voucher-order/{order}/cancel"), &w.customer);
    w.advance(RELAY);
    for reader in [&mut one, &mut other] {
        let (id, name, data) = reader.next();
        assert_eq!((id.as_str(), name.as_str()), ("1", ""));
        assert_eq!((&data["kind"], &data["data"]["orderId"]), (&json!("order.accepted"), &json!(order)));
        assert_eq!(reader.next().0, "2");
    }
    drop((one, other));
    assert_eq!(Reader::open(&w, "?after=0", "last-event-id: 1\r\n").positions(1), ["2"]);
    // A position of a mall before it was restored: only what is new.
    let mut restored = Reader::open(&w, "?after=99", "");
    w.call("POST", "/ops/sales/2/stock", &w.operator, r#"{"add": 5}"#);
    w.advance(RELAY);
    assert_eq!(restored.positions(1), ["3"]);
    drop(restored);
    // Pruned events are not passed over silently.
    w.advance(Duration::from_secs(8 * 24 * 3600));
    w.operator = w.log_in(super::world::OPERATOR);
    let (id, name, data) = Reader::open(&w, "?after=1", "").next();
    assert_eq!((id.as_str(), name.as_str(), &data["lost"]), ("3", "lost", &json!(2)));
    let bad = w.request(
        "GET",
        "/api/ops/events/stream",
        &format!("authorization: {}\r\nlast-event-id: x\r\n", w.operator),
        b"",
    );
    assert_eq!(bad.status, 400);
    w.ok("DELETE", &format!("{SUBSCRIBERS}/{}", log["id"]), &w.operator);
}

#[test]
fn every_kind_is_in_the_manual_in_both_languages_and_on_the_screen() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for page in ["web/manual/events.md", "web/manual/events.zh.md", "web/console/screens/events.js"] {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        for kind in EventKind::ALL {
            assert!(text.contains(kind.name()), "{page}: {}", kind.name());
        }
    }
}
