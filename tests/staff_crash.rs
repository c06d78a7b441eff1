//! The real binary with a counter: `kill -9` in the middle of counter sales. Each is sold and paid, or
//! nothing.
//!
//! `MALLBOX_CRASH_CYCLES` sets the number of kills, `MALLBOX_SEED` repeats a plan.

mod common;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use mallbox_storage::{Order, OrderFilter, OrderStatus, Page, Storage, VoucherId};
use mallbox_test_patience as patience;
use serde_json::{Value, json};

use common::dice::{Dice, number_from};
use common::http;
use common::mall::{self, Size};
use common::server::{self, Server};

const PIN: &str = "482913";
/// Longest time from the first sale to the kill, in milliseconds; a sale takes some ten.
const KILL_WITHIN_MS: u64 = 120;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);
/// Price of the vouchers, in cents.
const PRICE: u64 = 100;
const UNITS: u64 = 400;
/// Sales of one cycle.
const SALES: u64 = 8;

fn call(
    address: SocketAddr,
    method: &str,
    path: &str,
    header: (&str, &str),
    body: &Value,
) -> anyhow::Result<http::Reply> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    http::send_with(address, method, &format!("/api{path}"), &[header], body.as_bytes())
}

fn ok(
    address: SocketAddr,
    method: &str,
    path: &str,
    header: (&str, &str),
    body: &Value,
) -> anyhow::Result<Value> {
    let reply = call(address, method, path, header, body)?;
    ensure!(reply.body["success"] == true, "{method} {path}: {} {}", reply.status, reply.text);
    Ok(reply.body["data"].clone())
}

/// A counter with a person on duty.
struct Counter {
    address: SocketAddr,
    token: String,
}

impl Counter {
    fn open(address: SocketAddr, key: &str) -> anyhow::Result<Self> {
        let key = ("x-kiosk-key", key);
        let begun = ok(address, "POST", "/staff/login", key, &json!({ "pin": PIN }))?;
        Ok(Self { address, token: begun["token"].as_str().context("no token")?.to_owned() })
    }

    fn sell(&self, voucher: VoucherId, request: &str) -> anyhow::Result<http::Reply> {
        let body =
            json!({ "voucherId": voucher.get(), "amount": PRICE, "method": "cash", "requestId": request });
        call(self.address, "POST", "/staff/sales", ("authorization", &self.token), &body)
    }
}

/// Returns the orders of walk-in customers.
async fn orders(storage: &Storage) -> anyhow::Result<Vec<Order>> {
    let mut all = Vec::new();
    for page in 1.. {
        let (orders, _) = storage.selling.orders.find(OrderFilter::default(), Page::new(page, 500)).await?;
        if orders.is_empty() {
            break;
        }
        all.extend(orders.into_iter().filter(|order| order.user.is_walk_in()));
    }
    Ok(all)
}

/// Checks the directory of a stopped mall: every acknowledged sale is paid once, and no buyer paid twice.
fn check(data: &Path, acknowledged: &BTreeMap<String, String>) -> anyhow::Result<Vec<Order>> {
    let found = mall::runtime()?.block_on(async {
        let storage = mall::open(data).await?;
        let found = orders(&storage).await?;
        storage.base.upkeep.close().await?;
        anyhow::Ok(found)
    })?;
    for (request, order) in acknowledged {
        let paid = found.iter().find(|one| one.id.to_string() == *order);
        let paid = paid.with_context(|| format!("the sale {request} is lost: order {order}"))?;
        ensure!(paid.status == OrderStatus::Paid && paid.paid.is_some(), "{request}: {paid:?}");
    }
    let mut live = BTreeMap::new();
    for order in found.iter().filter(|order| order.status.is_live()) {
        *live.entry(order.user).or_insert(0) += 1;
    }
    ensure!(live.values().all(|orders| *orders == 1), "a sale was made twice: {live:?}");
    let verified = server::verify_json(data)?;
    let report: Value = serde_json::from_slice(&verified.stdout)?;
    ensure!(verified.status.success() && report["balances"] == true, "{report}");
    Ok(found)
}

#[test]
fn a_counter_sale_killed_in_the_middle_is_sold_and_paid_or_nothing() -> anyhow::Result<()> {
    let cycles = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(4).min(20);
    let mut dice = Dice::from_environment("counter");
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    let made = mall::make(&data, Size { people: 1, sales: 1, units: UNITS })?;
    let operator = mall::appoint_operator(&data, &made)?;
    let operator = ("authorization", operator.as_str());
    let start = || Server::start_with(&data, &log, &[]);

    let server = start()?;
    let kiosk = ok(server.address, "POST", "/ops/kiosks", operator, &json!({ "name": "till" }))?;
    let key = kiosk["key"].as_str().context("no key")?.to_owned();
    ok(server.address, "POST", "/ops/staff", operator, &json!({ "name": "Anne", "pin": PIN }))?;
    server.stop()?;

    let (mut acknowledged, mut half_done) = (BTreeMap::new(), 0);
    for cycle in 0..cycles {
        let server = start()?;
        let counter = Counter::open(server.address, &key)?;
        let requests: Vec<String> = (0..SALES).map(|number| format!("{cycle}-{number}")).collect();
        let (voucher, kill_in) = (made.sales[0], dice.millis(5, KILL_WITHIN_MS));
        let told = std::thread::scope(|scope| {
            let counter = &counter;
            let selling: Vec<_> = requests
                .iter()
                .map(|request| scope.spawn(move || (request, counter.sell(voucher, request))))
                .collect();
            std::thread::sleep(kill_in);
            server.kill()?;
            let told = selling.into_iter().map(|sale| sale.join().unwrap());
            anyhow::Ok(told.map(|(request, reply)| (request.clone(), reply)).collect::<Vec<_>>())
        })?;
        for (request, reply) in told {
            if let Ok(reply) = reply
                && reply.body["success"] == true
            {
                let order = reply.body["data"]["order"]["id"].as_str().context("no order")?.to_owned();
                acknowledged.insert(request, order);
            }
        }
        let found = check(&data, &acknowledged)?;
        half_done += u64::from(found.iter().any(|order| order.status == OrderStatus::Unpaid));

        // Half of the keys are called again: they are sold once, with the order of before if there was one.
        let server = start()?;
        let counter = Counter::open(server.address, &key)?;
        for request in requests.iter().filter(|_| dice.chance(50)) {
            let order = patience::until_ok(DRAIN_TIMEOUT, || {
                let reply = counter.sell(voucher, request)?;
                let order = reply.body["data"]["order"]["id"].as_str();
                order.map(str::to_owned).with_context(|| format!("{request}: {}", reply.text))
            })?;
            if let Some(before) = acknowledged.insert(request.clone(), order.clone()) {
                ensure!(before == order, "{request}: {before}, then {order}");
            }
        }
        server.stop()?;
        check(&data, &acknowledged)?;
    }
    // Where a kill falls is chance. `interrupted_sales` of the API tests leaves a sale half done for certain.
    eprintln!("{half_done} of {cycles} kills left an unpaid order");
    // What nobody repeated is unpaid, and has ten minutes: nothing is half sold.
    let found = check(&data, &acknowledged)?;
    for order in found.iter().filter(|order| order.status != OrderStatus::Paid) {
        ensure!(order.status == OrderStatus::Unpaid, "{order:?}");
        ensure!(order.deadline <= order.created + Duration::from_secs(900), "{order:?}");
    }
    Ok(())
}
