//! What a waiting room costs, and how its pages behave: all users enter at once five minutes before the
//! begin, and then ask exactly when they are told to, by a clock that jumps from call to call.
//!
//! In process, in a directory or (`--servers`) on a Redis and a MySQL that the bench starts.
//!
//! `cargo bench -p mallbox --bench waiting_rooms [-- USERS] [--servers]`, 1,000,000 users by default
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

mod common;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use mallbox::mall::selling::sales::{RoomPlace, RoomStanding};
use mallbox::mall::{Clock as _, Context, FlashSales, ManualClock, Settings};
use mallbox_storage::{FencingToken, Storage, UserId, VoucherId, WaitingRoom};
use mallbox_test_servers::{MallLocation, Redis};
use tokio::task::JoinSet;

use common::{NOON, insert_sale};

/// Calls under way at once while users enter.
const AT_ONCE: u32 = 64;
const PER_SECOND: u32 = 300;
/// Seconds from the entering to the begin.
const BEFORE_SECS: u16 = 300;
const ROOM: WaitingRoom = WaitingRoom { per_second: PER_SECOND, admission_seconds: 120 };

struct Bench {
    sales: FlashSales,
    clock: Arc<ManualClock>,
    voucher: VoucherId,
    /// Port of the Redis that holds the room; `None` = this process.
    redis: Option<u16>,
}

fn main() {
    let users = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(1_000_000);
    let redis = std::env::args().any(|argument| argument == "--servers").then(|| Redis::start().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let place = match &redis {
            Some(redis) => MallLocation::on_redis(redis.url()),
            None => MallLocation::directory(),
        };
        println!(
            "{users} users, {PER_SECOND} admitted a second, {}",
            if redis.is_some() { "Redis and MySQL" } else { "embedded" }
        );
        let storage = place.open().await;
        let bench = Bench::open(&storage, redis.as_ref().map(Redis::port)).await;
        let due = bench.enter(users).await;
        bench.wait(users, due).await;
        storage.base.upkeep.close().await.unwrap();
    });
}

impl Bench {
    async fn open(storage: &Storage, redis: Option<u16>) -> Self {
        let clock = Arc::new(ManualClock::new(NOON));
        let settings = Arc::new(Settings::default().without_limits());
        let context = Context::new(storage.clone(), clock.clone(), TimeZone::UTC, settings);
        let sales = FlashSales::new(context);
        let voucher = insert_sale(storage, None, Duration::from_secs(900)).await;
        let before = Duration::from_secs(BEFORE_SECS.into());
        let (begin, end) = (NOON + before, NOON + before + Duration::from_secs(86_400));
        let vouchers = &storage.catalogue.vouchers;
        vouchers
            .put_window(voucher, begin, end, false, FencingToken::new(1), NOON)
            .await
            .unwrap()
            .done()
            .unwrap()
            .unwrap();
        vouchers.put_room(voucher, Some(ROOM), NOON).await.unwrap().unwrap();
        sales.opened(voucher).await.unwrap();
        Self { sales, clock, voucher, redis }
    }

    async fn visit(&self, user: u32, ticket: Option<&str>) -> RoomPlace {
        let user = UserId::new(user.into());
        self.sales.enter_room(user, self.voucher, (ticket, false), self.clock.now()).await.unwrap()
    }

    /// Puts all users into the room. Returns when each asks next, in milliseconds from now.
    async fn enter(&self, users: u32) -> Vec<u32> {
        // Touched before the memory is measured.
        let mut due = vec![u32::MAX; users as usize];
        let (memory, began, cpu) = (self.memory(), Instant::now(), cpu_time());
        let mut callers = JoinSet::new();
        for caller in 0..AT_ONCE {
            let (sales, voucher) = (self.sales.clone(), self.voucher);
            callers.spawn(async move {
                let mut polls = Vec::new();
                for user in (caller..users).step_by(AT_ONCE as usize) {
                    let place = sales
                        .enter_room(UserId::new(user.into()), voucher, (None, false), NOON)
                        .await
                        .unwrap();
                    polls.push((user, poll_in(&place)));
                }
                polls
            });
        }
        for (user, poll) in callers.join_all().await.into_iter().flatten() {
            due[user as usize] = poll;
        }
        let (elapsed, cpu) = (began.elapsed().as_secs_f64(), cpu_time() - cpu);
        let bytes = self.memory().saturating_sub(memory) as f64 / f64::from(users);
        println!(
            "entered: {:.0}/s, {:.1} us of CPU each",
            f64::from(users) / elapsed,
            cpu * 1e6 / f64::from(users)
        );
        println!(
            "memory: {bytes:.0} bytes per user, in {}",
            if self.redis.is_some() { "Redis" } else { "the process" }
        );
        due
    }

