//! The real binary with a payment gateway: `kill -9` between the creation of a payment and its callback, and
//! what the command line shows and hides.
//!
//! `MALLBOX_CRASH_CYCLES` sets the number of kills, `MALLBOX_SEED` repeats a plan.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

mod common;
#[path = "common/process.rs"]
mod process;

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use mallbox_test_patience::{self as patience, Deadline};
use mallbox_test_payment_gateway::{OnCreation, PaymentGateway};
use serde_json::{Value, json};

use common::dice::{Dice, number_from};
use common::http;
use common::server::{self, Server};
use process::mallbox;

const SECRET: &str = "a secret of both sides";
/// Longest time from the request to the kill, in milliseconds; a payment takes some ten.
const KILL_WITHIN_MS: u64 = 40;
const CODE_TIMEOUT: Duration = Duration::from_secs(10);
const PAID: u64 = 2;

fn start(data: &Path, log: &Path, gateway: &PaymentGateway) -> anyhow::Result<Server> {
    let url = gateway.url();
    let flags = ["--payment", "webhook", "--payment-url", &url, "--payment-secret", SECRET, "--demo-data"];
    let server = Server::start_with(data, log, &flags)?;
    gateway.call_back_to(&format!("http://{}/api/payment/callback", server.address));
    Ok(server)
}

fn log_in(server: &Server, phone: u64) -> anyhow::Result<String> {
    call(server.address, "POST", &format!("/api/user/code?phone={phone}"), "", "")?;
    let sent = format!("SMS {phone} code ");
    let code = loop {
        let line = server.lines.recv_timeout(patience::scaled(CODE_TIMEOUT))?;
        if let Some(code) = line.strip_prefix(&sent) {
            break code.to_owned();
        }
    };
    let form = json!({ "phone": phone.to_string(), "code": code }).to_string();
    let token = call(server.address, "POST", "/api/user/login", "", &form)?;
    Ok(token["data"].as_str().context("no token")?.to_owned())
}

fn call(address: SocketAddr, method: &str, path: &str, token: &str, body: &str) -> anyhow::Result<Value> {
    let reply = http::send(address, method, path, token, body)?;
    ensure!(reply.body["success"] == true, "{method} {path}: {} {}", reply.status, reply.text);
    Ok(reply.body)
}

/// Buys an ordinary voucher. Returns the order.
fn buy(address: SocketAddr, token: &str) -> anyhow::Result<String> {
    let vouchers = call(address, "GET", "/api/voucher/list/1", "", "")?["data"].clone();
    let ordinary = vouchers.as_array().context("no vouchers")?;
    let ordinary = ordinary.iter().find(|voucher| voucher["beginTime"].is_null());
    let id = ordinary.context("no ordinary voucher")?["id"].clone();
    let bought = call(address, "POST", &format!("/api/voucher-order/{id}"), token, "")?;
    Ok(bought["dataText"].as_str().context("no order")?.to_owned())
}

