//! Orders of one hot sale per second on MySQL, from one process and from eight concurrent writers, compared
//! with embedded.
//!
//! `cargo bench -p mallbox-storage-production --bench record_on_mysql [-- ORDERS]`. Starts a MariaDB with
//! its default durability (each commit flushed) in the system's temporary directory (set `TMPDIR` to choose
//! the disk). Embedded is measured before and after MariaDB, so that other load on the machine shows.
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use mallbox_storage::{
    Claim, LogPosition, LoggedClaim, OrderId, Orders, PersistOutcome, Timestamp, UserId, VoucherId, Vouchers,
};
use mallbox_storage_contract::samples;
use mallbox_storage_embedded::EmbeddedOptions;
use mallbox_storage_production::mysql;
use mallbox_test_servers::MariaDb;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
/// A buffer pool large enough to keep the tables in memory, as on a dedicated server.
const FLAGS: [&str; 3] =
    ["--innodb-buffer-pool-size=1G", "--innodb-log-file-size=1G", "--innodb-flush-log-at-trx-commit=1"];

/// The two ports under measurement.
struct Record {
    vouchers: Arc<dyn Vouchers>,
    orders: Arc<dyn Orders>,
}

fn main() {
    let orders = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(200_000_u64);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = MariaDb::start_with(&FLAGS).unwrap();
    println!("{orders} orders of one sale, users in no order; each row is a run on an empty record");
    println!("record    writers  batch   rows/s   us/row   batch ms p50    p99    max");
    for (run, batch) in [500, 4000].into_iter().enumerate() {
        for writers in [1, 8] {
            let claims = |voucher| claims(voucher, orders);
            runtime.block_on(embedded(batch, writers, claims));
            let url = server.url(&format!("mall_{run}_{writers}"));
            runtime.block_on(async {
                let ports = mysql::connect(&url).await.unwrap();
                let record = Record { vouchers: ports.vouchers, orders: ports.orders };
                measure("mysql", &record, batch, writers, claims).await;
                ports.upkeep.close().await.unwrap();
            });
            runtime.block_on(embedded(batch, writers, claims));
        }
    }
}

async fn embedded(batch: usize, writers: usize, claims: impl Fn(VoucherId) -> Vec<LoggedClaim>) {
    let dir = tempfile::tempdir().unwrap();
    let storage =
        mallbox_storage_embedded::open(EmbeddedOptions::new(dir.path().join("mall"))).await.unwrap();
    let record = Record {
        vouchers: Arc::clone(&storage.catalogue.vouchers),
        orders: Arc::clone(&storage.selling.orders),
    };
    measure("embedded", &record, batch, writers, claims).await;
    storage.base.upkeep.close().await.unwrap();
}

/// Times the persisting of all batches. The writers share the batches, as the workers of a mall share a
/// log.
async fn measure(
    name: &str,
    record: &Record,
    batch: usize,
    writers: usize,
    claims: impl Fn(VoucherId) -> Vec<LoggedClaim>,
) {
    let claims = claims(sale(record).await);
    let rows = claims.len() as f64;
    let batches: Vec<Vec<LoggedClaim>> = claims.chunks(batch).map(<[LoggedClaim]>::to_vec).collect();
    let batches = Arc::new(Mutex::new(batches.into_iter()));
    let began = Instant::now();
    let mut working = JoinSet::new();
    for _ in 0..writers {
        let (batches, orders) = (Arc::clone(&batches), Arc::clone(&record.orders));
        working.spawn(async move {
            let mut times = Vec::new();
            while let Some(batch) = { batches.lock().await.next() } {
                let began = Instant::now();
                let answers = orders.persist(&batch, NOON).await.unwrap();
                assert!(answers.iter().all(|answer| matches!(answer, PersistOutcome::Written { .. })));
                times.push(began.elapsed());
            }
            times
        });
    }
    let times: Vec<Duration> = working.join_all().await.into_iter().flatten().collect();
    let took = began.elapsed().as_secs_f64();
    println!(
        "{name:8} {writers:8} {batch:6} {:8.0} {:8.1} {}",
        rows / took,
        took * 1e6 / rows,
        spread(times)
    );
}

fn claims(voucher: VoucherId, orders: u64) -> Vec<LoggedClaim> {
    let mut users: Vec<u64> = (1..=orders).collect();
    users.shuffle(&mut StdRng::seed_from_u64(1));
    (0_u64..)
        .zip(users)
        .map(|(number, user)| {
            // 50,000 claims per second.
            let at = NOON + Duration::from_micros(number * 20);
            let order = OrderId::compose(at, number, voucher).unwrap();
            let claim = Claim { order, voucher, user: UserId::new(user), at };
            LoggedClaim { position: LogPosition { major: 0, minor: number }, claim, attempts: 0 }
        })
        .collect()
}

async fn sale(record: &Record) -> VoucherId {
    samples::insert_sale(&*record.vouchers, Some(10_000_000), NOON).await.unwrap()
}

fn spread(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    format!("{:14.1} {:6.1} {:6.1}", at(50), at(99), at(100))
}
