//! SQLite as the database of orders: orders per second, CPU time and bytes written per order, the slowest
//! batch, and the wait of a concurrent writer.
//!
//! `cargo bench -p mallbox-storage-embedded --bench record [-- ORDERS] [events] [batch=N]`. With `events`, a
//! subscriber has each order write its events. Times whole runs on a fresh file in
//! the system's temporary directory (set `TMPDIR` to choose the disk). The database grows through a run, so
//! one run is one figure. CPU time is that of the database's threads, bytes are those sent to the disk.
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mallbox_storage::{
    Claim, EventTarget, LogPosition, LoggedClaim, NewSubscriber, OrderId, PersistOutcome, Phone, Profile,
    Storage, SubscribeOutcome, Timestamp, UserId, VoucherId,
};
use mallbox_storage_contract::samples;
use mallbox_storage_embedded::EmbeddedOptions;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
const SALES: u64 = 12;
const USERS: u64 = 1_000_000;

fn main() {
    let orders = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(1_200_000_u64);
    let with_events = std::env::args().any(|arg| arg == "events");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    println!("{orders} orders of {SALES} sales one after another, users random of {USERS}");
    println!("a subscriber of events: {}", if with_events { "yes" } else { "no" });
    println!(
        "batch   rows/s   us/row   cpu us   written   bytes/row   batch ms p50   p99   max   other write ms p50   \
         p99   max"
    );
    let only = std::env::args().find_map(|arg| arg.strip_prefix("batch=")?.parse().ok());
    for batch in only.map_or(vec![250, 500, 1000, 2000, 4000], |batch| vec![batch]) {
        runtime.block_on(run(orders, batch, with_events));
    }
}

async fn run(orders: u64, batch: usize, with_events: bool) {
    let dir = tempfile::tempdir().unwrap();
    let storage =
        mallbox_storage_embedded::open(EmbeddedOptions::new(dir.path().join("mall"))).await.unwrap();
    let claims = claims(&storage, orders).await;
    if with_events {
        subscribe(&storage).await;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let other = tokio::spawn(somebody_else(storage.clone(), Arc::clone(&stop)));
    let (mut batches, began) = (Vec::new(), Instant::now());
    let (cpu_before, written_before) = (database_cpu_us(), written_bytes());
    for batch in claims.chunks(batch) {
        let began = Instant::now();
        let answers = storage.selling.orders.persist(batch, NOON).await.unwrap();
        assert!(answers.iter().all(|answer| matches!(answer, PersistOutcome::Written { .. })));
        batches.push(began.elapsed());
    }
    let took = began.elapsed().as_secs_f64();
    stop.store(true, Ordering::Relaxed);
    let rows = claims.len() as f64;
    let cpu = (database_cpu_us() - cpu_before) / rows;
    let (batches, other) = (spread(batches), spread(other.await.unwrap()));
    storage.base.upkeep.close().await.unwrap();
    let written = (written_bytes() - written_before) / rows;
    // Closed, the database is one file without a WAL.
    let bytes = std::fs::metadata(dir.path().join("mall/mall.sqlite")).unwrap().len() as f64 / rows;
    println!(
        "{batch:5} {:8.0} {:8.1} {cpu:8.2} {written:9.0} {bytes:11.1}   {batches}   {other}",
        rows / took,
        took * 1e6 / rows
    );
}

/// Returns the CPU time of the database's threads so far, in microseconds.
fn database_cpu_us() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().map(|thread| thread.unwrap().path());
    let text = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let of_database = threads.filter(|thread| text(thread.join("comm")).starts_with("record-"));
    let times = of_database.map(|thread| text(thread.join("schedstat")));
    times.map(|times| times.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e3).sum()
}

/// Returns the bytes that the process has sent to disks so far.
fn written_bytes() -> f64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap();
    let of_disk = io.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    of_disk.unwrap().parse().unwrap()
}

/// Returns equally many claims for each sale. Users are distinct within a sale, in random order.
async fn claims(storage: &Storage, orders: u64) -> Vec<LoggedClaim> {
    let mut random = StdRng::seed_from_u64(1);
    let mut users: Vec<u64> = (1..=USERS).collect();
    let mut claims = Vec::new();
    let per_sale = usize::try_from(orders / SALES).unwrap();
    for _ in 0..SALES {
        let voucher = sale(storage).await;
        users.shuffle(&mut random);
        for &user in users.iter().take(per_sale) {
            let number = claims.len() as u64;
            // 50,000 claims per second.
            let at = NOON + Duration::from_micros(number * 20);
            let order = OrderId::compose(at, number, voucher).unwrap();
            let claim = Claim { order, voucher, user: UserId::new(user), at };
            claims.push(LoggedClaim {
                position: LogPosition { major: 0, minor: number },
                claim,
                attempts: 0,
            });
        }
    }
    claims
}

async fn subscribe(storage: &Storage) {
    let log = NewSubscriber {
        name: "log".to_owned(),
        target: EventTarget::Log,
        kinds: std::collections::BTreeSet::default(),
    };
    let made = storage.base.event_subscribers.subscribe(&log, 1, NOON).await.unwrap();
    assert!(matches!(made, SubscribeOutcome::Subscribed(_)));
}

async fn sale(storage: &Storage) -> VoucherId {
    samples::insert_sale(&*storage.catalogue.vouchers, Some(USERS), NOON).await.unwrap()
}

/// Writes about every 5 ms, as logins do. Returns the wait of each write.
async fn somebody_else(storage: Storage, stop: Arc<AtomicBool>) -> Vec<Duration> {
    let mut random = StdRng::seed_from_u64(2);
    let phone = Phone::parse("13900000001").unwrap();
    let user = storage.people.users.find_or_create(&phone, "a", NOON).await.unwrap().id;
    let mut waits = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let began = Instant::now();
        assert!(storage.people.users.put_card(user, "a", "", &Profile::default(), NOON).await.unwrap());
        waits.push(began.elapsed());
        tokio::time::sleep(Duration::from_millis(random.random_range(1..10))).await;
    }
    waits
}

fn spread(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    format!("{:12.1} {:6.1} {:6.1}", at(50), at(99), at(100))
}
