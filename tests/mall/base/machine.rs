//! A machine whose clock a test sets, and a mall that runs on it.

use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use mallbox::mall::base::clock_doubt::ClockState;
use mallbox::mall::base::clock_guard::MachineTime;
use mallbox::mall::base::{By, ClockRefusal};
use mallbox::mall::people::accounts::{Client, Credential, SentCode};
use mallbox::mall::people::sms::Inbox;
use mallbox::mall::selling::order_workers::drained;
use mallbox::mall::{Background, Dependencies, Failure, Mall, Refusal, WatchedClock};
use mallbox_storage::{
    NewSale, OrderId, OrderStatus, Phone, Storage, Timestamp, UserId, VoucherId, VoucherText,
};
use mallbox_storage_contract::samples;
use mallbox_test_patience as patience;
use mallbox_test_servers::MallLocation;
use parking_lot::Mutex;

/// Noon of 2026-11-21, UTC.
pub const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
pub const MINUTE: Duration = Duration::from_secs(60);
pub const HOUR: Duration = Duration::from_secs(3_600);
pub const DAY: Duration = Duration::from_secs(86_400);
/// Time for which the machine was up when the test began: longer than a clock without a battery takes.
const UP: Duration = Duration::from_secs(2 * 86_400);

/// Both clocks of a machine.
#[derive(Clone)]
pub struct Machine(Arc<Mutex<(Timestamp, Duration)>>);

impl MachineTime for Machine {
    fn wall(&self) -> Timestamp {
        self.0.lock().0
    }

    fn steady(&self) -> Duration {
        self.0.lock().1
    }
}

impl Machine {
    /// Returns a machine whose clock shows `wall`.
    pub fn new(wall: Timestamp) -> Self {
        Self(Arc::new(Mutex::new((wall, UP))))
    }

    /// Lets time pass.
    pub fn pass(&self, span: Duration) {
        let mut clocks = self.0.lock();
        *clocks = (clocks.0 + span, clocks.1 + span);
    }

    /// Sets the clock.
    pub fn set(&self, wall: Timestamp) {
        self.0.lock().0 = wall;
    }
}

/// A running mall on a machine.
pub struct Kiosk {
    pub machine: Machine,
    pub mall: Arc<Mall>,
    inbox: Arc<Inbox>,
    background: Background,
    ground: MallLocation,
    zone: TimeZone,
}

impl Kiosk {
    /// Founds a mall in UTC.
    pub async fn found(machine: &Machine) -> Self {
        Self::found_in(machine, TimeZone::UTC).await
    }

    /// Founds a mall.
    pub async fn found_in(machine: &Machine, zone: TimeZone) -> Self {
        Self::open(MallLocation::of_target(env!("CARGO_CRATE_NAME")), machine, zone).await
    }

    async fn open(ground: MallLocation, machine: &Machine, zone: TimeZone) -> Self {
        let inbox = Arc::new(Inbox::default());
        let clock = WatchedClock::with_source(Box::new(machine.clone()));
        let means = Dependencies {
            zone: zone.clone(),
            sms: inbox.clone(),
            inbox: Some(inbox.clone()),
            ..Dependencies::simulated(ground.open().await, Arc::new(clock))
        };
        let mall = Box::pin(Mall::open(means)).await.unwrap();
        let background = mall.start();
        Self { machine: machine.clone(), mall, inbox, background, ground, zone }
    }

    /// Stops the mall in order, and starts it with another time of the machine.
    pub async fn restart_at(self, wall: Timestamp) -> Self {
        self.background.stop().await;
        self.mall.context.storage.base.upkeep.close().await.unwrap();
        drop(self.mall);
        self.machine.set(wall);
        Box::pin(Self::open(self.ground, &self.machine, self.zone)).await
    }

    fn storage(&self) -> &Storage {
        &self.mall.context.storage
    }

    /// Returns the mall's time.
    pub fn now(&self) -> Timestamp {
        self.mall.context.clock.now()
    }

    pub fn state(&self) -> ClockState {
        self.mall.context.clock_state()
    }

    pub fn is_sure(&self) -> bool {
        self.state() == ClockState::Sure
    }

    /// Lets time pass, and runs everything that is due then.
    pub async fn pass(&self, span: Duration) {
        self.drain().await;
        self.machine.pass(span);
        self.mall.catch_up().await;
    }

    async fn drain(&self) {
        assert!(drained(self.storage(), patience::scaled(20 * Duration::from_secs(1))).await);
    }

    /// Returns the stored time of the last run.
    pub async fn mark(&self) -> Timestamp {
        let stored = self.storage().base.upkeep.setting("clock: last run ms").await.unwrap();
        Timestamp::from_millis(stored.unwrap().parse().unwrap())
    }

    /// Adds a voucher that is sold from an hour ago to ten days from now, or without a sale.
    pub async fn voucher(&self, is_on_sale: bool) -> VoucherId {
        let sale = NewSale {
            units: Some(100),
            begin: self.now() - HOUR,
            end: self.now() + 10 * DAY,
            pay_within: 15 * MINUTE,
            min_level: 0,
        };
        let text = VoucherText { title: "一百元代金券".to_owned(), ..samples::voucher() };
        let sale = is_on_sale.then_some(&sale);
        let voucher = self.storage().catalogue.vouchers.insert(&text, sale, self.now()).await.unwrap();
        if sale.is_some() {
            self.mall.sales.opened(voucher).await.unwrap();
        }
        voucher
    }

    pub async fn claim(&self, user: u64, voucher: VoucherId) -> Result<OrderId, Failure> {
        self.mall.sales.claim(UserId::new(user), voucher, self.now()).await
    }

    /// Orders a voucher that has no sale, and so no window.
    pub async fn buy(&self, voucher: VoucherId) -> OrderId {
        self.mall.orders.buy(UserId::new(1), voucher, None, self.now()).await.unwrap()
    }

    pub async fn status(&self, order: OrderId) -> OrderStatus {
        self.drain().await;
        self.storage().selling.orders.get(order).await.unwrap().unwrap().status
    }

    /// Logs a user in. Returns the token.
    pub async fn log_in(&self, phone: &str) -> String {
        let accounts = &self.mall.accounts;
        accounts.send_code(phone, &Client::default(), self.now()).await.unwrap();
        let code = self.inbox.last(&Phone::parse(phone).unwrap()).unwrap();
        let credential = Credential::Code(SentCode::without_ticket(&code));
        accounts.log_in(phone, credential, Client::default(), self.now()).await.unwrap()
    }

    /// Returns the user of a live session.
    pub async fn who(&self, token: &str) -> Option<UserId> {
        self.mall.accounts.who(token, self.now()).await.unwrap()
    }

    /// Returns the operator acting now.
    pub fn by(&self) -> By {
        By::operator(UserId::new(1_000_000), self.now())
    }
}

/// Asserts that a call is refused because the clock is unsure.
pub fn assert_unsure<T: std::fmt::Debug>(outcome: Result<T, Failure>) {
    match outcome {
        Err(Failure::Refused(Refusal::Clock(ClockRefusal::Unsure))) => {}
        other => panic!("the clock is unsure, but: {other:?}"),
    }
}
