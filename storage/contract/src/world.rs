//! A fresh, empty back end per case, and common set-up steps.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{
    Claim, DeadLetter, FencingToken, LoggedClaim, NewSale, OrderId, Page, Storage, Terms, Timestamp, UserId,
    VoucherId,
};

use crate::samples;

/// Noon of 2026-11-21, UTC.
pub const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
/// An hour.
pub const HOUR: Duration = Duration::from_secs(3600);
/// The only worker of most cases.
pub const WORKER: &str = "worker-1";

/// The fencing token of cases in which nobody competes for the terms of sales.
pub const TOKEN: FencingToken = FencingToken::new(1);

/// A back end's storage for one mall, removed on drop.
#[async_trait]
pub trait BackEnd: Send + Sync {
    /// Opens the storage: empty the first time, later with the data of the previous opening.
    async fn open(&self) -> Storage;

    /// Creates an empty back end of the same kind.
    fn another(&self) -> Box<dyn BackEnd>;

    /// Runs an SQL statement in the database, bypassing the ports.
    fn sql(&self, statement: &str);

    /// Whether sessions expire by the mall's clock alone. A server expires a key by its own time, which no
    /// clock moves.
    fn ends_sessions_by_clock(&self) -> bool;
}

#[async_trait]
impl<T: BackEnd + ?Sized> BackEnd for Arc<T> {
    async fn open(&self) -> Storage {
        (**self).open().await
    }

    fn another(&self) -> Box<dyn BackEnd> {
        (**self).another()
    }

    fn sql(&self, statement: &str) {
        (**self).sql(statement);
    }

    fn ends_sessions_by_clock(&self) -> bool {
        (**self).ends_sessions_by_clock()
    }
}

/// An empty back end, with helpers for the set-up of cases.
pub struct World {
    /// The open ports.
    pub storage: Storage,
    back_end: Box<dyn BackEnd>,
}

impl World {
    /// Opens a storage on `back_end`.
    pub async fn on(back_end: Box<dyn BackEnd>) -> Self {
        Self { storage: back_end.open().await, back_end }
    }

    /// Returns the back end below the storage.
    #[must_use]
    pub fn back_end(&self) -> &dyn BackEnd {
        &*self.back_end
    }

    /// Closes the back end and reopens its data. The mall's own tests cover crashes.
    pub async fn reopen(self) -> Self {
        let Self { storage, back_end } = self;
        storage.base.upkeep.close().await.unwrap();
        drop(storage);
        Self::on(back_end).await
    }

    /// Opens another empty back end of the same kind, for cases that stop a back end of their own.
    pub async fn another(&self) -> Self {
        Self::on(self.back_end.another()).await
    }

    /// Creates a sale in the database, open from an hour before noon to an hour after, and puts the sale.
    pub async fn sale(&self, units: Option<u64>) -> VoucherId {
        self.put_sale(units, Duration::from_secs(900)).await
    }

    /// Creates a sale with unlimited units, whose orders must be paid within `pay_within`.
    pub async fn sale_to_pay_within(&self, pay_within: Duration) -> VoucherId {
        self.put_sale(None, pay_within).await
    }

    async fn put_sale(&self, units: Option<u64>, pay_within: Duration) -> VoucherId {
        let sale = NewSale { end: NOON + HOUR, pay_within, ..samples::sale(units, NOON - HOUR) };
        let voucher = self
            .storage
            .catalogue
            .vouchers
            .insert(&samples::voucher(), Some(&sale), NOON - 2 * HOUR)
            .await
            .unwrap();
        let terms = self.terms(voucher).await;
        self.storage.selling.sales.put(terms, TOKEN).await.unwrap().done().unwrap();
        voucher
    }

    /// Creates an ordinary voucher in the database, without a sale.
    pub async fn ordinary_voucher(&self) -> VoucherId {
        self.storage.catalogue.vouchers.insert(&samples::voucher(), None, NOON - 2 * HOUR).await.unwrap()
    }

    /// Returns a sale's terms from the database.
    pub async fn terms(&self, voucher: VoucherId) -> Terms {
        self.storage.catalogue.vouchers.get(voucher).await.unwrap().unwrap().sale.unwrap().terms
    }

    /// Persists and settles all claims waiting in the log, as an order worker does, and returns the claims.
    pub async fn persist_all(&self) -> Vec<LoggedClaim> {
        let mut all = Vec::new();
        loop {
            let taken = self.storage.selling.order_log.take(WORKER, 1000, Duration::ZERO).await.unwrap();
            if taken.is_empty() {
                return all;
            }
            self.storage.selling.orders.persist(&taken, NOON).await.unwrap();
            self.storage.selling.order_log.done(WORKER, &taken).await.unwrap();
            all.extend(taken);
        }
    }
}

/// A claim at noon, with an order id composed of sale and number.
pub fn claim(voucher: VoucherId, user: u64, number: u64) -> Claim {
    let order = OrderId::compose(NOON, number, voucher).unwrap();
    Claim { order, voucher, user: UserId::new(user), at: NOON }
}

/// Returns all dead letters, oldest first.
pub async fn letters(w: &World) -> Vec<DeadLetter> {
    let (mut letters, total) = w.storage.selling.dead_letters.page(None, Page::new(1, 1_000)).await.unwrap();
    assert_eq!(letters.len() as u64, total);
    letters.reverse();
    letters
}
