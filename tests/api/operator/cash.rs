//! Cash sessions over HTTP: a day at the till, repeated calls, and reports on paper and in files.

use std::time::Duration;

use mallbox::mall::operator::printing::PaperColumns;
use mallbox_storage::PaymentMode;
use serde_json::{Value, json};

use super::super::selling::counter_payments::set_payment_mode;
use super::paper::seen;
use super::printing::options;
use super::world::{World, world};

/// Price of voucher 1.
const PRICE: i64 = 4_750;

fn post(w: &World, path: &str, body: &Value) -> Value {
    let response = w.call("POST", path, &w.operator, &body.to_string());
    assert_eq!(response.status, 200, "{response:?}");
    response.body
}

/// Returns the code of a refusal.
fn refused(w: &World, path: &str, body: &Value) -> Value {
    post(w, path, body)["code"].clone()
}

fn data(w: &World, path: &str, body: &Value) -> Value {
    let body = post(w, path, body);
    assert_eq!(body["success"], true, "{body}");
    body["data"].clone()
}

fn bought(w: &World) -> String {
    w.ok("POST", "/voucher-order/1", &w.customer)["dataText"].as_str().unwrap().to_owned()
}

fn pay(w: &World, order: &str) -> Value {
    post(w, &format!("/ops/orders/{order}/pay"), &json!({ "amount": PRICE, "method": "cash" }))
}

fn close(w: &World, counted: i64, expected: i64, request: &str) -> Value {
    let body = json!({ "counted": counted, "expected": expected, "requestId": request });
    post(w, "/ops/cash/1/close", &body)
}

#[test]
fn a_day_at_the_till_is_opened_counted_and_closed() {
    let w = world();
    set_payment_mode(&w, PaymentMode::Counter);
    assert_eq!(w.ok("GET", "/ops/cash", &w.operator)["data"], json!([]));
    let opened = data(&w, "/ops/cash", &json!({ "float": 30_000 }));
    let who = json!({ "id": 1, "name": opened["openedBy"]["name"] });
    let want = json!({
        "id": 1, "till": "1", "openTime": "2026-11-21T20:00:00", "openedBy": who, "float": 30_000, "sales": 0,
        "saleCount": 0, "refunds": 0, "refundCount": 0, "paidIn": 0, "paidInCount": 0, "paidOut": 0,
        "paidOutCount": 0, "expected": 30_000, "moves": [],
    });
    assert_eq!(opened, want);
    let order = bought(&w);
    w.advance(Duration::from_secs(60));
    assert_eq!(pay(&w, &order)["success"], true);
    let out = json!({ "amount": 1_250, "reason": " 买零钱袋 ", "requestId": "a" });
    let after = data(&w, "/ops/cash/1/out", &out);
    assert_eq!((&after["recordedBefore"], &after["expected"]), (&json!(false), &json!(33_500)));
    let again = data(&w, "/ops/cash/1/out", &out);
    assert_eq!((&again["recordedBefore"], &again["expected"]), (&json!(true), &json!(33_500)));
    let moved = json!([{
        "number": 2, "kind": "out", "amount": 1_250, "reason": "买零钱袋", "time": "2026-11-21T20:01:00", "by": who,
    }]);
    let x = w.ok("GET", "/ops/cash/1", &w.operator)["data"].clone();
    assert_eq!((&x["moves"], &x["firstPaymentTime"]), (&moved, &json!("2026-11-21T20:01:00")));
    let mut running = x.clone();
    assert!(running.as_object_mut().unwrap().remove("reportTime").is_some());
    assert_eq!(w.ok("GET", "/ops/cash", &w.operator)["data"], json!([running]));

    let changed = close(&w, 33_450, 30_000, "evening");
    assert_eq!(changed["code"], "CASH_CHANGED", "{changed}");
    assert!(changed["errorMsg"].as_str().unwrap().contains("335.00元"), "{changed}");
    let z = close(&w, 33_450, 33_500, "evening")["data"].clone();
    assert_eq!(
        (&z["number"], &z["difference"], &z["recordedBefore"]),
        (&json!(1), &json!(-50), &json!(false))
    );
    let repeat = close(&w, 33_450, 33_500, "evening")["data"].clone();
    assert_eq!((&repeat["digest"], &repeat["recordedBefore"]), (&z["digest"], &json!(true)));
    assert_eq!(close(&w, 33_450, 33_500, "other")["code"], "CASH_SESSION_CLOSED");
    let late = json!({ "amount": 5, "reason": "零钱", "requestId": "late" });
    assert_eq!(refused(&w, "/ops/cash/1/in", &late), json!("CASH_SESSION_CLOSED"));

    let one = w.ok("GET", "/ops/cash/reports/1", &w.operator)["data"].clone();
    let mut without_mark = z;
    without_mark.as_object_mut().unwrap().remove("recordedBefore");
    assert_eq!(one, without_mark);
    assert_eq!(
        w.ok("GET", "/ops/cash/reports", &w.operator)["data"],
        json!({ "reports": [one], "unreadable": [] })
    );
    assert_eq!(
        w.ok("GET", "/ops/cash/reports?before=1", &w.operator)["data"],
        json!({ "reports": [], "unreadable": [] })
    );
    assert_eq!(pay(&w, &bought(&w))["code"], "CASH_NO_SESSION");

    let audit = w.ok("GET", "/ops/audit?max=50", &w.operator)["data"].clone();
    let entries = audit.as_array().unwrap();
    let written = entries.iter().find(|entry| entry["action"] == "cash.report").unwrap();
    assert_eq!((&written["subject"], &written["detail"]["digest"]), (&json!("Z report 1"), &one["digest"]));
    let csv = w.call("GET", "/ops/accounts/2026-11-21/cash", &w.operator, "").text;
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines.len() == 2 && lines[1].starts_with("1,1,1,2026-11-21T20:00:00.000+08:00,1,"), "{csv}");
    assert!(lines[1].contains(",300.00,47.50,0.00,0.00,12.50,1,0,0,1,"), "{csv}");
    assert!(lines[1].contains(",335.00,334.50,-0.50,"), "{csv}");
}

