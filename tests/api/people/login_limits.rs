//! Limits on codes and passwords: strangers neither lock anybody out nor spend the mall's messages.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use mallbox::mall::Settings;
use mallbox::mall::base::SharedNetworks;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::world::{CUSTOMER, OPERATOR, World};

const HOME: u16 = 1;
const HOUR: Duration = Duration::from_secs(3_600);
const PASSWORD: &str = "correct horse";
const WRONG_PASSWORD: &str = "battery staple";

fn limited(change: impl FnOnce(&mut Settings)) -> World {
    let mut settings = Settings { inbox: true, ..Settings::default() };
    change(&mut settings);
    World::with("/api", |mall| mall.settings(settings))
}

/// Sends a request from an address of its own: the whole of 127.0.0.0/8 is this machine.
fn ask(w: &World, from: u16, method: &str, path: &str, token: &str, body: &Value) -> Value {
    let to = w.mall.address().unwrap();
    let [high, low] = from.to_be_bytes();
    let from = SocketAddr::from((Ipv4Addr::new(127, 77, high, low), 0));
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let length = body.len();
    let request = format!(
        "{method} /api{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: {token}\r\n\
         x-mallbox-client: test\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    let exchange = async move {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(from).unwrap();
        let mut stream = socket.connect(to).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        response
    };
    let response = w.mall.wait_for(exchange).unwrap();
    let (_, body) = response.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap()
}

/// Returns the code of a refusal, or `ok`.
fn word(response: &Value) -> String {
    let is_done = response["success"] == true;
    if is_done { "ok".to_owned() } else { response["code"].as_str().unwrap().to_owned() }
}

fn ask_for_code(w: &World, from: u16, phone: &str) -> String {
    word(&ask(w, from, "POST", &format!("/user/code?phone={phone}"), "", &Value::Null))
}

fn sent_code(w: &World, phone: &str) -> String {
    let inbox = ask(w, HOME, "GET", &format!("/demo/inbox?phone={phone}"), "", &Value::Null);
    inbox["data"]["code"].as_str().unwrap().to_owned()
}

fn log_in(w: &World, from: u16, form: &Value) -> Value {
    ask(w, from, "POST", "/user/login", "", form)
}

/// Logs in by code. Returns the token.
fn log_in_by_code(w: &World, from: u16, phone: &str) -> String {
    assert_eq!(ask_for_code(w, from, phone), "ok");
    let session = log_in(w, from, &json!({ "phone": phone, "code": sent_code(w, phone) }));
    session["data"].as_str().unwrap_or_else(|| panic!("{session}")).to_owned()
}

fn wrong(code: &str) -> &'static str {
    if code == "000000" { "111111" } else { "000000" }
}

#[test]
fn strangers_lock_no_phone_out_of_an_address_that_logged_in_before() {
    let w = limited(|_| {});
    log_in_by_code(&w, HOME, OPERATOR);
    w.advance(HOUR);
    let mut sent = 0;
    for stranger in 100..180 {
        sent += usize::from(ask_for_code(&w, stranger, OPERATOR) == "ok");
        for _ in 0..6 {
            log_in(&w, stranger, &json!({ "phone": OPERATOR, "code": wrong(&sent_code(&w, OPERATOR)) }));
        }
    }
    assert_eq!(sent, 50 - 1, "strangers share a ceiling, which the first log-in counted towards");
    assert_eq!(ask_for_code(&w, 200, OPERATOR), "CODES_SPENT");
    for _ in 0..4 {
        assert_eq!(ask_for_code(&w, HOME, OPERATOR), "ok");
        let code = sent_code(&w, OPERATOR);
        let form = json!({ "phone": OPERATOR, "code": wrong(&code) });
        assert_eq!(word(&log_in(&w, HOME, &form)), "CODE_WRONG");
        assert_eq!(word(&log_in(&w, HOME, &json!({ "phone": OPERATOR, "code": code }))), "ok");
        w.advance(Duration::from_secs(55));
    }
}

