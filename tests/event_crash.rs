//! Events through crashes: `kill -9` of the mall, and a receiver that is slow, loses responses, fails and is
//! killed. Without repetitions, every change has its event exactly once, and in order per key.
//!
//! `MALLBOX_CRASH_CYCLES` sets the number of kills, `MALLBOX_SEED` repeats a plan.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

mod common;
#[path = "common/webhook_receiver.rs"]
mod webhook_receiver;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use mallbox::mall::{Clock as _, SystemClock};
use mallbox::place::Place;
use mallbox_storage::{EventTarget, NewSubscriber, Storage, SubscribeOutcome, VoucherId};
use mallbox_storage_embedded::EmbeddedOptions;
use mallbox_storage_production::ProductionOptions;
use mallbox_test_patience::Deadline;
use mallbox_test_servers::{MariaDb, Redis};
use serde_json::{Value, json};

use common::deliveries;
use common::dice::{Dice, number_from};
use common::mall::{self, Mall, Size};
use common::server::Server;
use common::{http, mall::Person};
use webhook_receiver::{Switches, WebhookReceiver};

const SECRET: &str = "a secret of both sides";
/// Writers at once.
const WRITERS: usize = 8;
/// Changes per writer and round, more than a kill lets happen.
const CHANGES: usize = 200;
/// Time from the first change to the kill, in milliseconds: some runs of the relay.
const KILL_WITHIN_MS: (u64, u64) = (100, 1_500);
/// Tasks in the hands of a killed process wait for their lease, of a minute.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(240);
/// Further flags: the server has no limits.
const FLAGS: [&str; 0] = [];

async fn subscribe(storage: &Storage, receiver: &WebhookReceiver) -> anyhow::Result<()> {
    let target = EventTarget::Webhook { url: receiver.url(), secret: SECRET.to_owned() };
    let erp = NewSubscriber { name: "erp".to_owned(), target, kinds: BTreeSet::new() };
    let made = storage.base.event_subscribers.subscribe(&erp, 1, SystemClock.now()).await?;
    ensure!(matches!(made, SubscribeOutcome::Subscribed(_)), "{made:?}");
    Ok(())
}

/// Begins to write: each writer buys a unit and gives it back, then publishes notes, until the mall is gone.
/// Returns the notes acknowledged.
fn begin_writing(address: SocketAddr, mall: &Mall, round: usize) -> Vec<JoinHandle<Vec<u64>>> {
    let sale = mall.sales[round % mall.sales.len()];
    (0..WRITERS)
        .map(|writer| {
            let people: Arc<Vec<Person>> = Arc::clone(&mall.people);
            std::thread::spawn(move || write(address, &people[writer].token, sale))
        })
        .collect()
}

fn write(address: SocketAddr, token: &str, sale: VoucherId) -> Vec<u64> {
    let mut notes = Vec::new();
    let claim = format!("/api/voucher-order/seckill/{sale}");
    let Ok(claimed) = http::send(address, "POST", &claim, token, "") else { return notes };
    let order = claimed.body["dataText"].as_str().unwrap_or_default().to_owned();
    for number in 0..CHANGES {
        if number == 3 && !order.is_empty() {
            let cancel = format!("/api/voucher-order/{order}/cancel");
            if http::send(address, "POST", &cancel, token, "").is_err() {
                return notes;
            }
        }
        let note = json!({ "shopId": 1, "title": "好店", "images": "", "content": "好吃。" });
        match http::send(address, "POST", "/api/blog", token, &note.to_string()) {
            Ok(reply) if reply.body["success"] == true => notes.extend(reply.body["data"].as_u64()),
            // Refused under load: in doubt, too.
            Ok(reply) if reply.status >= 500 => {}
            Ok(reply) => panic!("{} {}", reply.status, reply.text),
            Err(_) => return notes,
        }
    }
    notes
}

fn end_writing(writers: Vec<JoinHandle<Vec<u64>>>) -> anyhow::Result<Vec<u64>> {
    let mut notes = Vec::new();
    for writer in writers {
        notes.extend(writer.join().ok().context("a writer panicked")?);
    }
    Ok(notes)
}

fn received(receiver: &WebhookReceiver) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in receiver.unique() {
        let text = |name: &str| event[name].as_str().unwrap().to_owned();
        found.entry(text("key")).or_default().push(text("kind"));
    }
    found
}

/// Waits until the mall has delivered all events, and checks that the receiver has those of the notes.
fn wait_for_delivery(
    address: SocketAddr,
    receiver: &WebhookReceiver,
    acknowledged: &[u64],
) -> anyhow::Result<()> {
    /// Longer than the interval at which the relay states its metrics.
    const DRAINED_FOR: Duration = Duration::from_secs(3);
    let deadline = Deadline::after(DELIVERY_TIMEOUT);
    let mut drained_since = None;
    while drained_since.is_none_or(|since: Instant| since.elapsed() < DRAINED_FOR) {
        ensure!(!deadline.is_over(), "events are still waiting, {} arrived", receiver.unique().len());
        drained_since =
            deliveries::are_done(address, "erp")?.then(|| drained_since.unwrap_or_else(Instant::now));
        std::thread::sleep(Duration::from_millis(100));
    }
    let events = receiver.unique();
    let keys: BTreeSet<&str> = events.iter().filter_map(|event| event["key"].as_str()).collect();
    let missing = acknowledged.iter().filter(|note| !keys.contains(&*format!("note/{note}"))).count();
    ensure!(missing == 0, "{missing} of {} notes have no event", acknowledged.len());
    Ok(())
}

