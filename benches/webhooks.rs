//! A consumer of webhooks that is killed and restarted under load.
//!
//! `cargo bench -p mallbox --bench webhooks [-- MINUTES]`, ten minutes by default: eight users publish notes,
//! buy and cancel at a mall of its own, and the consumer `tests/examples/python/event_consumer.py` gets
//! `kill -9` every few seconds. In the end the consumer has acted on each event once, in order per key.
//! `MALLBOX_SEED` repeats a plan. Needs Python.
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/common/process.rs"]
mod process;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mallbox::mall::{Clock as _, SystemClock};
use mallbox_storage::{EventTarget, NewSubscriber, SubscribeOutcome, VoucherId};
use serde_json::json;

use common::deliveries;
use common::dice::Dice;
use common::http;
use common::mall::{self, Mall, Person, Size};
use common::server::Server;
use process::Process;

const CONSUMER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/examples/python/event_consumer.py");
const SECRET: &str = "a secret of both sides";
const SUBSCRIBER: &str = "erp";
const WRITERS: usize = 8;
/// Pause between the changes of a writer: 40 changes a second in all, less than the consumer takes.
const CHANGE_INTERVAL: Duration = Duration::from_millis(200);
/// Time from a start of the consumer to the kill, in milliseconds.
const KILL_WITHIN_MS: (u64, u64) = (500, 12_000);
/// Time from a kill to the next start, in milliseconds.
const AWAY_MS: (u64, u64) = (0, 4_000);
/// The fourth retry comes after ten minutes.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Counts of the load.
#[derive(Default)]
struct Load {
    stop: AtomicBool,
    changes: AtomicUsize,
}

fn main() {
    let minutes: u64 = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(10);
    let mut dice = Dice::from_environment("webhooks");
    let dir = tempfile::tempdir().unwrap();
    let (data, log, seen) = ["mall", "mallbox.log", "seen.sqlite"].map(|name| dir.path().join(name)).into();
    let mall = mall::make(&data, Size { people: WRITERS, sales: 1, units: 1_000 }).unwrap();
    let mut consumer = start_consumer(&seen, "0");
    let port = consumer.line();
    subscribe(&data, &port);
    let server = Server::start_with(&data, &log, &[] as &[&str; 0]).unwrap();

    let (began, load) = (Instant::now(), Arc::<Load>::default());
    let writers = begin_writing(server.address, &mall, &load);
    let mut kills = 0;
    while began.elapsed() < Duration::from_secs(60 * minutes) {
        thread::sleep(dice.millis(KILL_WITHIN_MS.0, KILL_WITHIN_MS.1));
        consumer.child.kill().unwrap();
        consumer.child.wait().unwrap();
        kills += 1;
        thread::sleep(dice.millis(AWAY_MS.0, AWAY_MS.1));
        consumer = start_consumer(&seen, &port);
        assert_eq!(consumer.line(), port);
    }
    load.stop.store(true, Ordering::SeqCst);
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    let (changes, wrote) = (load.changes.load(Ordering::SeqCst), began.elapsed());
    println!("{changes} changes in {wrote:.0?}; the consumer was killed {kills} times");
    let until = Instant::now() + DRAIN_TIMEOUT;
    while !deliveries::are_done(server.address, SUBSCRIBER).unwrap() {
        assert!(Instant::now() < until, "events are still waiting");
        thread::sleep(Duration::from_millis(500));
    }
    println!("everything was delivered {:.0?} later", began.elapsed() - wrote);
    print_metrics(server.address);
    server.stop().unwrap();
    drop(consumer);
    check(&data, &seen, &mall);
}

fn start_consumer(seen: &Path, port: &str) -> Process {
    let mut command = Command::new("python3");
    command.arg(CONSUMER).arg(seen).env("PORT", port).env("MALLBOX_EVENT_SECRET", SECRET);
    Process::start(command.stderr(Stdio::null()))
}

fn subscribe(data: &Path, port: &str) {
    let url = format!("http://127.0.0.1:{port}/events");
    let target = EventTarget::Webhook { url, secret: SECRET.to_owned() };
    let subscriber = NewSubscriber { name: SUBSCRIBER.to_owned(), target, kinds: BTreeSet::new() };
    mall::runtime().unwrap().block_on(async {
        let storage = mall::open(data).await.unwrap();
        let made = storage.base.event_subscribers.subscribe(&subscriber, 1, SystemClock.now()).await.unwrap();
        assert!(matches!(made, SubscribeOutcome::Subscribed(_)), "{made:?}");
        storage.base.upkeep.close().await.unwrap();
    });
}

fn begin_writing(address: SocketAddr, mall: &Mall, load: &Arc<Load>) -> Vec<JoinHandle<()>> {
    let sale = mall.sales[0];
    let writer = |writer: usize| {
        let (people, load): (Arc<Vec<Person>>, _) = (Arc::clone(&mall.people), Arc::clone(load));
        thread::spawn(move || write(address, &people[writer].token, sale, &load))
    };
    (0..WRITERS).map(writer).collect()
}

/// Publishes notes, and now and then buys a unit and cancels the order, until the end of the load.
fn write(address: SocketAddr, token: &str, sale: VoucherId, load: &Load) {
    let note = json!({ "shopId": 1, "title": "好店", "images": "", "content": "好吃。" }).to_string();
    let call = |path: &str, body: &str| {
        thread::sleep(CHANGE_INTERVAL);
        let reply = http::send(address, "POST", path, token, body).unwrap();
        let is_done = reply.body["success"] == true;
        load.changes.fetch_add(usize::from(is_done), Ordering::Relaxed);
        reply
    };
    while !load.stop.load(Ordering::SeqCst) {
        for _ in 0..8 {
            call("/api/blog", &note);
        }
        let bought = call(&format!("/api/voucher-order/seckill/{sale}"), "");
        if let Some(order) = bought.body["dataText"].as_str() {
            call(&format!("/api/voucher-order/{order}/cancel"), "");
        }
    }
}

fn print_metrics(address: SocketAddr) {
    let metrics = http::ask(address, "GET", "/metrics", "").unwrap().text;
    for name in [
        "mallbox_events_numbered_total ",
        "mallbox_event_requests_",
        "mallbox_retry_failed_tasks{kind=\"event",
    ] {
        metrics.lines().filter(|line| line.starts_with(name)).for_each(|line| println!("{line}"));
    }
}

/// Compares what the consumer did with the database of the mall.
fn check(data: &Path, seen: &Path, mall: &Mall) {
    let due = mall::runtime().unwrap().block_on(async {
        let storage = mall::open(data).await.unwrap();
        let due = deliveries::due(&storage, &mall.people).await.unwrap();
        storage.base.upkeep.close().await.unwrap();
        due
    });
    let database = rusqlite::Connection::open(seen).unwrap();
    let mut select = database.prepare("SELECT key, kind FROM done ORDER BY rowid").unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let mut done: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows {
        let (key, kind) = row.unwrap();
        done.entry(key).or_default().push(kind);
    }
    let events: usize = done.values().map(Vec::len).sum();
    let wrong = due.iter().find(|(key, kinds)| done.get(*key).is_none_or(|done| done != *kinds));
    assert_eq!(wrong, None, "the consumer did {:?}", wrong.map(|(key, _)| done.get(key)));
    assert_eq!(done.len(), due.len(), "the consumer acted on changes that did not take place");
    println!("the consumer acted on each of {events} events once, in order per key");
}
