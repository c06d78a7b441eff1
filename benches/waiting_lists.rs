//! What a waiting list costs: joining, asking for the place, the idle job, and promotions.
//!
//! In process, in a directory or (`--servers`) on a Redis and a MySQL that the bench starts.
//!
//! `cargo bench -p mallbox --bench waiting_lists [-- USERS] [--servers]`, 5,000 users by default
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use mallbox::mall::base::By;
use mallbox::mall::base::chores::Chores;
use mallbox::mall::operator::sales::StockForm;
use mallbox::mall::operator::{LedgerCheck, SaleAdmin};
use mallbox::mall::selling::guard::ShownPass;
use mallbox::mall::selling::payments::Sandbox;
use mallbox::mall::selling::sale_chores;
use mallbox::mall::{AuditLog, Cashier, Clock as _, Context, FlashSales, ManualClock, Settings, Shops};
use mallbox_storage::{Phone, Storage, UserId, VoucherId, WaitingState};
use mallbox_test_servers::MallLocation;
use tokio::task::JoinSet;

use common::{NOON, insert_sale};

/// Calls under way at once.
const AT_ONCE: usize = 64;
/// Calls for a place, each.
const PLACES: u32 = 500;
/// Runs of the idle job.
const IDLE_RUNS: u32 = 200;
/// Claims refused.
const CLAIMS: usize = 100_000;

struct Bench {
    storage: Storage,
    sales: FlashSales,
    admin: SaleAdmin,
    chores: Chores,
    clock: Arc<ManualClock>,
}

fn main() {
    let users = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(5_000);
    let on_servers = std::env::args().any(|argument| argument == "--servers");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let place = if on_servers { MallLocation::on_servers() } else { MallLocation::directory() };
        println!("A list of {users} users, {}", if on_servers { "Redis and MySQL" } else { "embedded" });
        let bench = Bench::open(place.open().await);
        bench.run(users).await;
        bench.storage.base.upkeep.close().await.unwrap();
    });
}

impl Bench {
    fn open(storage: Storage) -> Self {
        let clock = Arc::new(ManualClock::new(NOON));
        let settings = Arc::new(Settings::default().without_limits());
        let context = Context::new(storage.clone(), clock.clone(), TimeZone::UTC, settings);
        let sales = FlashSales::new(context.clone());
        let cashier = Cashier::new(context.clone(), Arc::new(Sandbox::default()));
        let chores = Chores::new(clock.clone(), sale_chores::chores(&context, &sales, &cashier));
        let ledger = LedgerCheck::new(context.clone(), sales.clone());
        let (shops, audit) = (Arc::new(Shops::new(context.clone())), AuditLog::new(context.clone()));
        let admin = SaleAdmin::new(context, sales.clone(), shops, ledger, audit);
        Self { storage, sales, admin, chores, clock }
    }

    async fn run(&self, count: u32) {
        let voucher = insert_sale(&self.storage, Some(0), Duration::from_secs(900)).await;
        self.sales.opened(voucher).await.unwrap();
        let users = self.users(count).await;
        self.claims("claims refused, sold out", voucher).await;
        let by = By::operator(UserId::new(1), self.clock.now());
        self.admin.put_waiting_list(by, voucher, Some(10_000)).await.unwrap();
        let began = Instant::now();
        let mut callers = JoinSet::new();
        for part in users.chunks(users.len().div_ceil(AT_ONCE)).map(<[_]>::to_vec) {
            let sales = self.sales.clone();
            callers.spawn(async move {
                for user in part {
                    sales.join_waiting_list(user, voucher, ShownPass::default(), NOON).await.unwrap();
                }
            });
        }
        callers.join_all().await;
        println!("joined: {:.0}/s", f64::from(count) / began.elapsed().as_secs_f64());
        self.claims("claims refused, waited for", voucher).await;
        let (head, waiting) = self.storage.selling.waiting_lists.head(voucher, u32::MAX).await.unwrap();
        assert_eq!(waiting, u64::from(count));
        for (name, entry) in [("first", head.first()), ("last", head.last())] {
            let user = entry.unwrap().user;
            let began = Instant::now();
            for _ in 0..PLACES {
                self.sales.waiting_place(user, voucher).await.unwrap().unwrap();
            }
            println!("place of the {name}: {:.0} us", micros(began) / f64::from(PLACES));
        }
        self.chores.run_all_due(self.clock.now()).await;
        let began = Instant::now();
        for _ in 0..IDLE_RUNS {
            self.clock.advance(Duration::from_secs(1));
            self.chores.run_all_due(self.clock.now()).await;
        }
        println!("all jobs of a second, no unit: {:.0} us", micros(began) / f64::from(IDLE_RUNS));
        self.promotions(voucher, count / 2, &users).await;
    }

    /// Adds units, and times until the last has its order.
    async fn promotions(&self, voucher: VoucherId, units: u32, users: &[UserId]) {
        let by = By::operator(UserId::new(1), self.clock.now());
        self.admin.restock(by, voucher, StockForm { add: Some(units.into()), request: None }).await.unwrap();
        self.clock.advance(Duration::from_secs(1));
        let began = Instant::now();
        self.chores.run_all_due(self.clock.now()).await;
        println!("promoted: {:.0}/s", f64::from(units) / began.elapsed().as_secs_f64());
        let mut promoted = 0;
        for user in users {
            let place = self.sales.waiting_place(*user, voucher).await.unwrap().unwrap();
            promoted += u32::from(place.entry.state == WaitingState::Promoted);
        }
        assert_eq!(promoted, units);
    }

    async fn users(&self, count: u32) -> Vec<UserId> {
        let mut users = Vec::new();
        for number in 0..count {
            let phone = Phone::parse(&format!("139{number:08}")).unwrap();
            users.push(self.storage.people.users.find_or_create(&phone, "user", NOON).await.unwrap().id);
        }
        users
    }

    async fn claims(&self, name: &str, voucher: VoucherId) {
        let began = Instant::now();
        let mut callers = JoinSet::new();
        for caller in 0..AT_ONCE {
            let sales = self.sales.clone();
            callers.spawn(async move {
                for claim in 0..CLAIMS / AT_ONCE {
                    let user = UserId::new((1_000_000 + caller * CLAIMS + claim) as u64);
                    assert!(sales.claim(user, voucher, NOON).await.is_err());
                }
            });
        }
        callers.join_all().await;
        println!("{name}: {:.0}/s", CLAIMS as f64 / began.elapsed().as_secs_f64());
    }
}

fn micros(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e6
}
