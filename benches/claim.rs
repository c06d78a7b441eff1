//! Claims through the port, in process: a refused claim, a repeated claim, and durable accepted claims from
//! many callers at once.
//!
//! `cargo bench --bench claim`. Benchmark ids: port, call, back end, load.

mod common;

use std::sync::Arc;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use mallbox::place::Place;
use mallbox_storage::{Claim, ClaimOutcome, FencingToken, OrderId, Storage, UserId, VoucherId};
use mallbox_storage_embedded::EmbeddedOptions;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use common::{NOON, insert_sale};

const HOUR: Duration = Duration::from_secs(3600);
const WORKER: &str = "bench";

struct Mall {
    storage: Storage,
    next: u64,
    _dir: TempDir,
}

impl Mall {
    async fn open() -> Self {
        // In the source directory: /tmp is in memory on many machines.
        let dir = TempDir::new_in(env!("CARGO_MANIFEST_DIR")).expect("a directory can be made");
        let place = Place::Embedded(EmbeddedOptions::new(dir.path()));
        let storage = place.open().await.expect("an empty directory opens");
        Self { storage, next: 0, _dir: dir }
    }

    async fn sale(&self, units: Option<u64>) -> VoucherId {
        let voucher = insert_sale(&self.storage, units, HOUR).await;
        let record =
            self.storage.catalogue.vouchers.get(voucher).await.expect("it can be read").expect("it is there");
        self.storage
            .selling
            .sales
            .put(record.sale.expect("it is a sale").terms, FencingToken::new(1))
            .await
            .expect("it can be put")
            .done()
            .expect("nobody competes");
        voucher
    }

    fn claim(&mut self, voucher: VoucherId) -> Claim {
        self.next += 1;
        let order = OrderId::compose(NOON, self.next, voucher).expect("few enough for one day");
        Claim { order, voucher, user: UserId::new(self.next), at: NOON }
    }

    /// Settles the claims left by a round, so that the log stays as short as in a running mall.
    async fn settle(&self) {
        loop {
            let taken = self
                .storage
                .selling
                .order_log
                .take(WORKER, 100_000, Duration::ZERO)
                .await
                .expect("it can be read");
            if taken.is_empty() {
                return;
            }
            self.storage.selling.order_log.done(WORKER, &taken).await.expect("it can be settled");
        }
    }
}

fn refused(group: &mut BenchmarkGroup<WallTime>, runtime: &Runtime, mall: &mut Mall) {
    let voucher = runtime.block_on(mall.sale(Some(0)));
    let claim = mall.claim(voucher);
    group.throughput(Throughput::Elements(1));
    group.bench_function("embedded/sold-out", |bencher| {
        bencher.iter(|| {
            let answer = runtime.block_on(mall.storage.selling.sales.claim(claim)).expect("it is answered");
            assert_eq!(answer, ClaimOutcome::SoldOut);
        });
    });
}

fn accepted(group: &mut BenchmarkGroup<WallTime>, runtime: &Runtime, mall: &mut Mall, at_once: u64) {
    let voucher = runtime.block_on(mall.sale(None));
    group.throughput(Throughput::Elements(at_once));
    group.bench_function(format!("embedded/accepted-{at_once}-at-once"), |bencher| {
        bencher.iter(|| {
            let claims: Vec<Claim> = (0..at_once).map(|_| mall.claim(voucher)).collect();
            runtime.block_on(async {
                let waiting: Vec<_> = claims
                    .into_iter()
                    .map(|claim| {
                        let sales = Arc::clone(&mall.storage.selling.sales);
                        tokio::spawn(async move { sales.claim(claim).await })
                    })
                    .collect();
                for waiting in waiting {
                    let answer = waiting.await.expect("no claim panics").expect("it is answered");
                    assert_eq!(answer, ClaimOutcome::Accepted);
                }
                mall.settle().await;
            });
        });
    });
}

fn benches(criterion: &mut Criterion) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime can be made");
    let mut mall = runtime.block_on(Mall::open());
    let mut group = criterion.benchmark_group("sales/claim");
    group.sample_size(20).measurement_time(Duration::from_secs(3));
    refused(&mut group, &runtime, &mut mall);
    for at_once in [1, 64, 512] {
        accepted(&mut group, &runtime, &mut mall, at_once);
    }
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
