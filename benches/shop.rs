//! A hot shop, in process: read from the cache, read from the database, and read by a thousand callers at
//! once after its cache entry is gone. Also the cost per call of counting visits.
//!
//! `cargo bench --bench shop`. Benchmark ids: service, call, back end, load.

use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mallbox::fixture::Mall;
use mallbox::http::App;
use mallbox::mall::people::visits::Caller;
use mallbox_storage::{Shop, ShopId, Timestamp};

const HOT: ShopId = ShopId::new(1);
/// Number of concurrent callers.
const CROWD: usize = 1_000;

async fn from_copy(app: &App, now: Timestamp) -> Arc<Shop> {
    app.shops.get(HOT, now).await.expect("the demo has it")
}

async fn from_record(app: &App) -> Shop {
    app.context
        .storage
        .catalogue
        .shops
        .get(HOT)
        .await
        .expect("the record can be read")
        .expect("the demo has it")
}

/// Returns the time until the whole crowd has its response after a change of the shop.
async fn stampede(app: &App, now: Timestamp) -> Duration {
    app.shops.update(HOT, &Default::default(), now).await.expect("it can be changed");
    let began = Instant::now();
    let mut crowd = tokio::task::JoinSet::new();
    for _ in 0..CROWD {
        let app = Arc::clone(app);
        crowd.spawn(async move { from_copy(&app, now).await });
    }
    assert_eq!(crowd.join_all().await.len(), CROWD);
    began.elapsed()
}

fn shops(criterion: &mut Criterion) {
    let mall = Mall::builder().without_port().frozen().start().expect("a mall for tests starts");
    let (app, now) = (mall.app().expect("it is there"), mall.now());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    let mut group = criterion.benchmark_group("shops/get");
    group.throughput(Throughput::Elements(1));
    group.bench_function("embedded/copy", |bencher| {
        bencher.iter(|| runtime.block_on(from_copy(&app, now)));
    });
    group.bench_function("embedded/record", |bencher| {
        bencher.iter(|| runtime.block_on(from_record(&app)));
    });
    group.throughput(Throughput::Elements(CROWD as u64));
    group.bench_function("embedded/1000-at-once-without-copy", |bencher| {
        bencher.iter_custom(|rounds| {
            (0..rounds).map(|_| runtime.block_on(stampede(&app, now))).sum::<Duration>()
        });
    });
    group.finish();
}

/// Times the recording of a visit. Gathering runs in another task and is not included.
fn visits(criterion: &mut Criterion) {
    /// Visits that wait to be gathered, at most.
    const GATHERED: u64 = 50_000;
    const BROWSER: &[u8] = b"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    let mall = Mall::builder().without_port().frozen().start().expect("a mall for tests starts");
    let (app, now) = (mall.app().expect("it is there"), mall.now());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    let mut group = criterion.benchmark_group("visits/saw");
    for (name, token) in [("a-stranger", None), ("a-user", Some("0".repeat(48)))] {
        group.bench_function(format!("embedded/{name}"), |bencher| {
            bencher.iter_custom(|rounds| {
                let (mut took, mut left) = (Duration::ZERO, rounds);
                while left > 0 {
                    let some = left.min(GATHERED);
                    let began = Instant::now();
                    for _ in 0..some {
                        app.visits.saw(Caller::new(token.as_deref(), None, BROWSER), Some(HOT), now);
                    }
                    took += began.elapsed();
                    runtime.block_on(app.visits.take_down(now));
                    left -= some;
                }
                took
            });
        });
    }
    group.finish();
}

criterion_group!(benches, shops, visits);
criterion_main!(benches);
