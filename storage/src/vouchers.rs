//! Vouchers, and the terms of those that are sales.

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Cents, Page, ShopId, StoreError, Terms, Timestamp, VoucherId};

/// Whether a voucher is to be seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum VoucherStatus {
    /// On the shelf: 1.
    OnShelf,
    /// Taken off: 2.
    OffShelf,
    /// Expired: 3.
    Expired,
}

/// What is told about a voucher; what an operator writes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct VoucherText {
    /// Whose.
    pub shop: ShopId,
    /// Its title.
    pub title: String,
    /// A second line, `""` if none.
    pub sub_title: String,
    /// Rules, lines separated by `\n`, `""` if none.
    pub rules: String,
    /// What it costs.
    pub pay_value: Cents,
    /// What it is worth.
    pub actual_value: Cents,
    /// Whether it is to be seen.
    pub status: VoucherStatus,
}

/// What is changed of a voucher: what is `None` stays as it is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VoucherEdit {
    /// Its title.
    pub title: Option<String>,
    /// A second line, `""` for none.
    pub sub_title: Option<String>,
    /// Rules, lines separated by `\n`, `""` for none.
    pub rules: Option<String>,
    /// What it costs.
    pub pay_value: Option<Cents>,
    /// What it is worth.
    pub actual_value: Option<Cents>,
    /// Whether it is to be seen.
    pub status: Option<VoucherStatus>,
}

/// Which vouchers a list is to hold: those that agree with every part that is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct VoucherFilter {
    /// Whose.
    pub shop: Option<ShopId>,
    /// Those alone that are sales.
    pub sales_only: bool,
}

/// The terms on which a sale is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewSale {
    /// Units at the start. `None` = unlimited.
    pub units: Option<u64>,
    /// First instant at which a claim is taken.
    pub begin: Timestamp,
    /// First instant at which none is taken any more.
    pub end: Timestamp,
    /// How long a buyer has to pay.
    pub pay_within: Duration,
    /// The least member level that may buy, 0 for everybody.
    pub min_level: u8,
}

/// A sale as the record has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SaleRecord {
    /// What [`Sales`](crate::Sales) is told: window, pause, initial + added units.
    pub terms: Terms,
    /// Units at the start. `None` = unlimited.
    pub initial: Option<u64>,
    /// Units added since, negative if taken away.
    pub added: i64,
    /// Units that no order and no dead letter in the record holds, as kept by the order transactions. `None` = unlimited.
    pub stock: Option<u64>,
    /// How long a buyer has to pay.
    pub pay_within: Duration,
    /// The least member level that may buy, 0 for everybody.
    pub min_level: u8,
}

/// A voucher.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Voucher {
    /// Which.
    pub id: VoucherId,
    /// What is told about it.
    pub text: VoucherText,
    /// Its sale, if it is a flash-sale voucher.
    pub sale: Option<SaleRecord>,
    /// Since when.
    pub created: Timestamp,
    /// Last change.
    pub updated: Timestamp,
}

/// A change of a sale's units.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StockChange {
    /// What was asked for: more units, or fewer if it is negative.
    pub asked: i64,
    /// What is to be done: as much, or, of units taken away, as many as there were.
    pub by: i64,
    /// What its author calls it, if it is not to be done twice.
    pub request: Option<String>,
}

impl StockChange {
    /// By how many units it changes a sale, and the sale as it is then. `None` if that is unlimited, or would have more than
    /// can be counted.
    pub(crate) fn of(&self, sale: &SaleRecord) -> Option<(i64, SaleRecord)> {
        let countable = |units: &u64| i64::try_from(*units).is_ok();
        let stock = sale.stock?;
        let by = self.by.max(-i64::try_from(stock).ok()?);
        let added = sale.added.checked_add(by)?;
        let units = sale.initial?.checked_add_signed(added).filter(countable)?;
        let stock = stock.checked_add_signed(by).filter(countable)?;
        let terms = Terms { units: Some(units), ..sale.terms };
        Some((by, SaleRecord { terms, added, stock: Some(stock), ..*sale }))
    }
}

/// What became of a change of a sale's units.
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StockChanged {
    /// This call did it: by so many units, and the sale as it is now.
    Done(i64, SaleRecord),
    /// It was done before, under the same request. As it was written down then, and the sale as it is now.
    Before(StockChange, SaleRecord),
    /// The sale is unlimited: there is nothing to count.
    Unlimited,
    /// There is no such sale.
    Unknown,
}

/// Vouchers: their record.
///
/// - Every call is its own transaction and durable when it answers.
/// - A voucher is a sale from the start or never.
#[async_trait]
pub trait Vouchers: Send + Sync {
    /// Adds a voucher, with a sale if one is given.
    ///
    /// # Errors
    /// [`StoreError`]: nothing was added, or the answer was lost.
    async fn insert(
        &self,
        text: &VoucherText,
        sale: Option<&NewSale>,
        now: Timestamp,
    ) -> Result<VoucherId, StoreError>;

    /// A voucher by id.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn get(&self, voucher: VoucherId) -> Result<Option<Voucher>, StoreError>;

    /// The vouchers of a shop that are on the shelf, by id.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn of_shop(&self, shop: ShopId) -> Result<Vec<Voucher>, StoreError>;

    /// The vouchers on the shelf whose sale is not over at `now`, no more than `max`: first those in their window, by their
    /// end; then those to come, by their begin; by id where that is equal.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn on_sale(&self, now: Timestamp, max: u32) -> Result<Vec<Voucher>, StoreError>;

    /// Which vouchers there are whose id is above `after`, on the shelf or not, by id, no more than `max`. Of vouchers that
    /// are added meanwhile, a later one may be told of and an earlier one not yet.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn ids(&self, after: VoucherId, max: u32) -> Result<Vec<VoucherId>, StoreError>;

    /// Sales after `after` by id, at most `max`: all of them, or those that end after an instant.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn sales(
        &self,
        ending_after: Option<Timestamp>,
        after: VoucherId,
        max: u32,
    ) -> Result<Vec<SaleRecord>, StoreError>;

    /// A page of the vouchers that a filter admits, newest first, on the shelf or not, and how many it admits in all.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn page(&self, filter: VoucherFilter, page: Page) -> Result<(Vec<Voucher>, u64), StoreError>;

    /// Changes what is told about a voucher, in one step: of two who change different things at once, both are done.
    /// Answers the voucher as it is then; `None` if there is no such voucher. Orders that are in the record keep their price.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn update(
        &self,
        voucher: VoucherId,
        edit: &VoucherEdit,
        now: Timestamp,
    ) -> Result<Option<Voucher>, StoreError>;

    /// Changes a sale's units: `added` and `stock` by the same number, in one transaction with the request's name.
    ///
    /// Units that orders or dead letters hold cannot be taken away: then it is done by fewer, down to a stock of 0. A
    /// request that was named before changes nothing, whatever it asks for now.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again, if it has a name. [`StoreError::Refused`]:
    /// there would be more units than can be counted.
    async fn change_stock(
        &self,
        voucher: VoucherId,
        change: &StockChange,
        now: Timestamp,
    ) -> Result<StockChanged, StoreError>;

    /// What was done under a request of this name; `None` if nothing was.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn stock_change(
        &self,
        voucher: VoucherId,
        request: &str,
    ) -> Result<Option<StockChange>, StoreError>;

    /// Moves a sale's window and pause. `None` if there is no such sale.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn put_window(
        &self,
        voucher: VoucherId,
        begin: Timestamp,
        end: Timestamp,
        paused: bool,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError>;
}
