//! A year of sign-ins: size, start-up time, and query times.
//!
//! `cargo bench -p mallbox-storage-production --bench sign_ins [-- USERS DAYS PERCENT]`: PERCENT of the
//! users, chosen at random, sign in each day. Runs first in a temporary directory (set `TMPDIR` to choose
//! the disk), then with one week of sign-ins on a dedicated Redis and MariaDB. Whole runs: one run is one
//! figure.
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use mallbox_storage::{Day, DaySpan, Page, SignIns, Storage, Timestamp, UserId};
use mallbox_storage_embedded::{EmbeddedOptions, open as open_embedded};
use mallbox_test_servers::MallLocation;
use mysql_async::prelude::Queryable as _;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

const LAST: &str = "2026-11-21";
const NOW: Timestamp = Timestamp::from_millis(1_795_262_400_000);

fn main() {
    let mut given = std::env::args().filter_map(|arg| arg.parse::<u64>().ok());
    let users = given.next().unwrap_or(1_000_000);
    let days = i32::try_from(given.next().unwrap_or(365)).unwrap();
    let percent = given.next().unwrap_or(30);
    println!("{users} users, {days} days, {percent} % of them a day");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(in_a_directory(users, days, percent));
    runtime.block_on(on_servers(users, percent));
}

fn days_back(count: i32) -> impl Iterator<Item = Day> {
    let last = Day::parse(LAST).unwrap();
    (0..count).map(move |back| Day::from_number(last.number() - back).unwrap())
}

fn week() -> DaySpan {
    DaySpan::new(days_back(7).last().unwrap(), Day::parse(LAST).unwrap()).unwrap()
}

async fn in_a_directory(users: u64, days: i32, percent: u64) {
    let dir = tempfile::tempdir().unwrap();
    let (empty, storage) = open(dir.path()).await;
    storage.base.upkeep.close().await.unwrap();
    drop(storage);
    fill(&dir.path().join("mall.sqlite"), users, days, percent);
    let before = resident();
    let (took, storage) = open(dir.path()).await;
    let grown = resident().saturating_sub(before);
    let file = std::fs::metadata(dir.path().join("mall.sqlite")).unwrap().len() >> 10;
    println!("directory: start {took:?} (empty: {empty:?}), {grown} KiB more memory, file {file} KiB");
    ask(&*storage.people.sign_ins, users, 20_000).await;
    sign(&storage, users).await;
    storage.base.upkeep.close().await.unwrap();
}

async fn open(dir: &Path) -> (Duration, Storage) {
    let began = Instant::now();
    let storage = open_embedded(EmbeddedOptions::new(dir)).await.unwrap();
    (began.elapsed(), storage)
}

/// Writes the blocks directly into the database file: a hundred million calls through the port would take
/// an hour.
fn fill(record: &Path, users: u64, days: i32, percent: u64) {
    let mut random = StdRng::seed_from_u64(1);
    let mut record = rusqlite::Connection::open(record).unwrap();
    let all = record.transaction().unwrap();
    for day in days_back(days) {
        for block in 0..users.div_ceil(4_096) {
            let mut bits = vec![0_u8; 512];
            for byte in &mut bits {
                *byte = (0..8).filter(|_| random.random_range(0..100) < percent).map(|bit| 1 << bit).sum();
            }
            if block == 0 {
                // Eight users with a streak over all days.
                bits[0] = 0xff;
            }
            let row = (day.to_string(), i64::try_from(block).unwrap(), bits);
            all.execute("INSERT INTO sign_blocks VALUES (?1, ?2, ?3, x'')", row).unwrap();
        }
    }
    all.commit().unwrap();
}

/// Returns the resident memory of this process, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

async fn ask(signs: &dyn SignIns, users: u64, times: u64) {
    let today = Day::parse(LAST).unwrap();
    let began = Instant::now();
    for user in 0..times {
        black_box(signs.streak(UserId::new(user * 7_919 % users), today).await.unwrap());
    }
    let random = began.elapsed() / u32::try_from(times).unwrap();
    let began = Instant::now();
    let longest = signs.streak(UserId::new(1), today).await.unwrap();
    println!("  streak of anybody {random:?}, one of {longest} days {:?}", began.elapsed());
    let began = Instant::now();
    black_box(signs.longest_streak(UserId::new(9)).await.unwrap());
    println!("  longest streak {:?}", began.elapsed());
    for what in ["first", "then"] {
        let began = Instant::now();
        while let Err(error) = signs.counts(week()).await {
            println!("  after {:?}: {error}", began.elapsed());
        }
        println!("  counts of seven days, {what} {:?}", began.elapsed());
    }
    let began = Instant::now();
    let (_, all) = signs.signed_all(week(), Page::new(1, 10)).await.unwrap();
    println!("  {all} signed on all of seven days {:?}", began.elapsed());
}

/// Times concurrent sign-ins of many users, on a day without sign-ins so far.
async fn sign(storage: &Storage, users: u64) {
    const SIGNED: u64 = 20_000;
    let tomorrow = Day::from_number(Day::parse(LAST).unwrap().number() + 1).unwrap();
    let began = Instant::now();
    let tasks: Vec<_> = (0..256)
        .map(|task| {
            let signs = storage.people.sign_ins.clone();
            tokio::spawn(async move {
                for number in (task..SIGNED).step_by(256) {
                    assert!(signs.sign(UserId::new(number * 7_919 % users), tomorrow, NOW).await.unwrap());
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    println!("  {:.0} sign-ins a second, 256 at once", SIGNED as f64 / began.elapsed().as_secs_f64());
}

async fn on_servers(users: u64, percent: u64) {
    let ground = MallLocation::on_servers();
    let storage = ground.open().await;
    let mut record = mysql_async::Conn::from_url(ground.database().unwrap().url()).await.unwrap();
    for day in week().days() {
        let sql = format!(
            "INSERT INTO sign_ins SELECT seq, '{day}', 0 FROM seq_1_to_{users} WHERE seq = 1 OR RAND() < {percent} / 100"
        );
        record.query_drop(sql).await.unwrap();
    }
    println!("Redis and MariaDB, a week:");
    ask(&*storage.people.sign_ins, users, 2_000).await;
    sign(&storage, users).await;
    record.disconnect().await.unwrap();
    storage.base.upkeep.close().await.unwrap();
}
