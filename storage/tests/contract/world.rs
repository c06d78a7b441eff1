//! A fresh, empty back end per case, and the few things that many cases begin with.

use std::time::Duration;

use mallbox_storage::{
    Cents, Claim, Logged, NewSale, OpenError, OrderId, Place, ShopId, Storage, Terms, Timestamp, UserId,
    VoucherId, VoucherStatus, VoucherText,
};
use mallbox_test_patience::Deadline;
use mallbox_test_servers::Ground;

/// Noon of 2026-11-21, UTC.
pub const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
pub const HOUR: Duration = Duration::from_secs(3600);
/// The one worker of most cases.
pub const WORKER: &str = "worker-1";

/// One back end with nothing in it.
pub struct World {
    /// Its ports.
    pub storage: Storage,
    ground: Ground,
}

/// An embedded one, in a directory of its own.
pub async fn embedded() -> World {
    World::on(Ground::directory()).await
}

/// Opens the storage of a test that is about something else: on a busy machine servers respond later than a start waits.
pub async fn opened(place: &Place) -> Storage {
    let limit = Deadline::after(Duration::from_secs(20));
    loop {
        match Storage::open(place).await {
            Err(OpenError::Unreachable { .. }) if !limit.is_over() => {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            opened => return opened.unwrap(),
        }
    }
}

impl World {
    /// One that is here.
    pub async fn on(ground: Ground) -> Self {
        Self { storage: opened(ground.place()).await, ground }
    }

    /// Where it is.
    pub fn place(&self) -> &Place {
        self.ground.place()
    }

    /// What it stands on.
    pub fn ground(&self) -> &Ground {
        &self.ground
    }

    /// Stops the back end and opens what it left. Crashes are the business of the mall's own tests.
    pub async fn reopen(self) -> Self {
        let Self { storage, ground } = self;
        storage.upkeep.close().await.unwrap();
        drop(storage);
        Self::on(ground).await
    }

    /// Another one of the same kind, with nothing in it: for a case that stops what is only lent to it.
    pub async fn another(&self) -> Self {
        let ground = match self.place() {
            Place::Embedded(_) => Ground::directory(),
            Place::Production(options) => Ground::on_redis(options.redis.url.clone()),
        };
        Self::on(ground).await
    }

    /// A sale in the record, open from an hour before noon to an hour after, and put.
    pub async fn sale(&self, units: Option<u64>) -> VoucherId {
        self.put_sale(units, Duration::from_secs(900)).await
    }

    /// One without an end of units whose orders are to be paid within this time.
    pub async fn sale_to_pay_within(&self, pay_within: Duration) -> VoucherId {
        self.put_sale(None, pay_within).await
    }

    async fn put_sale(&self, units: Option<u64>, pay_within: Duration) -> VoucherId {
        let sale = NewSale { units, begin: NOON - HOUR, end: NOON + HOUR, pay_within, min_level: 0 };
        let voucher = self.storage.vouchers.insert(&noodles(), Some(&sale), NOON - 2 * HOUR).await.unwrap();
        let terms = self.terms(voucher).await;
        self.storage.sales.put(terms).await.unwrap();
        voucher
    }

    /// A voucher in the record that is no sale.
    pub async fn ordinary_voucher(&self) -> VoucherId {
        self.storage.vouchers.insert(&noodles(), None, NOON - 2 * HOUR).await.unwrap()
    }

    /// A sale's terms as the record has them.
    pub async fn terms(&self, voucher: VoucherId) -> Terms {
        self.storage.vouchers.get(voucher).await.unwrap().unwrap().sale.unwrap().terms
    }

    /// Takes what waits in the log, writes it to the record and settles it, as an order worker does.
    pub async fn persist_all(&self) -> Vec<Logged> {
        let mut all = Vec::new();
        loop {
            let taken = self.storage.order_log.take(WORKER, 1000, Duration::ZERO).await.unwrap();
            if taken.is_empty() {
                return all;
            }
            self.storage.orders.persist(&taken, NOON).await.unwrap();
            self.storage.order_log.done(WORKER, &taken).await.unwrap();
            all.extend(taken);
        }
    }
}

fn noodles() -> VoucherText {
    VoucherText {
        shop: ShopId::new(1),
        title: "One bowl of noodles".to_owned(),
        sub_title: String::new(),
        rules: String::new(),
        pay_value: Cents::new(100),
        actual_value: Cents::new(1000),
        status: VoucherStatus::OnShelf,
    }
}

/// A claim at noon whose order id is made of sale and number.
pub fn claim(voucher: VoucherId, user: u64, number: u64) -> Claim {
    let order = OrderId::compose(NOON, number, voucher).unwrap();
    Claim { order, voucher, user: UserId::new(user), at: NOON }
}
