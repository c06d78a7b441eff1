//! Cost of a claim on Redis: claims per second from 64 concurrent callers, round trips and bytes per claim,
//! by `appendonly` and `appendfsync`.
//!
//! `cargo bench -p mallbox-storage-production --bench redis_claims [-- CLAIMS]`. Starts a redis-server for
//! each line of output, in the system's temporary directory (set `TMPDIR` to choose the disk), and an idle
//! MariaDB. Callers and servers share this machine's cores.
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use mallbox_storage::{Claim, ClaimOutcome, FencingToken, OrderId, Terms, Timestamp, UserId, VoucherId};
use mallbox_storage_production::mysql::{self, MysqlPorts};
use mallbox_storage_production::redis::{DatabaseForRedis, RedisOptions, RedisPorts, connect};
use mallbox_test_servers::{Database, Redis, RedisOptions as ServerOptions};

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
const HOUR: Duration = Duration::from_secs(3600);
const CALLERS: usize = 64;
const SALE: VoucherId = VoucherId::new(7);

fn main() {
    let claims = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(100_000_u64);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    println!(
        "{claims} claims of {CALLERS} callers, then as many refused; Redis' CPU counts the whole server"
    );
    println!(
        "configuration         claims/s   p50 ms    p99   Redis us/claim   calls   bytes in   out   refusals/s"
    );
    for (append, fsync) in [("no", "no"), ("yes", "everysec"), ("yes", "always")] {
        runtime.block_on(run(claims, append, fsync));
    }
}

async fn run(claims: u64, append: &str, fsync: &str) {
    let options = ServerOptions::default().with("appendonly", append).with("appendfsync", fsync);
    let server = Redis::start_with(options).unwrap();
    // A database without any purchases.
    let database = Database::fresh();
    let MysqlPorts { epochs, holders, orders, shops, sign_rows, feed_rows, .. } =
        mysql::connect(database.url()).await.unwrap();
    let record = DatabaseForRedis { epochs, holders, orders, shops, sign_rows, feed_rows };
    let ports = connect(&RedisOptions::new(server.url()), record).await.unwrap();
    let ports = Arc::new(ports);
    let terms = Terms {
        voucher: SALE,
        begin: NOON - HOUR,
        end: NOON + HOUR,
        paused: false,
        units: Some(claims),
        waiting: false,
        per_user: std::num::NonZeroU8::MIN,
    };
    let _ = ports.sales.put(terms, FencingToken::new(1)).await.unwrap().done().unwrap();
    let before = ports.upkeep.figures().await.unwrap();
    let (elapsed, mut times) = rush(&ports, 0, claims, ClaimOutcome::Accepted).await;
    let spent = ports.upkeep.figures().await.unwrap() - before;
    let (refused, _) = rush(&ports, claims, claims, ClaimOutcome::SoldOut).await;
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    let each = |total: u64| total as f64 / claims as f64;
    println!(
        "appendonly {append:3} {fsync:9} {:8.0} {:8.2} {:6.2} {:16.1} {:7.3} {:10.0} {:5.0} {:12.0}",
        claims as f64 / elapsed.as_secs_f64(),
        at(50),
        at(99),
        spent.cpu.as_secs_f64() * 1e6 / claims as f64,
        each(spent.calls),
        each(spent.bytes_in),
        each(spent.bytes_out),
        claims as f64 / refused.as_secs_f64(),
    );
}

/// Claims from all callers at once, each caller with its own users. Returns the total time and the time of
/// each call.
async fn rush(
    ports: &Arc<RedisPorts>,
    first: u64,
    claims: u64,
    expected: ClaimOutcome,
) -> (Duration, Vec<Duration>) {
    let began = Instant::now();
    let callers = (0..CALLERS).map(|caller| {
        let ports = Arc::clone(ports);
        tokio::spawn(async move {
            let mut times = Vec::new();
            for user in (first..first + claims).skip(caller).step_by(CALLERS) {
                let order = OrderId::compose(NOON, user, SALE).unwrap();
                let claim = Claim { order, voucher: SALE, user: UserId::new(user), at: NOON };
                let asked = Instant::now();
                assert_eq!(ports.sales.claim(claim).await.unwrap(), expected);
                times.push(asked.elapsed());
            }
            times
        })
    });
    let callers: Vec<_> = callers.collect();
    let mut times = Vec::new();
    for caller in callers {
        times.extend(caller.await.unwrap());
    }
    (began.elapsed(), times)
}