#[test]
fn reports_fit_both_papers_in_both_languages() {
    for (columns, width) in [(PaperColumns::Narrow, 32), (PaperColumns::Wide, 48)] {
        let paper = tempfile::NamedTempFile::new().unwrap();
        let options = options(paper.path().to_str().unwrap(), columns);
        let w = World::with("/api", |mall| mall.printer(options));
        data(&w, "/ops/cash", &json!({ "float": 30_000, "till": "外摆 2" }));
        let long = "到银行换零钱：五元两百张、一元三百枚，另付手续费".repeat(3);
        data(&w, "/ops/cash/1/in", &json!({ "amount": 130_000, "reason": long, "requestId": "a" }));
        let print = |path: &str, language: &str| {
            std::fs::write(paper.path(), "").unwrap();
            let headers = format!("authorization: {}\r\naccept-language: {language}\r\n", w.operator);
            let response = w.request("POST", &format!("/api{path}"), &headers, b"");
            assert_eq!(response.body["success"], true, "{response:?}");
            seen(&std::fs::read(paper.path()).unwrap(), width)
        };
        let x = print("/ops/cash/1/print", "zh");
        for line in ["X报表（未交班）", "备用金", "300.00元", "1600.00元", "非税控设备出具，不作报税凭据。"]
        {
            assert!(x.iter().any(|printed| printed.contains(line)), "{line}: {x:#?}");
        }
        assert!(w.ok("GET", "/ops/cash/1", &w.operator)["success"] == true, "printing closes nothing");
        assert_eq!(close(&w, 160_005, 160_000, "a")["success"], true);
        let z = print("/ops/cash/reports/1/print", "en");
        for line in
            ["Z report 1", "Expected", "CNY 1600.00", "CNY 1600.05", "CNY 0.05", "Not from a fiscal device."]
        {
            assert!(z.iter().any(|printed| printed.contains(line)), "{line}: {z:#?}");
        }
        let digest = w.ok("GET", "/ops/cash/reports/1", &w.operator)["data"]["digest"].clone();
        let printed: String = z.iter().map(|line| line.trim()).collect();
        assert!(printed.contains(digest.as_str().unwrap()), "{z:#?}");
    }
}
