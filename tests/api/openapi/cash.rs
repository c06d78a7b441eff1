//! Calls of cash sessions: their responses as described.

use serde_json::{Value, json};

use super::Checker;
use super::operators::ask_as_each;

/// Opens a drawer, pays in and out, closes it, and reads and prints the reports, each with refusals.
pub(super) fn cash(check: &mut Checker<'_>) {
    let none = &Value::Null;
    for float in [-1, 30_000, 30_000] {
        ask_as_each(check, "POST /ops/cash", "/ops/cash", &json!({ "till": "2", "float": float }));
    }
    ask_as_each(check, "GET /ops/cash", "/ops/cash", none);
    for kind in ["in", "out"] {
        for (amount, session) in [(500, 1), (500, 1), (0, 1), (500, 99)] {
            let (call, path) =
                (format!("POST /ops/cash/{{id}}/{kind}"), format!("/ops/cash/{session}/{kind}"));
            let body = json!({ "amount": amount, "reason": "换零钱", "requestId": kind });
            ask_as_each(check, &call, &path, &body);
        }
    }
    for session in [1, 99] {
        ask_as_each(check, "GET /ops/cash/{id}", &format!("/ops/cash/{session}"), none);
        ask_as_each(check, "POST /ops/cash/{id}/print", &format!("/ops/cash/{session}/print"), none);
    }
    for (expected, request) in [(1, "a"), (30_000, "a"), (30_000, "a"), (30_000, "b")] {
        let body = json!({ "counted": 29_950, "expected": expected, "requestId": request });
        ask_as_each(check, "POST /ops/cash/{id}/close", "/ops/cash/1/close", &body);
    }
    for query in ["", "?before=1", "?before=x"] {
        ask_as_each(check, "GET /ops/cash/reports", &format!("/ops/cash/reports{query}"), none);
    }
    for number in [1, 99] {
        let path = format!("/ops/cash/reports/{number}");
        ask_as_each(check, "GET /ops/cash/reports/{number}", &path, none);
        ask_as_each(check, "POST /ops/cash/reports/{number}/print", &format!("{path}/print"), none);
    }
}
