//! The real binary with a waiting list: `kill -9` while orders are cancelled, waves are released, and units
//! handed on.
//!
//! `MALLBOX_CRASH_CYCLES` sets the number of kills, `MALLBOX_SEED` repeats a plan.

mod common;

use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use mallbox_test_patience::{self as patience, Deadline};
use serde_json::{Value, json};

use common::dice::{Dice, number_from};
use common::http::{self, Reply};
use common::server::{self, Server};

const OPERATOR: u64 = 13_900_000_001;
/// Units of the sale at first, all held at the beginning of a cycle.
const UNITS: usize = 4;
/// Cycles with a wave of one unit, two seconds after the start.
const WAVES: u64 = 2;
/// As many users wait as there are units after the last wave.
const USERS: u64 = 12;
const CODE_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest time until units that returned are handed on.
const PROMOTION_TIMEOUT: Duration = Duration::from_secs(20);

/// A user who holds an order, or waits.
struct User {
    token: String,
    order: Option<String>,
}

fn call(address: SocketAddr, method: &str, path: &str, token: &str, body: &Value) -> anyhow::Result<Reply> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let length = body.len();
    let request = format!(
        "{method} /api{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{token}content-length: {length}\r\n\r\n{body}"
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

/// Opens a list on an open sale, sells its last units to the first users, and has the others wait.
fn prepare(server: &Server) -> anyhow::Result<(Value, String, Vec<User>)> {
    let address = server.address;
    let on_sale = done(call(address, "GET", "/sale/on", "", &Value::Null)?)?;
    let open = on_sale["data"].as_array().context("no sales")?.iter().find(|sale| sale["state"] == "OPEN");
    let sale = open.context("no open sale")?["voucherId"].clone();
    let operator = log_in(server, OPERATOR)?;
    let list = json!({ "max": USERS });
    done(call(address, "PUT", &format!("/ops/sales/{sale}/waiting-list"), &operator, &list)?)?;
    let mut users = Vec::new();
    for number in 0..USERS {
        users.push(User { token: log_in(server, 13_900_005_000 + number)?, order: None });
    }
    for holder in &mut users[..UNITS] {
        let path = format!("/voucher-order/seckill/{sale}");
        let bought = done(call(address, "POST", &path, &holder.token, &Value::Null)?)?;
        holder.order = bought["dataText"].as_str().map(str::to_owned);
    }
    let less = json!({ "add": -1_000_000 });
    done(call(address, "POST", &format!("/ops/sales/{sale}/stock"), &operator, &less)?)?;
    for user in &users[UNITS..] {
        join(address, &sale, user)?;
    }
    Ok((sale, operator, users))
}

fn join(address: SocketAddr, sale: &Value, user: &User) -> anyhow::Result<()> {
    let path = format!("/sale/{sale}/waiting-list");
    let joined = done(call(address, "POST", &path, &user.token, &Value::Null)?)?;
    ensure!(joined["data"]["state"] == "WAITING", "{joined}");
    Ok(())
}

fn cancel(address: SocketAddr, user: &User) -> anyhow::Result<Reply> {
    let order = user.order.as_deref().context("no order")?;
    call(address, "POST", &format!("/voucher-order/{order}/cancel"), &user.token, &Value::Null)
}

/// Schedules a wave of one unit in one to two seconds.
fn schedule(address: SocketAddr, sale: &Value, operator: &str) -> anyhow::Result<()> {
    let live = done(call(address, "GET", &format!("/sale/{sale}"), "", &Value::Null)?)?;
    let now: jiff::civil::DateTime = live["data"]["serverTime"].as_str().context("no time")?.parse()?;
    let time = now.checked_add(jiff::Span::new().seconds(2))?.strftime("%Y-%m-%dT%H:%M:%S").to_string();
    let waves = json!({ "waves": [{ "time": time, "units": 1 }] });
    done(call(address, "PUT", &format!("/ops/sales/{sale}/waves"), operator, &waves)?)?;
    Ok(())
}

/// Returns the orders of the users who were promoted.
fn promoted(address: SocketAddr, sale: &Value, users: &[User]) -> anyhow::Result<Vec<Option<String>>> {
    let path = format!("/sale/{sale}/waiting-list");
    let mut orders = Vec::new();
    for user in users {
        let place = done(call(address, "GET", &path, &user.token, &Value::Null)?)?;
        let is_new = user.order.is_none() && place["data"]["state"] == "PROMOTED";
        orders.push(place["data"]["orderId"].as_str().filter(|_| is_new).map(str::to_owned));
    }
    Ok(orders)
}

#[test]
fn every_unit_that_returns_is_handed_on_once_however_often_the_mall_is_killed() -> anyhow::Result<()> {
    let cycles = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(5).min(40);
    let mut dice = Dice::from_environment("waiting");
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    Server::start_demo(&data, &log, "127.0.0.1:0".parse()?)?.stop()?;
    let server = start(&data, &log)?;
    let (sale, operator, mut users) = prepare(&server)?;
    server.stop()?;

    let (mut handed_on, mut units) = (0, UNITS);
    for cycle in 0..cycles {
        let server = start(&data, &log)?;
        let address = server.address;
        if cycle < WAVES {
            schedule(address, &sale, &operator)?;
            units += 1;
        }
        // Between the first cancellation and the last promotion, which follows within a second.
        let until_kill = Duration::from_millis(dice.pick(&[5, 40, 150, 400, 800, 1_100, 1_400]));
        std::thread::scope(|scope| {
            for user in users.iter().filter(|user| user.order.is_some()) {
                // No response after the kill.
                scope.spawn(move || drop(cancel(address, user)));
            }
            std::thread::sleep(until_kill);
            server.kill()
        })?;

        let server = start(&data, &log)?;
        let address = server.address;
        for user in users.iter().filter(|user| user.order.is_some()) {
            let again = cancel(address, user)?;
            ensure!(again.status == 200, "cycle {cycle}: {} {}", again.status, again.text);
        }
        let deadline = Deadline::after(PROMOTION_TIMEOUT);
        let orders = loop {
            let orders = promoted(address, &sale, &users)?;
            let count = orders.iter().flatten().count();
            ensure!(count <= units, "cycle {cycle}: {count} of {units} units handed on");
            if count == units {
                break orders;
            }
            ensure!(!deadline.is_over(), "cycle {cycle}: {count} of {units} units handed on");
            std::thread::sleep(Duration::from_millis(50));
        };
        for (user, order) in users.iter_mut().zip(orders) {
            let held_before = user.order.take().is_some();
            if held_before {
                join(address, &sale, user)?;
            }
            handed_on += u64::from(order.is_some());
            user.order = order;
        }
        server.stop()?;
    }
    println!("{cycles} kills, {handed_on} units handed on");
    let verified = server::verify_json(&data)?;
    let report: Value = serde_json::from_slice(&verified.stdout)?;
    ensure!(verified.status.success() && report["balances"] == true, "{report}");
    Ok(())
}
