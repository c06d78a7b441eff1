//! The retry queue for operators: failed tasks are listed, replayed and discarded.

use std::time::Duration;

use mallbox::mall::base::retry::{FirstTry, Submission};
use serde_json::{Value, json};

use super::world::{World, world};

/// Submits the refund of an order that does not exist: hopeless.
pub fn fail(w: &World, order: &str) {
    let retries = w.mall.app().unwrap().retries.clone();
    let task = Submission { key: order.to_owned(), group: None, payload: order.as_bytes().into() };
    let outcome = w.mall.wait_for(async move { retries.submit("refund", task).await.unwrap() }).unwrap();
    assert_eq!(outcome, FirstTry::Failed("the order does not exist".to_owned()));
}

/// Returns the response of `GET /ops/retries` with this query.
pub fn list(w: &World, query: &str) -> Value {
    w.ok("GET", &format!("/ops/retries{query}"), &w.operator)["data"].clone()
}

fn ids(list: &Value) -> Vec<u64> {
    list["failed"].as_array().unwrap().iter().map(|task| task["id"].as_u64().unwrap()).collect()
}

#[test]
fn failed_tasks_are_listed_replayed_and_discarded() {
    let w = world();
    let none = |kind: &str| json!({ "kind": kind, "open": 0, "openBytes": 0, "failed": 0, "breakers": [] });
    let kinds = ["event-webhook", "refund"].map(none);
    assert_eq!(list(&w, ""), json!({ "kinds": kinds, "failed": [] }));
    fail(&w, "404");
    w.advance(Duration::from_secs(60));
    fail(&w, "405");
    let all = list(&w, "");
    assert_eq!(all["kinds"][1]["failed"], 2);
    let (first, second) = (&all["failed"][1], &all["failed"][0]);
    assert_eq!(
        first,
        &json!({
            "id": first["id"], "kind": "refund", "key": "404", "segment": "refund at the gateway", "attempts": 1,
            "error": "the order does not exist", "createTime": "2026-11-21T20:00:00",
            "failTime": "2026-11-21T20:00:00", "cursor": first["cursor"],
        })
    );
    assert_eq!(second["failTime"], "2026-11-21T20:01:00");
    let after = format!("?after={}", second["cursor"].as_str().unwrap());
    assert_eq!(list(&w, &after)["failed"], json!([first]));
    assert_eq!(list(&w, "?kind=refund")["failed"], all["failed"]);
    assert_eq!(list(&w, "?kind=mail")["failed"], json!([]));

    let replay = format!("/ops/retries/{}/replay", first["id"]);
    w.ok("POST", &replay, &w.operator);
    w.advance(Duration::from_secs(60));
    let again = list(&w, "");
    assert_eq!(ids(&again), [first["id"].as_u64().unwrap(), second["id"].as_u64().unwrap()]);
    assert_eq!(again["failed"][0]["failTime"], "2026-11-21T20:02:00");
    for id in ids(&again) {
        let discard = format!("/ops/retries/{id}/discard");
        w.ok("POST", &discard, &w.operator);
        assert_eq!(w.call("POST", &discard, &w.operator, "").body["code"], "NOT_FOUND");
    }
    assert_eq!(list(&w, "")["kinds"][1]["failed"], 0);
    let audit = w.ok("GET", "/ops/audit", &w.operator)["data"].clone();
    let actions: Vec<&Value> = audit.as_array().unwrap().iter().map(|entry| &entry["action"]).collect();
    for action in ["retry.replay", "retry.discard"] {
        assert!(actions.iter().any(|written| **written == json!(action)), "{audit}");
    }
}

#[test]
fn metrics_have_the_retry_queue() {
    let w = world();
    fail(&w, "404");
    let metrics = w.request("GET", "/metrics", "", b"").text;
    for line in [
        r#"mallbox_retry_tasks{kind="refund"} 0"#,
        r#"mallbox_retry_failed_tasks{kind="refund"} 1"#,
        r#"mallbox_retry_oldest_seconds{kind="refund"} 0"#,
        r#"mallbox_retry_breakers{kind="refund",state="open"} 0"#,
        r#"mallbox_retry_runs_total{kind="refund",outcome="hopeless"} 1"#,
        r#"mallbox_retry_refused_total{kind="refund"} 0"#,
    ] {
        assert!(metrics.contains(line), "{line} is missing in {metrics}");
    }
}
