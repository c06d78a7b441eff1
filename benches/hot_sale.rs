//! What a hot sale does to another sale, with and without a limit of claims: 64 callers claim units of a
//! sold-out sale without a pause, while one caller buys in a calm sale.
//!
//! In process, in a directory or (`--servers`) on a Redis and a MySQL that the bench starts.
//!
//! `cargo bench -p mallbox --bench hot_sale [-- LIMIT] [--servers]`, 2,000 claims a second by default
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

mod common;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use mallbox::mall::{Context, Failure, FlashSales, ManualClock, Refusal, Settings};
use mallbox_storage::{Storage, UserId, VoucherId};
use mallbox_test_servers::MallLocation;
use tokio::task::JoinSet;

use common::{NOON, insert_sale};

const CALLERS: u64 = 64;
/// Claims of the calm sale per round.
const CALM: u64 = 2_000;
const ROUNDS: usize = 3;

fn main() {
    let limit = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(2_000);
    let on_servers = std::env::args().any(|argument| argument == "--servers");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let place = if on_servers { MallLocation::on_servers() } else { MallLocation::directory() };
        println!("{}", if on_servers { "Redis and MySQL" } else { "embedded" });
        let storage = place.open().await;
        for _ in 0..ROUNDS {
            for limit in [None, NonZeroU32::new(limit)] {
                round(&storage, limit).await;
            }
        }
        storage.base.upkeep.close().await.unwrap();
    });
}

async fn round(storage: &Storage, limit: Option<NonZeroU32>) {
    let settings = Arc::new(Settings::default().without_limits());
    let context = Context::new(storage.clone(), Arc::new(ManualClock::new(NOON)), TimeZone::UTC, settings);
    let sales = FlashSales::new(context);
    let [hot, calm] = [open(storage, &sales, 0).await, open(storage, &sales, CALM).await];
    storage.catalogue.vouchers.put_claim_limit(hot, limit, NOON).await.unwrap();
    sales.opened(hot).await.unwrap();
    let (is_over, answered, crowded) =
        (Arc::new(AtomicBool::new(false)), Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let (sales, is_over) = (sales.clone(), Arc::clone(&is_over));
        let (answered, crowded) = (Arc::clone(&answered), Arc::clone(&crowded));
        callers.spawn(async move {
            for number in 0.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let user = UserId::new(1_000_000 + caller * 100_000_000 + number);
                match sales.claim(user, hot, NOON).await {
                    Err(Failure::Refused(Refusal::Crowded { .. })) => &crowded,
                    Err(Failure::Refused(Refusal::SoldOut)) => &answered,
                    other => panic!("{other:?}"),
                }
                .fetch_add(1, Ordering::Relaxed);
                // Callers over a network are not served in one go, either.
                tokio::task::yield_now().await;
            }
        });
    }
    let began = Instant::now();
    let mut times = Vec::new();
    for user in 1..=CALM {
        let asked = Instant::now();
        sales.claim(UserId::new(user), calm, NOON).await.unwrap();
        times.push(asked.elapsed());
    }
    let elapsed = began.elapsed().as_secs_f64();
    is_over.store(true, Ordering::Relaxed);
    callers.join_all().await;
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    let per_second = |count: &AtomicU64| count.load(Ordering::Relaxed) as f64 / elapsed;
    println!(
        "limit {}: claims of the calm sale {:.0}/s, p50 {:.2} ms, p99 {:.2} ms; of the hot sale {:.0}/s passed on, {:.0}/s refused by the limit",
        limit.map_or("none".to_owned(), |limit| limit.to_string()),
        CALM as f64 / elapsed,
        at(50),
        at(99),
        per_second(&answered),
        per_second(&crowded),
    );
}

/// Adds a sale of these units.
async fn open(storage: &Storage, sales: &FlashSales, units: u64) -> VoucherId {
    let voucher = insert_sale(storage, Some(units), Duration::from_secs(900)).await;
    sales.opened(voucher).await.unwrap();
    voucher
}
