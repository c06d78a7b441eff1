//! A fresh mall per case, with the parts needed for sales and orders.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use mallbox::fixture::faults::{self, Faults};
use mallbox::mall::base::By;
use mallbox::mall::base::chores::Chores;
use mallbox::mall::operator::ledger::{Code, Report};
use mallbox::mall::operator::{DeadLetterAdmin, OrderAdmin, SaleAdmin};
use mallbox::mall::selling::order_workers::{OrderWorkers, WorkerMetrics, drained};
use mallbox::mall::selling::payments::Sandbox;
use mallbox::mall::selling::sale_chores;
use mallbox::mall::{
    AuditLog, Cashier, Clock, Context, Failure, FlashSales, LedgerCheck, ManualClock, Orders, Random,
    Refusal, Settings, Shops,
};
use mallbox_storage::{
    Actor, Cents, FencingToken, LockOwner, Locker, NewSale, OrderId, OrderStatus, Phone, Storage, Timestamp,
    UserId, VoucherId, VoucherText, deadlines,
};
use mallbox_storage_contract::samples;
use mallbox_storage_embedded::DiskFaults;
use mallbox_test_patience::{self as patience, Deadline};
use mallbox_test_servers::{MallLocation, Sql};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Noon of 2026-11-21, UTC.
pub const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
pub const MINUTE: Duration = Duration::from_secs(60);
/// Payment deadline of an order.
pub const PAY_WITHIN: Duration = Duration::from_secs(15 * 60);
/// Any user: services leave the check of roles to HTTP.
pub const OPERATOR: UserId = UserId::new(1_000_000);
pub const PRICE: Cents = Cents::new(4_750);

pub struct World {
    pub context: Context,
    pub storage: Storage,
    pub clock: Arc<ManualClock>,
    pub sales: FlashSales,
    pub orders: Orders,
    pub ledger: LedgerCheck,
    pub audit: AuditLog,
    pub sale_admin: SaleAdmin,
    pub order_admin: OrderAdmin,
    pub dead_letter_admin: DeadLetterAdmin,
    pub gateway: Arc<Sandbox>,
    pub figures: Arc<WorkerMetrics>,
    chores: Arc<Chores>,
    workers: Arc<OrderWorkers>,
    working: Option<(JoinHandle<()>, CancellationToken)>,
    ground: Option<MallLocation>,
    settings: Settings,
}

/// Returns a mall without limits and with running workers.
pub async fn world() -> World {
    let mut world = idle().await;
    world.start_workers();
    world
}

/// Returns a mall without limits and without running workers.
pub async fn idle() -> World {
    with_settings(Settings::default().without_limits()).await
}

pub async fn with_settings(settings: Settings) -> World {
    Box::pin(open(MallLocation::of_target(env!("CARGO_CRATE_NAME")), settings, NOON, Arc::default())).await
}

async fn open(ground: MallLocation, settings: Settings, now: Timestamp, gateway: Arc<Sandbox>) -> World {
    let storage = ground.open().await;
    let clock = Arc::new(ManualClock::new(now));
    let context = Context::new(
        storage.clone(),
        clock.clone(),
        TimeZone::get("Asia/Shanghai").unwrap(),
        Arc::new(settings.clone()),
    );
    let cashier = Cashier::new(context.clone(), gateway.clone());
    // From a seed: every run has the same order ids.
    let random = Arc::new(Random::seeded(7));
    let sales = FlashSales::with_random(context.clone(), Arc::clone(&random));
    let chores = sale_chores::chores(&context, &sales, &cashier);
    let workers = Arc::new(OrderWorkers::new(context.clone()));
    let (audit, orders) =
        (AuditLog::new(context.clone()), Orders::with_random(context.clone(), cashier, random));
    let ledger = LedgerCheck::new(context.clone(), sales.clone());
    World {
        sale_admin: SaleAdmin::new(
            context.clone(),
            sales.clone(),
            Arc::new(Shops::new(context.clone())),
            ledger.clone(),
            audit.clone(),
        ),
        order_admin: OrderAdmin::new(context.clone(), orders.clone(), audit.clone()),
        dead_letter_admin: DeadLetterAdmin::new(
            context.clone(),
            sales.clone(),
            orders.clone(),
            audit.clone(),
        ),
        audit,
        orders,
        ledger,
        chores: Arc::new(Chores::new(clock.clone(), chores)),
        figures: workers.figures(),
        workers,
        sales,
        clock,
        gateway,
        storage,
        context,
        working: None,
        ground: Some(ground),
        settings,
    }
}