#[test]
fn wrong_passwords_from_elsewhere_keep_nobody_from_logging_in_or_from_a_new_password() {
    let w = limited(|settings| settings.password_limit_of_phone.as_mut().unwrap().count = 8);
    let token = log_in_by_code(&w, HOME, CUSTOMER);
    let set = |token: &str, old: &str, new: &str| {
        let form = json!({ "oldPassword": old, "password": new });
        word(&ask(&w, HOME, "PUT", "/user/password", token, &form))
    };
    assert_eq!(set(&token, "", PASSWORD), "ok");
    let form = json!({ "phone": CUSTOMER, "password": WRONG_PASSWORD });
    let mut refused = 0;
    for stranger in 100..104 {
        for _ in 0..6 {
            refused += u32::from(word(&log_in(&w, stranger, &form)) == "RATE_LIMITED");
        }
    }
    assert_eq!(refused, 24 - 8, "a phone has a ceiling for strangers");
    let right = json!({ "phone": CUSTOMER, "password": PASSWORD });
    assert_eq!(word(&log_in(&w, 105, &right)), "RATE_LIMITED", "even for the right password");
    assert_eq!(word(&log_in(&w, HOME, &right)), "ok");
    assert_eq!(set(&token, PASSWORD, WRONG_PASSWORD), "ok");
    assert_eq!(word(&log_in(&w, HOME, &form)), "ok");
    // The known address has a limit as well.
    for _ in 0..3 {
        assert_eq!(word(&log_in(&w, HOME, &right)), "PASSWORD_WRONG");
    }
    assert_eq!(word(&log_in(&w, HOME, &right)), "RATE_LIMITED");
}

#[test]
fn one_address_gets_thirty_codes_an_hour_for_a_thousand_phones() {
    let w = limited(|_| {});
    let mut sent = 0;
    for number in 0..1_000 {
        sent += usize::from(ask_for_code(&w, 100, &format!("150{number:08}")) == "ok");
    }
    assert_eq!(sent, 30);
    assert_eq!(ask_for_code(&w, 100, "15100000000"), "CODE_TOO_SOON");
    assert_eq!(ask_for_code(&w, 101, "15100000000"), "ok", "another address has its own");
    w.advance(HOUR);
    assert_eq!(ask_for_code(&w, 100, "15100000001"), "ok");
}

#[test]
fn an_address_of_a_shared_network_gets_ten_times_as_much_as_others() {
    let w = limited(|settings| {
        settings.shared_networks = SharedNetworks::new(&["127.77.0.0/24".parse().unwrap()]);
        settings.code_limit_of_address.as_mut().unwrap().count = 3;
        settings.password_limit_of_address.as_mut().unwrap().count = 1;
    });
    for (from, codes, passwords) in [(100, 30, 10), (101, 30, 10), (0x100, 3, 1)] {
        let phone = |number: u32| format!("15{:01}{number:08}", from % 10);
        let sent = (0..40).filter(|number| ask_for_code(&w, from, &phone(*number)) == "ok").count();
        // On a busy machine a hash comes too late; the attempt counts all the same.
        let counted = (0..12).filter(|number| {
            let form = json!({ "phone": phone(*number), "password": WRONG_PASSWORD });
            word(&log_in(&w, from, &form)) != "RATE_LIMITED"
        });
        assert_eq!((sent, counted.count()), (codes, passwords), "{from}");
    }
    // The limits per phone are those of everybody.
    let codes: Vec<String> = (0..2).map(|_| ask_for_code(&w, 102, "15900000000")).collect();
    assert_eq!(codes, ["ok", "CODE_TOO_SOON"]);
    let form = json!({ "phone": "15900000000", "password": WRONG_PASSWORD });
    let refused: Vec<bool> = (0..6).map(|_| word(&log_in(&w, 103, &form)) == "RATE_LIMITED").collect();
    assert_eq!(refused, [false, false, false, false, false, true], "passwords of a phone");
}

#[test]
fn one_address_gets_thirty_passwords_hashed_and_then_waits() {
    let w = limited(|_| {});
    let attempt = |from: u16, number: u32| {
        let form = json!({ "phone": format!("150{number:08}"), "password": WRONG_PASSWORD });
        word(&log_in(&w, from, &form))
    };
    for number in 0..30 {
        assert_eq!(attempt(100, number), "PASSWORD_WRONG");
    }
    for number in 30..60 {
        assert_eq!(attempt(100, number), "RATE_LIMITED");
    }
    assert_eq!(attempt(101, 0), "PASSWORD_WRONG");
    w.advance(Duration::from_secs(20));
    assert_eq!(attempt(100, 60), "PASSWORD_WRONG");
}

