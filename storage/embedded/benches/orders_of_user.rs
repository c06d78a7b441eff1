//! The list of a user's orders: latency of a page in a large database, at rest and while orders are written.
//!
//! `cargo bench -p mallbox-storage-embedded --bench orders_of_user [-- ORDERS] [keep=DIR]`. Orders are of
//! sales with 100,000 buyers each, users random of a tenth of the orders; each user has about ten. `keep`
//! makes the database in a directory that stays, or uses the database that is there.
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mallbox_storage::{
    Claim, LogPosition, LoggedClaim, OrderId, Page, PersistOutcome, Storage, Timestamp, UserId, VoucherId,
};
use mallbox_storage_contract::samples;
use mallbox_storage_embedded::EmbeddedOptions;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
const BUYERS: u64 = 100_000;
const BATCH: u64 = 500;
const LOOKUPS: usize = 10_000;

fn main() {
    let orders = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(1_000_000_u64);
    let keep = std::env::args().find_map(|arg| arg.strip_prefix("keep=").map(PathBuf::from));
    let temporary = tempfile::tempdir().unwrap();
    let dir = keep.unwrap_or_else(|| temporary.path().to_owned()).join("mall");
    tokio::runtime::Runtime::new().unwrap().block_on(run(orders, dir));
}

async fn run(orders: u64, dir: PathBuf) {
    let is_there = dir.exists();
    let began = Instant::now();
    let storage = mallbox_storage_embedded::open(EmbeddedOptions::new(&dir)).await.unwrap();
    println!("{orders} orders, opened in {:.1} s", began.elapsed().as_secs_f64());
    let users = orders / 10;
    if !is_there {
        let began = Instant::now();
        for batch in 0..orders / BATCH {
            write(&storage, users, batch, batch * BATCH / BUYERS).await;
        }
        println!("written in {:.1} s", began.elapsed().as_secs_f64());
    }
    println!("a page of ten orders, microseconds                 p50     p99     max");
    println!("at rest                                      {}", lookups(&storage, users).await);
    let stop = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn({
        let (storage, stop) = (storage.clone(), Arc::clone(&stop));
        async move {
            // The clock as a seed: a directory that is kept may be measured again.
            let sale = 1_000_000 + u64::from(began.elapsed().subsec_nanos() % 1_000_000);
            let mut batch = orders / BATCH;
            while !stop.load(Ordering::Relaxed) {
                write(&storage, users, batch, sale).await;
                batch += 1;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    });
    println!("while orders are written                     {}", lookups(&storage, users).await);
    stop.store(true, Ordering::Relaxed);
    writer.await.unwrap();
    storage.base.upkeep.close().await.unwrap();
    let bytes = std::fs::metadata(dir.join("mall.sqlite")).unwrap().len();
    println!("file: {} bytes per order", bytes / orders);
}

/// Writes a batch of orders. Orders of users who already have one of the sale become dead letters, about one
/// in twenty.
async fn write(storage: &Storage, users: u64, batch: u64, sale: u64) {
    let voucher = voucher(storage, sale).await;
    let mut random = StdRng::seed_from_u64(batch ^ sale << 32);
    let claims: Vec<LoggedClaim> = (0..BATCH)
        .map(|n| {
            let number = batch * BATCH + n;
            let at = NOON + Duration::from_micros(number * 200);
            let order = OrderId::compose(at, number, voucher).unwrap();
            let user = UserId::new(1 + random.random_range(0..users));
            let claim = Claim { order, voucher, user, at };
            LoggedClaim { position: LogPosition { major: 0, minor: number }, claim, attempts: 0 }
        })
        .collect();
    let outcomes = storage.selling.orders.persist(&claims, NOON).await.unwrap();
    assert!(!outcomes.contains(&PersistOutcome::Repeat));
}

/// Returns the voucher of a sale, by number; makes the sale if it is the next one.
async fn voucher(storage: &Storage, sale: u64) -> VoucherId {
    use std::sync::Mutex;
    static SALES: Mutex<Vec<(u64, VoucherId)>> = Mutex::new(Vec::new());
    if let Some((_, voucher)) = SALES.lock().unwrap().iter().rfind(|(number, _)| *number == sale) {
        return *voucher;
    }
    let voucher = samples::insert_sale(&*storage.catalogue.vouchers, None, NOON).await.unwrap();
    SALES.lock().unwrap().push((sale, voucher));
    voucher
}

/// Reads the first page of random users, one after another.
async fn lookups(storage: &Storage, users: u64) -> String {
    let mut random = StdRng::seed_from_u64(7);
    let mut times = Vec::with_capacity(LOOKUPS);
    for _ in 0..LOOKUPS {
        let user = UserId::new(1 + random.random_range(0..users));
        let began = Instant::now();
        let orders = storage.selling.orders.of_user(user, Page::new(1, 10)).await.unwrap();
        times.push(began.elapsed());
        assert!(orders.iter().all(|order| order.user == user));
    }
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e6;
    format!("{:8.0}{:8.0}{:8.0}", at(50), at(99), at(100))
}