/// Returns the token of a new holder of the lock on sale terms, for changes behind the mall's back.
pub async fn terms_token(storage: &Storage) -> FencingToken {
    let locker = Locker::new(Arc::clone(&storage.base.locks));
    let held = locker.hold("sale-terms", LockOwner::random(), MINUTE, MINUTE).await.unwrap().unwrap();
    let token = held.token();
    assert!(held.leave().await.unwrap());
    token
}

impl World {
    /// Starts the workers.
    pub fn start_workers(&mut self) {
        let (workers, stop) = (Arc::clone(&self.workers), CancellationToken::new());
        let token = stop.clone();
        self.working = Some((tokio::spawn(async move { workers.run(1, token).await }), stop));
    }

    /// Stops the workers gracefully.
    pub async fn rest(&mut self) {
        if let Some((working, stop)) = self.working.take() {
            stop.cancel();
            working.await.unwrap();
        }
    }

    /// Returns a context with fault injection in front of the storage, and the faults.
    pub fn faulty(&self) -> (Context, Arc<Faults>) {
        let faults = Arc::new(Faults::new(self.clock.clone(), Arc::<DiskFaults>::default()));
        let storage = faults::behind(self.storage.clone(), &faults);
        let mut context = self.context.clone();
        context.storage = storage;
        (context, faults)
    }

    /// Stops the mall gracefully, and starts another in the same location, without workers and with a new
    /// gateway.
    pub async fn restart(self) -> Self {
        // In a box: a mall that opens would fill the stack of a test with many calls.
        Box::pin(self.restart_at(Arc::default())).await
    }

    /// Restarts the mall with an existing gateway.
    pub async fn restart_at(mut self, gateway: Arc<Sandbox>) -> Self {
        self.rest().await;
        self.storage.base.upkeep.close().await.unwrap();
        let (ground, settings, now) = (self.ground.take().unwrap(), self.settings.clone(), self.now());
        drop(self);
        let world = Box::pin(open(ground, settings, now, gateway)).await;
        world.sales.load(now).await.unwrap();
        deadlines::restore(&*world.storage.selling.deadlines, &*world.storage.selling.orders, None)
            .await
            .unwrap();
        world
    }

    /// Returns the operator acting now.
    pub fn by(&self) -> By {
        By::operator(OPERATOR, self.now())
    }