fn check(receiver: &WebhookReceiver, changes: &BTreeMap<String, Vec<&'static str>>) {
    receiver.assert_in_order();
    let found = received(receiver);
    for (key, kinds) in changes {
        assert_eq!(found.get(key).map(Vec::as_slice).unwrap_or_default(), kinds, "{key}");
    }
    let strangers: Vec<_> = found.keys().filter(|key| !changes.contains_key(*key)).collect();
    assert!(strangers.is_empty(), "events of changes that did not take place: {strangers:?}");
}

#[test]
fn every_change_has_its_event_once_after_kills_of_the_mall_and_of_the_receiver() -> anyhow::Result<()> {
    let cycles = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(4).clamp(2, 40);
    let mut dice = Dice::from_environment("events");
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (data, log) = (site.path().join("mall"), site.path().join("mallbox.log"));
    let size = Size { people: WRITERS, sales: usize::try_from(cycles)?, units: 100 };
    let people = mall::make(&data, size)?;
    let receiver = WebhookReceiver::start(SECRET);
    let place = Place::Embedded(EmbeddedOptions::new(&data));
    mall::runtime()?.block_on(async {
        let storage = place.open().await?;
        subscribe(&storage, &receiver).await?;
        anyhow::Ok(storage.base.upkeep.close().await?)
    })?;
    let mut acknowledged = Vec::new();
    for round in 0..usize::try_from(cycles)? {
        let delay = Duration::from_millis(dice.pick(&[0, 5, 40]));
        receiver.set(Switches { loses_every: 5, fails_every: 7, delay });
        let server = Server::start_with(&data, &log, &FLAGS)?;
        let writers = begin_writing(server.address, &people, round);
        std::thread::sleep(dice.millis(KILL_WITHIN_MS.0, KILL_WITHIN_MS.1));
        if dice.chance(50) {
            receiver.kill();
            std::thread::sleep(dice.millis(0, KILL_WITHIN_MS.0));
            receiver.restart();
        }
        server.kill()?;
        acknowledged.extend(end_writing(writers)?);
    }
    ensure!(!acknowledged.is_empty(), "no note was acknowledged: every kill came too early");
    receiver.set(Switches::default());
    let server = Server::start_with(&data, &log, &FLAGS)?;
    wait_for_delivery(server.address, &receiver, &acknowledged)?;
    server.stop()?;
    let changes = mall::runtime()?.block_on(async {
        let storage = place.open().await?;
        let changes = deliveries::due(&storage, &people.people[..WRITERS]).await?;
        storage.base.upkeep.close().await?;
        anyhow::Ok(changes)
    })?;
    check(&receiver, &changes);
    println!(
        "events: {cycles} times kill -9, {} notes acknowledged, {} requests for {} events",
        acknowledged.len(),
        receiver.requests(),
        receiver.unique().len()
    );
    Ok(())
}

#[test]
#[cfg_attr(
    not(feature = "production-tests"),
    ignore = "needs Redis and MariaDB; tests/run turns it on where they are there"
)]
fn two_instances_deliver_events_together_and_go_on_when_one_is_killed() -> anyhow::Result<()> {
    let (redis, mariadb) = (Redis::start()?, MariaDb::start()?);
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let log = site.path().join("mallbox.log");
    let place = Place::Production(ProductionOptions::new(redis.url(), mariadb.url("mall")));
    let receiver = WebhookReceiver::start(SECRET);
    receiver.set(Switches { loses_every: 5, ..Switches::default() });
    let people = mall::runtime()?.block_on(async {
        let storage = place.open().await?;
        let people = mall::make_in(&storage, Size { people: 2 * WRITERS, sales: 1, units: 100 }).await?;
        subscribe(&storage, &receiver).await?;
        storage.base.upkeep.close().await?;
        anyhow::Ok(people)
    })?;
    let start = || Server::start_on_with(&redis.url(), &mariadb.url("mall"), &log, &FLAGS);
    let (first, second) = (start()?, start()?);
    let writers = begin_writing(first.address, &people, 0);
    let others =
        Mall { people: Arc::new(people.people.iter().skip(WRITERS).map(copied).collect()), ..people.clone() };
    let others = begin_writing(second.address, &others, 0);
    std::thread::sleep(Duration::from_millis(1_500));
    first.kill()?;
    let mut acknowledged = end_writing(writers)?;
    acknowledged.extend(end_writing(others)?);
    ensure!(!acknowledged.is_empty(), "no note was acknowledged");
    receiver.set(Switches::default());
    wait_for_delivery(second.address, &receiver, &acknowledged)?;
    second.stop()?;
    receiver.assert_in_order();
    let found = received(&receiver);
    for note in &acknowledged {
        assert_eq!(found[&format!("note/{note}")], ["note.published"]);
    }
    let positions: Vec<u64> =
        receiver.unique().iter().filter_map(|event: &Value| event["position"].as_u64()).collect();
    let expected: BTreeSet<u64> = (1..=positions.len() as u64).collect();
    assert_eq!(positions.into_iter().collect::<BTreeSet<u64>>(), expected, "no position was left out");
    Ok(())
}

fn copied(person: &Person) -> Person {
    Person { id: person.id, token: person.token.clone() }
}
