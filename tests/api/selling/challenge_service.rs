//! A guarded sale whose check is an external service's, over HTTP.

#[path = "../../common/challenge_stub.rs"]
#[allow(clippy::duplicate_mod, reason = "the target of both suites on servers has it twice")]
mod challenge_stub;

use mallbox::mall::selling::challenge_service::ChallengeProvider;
use serde_json::{Value, json};

use self::challenge_stub::{ChallengeStub, Mood, SITE_KEY};
use super::guards::call;
use super::world::{World, world};

/// Returns a mall with a service, and the running sale guarded by these kinds.
fn guarded(provider: ChallengeProvider, kinds: &[&str]) -> (World, ChallengeStub) {
    let stub = ChallengeStub::start();
    let client = stub.client(provider);
    let w = World::with("/api", |mall| mall.challenge_service(client.clone()));
    let body = json!({ "kinds": kinds, "workBits": 8, "passSeconds": 30, "jitterSeconds": 0 });
    let stored = w.call("PUT", "/ops/sales/2/guard", &w.operator, &body.to_string());
    let service = json!({ "name": provider.name(), "available": true });
    assert_eq!((&stored.body["data"]["kinds"], &stored.body["data"]["service"]), (&json!(kinds), &service));
    (w, stub)
}

fn challenge(w: &World, body: &Value) -> Value {
    call(w, "/sale/2/challenge", &w.customer, &[], body).body["data"].clone()
}

/// Sends the answer to a challenge. Returns the body of the response.
fn submit(w: &World, given: &Value, answer: &Value, language: &str) -> Value {
    let headers =
        [("x-device-ticket", given["deviceTicket"].as_str().unwrap()), ("accept-language", language)];
    let body = json!({ "challenge": given["challenge"], "answer": answer });
    call(w, "/sale/2/pass", &w.customer, &headers, &body).body
}

#[test]
fn the_answer_of_each_service_earns_a_pass() {
    for provider in ChallengeProvider::ALL {
        let (w, stub) = guarded(provider, &["service", "work"]);
        let given = challenge(&w, &Value::Null);
        assert_eq!((&given["kind"], &given["kinds"]), (&json!("service"), &json!(["service", "work"])));
        let script = format!("{}/{}.js", stub.origin(), provider.name());
        let service = json!({ "name": provider.name(), "siteKey": SITE_KEY, "scriptUrl": script });
        assert_eq!(given["service"], service);
        assert!(given["work"].is_null() && given["picture"].is_null(), "{given}");
        let answer = match provider {
            ChallengeProvider::HCaptcha | ChallengeProvider::Turnstile => json!({ "response": "good-1" }),
            ChallengeProvider::GeeTest => json!({ "geetest": {
                "captcha_id": SITE_KEY, "lot_number": "7", "captcha_output": "good-1", "pass_token": "p",
                "gen_time": "1795262400",
            }}),
        };
        let issued = submit(&w, &given, &answer, "en");
        let pass = issued["data"]["pass"].as_str().unwrap_or_else(|| panic!("{issued}"));
        let headers = [("x-sale-pass", pass), ("x-device-ticket", given["deviceTicket"].as_str().unwrap())];
        let bought = call(&w, "/voucher-order/seckill/2", &w.customer, &headers, &Value::Null);
        assert!(bought.body["dataText"].is_string(), "{bought:?}");
        w.settle_log();
        w.assert_balanced();
    }
}

#[test]
fn a_service_that_is_away_is_reported_and_replaced() {
    let (w, stub) = guarded(ChallengeProvider::Turnstile, &["service", "work"]);
    let metrics = |w: &World| w.request("GET", "/metrics", "", b"").text;
    assert!(metrics(&w).contains("\nmallbox_challenge_service_available 1\n"));
    let wrong = submit(&w, &challenge(&w, &Value::Null), &json!({ "response": "wrong" }), "zh");
    assert_eq!(wrong["errorMsg"], "验证未通过，请再试一次");
    stub.set(Mood::Broken(502));
    for (language, words) in [
        ("zh", "人机验证暂时不可用，请换一种方式再验证一次"),
        ("en", "The CAPTCHA is not available at present; please take another check."),
    ] {
        let given = challenge(&w, &Value::Null);
        let kind = if language == "zh" { "service" } else { "work" };
        assert_eq!(given["kind"], kind);
        if language == "zh" {
            let away = submit(&w, &given, &json!({ "response": "good-1" }), language);
            assert_eq!((&away["code"], &away["errorMsg"]), (&json!("CHALLENGE_FAILED"), &json!(words)));
        }
    }
    let state = w.ok("GET", "/ops/sales/2/guard", &w.operator)["data"]["service"].clone();
    assert_eq!(state, json!({ "name": "turnstile", "available": false }));
    let figures = metrics(&w);
    for line in [
        "\nmallbox_challenge_service_available 0\n",
        "\nmallbox_challenge_service_total{outcome=\"accepted\"} 0\n",
        "\nmallbox_challenge_service_total{outcome=\"refused\"} 1\n",
        "\nmallbox_challenge_service_total{outcome=\"failed\"} 1\n",
    ] {
        assert!(figures.contains(line), "{figures}");
    }
    let ready = w.request("GET", "/readyz", "", b"");
    assert_eq!((ready.status, &ready.body["ready"]), (200, &json!(true)));
    let warning = "the challenge service turnstile is away: sales use the mall's own challenges";
    assert!(ready.body["warnings"].as_array().unwrap().contains(&json!(warning)), "{}", ready.body);
}

fn policy(w: &World, path: &str) -> String {
    let response = w.request("GET", path, "", b"");
    assert_eq!(response.status, 200, "{path}");
    let line = response.head.lines().find_map(|line| line.strip_prefix("content-security-policy: "));
    line.unwrap_or_else(|| panic!("{path}: {}", response.head)).to_owned()
}

#[test]
fn the_origin_of_the_service_joins_the_policy_of_the_storefront_alone() {
    let plain = world();
    let (w, stub) = guarded(ChallengeProvider::HCaptcha, &["service"]);
    let origin = stub.origin();
    for path in ["/", "/mall/"] {
        let without = policy(&plain, path);
        assert!(!without.contains("http:") && !without.contains("frame-src"), "{without}");
        let mut with = without;
        for (directive, last) in [("script-src", "'self'"), ("img-src", "blob:"), ("connect-src", "'self'")] {
            let start = with.find(directive).unwrap();
            let end = start + with[start..].find(last).unwrap() + last.len();
            with.insert_str(end, &format!(" {origin}"));
        }
        let style = with.find("; img-src").unwrap();
        with.insert_str(style, &format!(" {origin}"));
        assert_eq!(policy(&w, path), format!("{with}; frame-src {origin}"), "{path}");
    }
    for path in ["/?kiosk=60", "/mall/?a=1&kiosk", "/console", "/api.html", "/manual/", "/manual/sale"] {
        assert_eq!(policy(&w, path), policy(&plain, path), "{path}");
    }
}
