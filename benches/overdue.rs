//! A rush in which nobody pays, and a second sale at the moment when the first one's orders fall due.
//!
//! `cargo bench --bench overdue -- 100000` sets the number of orders. Prints the rate at which overdue
//! orders are cancelled and the CPU time used, then claims per second in a second sale, alone and during
//! the cancelling.
#![expect(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a bench that cannot run has nothing to say"
)]

mod common;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mallbox::mall::{Dependencies, Mall, ManualClock};
use mallbox::place::Place;
use mallbox_storage::{UserId, VoucherId};
use mallbox_storage_embedded::EmbeddedOptions;
use tokio::task::JoinSet;

use common::{NOON, insert_sale};

const PAY_WITHIN: Duration = Duration::from_secs(15 * 60);
/// Number of concurrent buyers.
const BUYERS: u64 = 64;
/// Duration of a measurement of the second sale.
const MEASURE_DURATION: Duration = Duration::from_secs(5);

fn main() {
    let orders = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(20_000);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run(orders));
}

async fn run(orders: u64) {
    // In the source directory: /tmp is in memory on many machines.
    let dir = tempfile::TempDir::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let clock = Arc::new(ManualClock::new(NOON));
    clock.run();
    let place = Place::Embedded(EmbeddedOptions::new(dir.path().join("mall")));
    let storage = place.open().await.unwrap();
    let mall = Mall::open(Dependencies::simulated(storage, clock.clone()));
    let mall = mall.await.unwrap();
    let background = mall.start();
    let (first, second) = (sale(&mall, orders).await, sale(&mall, 100_000_000).await);

    let rush = claims_for(&mall, first, 1..orders + 1, Duration::MAX).await;
    drained(&mall).await;
    println!("rush        {orders} orders that nobody pays, {rush:.0} claims/s");
    let alone = claims_for(&mall, second, 10_000_000..u64::MAX, MEASURE_DURATION).await;
    drained(&mall).await;
    println!("second sale {alone:.0} claims/s alone");

    clock.advance(PAY_WITHIN);
    let before = cancelled(&mall, first).await;
    let beside = claims_for(&mall, second, 20_000_000..u64::MAX, MEASURE_DURATION).await;
    let meanwhile = cancelled(&mall, first).await - before;
    println!(
        "second sale {beside:.0} claims/s beside the cancelling of {:.0} orders/s",
        meanwhile as f64 / MEASURE_DURATION.as_secs_f64()
    );
    let (began, cpu) = (Instant::now(), cpu_time());
    let before = cancelled(&mall, first).await;
    while cancelled(&mall, first).await < orders {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let rest = orders - before;
    println!(
        "cancelling  {rest} orders with nobody else there: {:.0} orders/s, {:.1} us of CPU each",
        rest as f64 / began.elapsed().as_secs_f64(),
        (cpu_time() - cpu).as_secs_f64() * 1e6 / rest.max(1) as f64
    );
    background.stop().await;
}

async fn sale(mall: &Mall, units: u64) -> VoucherId {
    let voucher = insert_sale(&mall.context.storage, Some(units), PAY_WITHIN).await;
    mall.sales.opened(voucher).await.unwrap();
    voucher
}

/// Claims one unit for each of `users` from [`BUYERS`] concurrent tasks, for at most `most`. Returns claims
/// per second.
async fn claims_for(mall: &Arc<Mall>, sale: VoucherId, users: Range<u64>, most: Duration) -> f64 {
    let began = Instant::now();
    let next = Arc::new(AtomicU64::new(users.start));
    let mut buyers = JoinSet::new();
    for _ in 0..BUYERS {
        let (mall, next, end) = (Arc::clone(mall), Arc::clone(&next), users.end);
        buyers.spawn(async move {
            let mut claims = 0_u64;
            while began.elapsed() < most {
                let user = next.fetch_add(1, Ordering::Relaxed);
                if user >= end {
                    break;
                }
                mall.sales.claim(UserId::new(user), sale, mall.context.now()).await.unwrap();
                claims += 1;
            }
            claims
        });
    }
    let mut claims = 0;
    while let Some(of_one) = buyers.join_next().await {
        claims += of_one.unwrap();
    }
    claims as f64 / began.elapsed().as_secs_f64()
}

async fn drained(mall: &Mall) {
    while mall.context.storage.selling.order_log.state().await.pending > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Returns the number of cancelled orders of a sale: the units released in the database.
async fn cancelled(mall: &Mall, sale: VoucherId) -> u64 {
    mall.context.storage.catalogue.vouchers.get(sale).await.unwrap().unwrap().sale.unwrap().stock.unwrap()
}

/// Returns the CPU time of this process, all threads together, as Linux counts it: in ticks of 10 ms.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    Duration::from_millis(10 * ticks)
}
