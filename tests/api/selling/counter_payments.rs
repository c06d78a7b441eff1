//! Payments at the counter over HTTP: refused to buyers, recorded and returned by operators.

use std::thread;
use std::time::Duration;

use mallbox_storage::{OrderId, PaymentMode, PaymentState};
use serde_json::{Value, json};

use super::world::{CUSTOMER, Response, World, world};

/// Price of voucher 1.
const PRICE: i64 = 4_750;

/// Sets the payment mode of orders written from now on.
pub fn set_payment_mode(w: &World, mode: PaymentMode) {
    let context = w.mall.app().unwrap().context.clone();
    w.mall.wait_for(async move { context.set_payment_mode(mode).await.unwrap() }).unwrap();
}

fn at_the_counter() -> World {
    let w = world();
    set_payment_mode(&w, PaymentMode::Counter);
    w
}

/// Buys at the customer's account. Returns the order.
fn bought(w: &World, path: &str) -> String {
    let order = w.ok("POST", path, &w.customer)["dataText"].as_str().unwrap().to_owned();
    w.settle_log();
    order
}

/// Records a step at the counter, and returns the response.
fn record(w: &World, order: &str, step: &str, body: &Value) -> Response {
    w.call("POST", &format!("/ops/orders/{order}/{step}"), &w.operator, &body.to_string())
}

fn recorded(w: &World, order: &str, step: &str, body: &Value) -> Value {
    let response = record(w, order, step, body);
    assert_eq!((response.status, &response.body["success"]), (200, &json!(true)), "{response:?}");
    assert!(response.head.contains("cache-control: no-store"), "{}", response.head);
    response.body["data"].clone()
}

/// Returns the states of the order's payments.
fn states(w: &World, order: &str) -> Vec<PaymentState> {
    let payments = w.mall.app().unwrap().context.storage.selling.payments.clone();
    let order = OrderId::new(order.parse().unwrap());
    let rows = w.mall.wait_for(async move { payments.of_order(order).await.unwrap() }).unwrap();
    rows.iter().map(|row| row.state).collect()
}

fn refused(response: &Response) -> (u16, &str) {
    (response.status, response.body["code"].as_str().unwrap_or_default())
}

#[test]
fn a_buyer_is_sent_to_the_counter_and_gets_the_receipt_once_an_operator_took_the_money() {
    let w = at_the_counter();
    let order = bought(&w, "/voucher-order/1");
    let shown = w.ok("GET", &format!("/voucher-order/{order}"), &w.customer)["data"].clone();
    assert_eq!((&shown["payment"], &shown["status"]), (&json!("counter"), &json!(1)));
    assert_eq!(shown["deadline"], "2026-11-28T20:00:00", "seven days without a sale");
    let pay = w.call("POST", &format!("/voucher-order/{order}/pay"), &w.customer, "");
    assert_eq!(refused(&pay), (200, "PAY_AT_COUNTER"));
    assert_eq!(pay.body["errorMsg"], "请到柜台付款，并出示订单号");
    let receipt = w.call("GET", &format!("/voucher-order/{order}/receipt"), &w.customer, "");
    assert_eq!(refused(&receipt), (200, "ORDER_STANDS"), "no receipt without money");

    let cash = json!({ "amount": PRICE, "method": "cash" });
    let paid = recorded(&w, &order, "pay", &cash);
    let want = json!({
        "id": order, "voucherId": 1, "shopId": 1, "title": "50元代金券", "payValue": PRICE, "payType": 1,
        "payment": "counter", "status": 2, "createTime": "2026-11-21T20:00:00",
        "payTime": "2026-11-21T20:00:00", "userId": 2, "phone": CUSTOMER, "recordedBefore": false,
    });
    assert_eq!(paid, want);
    w.advance(Duration::from_secs(60));
    let again = recorded(&w, &order, "pay", &cash);
    assert_eq!((&again["recordedBefore"], &again["payTime"]), (&json!(true), &paid["payTime"]));
    let receipt = w.ok("GET", &format!("/voucher-order/{order}/receipt"), &w.customer);
    let code = receipt["data"]["code"].as_str().unwrap();
    w.ok("POST", &format!("/ops/receipts/{code}/use"), &w.operator);
    w.assert_balanced();
}

#[test]
fn a_sale_says_that_its_orders_are_paid_at_the_counter_a_day_after_its_end_at_the_latest() {
    let w = at_the_counter();
    let page = w.ok("GET", "/sale/2/page", "");
    assert_eq!(page["data"]["payment"], "counter");
    let order = bought(&w, "/voucher-order/seckill/2");
    let shown = w.ok("GET", &format!("/voucher-order/{order}"), &w.customer);
    assert_eq!(shown["data"]["deadline"], "2026-11-22T23:00:00");
    w.advance(Duration::from_secs(27 * 3_600));
    let customer = w.log_in(CUSTOMER);
    let shown = w.ok("GET", &format!("/voucher-order/{order}"), &customer);
    assert_eq!(shown["data"]["status"], 4, "{shown}");
    w.assert_balanced();
}