#[test]
fn the_rest_of_the_malls_budget_is_for_operators_and_known_addresses() {
    let w = limited(|settings| settings.codes.per_day_of_mall = 10);
    log_in_by_code(&w, HOME, CUSTOMER);
    for number in 0..7 {
        assert_eq!(ask_for_code(&w, 100 + number, &format!("1500000000{number}")), "ok");
    }
    assert_eq!(ask_for_code(&w, 200, "15000000009"), "CODES_SPENT");
    assert_eq!(ask_for_code(&w, 201, OPERATOR), "ok");
    w.advance(HOUR);
    assert_eq!(ask_for_code(&w, HOME, CUSTOMER), "ok");
    assert_eq!(ask_for_code(&w, 202, OPERATOR), "CODES_SPENT", "the whole is the whole");
    w.advance(24 * HOUR);
    assert_eq!(ask_for_code(&w, 200, "15000000009"), "ok");
}

#[test]
fn a_phone_number_is_changed_on_the_way_with_a_ticket_for_each_code() {
    const NEW: &str = "13900000088";
    let w = limited(|_| {});
    let session = log_in_by_code(&w, HOME, CUSTOMER);
    w.advance(HOUR / 60);
    let with_ticket = |from: u16, phone: &str| {
        let path = format!("/user/code?phone={phone}&ticket=true");
        let ticket = ask(&w, from, "POST", &path, "", &Value::Null)["data"].clone();
        (sent_code(&w, phone), ticket)
    };
    let ((old, old_ticket), (code, ticket)) = (with_ticket(HOME, CUSTOMER), with_ticket(100, NEW));
    let put = |form: &Value| word(&ask(&w, 200, "PUT", "/user/phone", &session, form));
    let plain = json!({ "phone": NEW, "oldCode": old, "code": code });
    assert_eq!(put(&plain), "NO_CODE", "a third network without the tickets");
    let form =
        json!({ "phone": NEW, "oldCode": old, "oldTicket": old_ticket, "code": code, "ticket": ticket });
    assert_eq!(put(&form), "ok");
    assert_eq!(ask_for_code(&w, HOME, NEW), "ok");
    assert_eq!(word(&log_in(&w, HOME, &json!({ "phone": NEW, "code": sent_code(&w, NEW) }))), "ok");
}

#[test]
fn a_code_with_a_ticket_works_from_everywhere_and_for_its_holder_alone() {
    let w = limited(|_| {});
    let with_ticket = |from: u16| {
        let response =
            ask(&w, from, "POST", &format!("/user/code?phone={CUSTOMER}&ticket=true"), "", &Value::Null);
        response["data"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
    };
    let ticket = with_ticket(HOME);
    let code = sent_code(&w, CUSTOMER);
    // A neighbour behind the same address, who has no ticket, and a stranger with a ticket of another code.
    let plain = json!({ "phone": CUSTOMER, "code": code });
    assert_eq!(word(&log_in(&w, HOME, &plain)), "NO_CODE");
    let other = with_ticket(100);
    for _ in 0..5 {
        let form = json!({ "phone": CUSTOMER, "code": wrong(&code), "ticket": other });
        log_in(&w, 100, &form);
    }
    for bad in ["x", &"0".repeat(48), &other] {
        let form = json!({ "phone": CUSTOMER, "code": code, "ticket": bad });
        assert_eq!(word(&log_in(&w, HOME, &form)), "NO_CODE", "{bad}");
    }
    let form = json!({ "phone": CUSTOMER, "code": code, "ticket": ticket });
    assert_eq!(word(&log_in(&w, 300, &form)), "ok", "the phone may have changed networks");
    assert_eq!(word(&log_in(&w, 300, &form)), "NO_CODE");

    // Without tickets, as hm-dianping's pages: the address stands for the client.
    assert_eq!(ask_for_code(&w, 101, CUSTOMER), "ok");
    let form = json!({ "phone": CUSTOMER, "code": sent_code(&w, CUSTOMER), "ticket": "" });
    assert_eq!(word(&log_in(&w, 102, &form)), "NO_CODE");
    assert_eq!(word(&log_in(&w, 101, &form)), "ok");
}