    /// Returns the audit log, oldest first: action, subject, and the detail as JSON.
    pub async fn audited(&self) -> Vec<(String, String, serde_json::Value)> {
        let mut entries = self.audit.page(None, 500).await.unwrap();
        entries.reverse();
        let outcomes = entries.into_iter().map(|entry| {
            assert_eq!(entry.actor, Actor::User(OPERATOR));
            (entry.action, entry.subject, serde_json::from_str(&entry.detail).unwrap())
        });
        outcomes.collect()
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the background jobs of a mall with another context, and its sales.
    pub fn chores_of(&self, context: Context) -> (Chores, FlashSales) {
        let sales = FlashSales::new(context.clone());
        let cashier = Cashier::new(context.clone(), self.gateway.clone());
        let chores = sale_chores::chores(&context, &sales, &cashier);
        (Chores::new(self.clock.clone(), chores), sales)
    }

    /// Moves the clock like a fixture's operator: drains the log, sets the clock, runs everything due.
    pub async fn advance(&self, span: Duration) {
        self.drain().await;
        self.clock.advance(span);
        self.chores.run_all_due(self.now()).await;
    }

    pub async fn drain(&self) {
        assert!(
            drained(&self.storage, patience::scaled(Duration::from_secs(20))).await,
            "the log was not drained"
        );
    }

    /// Makes orders of the first users, and claims of the others in a memory rebuilt meanwhile from a
    /// database without the first orders. Returns once all claims are settled.
    pub async fn buy_around_a_wipe(
        &mut self,
        voucher: VoucherId,
        before: RangeInclusive<u64>,
        after: RangeInclusive<u64>,
    ) -> (Vec<OrderId>, Vec<OrderId>) {
        let mut first = Vec::new();
        for user in before {
            first.push(self.order(user, voucher).await);
        }
        self.ground().sql_of_each(Sql {
            sqlite: "UPDATE orders SET slot = id, status = 4",
            mysql: &["UPDATE orders SET status = 4"],
        });
        self.rebuild(voucher).await;
        self.rest().await;
        let mut second = Vec::new();
        for user in after {
            second.push(self.claim(user, voucher).await.unwrap());
        }
        self.ground().sql_of_each(Sql {
            sqlite: "UPDATE orders SET slot = 0, status = 1",
            mysql: &["UPDATE orders SET status = 1"],
        });
        self.start_workers();
        self.drain().await;
        (first, second)
    }

    /// Evicts a sale from memory and rebuilds it, which a restart does only if the memory is part of the
    /// mall.
    pub async fn rebuild(&self, voucher: VoucherId) {
        self.storage.selling.sales.forget(voucher).await.unwrap();
        self.sales.opened(voucher).await.unwrap();
    }

    /// Adds a sale that opened an hour ago and ends in nine hours.
    pub async fn sale(&self, units: impl Into<Option<u64>>) -> VoucherId {
        let hour = MINUTE * 60;
        self.sale_like(NewSale {
            units: units.into(),
            begin: self.now() - hour,
            end: self.now() + hour * 9,
            pay_within: PAY_WITHIN,
            min_level: 0,
        })
        .await
    }

    pub async fn sale_like(&self, sale: NewSale) -> VoucherId {
        let voucher = self.record(Some(sale)).await;
        self.sales.opened(voucher).await.unwrap();
        voucher
    }

    /// Adds a voucher to the database only.
    pub async fn record(&self, sale: Option<NewSale>) -> VoucherId {
        let text = VoucherText {
            title: "一百元代金券".to_owned(),
            pay_value: PRICE,
            actual_value: Cents::new(10_000),
            ..samples::voucher()
        };
        self.storage.catalogue.vouchers.insert(&text, sale.as_ref(), self.now()).await.unwrap()
    }

    pub async fn user(&self, number: u64) -> UserId {
        let phone = Phone::parse(&format!("139{number:08}")).unwrap();
        self.storage.people.users.find_or_create(&phone, "user", self.now()).await.unwrap().id
    }

    pub async fn claim(&self, user: u64, voucher: VoucherId) -> Result<OrderId, Failure> {
        self.sales.claim(UserId::new(user), voucher, self.now()).await
    }

    /// Claims, and retries while the store is unavailable, as clients do: on a busy machine a rush may exceed
    /// time limits.
    pub async fn claim_patiently(&self, user: u64, voucher: VoucherId) -> Result<OrderId, Failure> {
        let deadline = Deadline::after(Duration::from_secs(20));
        loop {
            match self.claim(user, voucher).await {
                Err(Failure::Store(error)) if error.is_transient() && !deadline.is_over() => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                answer => return answer,
            }
        }
    }

    /// Makes an unpaid order of the user, persisted in the database.
    pub async fn order(&self, user: u64, voucher: VoucherId) -> OrderId {
        let order = self.claim(user, voucher).await.unwrap();
        self.drain().await;
        order
    }

    pub async fn status(&self, order: OrderId) -> OrderStatus {
        self.storage.selling.orders.get(order).await.unwrap().unwrap().status
    }

    pub async fn left(&self, voucher: VoucherId) -> u64 {
        self.storage.selling.sales.units(voucher).await.unwrap().unwrap().left().unwrap()
    }

    /// Returns the location of the mall.
    pub fn ground(&self) -> &MallLocation {
        self.ground.as_ref().unwrap()
    }

    /// Returns the ledger check's report without findings about missing users and shops, which do not exist
    /// here.
    pub async fn verify(&self) -> Report {
        const MISSING: [Code; 4] = [Code::OrderUser, Code::LetterUser, Code::VoucherShop, Code::AuditUser];
        let mut report = self.ledger.verify().await.unwrap();
        report.findings.retain(|finding| !MISSING.contains(&finding.code));
        report.totals.findings.retain(|code, _| MISSING.iter().all(|missing| missing.name() != *code));
        report
    }

    /// Asserts that the ledger balances according to the report.
    pub async fn assert_balanced(&self) {
        let report = self.verify().await;
        assert!(report.balances() && report.unsettled.is_empty(), "{report}");
    }
}

/// Unwraps a refusal; panics on any other result.
pub fn refusal<T>(answer: Result<T, Failure>) -> Refusal {
    match answer {
        Err(Failure::Refused(refusal)) => refusal,
        Err(other) => panic!("not a refusal: {other}"),
        Ok(_) => panic!("not refused"),
    }
}

/// Waits, in real time, until a condition holds.
pub async fn until<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let deadline = Deadline::after(Duration::from_secs(20));
    while !is_so().await {
        assert!(!deadline.is_over(), "never: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