#[test]
fn money_goes_back_at_the_counter_once_with_amount_and_operator_in_the_audit_log() {
    let w = at_the_counter();
    let order = bought(&w, "/voucher-order/seckill/2");
    let price = 100;
    recorded(&w, &order, "pay", &json!({ "amount": price, "method": "terminal" }));
    let refund = w.call("POST", &format!("/voucher-order/{order}/refund"), &w.customer, "");
    assert_eq!(refused(&refund), (200, "REFUND_AT_COUNTER"));
    let reason = json!({ "reason": "买错了" });
    let void = w.call("POST", &format!("/ops/orders/{order}/void"), &w.operator, &reason.to_string());
    assert_eq!(refused(&void), (200, "REFUND_AT_COUNTER"));

    let back = json!({ "amount": price, "method": "cash", "reason": "买错了" });
    let refunded = recorded(&w, &order, "refund", &back);
    assert_eq!((&refunded["status"], &refunded["recordedBefore"]), (&json!(6), &json!(false)));
    assert_eq!(recorded(&w, &order, "refund", &back)["recordedBefore"], true);
    assert_eq!(w.ok("GET", "/sale/2", "")["data"]["stock"], 2);

    let audit = w.ok("GET", "/ops/audit?max=50", &w.operator);
    let deeds = audit["data"].as_array().unwrap();
    for (action, detail) in [
        ("order.pay", json!({ "amount": price, "method": "terminal" })),
        ("order.refund", json!({ "amount": price, "method": "cash", "till": "1", "reason": "买错了" })),
    ] {
        let deed = deeds.iter().rfind(|deed| deed["action"] == action).unwrap();
        assert_eq!(deed["subject"], format!("order {order}"));
        assert_eq!((&deed["detail"], &deed["userId"]), (&detail, &json!(1)), "{deed}");
    }
    w.assert_balanced();
}

#[test]
fn sixty_four_calls_at_once_record_one_payment_and_one_refund() {
    let w = at_the_counter();
    let order = bought(&w, "/voucher-order/1");
    let body = json!({ "amount": PRICE, "method": "cash", "reason": "买错了" });
    for (step, state) in [("pay", PaymentState::Captured), ("refund", PaymentState::Refunded)] {
        let answers: Vec<_> = thread::scope(|scope| {
            let calls: Vec<_> = (0..64).map(|_| scope.spawn(|| recorded(&w, &order, step, &body))).collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect()
        });
        // None, if the response of the call that recorded was lost: the client repeats after a 503.
        let new = answers.iter().filter(|answer| answer["recordedBefore"] == false).count();
        assert!(new <= 1, "{step}: {new}");
        assert_eq!(states(&w, &order), [state], "{step}");
    }
    w.assert_balanced();
}

#[test]
fn wrong_money_is_refused_with_the_price() {
    let w = at_the_counter();
    let order = bought(&w, "/voucher-order/1");
    let with = |amount: Value, method: &str| json!({ "amount": amount, "method": method, "reason": "x" });
    for step in ["pay", "refund"] {
        for (body, status, code, words) in [
            (with(json!(PRICE - 1), "cash"), 200, "AMOUNT_DIFFERS", "47.50"),
            (with(json!(i64::MIN), "cash"), 200, "AMOUNT_DIFFERS", "47.50"),
            (with(json!(47.5), "cash"), 400, "BAD_REQUEST", ""),
            (with(json!(PRICE), "coins"), 400, "BAD_REQUEST", "cash"),
            (json!({ "method": "cash" }), 400, "BAD_REQUEST", ""),
            (json!({ "amount": PRICE }), 400, "BAD_REQUEST", ""),
            (json!({}), 400, "BAD_REQUEST", ""),
        ] {
            let response = record(&w, &order, step, &body);
            assert_eq!(refused(&response), (status, code), "{step} {body}: {}", response.text);
            assert!(response.text.contains(words), "{step} {body}: {}", response.text);
        }
        let unknown = record(&w, "1", step, &with(json!(PRICE), "cash"));
        assert_eq!(refused(&unknown), (200, "NOT_FOUND"));
    }
    let unexplained = record(&w, &order, "refund", &json!({ "amount": PRICE, "method": "cash" }));
    assert_eq!(refused(&unexplained), (400, "BAD_REQUEST"));
    assert_eq!(w.ok("GET", &format!("/voucher-order/{order}"), &w.customer)["data"]["status"], 1);
    w.assert_balanced();
}
