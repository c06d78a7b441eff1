//! A shop that all ask for, in process: from its copy, from the record, and when there is no copy and a thousand ask at once;
//! and what it costs each of them to be counted.
//!
//! `cargo bench --bench shop`. Ids: service, call, back end, load.

use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mallbox::fixture::Mall;
use mallbox::http::App;
use mallbox::mall::visits::Caller;
use mallbox_storage::{Shop, ShopId, Timestamp};

const HOT: ShopId = ShopId::new(1);
/// Who ask at once.
const CROWD: usize = 1_000;

async fn from_copy(app: &App, now: Timestamp) -> Shop {
    app.shops.get(HOT, now).await.expect("the demo has it")
}

async fn from_record(app: &App) -> Shop {
    app.context.storage.shops.get(HOT).await.expect("the record can be read").expect("the demo has it")
}

/// How long it takes until all have been told, after a change.
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

/// Being counted, without the gathering, which is somebody else's time.
fn visits(criterion: &mut Criterion) {
    /// As many as wait at the most.
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
