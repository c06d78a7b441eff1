//! A guarded sale over HTTP.

use serde_json::{Value, json};

use super::world::{Response, World, world};

/// Guards the running sale with every kind of challenge.
fn guard(w: &World) {
    let body =
        json!({"kinds": ["work", "picture", "slider"], "workBits": 8, "passSeconds": 30, "jitterSeconds": 0});
    let stored = w.call("PUT", "/ops/sales/2/guard", &w.operator, &body.to_string());
    assert_eq!(stored.body["data"], body, "{stored:?}");
}

/// Calls with the headers of a guarded sale.
pub fn call(w: &World, path: &str, token: &str, headers: &[(&str, &str)], body: &Value) -> Response {
    let mut lines = format!("authorization: {token}\r\n");
    for (name, value) in headers {
        lines += &format!("{name}: {value}\r\n");
    }
    let body = if body.is_null() { String::new() } else { body.to_string() };
    w.request("POST", &format!("/api{path}"), &lines, body.as_bytes())
}

/// Finds the proof of work of a challenge, as a client does.
pub fn proof(work: &Value) -> String {
    use sha2::{Digest as _, Sha256};
    let (salt, bits) = (work["salt"].as_str().unwrap(), work["bits"].as_u64().unwrap());
    assert_eq!(bits, 8);
    let is_proof = |number: &String| Sha256::digest(format!("{salt}:{number}"))[0] == 0;
    (0..).map(|number: u32| number.to_string()).find(is_proof).unwrap()
}

#[test]
fn who_proves_work_gets_a_pass_and_buys_once() {
    let w = world();
    let live = |w: &World| w.ok("GET", "/sale/2", "")["data"]["guarded"].clone();
    assert_eq!((live(&w), &w.ok("GET", "/sale/2/page", "")["data"]["guard"]), (json!(false), &Value::Null));
    guard(&w);
    let page = w.ok("GET", "/sale/2/page", "");
    assert_eq!(
        (live(&w), &page["data"]["guard"]),
        (json!(true), &json!({"kinds": ["work", "picture", "slider"]}))
    );
    let without = w.call("POST", "/voucher-order/seckill/2", &w.customer, "");
    let words = "This sale asks for a short check first.";
    let english =
        call(&w, "/voucher-order/seckill/2", &w.customer, &[("accept-language", "en")], &Value::Null);
    assert_eq!(english.body, json!({"success": false, "code": "PASS_REQUIRED", "errorMsg": words}));
    assert_eq!((without.status, &without.body["errorMsg"]), (200, &json!("请先完成验证，再抢购")));

    let given = call(&w, "/sale/2/challenge", &w.customer, &[], &Value::Null).body["data"].clone();
    assert_eq!((&given["kind"], &given["kinds"]), (&json!("work"), &json!(["work", "picture", "slider"])));
    assert_eq!((&given["expiresInMs"], &given["passInMs"]), (&json!(120_000), &json!(0)));
    let ticket = given["deviceTicket"].as_str().unwrap();
    let answer = json!({"challenge": given["challenge"], "answer": {"work": proof(&given["work"])}});
    let strange = call(&w, "/sale/2/pass", &w.customer, &[], &answer);
    assert_eq!(strange.body["code"], "CHALLENGE_FAILED", "without the device ticket");
    let device = ("x-device-ticket", ticket);
    let issued = call(&w, "/sale/2/pass", &w.customer, &[device], &answer).body["data"].clone();
    assert_eq!(issued["expiresInMs"], 30_000);
    let pass = ("x-sale-pass", issued["pass"].as_str().unwrap());
    for (token, headers) in
        [(&w.customer, &[pass][..]), (&w.customer, &[device]), (&w.other, &[pass, device])]
    {
        let refused = call(&w, "/voucher-order/seckill/2", token, headers, &Value::Null);
        assert_eq!(refused.body["code"], "PASS_REQUIRED", "{headers:?}");
    }
    let bought = call(&w, "/voucher-order/seckill/2", &w.customer, &[pass, device], &Value::Null);
    let order = bought.body["dataText"].clone();
    assert!(order.is_string(), "{bought:?}");
    let again = w.call("POST", "/voucher-order/seckill/2", &w.customer, "");
    assert_eq!((&again.body["code"], &again.body["dataText"]), (&json!("ALREADY_BOUGHT"), &order));
    w.settle_log();
    w.assert_balanced();
}

#[test]
fn pictures_come_as_png_of_the_size_that_is_said() {
    let w = world();
    guard(&w);
    let png = |url: &Value| {
        use base64::Engine as _;
        let text = url.as_str().unwrap().strip_prefix("data:image/png;base64,").unwrap();
        let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
        let picture = image::load_from_memory(&bytes).unwrap();
        (u64::from(picture.width()), u64::from(picture.height()))
    };
    let size = |given: &Value, width: &str, height: &str| {
        (given[width].as_u64().unwrap(), given[height].as_u64().unwrap())
    };
    let asked = |kind: &str| {
        let body = json!({"kind": kind});
        let given = call(&w, "/sale/2/challenge", &w.customer, &[], &body);
        assert!(given.text.len() < 100_000, "{}", given.text.len());
        given.body["data"][kind].clone()
    };
    let picture = asked("picture");
    assert_eq!(png(&picture["image"]), size(&picture, "width", "height"));
    assert_eq!(picture["characters"], 4);
    let slider = asked("slider");
    assert_eq!(png(&slider["background"]), size(&slider, "width", "height"));
    assert_eq!(png(&slider["piece"]), size(&slider, "pieceWidth", "pieceHeight"));
    let lowest = slider["height"].as_u64().unwrap() - slider["pieceHeight"].as_u64().unwrap();
    assert!(slider["top"].as_u64().unwrap() <= lowest, "{}", slider["top"]);
}
