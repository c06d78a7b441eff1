//! The real binary with a guarded sale: `kill -9` while buyers show their passes.
//!
//! `MALLBOX_CRASH_CYCLES` sets the number of kills, `MALLBOX_SEED` repeats a plan.

mod common;

use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use mallbox_test_patience as patience;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use common::dice::{Dice, number_from};
use common::http::{self, Reply};
use common::server::{self, Server};

const OPERATOR: u64 = 13_900_000_001;
const BUYERS: u64 = 6;
/// Claims of each buyer at once, with the same pass.
const CLAIMS: usize = 4;
/// Longest wait for a response.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(20);
const CODE_TIMEOUT: Duration = Duration::from_secs(10);

/// A buyer with the headers of a claim.
struct Buyer {
    token: String,
    shown: String,
}

fn call(address: SocketAddr, method: &str, path: &str, headers: &str, body: &Value) -> anyhow::Result<Reply> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let length = body.len();
    let request = format!(
        "{method} /api{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
    );
    http::read(&http::exchange(TcpStream::connect(address)?, request.as_bytes())?)
}

fn done(reply: Reply) -> anyhow::Result<Value> {
    ensure!(reply.body["success"] == true, "{} {}", reply.status, reply.text);
    Ok(reply.body)
}

fn start(data: &Path, log: &Path) -> anyhow::Result<Server> {
    Server::start_with(data, log, &["--demo-data"])
}

/// Logs in. Returns the header of a session.
fn log_in(server: &Server, phone: u64) -> anyhow::Result<String> {
    done(call(server.address, "POST", &format!("/user/code?phone={phone}"), "", &Value::Null)?)?;
    let sent = format!("SMS {phone} code ");
    let code = loop {
        let line = server.lines.recv_timeout(patience::scaled(CODE_TIMEOUT))?;
        if let Some(code) = line.strip_prefix(&sent) {
            break code.to_owned();
        }
    };
    let form = json!({ "phone": phone.to_string(), "code": code });
    let session = done(call(server.address, "POST", "/user/login", "", &form)?)?;
    Ok(format!("authorization: {}\r\n", session["data"].as_str().context("no token")?))
}

/// Solves a challenge of a sale.
fn buyer(address: SocketAddr, sale: &Value, token: &str) -> anyhow::Result<Buyer> {
    let given = done(call(address, "POST", &format!("/sale/{sale}/challenge"), token, &Value::Null)?)?;
    let given = &given["data"];
    let salt = given["work"]["salt"].as_str().context("no proof of work")?;
    let is_proof = |number: &u32| Sha256::digest(format!("{salt}:{number}"))[0] == 0;
    let work = (0..).find(is_proof).context("no proof")?.to_string();
    let device = format!("x-device-ticket: {}\r\n", given["deviceTicket"].as_str().context("no ticket")?);
    let body = json!({ "challenge": given["challenge"], "answer": { "work": work } });
    let issued =
        done(call(address, "POST", &format!("/sale/{sale}/pass"), &format!("{token}{device}"), &body)?)?;
    let pass = issued["data"]["pass"].as_str().context("no pass")?;
    Ok(Buyer { token: token.to_owned(), shown: format!("{token}{device}x-sale-pass: {pass}\r\n") })
}

/// Returns the order that a claim names, if any.
fn order(reply: &Reply) -> Option<String> {
    reply.body["dataText"].as_str().map(str::to_owned)
}

#[test]
fn a_pass_buys_once_however_often_the_mall_is_killed() -> anyhow::Result<()> {
    let cycles = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(5).min(40);
    let mut dice = Dice::from_environment("guard");
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    Server::start_demo(&data, &log, "127.0.0.1:0".parse()?)?.stop()?;
    let server = start(&data, &log)?;
    let on_sale = done(call(server.address, "GET", "/sale/on", "", &Value::Null)?)?;
    let open = on_sale["data"].as_array().context("no sales")?.iter().find(|sale| sale["state"] == "OPEN");
    let sale = open.context("no open sale")?["voucherId"].clone();
    let operator = log_in(&server, OPERATOR)?;
    let guard = json!({ "kinds": ["work"], "workBits": 8, "passSeconds": 600 });
    done(call(server.address, "PUT", &format!("/ops/sales/{sale}/guard"), &operator, &guard)?)?;
    let sessions: Vec<String> =
        (0..BUYERS).map(|number| log_in(&server, 13_900_005_000 + number)).collect::<Result<_, _>>()?;
    server.stop()?;

    let claim = format!("/voucher-order/seckill/{sale}");
    let mut accepted = 0;
    for cycle in 0..cycles {
        let server = start(&data, &log)?;
        let address = server.address;
        let buyers: Vec<Buyer> =
            sessions.iter().map(|token| buyer(address, &sale, token)).collect::<Result<_, _>>()?;
        let named = std::thread::scope(|scope| {
            let (answered, answers) = std::sync::mpsc::channel();
            let claims = buyers.iter().flat_map(|buyer| std::iter::repeat_n(buyer, CLAIMS));
            let claims: Vec<_> = claims
                .map(|buyer| {
                    let (claim, answered) = (&claim, answered.clone());
                    scope.spawn(move || {
                        // No response after the kill.
                        let reply = call(address, "POST", claim, &buyer.shown, &Value::Null).ok();
                        let _ = answered.send(());
                        reply
                    })
                })
                .collect();
            // In the middle of the rush, on a slow machine as on a fast one.
            for _ in 0..dice.pick(&[1, 2, 3, 5, 8, 12]) {
                answers.recv_timeout(patience::scaled(RESPONSE_TIMEOUT))?;
            }
            server.kill()?;
            let replies: Option<Vec<_>> = claims.into_iter().map(|claim| claim.join().ok()).collect();
            anyhow::Ok(replies.context("a client panicked")?)
        })?;

        let server = start(&data, &log)?;
        let mut replies = named.chunks(CLAIMS);
        for buyer in &buyers {
            let named: Vec<String> = replies.next().unwrap().iter().flatten().filter_map(order).collect();
            // Whoever holds a unit hears so; whoever does not needs another pass.
            let again = call(server.address, "POST", &claim, &buyer.shown, &Value::Null)?;
            let held = order(&again);
            let expected = if held.is_some() { "ALREADY_BOUGHT" } else { "PASS_REQUIRED" };
            ensure!(again.code() == expected, "cycle {cycle}: {}", again.text);
            ensure!(named.iter().all(|named| Some(named) == held.as_ref()), "{named:?} and then {held:?}");
            let Some(held) = held else { continue };
            accepted += 1;
            done(call(
                server.address,
                "POST",
                &format!("/voucher-order/{held}/cancel"),
                &buyer.token,
                &Value::Null,
            )?)?;
            let spent = call(server.address, "POST", &claim, &buyer.shown, &Value::Null)?;
            ensure!(spent.code() == "PASS_REQUIRED", "cycle {cycle}: {}", spent.text);
        }
        server.stop()?;
    }
    println!("{cycles} kills, {accepted} passes spent");
    let verified = server::verify_json(&data)?;
    let report: Value = serde_json::from_slice(&verified.stdout)?;
    ensure!(verified.status.success() && report["balances"] == true, "{report}");
    ensure!(accepted > 0, "every kill came before the first claim");
    Ok(())
}
