//! The longest wait for a durable claim, without sessions and while many sessions are live and in use:
//! checkpoints write the sessions to the order log's store beside the claims.
//!
//! `cargo bench -p mallbox-storage-embedded --bench longest_commit [-- SESSIONS] [seconds=N]`. Claimers wait
//! for their claims for half of the seconds, pause for two seconds, in which the store may be compacted, and
//! go on. Set `TMPDIR` to choose the disk.
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mallbox_storage::{
    Claim, ClaimOutcome, FencingToken, NewSession, OrderId, Storage, Timestamp, TokenHash, UserId, VoucherId,
};
use mallbox_storage_contract::samples;
use mallbox_storage_embedded::EmbeddedOptions;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
const DAY: Duration = Duration::from_secs(86_400);
const CLAIMERS: u64 = 64;
/// Sessions extended in a burst; 100 bursts a second extend each of 200,000 about once a minute.
const BURST: u64 = 34;
const BURSTS_EVERY: Duration = Duration::from_millis(10);
const PAUSE: Duration = Duration::from_secs(2);

fn main() {
    let sessions = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(200_000);
    let seconds = std::env::args().find_map(|arg| arg.strip_prefix("seconds=")?.parse().ok()).unwrap_or(20);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    println!("sessions   commits/s   log-ins/s   claim ms p50      p99    p99.9  longest   log MiB");
    for sessions in [0, sessions] {
        runtime.block_on(run(sessions, Duration::from_secs(seconds)));
    }
}

/// What the tasks share.
struct Bench {
    storage: Storage,
    voucher: VoucherId,
    next: AtomicU64,
    is_stopped: AtomicBool,
}

async fn run(sessions: u64, span: Duration) {
    let dir = tempfile::tempdir().unwrap();
    let storage =
        mallbox_storage_embedded::open(EmbeddedOptions::new(dir.path().join("mall"))).await.unwrap();
    let voucher = samples::insert_sale(&*storage.catalogue.vouchers, None, NOON).await.unwrap();
    let record = storage.catalogue.vouchers.get(voucher).await.unwrap().unwrap();
    let terms = record.sale.unwrap().terms;
    storage.selling.sales.put(terms, FencingToken::new(1)).await.unwrap().done().unwrap();
    let bench =
        Arc::new(Bench { storage, voucher, next: AtomicU64::new(0), is_stopped: AtomicBool::new(false) });
    let log_ins = begin_sessions(&bench, sessions).await;

    let beside =
        [tokio::spawn(use_sessions(Arc::clone(&bench), sessions)), tokio::spawn(settle(Arc::clone(&bench)))];
    let mut waits = Vec::new();
    for half in 0..2 {
        if half > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        let end = Instant::now() + span / 2;
        let claimers: Vec<_> =
            (0..CLAIMERS).map(|_| tokio::spawn(claim_until(Arc::clone(&bench), end))).collect();
        for claimer in claimers {
            waits.extend(claimer.await.unwrap());
        }
    }
    bench.is_stopped.store(true, Ordering::Relaxed);
    for task in beside {
        task.await.unwrap();
    }
    bench.storage.base.upkeep.close().await.unwrap();
    print_row(sessions, &mut waits, span, log_ins, log_bytes(&dir.path().join("mall/log")));
}

/// Begins sessions, many at once. Returns their number per second.
async fn begin_sessions(bench: &Arc<Bench>, sessions: u64) -> f64 {
    let began = Instant::now();
    let share = sessions / CLAIMERS;
    let tasks: Vec<_> = (0..CLAIMERS)
        .map(|task| {
            let bench = Arc::clone(bench);
            tokio::spawn(async move {
                for user in task * share..(task + 1) * share {
                    let session = NewSession::of(UserId::new(user + 1), DAY);
                    bench.storage.people.sessions.begin(token(user), &session, NOON).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    sessions as f64 / began.elapsed().as_secs_f64()
}

fn token(user: u64) -> TokenHash {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&user.to_le_bytes());
    TokenHash(bytes)
}

/// Uses sessions of random users, which extends them, so that every checkpoint has some to write.
async fn use_sessions(bench: Arc<Bench>, sessions: u64) {
    let mut random = StdRng::seed_from_u64(1);
    let began = Instant::now();
    let mut bursts = tokio::time::interval(BURSTS_EVERY);
    while sessions > 0 && !bench.is_stopped.load(Ordering::Relaxed) {
        bursts.tick().await;
        for _ in 0..BURST {
            let user = random.random_range(0..sessions / CLAIMERS * CLAIMERS);
            // The clock runs a thousand times as fast, so that most uses extend the session.
            let now = NOON + began.elapsed() * 1_000;
            assert!(bench.storage.people.sessions.find(token(user), DAY, now).await.unwrap().is_some());
        }
    }
}

/// Settles claims as the mall's worker does, and sweeps.
async fn settle(bench: Arc<Bench>) {
    let (log, upkeep) = (&bench.storage.selling.order_log, &bench.storage.base.upkeep);
    while !bench.is_stopped.load(Ordering::Relaxed) {
        let taken = log.take("bench", 1_000, Duration::from_millis(100)).await.unwrap();
        if !taken.is_empty() {
            log.done("bench", &taken).await.unwrap();
        }
        upkeep.sweep(NOON).await.unwrap();
    }
}

/// Claims one unit after the other. Returns the wait for each.
async fn claim_until(bench: Arc<Bench>, end: Instant) -> Vec<Duration> {
    let mut waits = Vec::new();
    while Instant::now() < end {
        let number = bench.next.fetch_add(1, Ordering::Relaxed) + 1;
        let order = OrderId::compose(NOON, number, bench.voucher).unwrap();
        let claim = Claim { order, voucher: bench.voucher, user: UserId::new(number), at: NOON };
        let began = Instant::now();
        let outcome = bench.storage.selling.sales.claim(claim).await.unwrap();
        waits.push(began.elapsed());
        assert!(matches!(outcome, ClaimOutcome::Accepted), "{outcome:?}");
    }
    waits
}

fn log_bytes(log: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(log).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { log_bytes(&path) } else { path.metadata().unwrap().len() }).sum()
}

fn print_row(sessions: u64, waits: &mut [Duration], span: Duration, log_ins: f64, log_bytes: u64) {
    waits.sort_unstable();
    let at = |per_mille: usize| waits[(waits.len() - 1) * per_mille / 1_000].as_secs_f64() * 1e3;
    println!(
        "{sessions:8}   {:9.0}   {log_ins:9.0}   {:12.2} {:8.2} {:8.2} {:8.2}   {:7.1}",
        waits.len() as f64 / span.as_secs_f64(),
        at(500),
        at(990),
        at(999),
        at(1_000),
        log_bytes as f64 / f64::from(1 << 20)
    );
}