#[test]
fn a_payment_is_made_once_however_often_the_mall_is_killed_in_the_middle() -> anyhow::Result<()> {
    let cycles = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(6).min(40);
    let mut dice = Dice::from_environment("gateway");
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    Server::start_demo(&data, &log, "127.0.0.1:0".parse()?)?.stop()?;
    let gateway = PaymentGateway::start(SECRET);
    for cycle in 0..cycles {
        let on_creation = dice.pick(&[OnCreation::Waits, OnCreation::Captures]);
        gateway.set(|switches| switches.on_creation = on_creation);
        let server = start(&data, &log, &gateway)?;
        let token = log_in(&server, 13_900_004_000 + cycle)?;
        let order = buy(server.address, &token)?;
        let pay = format!("/api/voucher-order/{order}/pay");
        let request = std::thread::spawn({
            let (address, token, pay) = (server.address, token.clone(), pay.clone());
            // No response after the kill.
            move || drop(http::send(address, "POST", &pay, &token, ""))
        });
        std::thread::sleep(dice.millis(0, KILL_WITHIN_MS));
        server.kill()?;
        request.join().ok().context("the client panicked")?;
        // The buyer pays while the mall is down: the callback finds nobody.
        if let Some(payment) = gateway.of_order(&order).pop() {
            let _ = gateway.buyer_pays(&payment.id);
            ensure!(!gateway.deliver().contains(&200));
        }

        let server = start(&data, &log, &gateway)?;
        let is_repeated = dice.chance(50);
        if is_repeated || gateway.of_order(&order).is_empty() {
            let reply = call(server.address, "POST", &pay, &token, "")?;
            let payment = gateway.of_order(&order).pop().context("no payment at the gateway")?;
            if reply["data"]["status"] != PAID {
                ensure!(gateway.buyer_pays(&payment.id), "{payment:?}");
            }
        }
        let statuses = gateway.deliver();
        ensure!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
        let deadline = Deadline::after(Duration::from_secs(30));
        loop {
            let shown = call(server.address, "GET", &format!("/api/voucher-order/{order}"), &token, "")?;
            if shown["data"]["status"] == PAID {
                break;
            }
            ensure!(!deadline.is_over(), "never paid: {shown}");
            std::thread::sleep(Duration::from_millis(50));
        }
        let payments = gateway.of_order(&order);
        ensure!(payments.len() == 1 && payments[0].state == "captured", "{payments:?}");
        server.stop()?;
    }
    let verified = server::verify_json(&data)?;
    let report: Value = serde_json::from_slice(&verified.stdout)?;
    ensure!(verified.status.success() && report["balances"] == true, "{report}");
    ensure!(report["totals"]["payments"]["capturedCents"] == gateway.money().kept(), "{report}");
    Ok(())
}

#[test]
fn a_mall_names_its_gateway_nowhere_and_does_not_start_without() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    // The path of the URL may be a key as well.
    let url = "http://127.0.0.1:9/k3p9";
    let flags = ["--payment", "webhook", "--payment-url", url, "--payment-secret", SECRET];
    let server = Server::start_with(&data, &log, &flags)?;
    let ready = http::send(server.address, "GET", "/readyz", "", "")?.text;
    ensure!(ready.contains(r#""payment":"webhook""#), "{ready}");
    let banner: Vec<String> = server.lines.try_iter().collect();
    server.stop()?;
    let written = std::fs::read_to_string(&log)?;
    for text in [&ready, &banner.join("\n"), &written] {
        ensure!(!text.contains("k3p9") && !text.contains(SECRET), "{text}");
    }
    let mut help = mallbox(&["serve", "--help"]);
    help.env("MALLBOX_PAYMENT_URL", url).env("MALLBOX_PAYMENT_SECRET", SECRET);
    let help = String::from_utf8(help.output()?.stdout)?;
    ensure!(help.contains("MALLBOX_PAYMENT_SECRET") && help.contains("--payment-url"), "{help}");
    ensure!(!help.contains("k3p9") && !help.contains(SECRET), "{help}");
    // The mode is stored: a start without the gateway would leave every buyer in doubt.
    let new = site.path().join("new");
    let webhook = ["--payment", "webhook"];
    for (data, flags, words) in [
        (&data, &[][..], "payment mode webhook needs a gateway: pass --payment-url and --payment-secret"),
        (&new, &webhook[..], "payment mode webhook needs a gateway"),
        (&new, &["--payment-url", url][..], "--payment-url needs --payment-secret"),
        (&new, &["--payment-url", url, "--payment-secret", "short"][..], "at least 16 characters"),
    ] {
        let refused = refusal_of(data, flags)?;
        ensure!(refused.contains(words) && refused.lines().count() == 1, "{flags:?}: {refused}");
    }
    ensure!(!new.exists(), "a directory was made on the way");
    Ok(())
}

/// Returns what a refused start writes.
fn refusal_of(data: &Path, flags: &[&str]) -> anyhow::Result<String> {
    let mut serve = mallbox(&["serve", "--listen", "127.0.0.1:0", "--data"]);
    let refused = serve.arg(data).args(flags).env("MALLBOX_LOG", "off").output()?;
    ensure!(refused.status.code() == Some(2), "{flags:?}: {}", refused.status);
    Ok(String::from_utf8_lossy(&refused.stderr).into_owned())
}