    /// Has each user ask when due, until the last is admitted.
    async fn wait(&self, users: u32, due: Vec<u32>) {
        let mut calls: BinaryHeap<Reverse<(u32, u32)>> =
            due.into_iter().zip(0..).map(|(at, user)| Reverse((at, user))).collect();
        // As long to check as a ticket of the user.
        let ticket = match self.visit(0, None).await.standing {
            RoomStanding::Waiting { ticket, .. } => ticket,
            other => panic!("{other:?}"),
        };
        let (began, cpu) = (Instant::now(), cpu_time());
        let mut per_second: Vec<u32> = Vec::new();
        let (mut made, mut admitted, mut last) = (0_u64, 0, 0);
        while let Some(Reverse((at, user))) = calls.pop() {
            self.clock.set(NOON + Duration::from_millis(at.into()));
            let place = self.visit(user, Some(&ticket)).await;
            let second = at as usize / 1_000;
            if per_second.len() <= second {
                per_second.resize(second + 1, 0);
            }
            per_second[second] += 1;
            made += 1;
            match place.standing {
                RoomStanding::Waiting { .. } => calls.push(Reverse((at + poll_in(&place), user))),
                RoomStanding::Admitted { .. } => {
                    admitted += 1;
                    last = at;
                }
                RoomStanding::Outside => panic!("user {user} is outside"),
            }
        }
        let (elapsed, cpu) = (began.elapsed().as_secs_f64(), cpu_time() - cpu);
        assert_eq!(admitted, users);
        let opening = usize::from(BEFORE_SECS);
        let at = |second: usize| per_second.get(second).copied().unwrap_or(0);
        let largest = per_second.iter().max().unwrap();
        println!(
            "calls: {:.1} per user, {:.0}/s served by one caller, {:.1} us of CPU each",
            made as f64 / f64::from(users),
            made as f64 / elapsed,
            cpu * 1e6 / made as f64
        );
        println!(
            "calls a second by the mall's clock: {largest} at most; around the begin: {:?}",
            (opening - 2..opening + 4).map(at).collect::<Vec<_>>()
        );
        let after = f64::from(last) / 1e3 - f64::from(BEFORE_SECS);
        println!(
            "last admitted {after:.0} s after the begin, at best {:.0} s",
            f64::from(users) / f64::from(PER_SECOND)
        );
    }

    /// Returns the memory of the room's process, in bytes.
    fn memory(&self) -> u64 {
        let Some(port) = self.redis else {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
            return line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1_024;
        };
        let mut redis = TcpStream::connect(("127.0.0.1", port)).unwrap();
        redis.write_all(b"INFO memory\r\nQUIT\r\n").unwrap();
        let mut info = String::new();
        redis.read_to_string(&mut info).unwrap();
        info.lines().find_map(|line| line.strip_prefix("used_memory:")).unwrap().trim().parse().unwrap()
    }
}

/// Returns the interval to the next call in milliseconds.
fn poll_in(place: &RoomPlace) -> u32 {
    match &place.standing {
        RoomStanding::Waiting { poll_in, .. } => u32::try_from(poll_in.as_millis()).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Returns the CPU time of this process, in seconds.
fn cpu_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let ticks: u32 = fields[11].parse::<u32>().unwrap() + fields[12].parse::<u32>().unwrap();
    // USER_HZ, the unit of the kernel's interface.
    f64::from(ticks) / 100.0
}
