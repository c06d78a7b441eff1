//! Staff and their calls at the counter.

use serde_json::{Value, json};

use super::super::operator::staff::{kiosk, log_in, try_pin};
use super::super::world::OPERATOR;
use super::Checker;
use super::operators::ask_as_each;

pub(super) fn staff(check: &mut Checker<'_>) {
    let none = &Value::Null;
    for body in [
        json!({ "name": "小安", "pin": "482913" }),
        json!({ "name": "小波", "pin": "482913" }),
        json!({ "name": "小波" }),
        json!({ "name": 1 }),
    ] {
        ask_as_each(check, "POST /ops/staff", "/ops/staff", &body);
    }
    ask_as_each(check, "GET /ops/staff", "/ops/staff", none);
    for (id, body) in [("2", none), ("2", &json!({ "pin": "1" })), ("99", none), ("x", none)] {
        ask_as_each(check, "PUT /ops/staff/{id}/pin", &format!("/ops/staff/{id}/pin"), body);
    }
    for id in ["2", "99", "x"] {
        ask_as_each(check, "DELETE /ops/staff/{id}", &format!("/ops/staff/{id}"), none);
    }
    counter(check);
}

fn counter(check: &mut Checker<'_>) {
    let none = &Value::Null;
    let key = kiosk(check.w, "柜台");
    for (key, pin) in [("none", "482913"), (&*key, "482914"), (&*key, "x"), (&*key, "482913")] {
        let response = try_pin(check.w, key, pin);
        check.check("POST /staff/login", &response);
    }
    let staff = log_in(check.w, &key, "482913");
    let operator = check.w.operator.clone();
    let customer = check.w.customer.clone();
    let sale = |request: &str, amount| json!({ "voucherId": 1, "amount": amount, "method": "cash", "requestId": request });
    let mut order = "2".to_owned();
    for token in ["", &*customer, &*operator, &*staff] {
        check.ask("GET /staff/me", "/staff/me", token, none);
        for body in [sale("one", 4_750), sale("one", 4_750), sale("two", 1), json!({ "voucherId": "x" })] {
            let sold = check.ask("POST /staff/sales", "/staff/sales", token, &body);
            if let Some(id) = sold.body["data"]["order"]["id"].as_str() {
                id.clone_into(&mut order);
            }
        }
        for phone in [json!("13900000007"), json!(OPERATOR), json!("1"), json!(1)] {
            check.ask("POST /staff/log-in-codes", "/staff/log-in-codes", token, &json!({ "phone": phone }));
        }
        for query in ["", "?current=2", "?current=x"] {
            check.ask("GET /staff/orders", &format!("/staff/orders{query}"), token, none);
        }
        for id in [&*order, "1", "x"] {
            check.ask("GET /staff/orders/{id}", &format!("/staff/orders/{id}"), token, none);
        }
    }
    let audit = check.ask("GET /ops/audit", "/ops/audit", &operator, none);
    assert!(audit.text.contains(r#""staffName":"小安""#), "{}", audit.text);
}
