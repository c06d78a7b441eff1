//! Visits: the cost of recording and of counting, the error of the counts, and the size of a day.
//!
//! `cargo bench -p mallbox-storage-production --bench visitors`. Runs first in a temporary directory (set
//! `TMPDIR` to choose the disk), then on a dedicated Redis. Whole runs: one run is one figure.
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

use std::time::{Duration, Instant};

use mallbox_storage::{Day, DaySpan, ShopId, Storage, Visit, VisitTarget, Visitor};
use mallbox_test_servers::MallLocation;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

const TODAY: &str = "2026-11-21";
/// Sets of visitors per size, for the error of the counts.
const SETS: u64 = 20;

fn main() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for (name, ground) in [("directory", MallLocation::directory()), ("Redis", MallLocation::on_servers())] {
        println!("{name}:");
        runtime.block_on(all(&ground));
    }
}

fn today() -> Day {
    Day::parse(TODAY).unwrap()
}

async fn all(ground: &MallLocation) {
    let storage = ground.open().await;
    let mut random = StdRng::seed_from_u64(1);
    let mut shop = 0;
    for visitors in [1_000, 100_000, 1_000_000] {
        let (mut square, mut worst, mut took) = (0.0_f64, 0.0_f64, Duration::ZERO);
        for _ in 0..SETS {
            shop += 1;
            took += come(&storage, shop..shop + 1, visitors, &mut random).await;
            let estimate = count(&storage, shop).await;
            let error = estimate as f64 / visitors as f64 - 1.0;
            square += error * error;
            worst = worst.max(error.abs());
        }
        let rms = (square / SETS as f64).sqrt() * 100.0;
        let each = took.as_nanos() as f64 / (SETS * visitors) as f64;
        println!(
            "  {visitors} visitors: off by {rms:.2} % (rms), {:.2} % at worst; {each:.0} ns each",
            worst * 100.0
        );
        if let Some(options) = ground.embedded() {
            let record = rusqlite::Connection::open(options.dir.join("mall.sqlite")).unwrap();
            let bytes: f64 = record
                .query_row(
                    "SELECT avg(length(sketch)) FROM visits WHERE shop_id > ?1",
                    [(shop - SETS).cast_signed()],
                    |row| row.get(0),
                )
                .unwrap();
            println!("    {bytes:.0} bytes a day");
        }
    }
    // One second of a busy mall: visitors of many shops, each with two thousand visits earlier in the day.
    for shops in [1, 100, 1_000] {
        come(&storage, 1_000..1_000 + shops, 2_000, &mut random).await;
        let took = come(&storage, 1_000..1_000 + shops, 2, &mut random).await;
        println!("  two visitors of each of {shops} shops that had 2000: {took:?}");
    }
    let began = Instant::now();
    for _ in 0..100 {
        count(&storage, shop).await;
    }
    println!("  to count a day of a million: {:?}", began.elapsed() / 100);
    storage.base.upkeep.close().await.unwrap();
}

/// Records visits of `visitors` random visitors to each of `shops`, batched as the mall batches them.
/// Returns the time taken.
async fn come(
    storage: &Storage,
    shops: std::ops::Range<u64>,
    visitors: u64,
    random: &mut StdRng,
) -> Duration {
    let visits: Vec<Visit> = (0..visitors)
        .flat_map(|_| shops.clone())
        .map(|shop| Visit {
            of: VisitTarget::Shop(ShopId::new(shop)),
            day: today(),
            visitor: Visitor(random.random()),
            views: 1,
        })
        .collect();
    let began = Instant::now();
    for batch in visits.chunks(65_536) {
        storage.people.visitors.note(batch, today()).await.unwrap();
    }
    began.elapsed()
}

async fn count(storage: &Storage, shop: u64) -> u64 {
    let span = DaySpan::new(today(), today()).unwrap();
    let shop = VisitTarget::Shop(ShopId::new(shop));
    storage.people.visitors.count(shop, span, today()).await.unwrap().visitors
}
