//! Vouchers, and the terms of flash-sale vouchers.

use std::num::{NonZeroU8, NonZeroU32};
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    Cents, Fenced, FencingToken, Guard, Judgement, Page, ShopId, StoreError, Terms, Thresholds, Timestamp,
    VoucherId, WaitingRoom, Wave,
};

/// Visibility of a voucher.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum VoucherStatus {
    /// On the shelf; stored as 1.
    OnShelf,
    /// Off the shelf; stored as 2.
    OffShelf,
    /// Expired; stored as 3.
    Expired,
}

/// Description of a voucher, as edited by an operator.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct VoucherText {
    /// The shop that offers the voucher.
    pub shop: ShopId,
    /// Title of the voucher.
    pub title: String,
    /// Second line, `""` if none.
    pub sub_title: String,
    /// Rules, lines separated by `\n`, `""` if none.
    pub rules: String,
    /// Price in cents.
    pub pay_value: Cents,
    /// Face value in cents.
    pub actual_value: Cents,
    /// Visibility of the voucher.
    pub status: VoucherStatus,
}

/// Partial update of a voucher: `None` leaves a field unchanged.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VoucherEdit {
    /// Title of the voucher.
    pub title: Option<String>,
    /// Second line, `""` for none.
    pub sub_title: Option<String>,
    /// Rules, lines separated by `\n`, `""` for none.
    pub rules: Option<String>,
    /// Price in cents.
    pub pay_value: Option<Cents>,
    /// Face value in cents.
    pub actual_value: Option<Cents>,
    /// Visibility of the voucher.
    pub status: Option<VoucherStatus>,
}

/// Filter of a voucher list: a voucher must match every field that is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct VoucherFilter {
    /// Only vouchers of this shop.
    pub shop: Option<ShopId>,
    /// Only flash-sale vouchers.
    pub sales_only: bool,
}

/// Terms of a new sale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewSale {
    /// Initial units. `None` = unlimited.
    pub units: Option<u64>,
    /// First instant at which claims are accepted.
    pub begin: Timestamp,
    /// First instant at which claims are refused again (exclusive end).
    pub end: Timestamp,
    /// Time to pay, from the claim.
    pub pay_within: Duration,
    /// Minimum member level of a buyer; 0 for everybody.
    pub min_level: u8,
}

/// A sale in the database.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SaleRecord {
    /// Terms for [`Sales`](crate::Sales): window, pause, initial + added units.
    pub terms: Terms,
    /// Initial units. `None` = unlimited.
    pub initial: Option<u64>,
    /// Units added since; negative if removed.
    pub added: i64,
    /// Units not held by any order or dead letter in the database, maintained by the order transactions.
    /// `None` = unlimited.
    pub stock: Option<u64>,
    /// Time to pay, from the claim.
    pub pay_within: Duration,
    /// Minimum member level of a buyer; 0 for everybody.
    pub min_level: u8,
    /// The first wave to come, also if after the end.
    #[serde(default)]
    pub next_wave: Option<Wave>,
    /// What a claim has to show; `None` = a log-in is enough.
    #[serde(default)]
    pub guard: Option<Guard>,
    /// Maximum number of users on the waiting list; `None` = no list.
    #[serde(default)]
    pub waiting_max: Option<u32>,
    /// The waiting room; `None` = claims need no admission.
    #[serde(default)]
    pub room: Option<WaitingRoom>,
    /// Claims per second that an instance of the mall passes on; `None` = no limit.
    #[serde(default)]
    pub claims_per_second: Option<NonZeroU32>,
    /// Whom the sale is for, besides the level; `None` = everybody.
    #[serde(default)]
    pub thresholds: Option<Thresholds>,
    /// What the sale does with attempts that look automated; `None` = no attempt is judged.
    #[serde(default)]
    pub judgement: Option<Judgement>,
}

impl SaleRecord {
    /// Returns the first wave to come after `now` and before the end. `None` while users wait, who get its
    /// units.
    #[must_use]
    pub fn wave_after(&self, now: Timestamp) -> Option<Wave> {
        self.next_wave.filter(|wave| wave.at > now && wave.at < self.terms.end && !self.terms.waiting)
    }
}

/// A voucher, with its flash sale if any.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Voucher {
    /// Id of the voucher.
    pub id: VoucherId,
    /// Description of the voucher.
    pub text: VoucherText,
    /// Flash sale, if the voucher has one.
    pub sale: Option<SaleRecord>,
    /// Time of creation.
    pub created: Timestamp,
    /// Time of the last change.
    pub updated: Timestamp,
}

/// Change of a sale's units.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StockChange {
    /// Requested change: positive to add units, negative to remove.
    pub asked: i64,
    /// Change to apply: equal to `asked`, or, for a removal, limited to the units available.
    pub by: i64,
    /// Idempotency key, if the change must not be applied twice.
    pub request: Option<String>,
}

impl StockChange {
    /// Returns the effective change of units, and the sale after the change. `None` if the sale is unlimited,
    /// or the sum would overflow.
    pub fn of(&self, sale: &SaleRecord) -> Option<(i64, SaleRecord)> {
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

/// Outcome of a [`StockChange`].
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StockChangeOutcome {
    /// This call applied the change; effective change, and the sale after the change.
    Done(i64, SaleRecord),
    /// A change under the same idempotency key was applied before: the stored change, and the sale as stored
    /// now.
    Before(StockChange, SaleRecord),
    /// The sale is unlimited; no units to count.
    Unlimited,
    /// The sale does not exist.
    Unknown,
}

/// Vouchers and sales in the database.
///
/// - Every call is a transaction of its own, durable when the call returns.
/// - A voucher has a sale from creation on, or never.
/// - **Terms are fenced.** Writes that rest on an earlier read of the terms carry the [`FencingToken`] of the
///   lock over terms: [`put_window`](Vouchers::put_window), [`change_stock`](Vouchers::change_stock),
///   [`update`](Vouchers::update). The row of the sale keeps the greatest token, and a smaller one is
///   [`Fenced::Stale`] and changes nothing. Settings that a call replaces as a whole carry none.
#[async_trait]
pub trait Vouchers: Send + Sync {
    /// Inserts a voucher, with a sale if given. Returns the new id.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing was inserted, or the response was lost.
    async fn insert(
        &self,
        text: &VoucherText,
        sale: Option<&NewSale>,
        now: Timestamp,
    ) -> Result<VoucherId, StoreError>;

    /// Returns a voucher by id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn get(&self, voucher: VoucherId) -> Result<Option<Voucher>, StoreError>;

    /// Returns the vouchers of a shop that are on the shelf, by id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn of_shop(&self, shop: ShopId) -> Result<Vec<Voucher>, StoreError>;

    /// Returns up to `max` vouchers on the shelf whose sale has not ended at `now`. First the running sales
    /// by end, then the upcoming ones by begin; ties by id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn on_sale(&self, now: Timestamp, max: u32) -> Result<Vec<Voucher>, StoreError>;

    /// Returns up to `max` ids above `after`, in order, of vouchers on or off the shelf. Of vouchers inserted
    /// concurrently, a later one may be visible before an earlier one.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn ids(&self, after: VoucherId, max: u32) -> Result<Vec<VoucherId>, StoreError>;

    /// Returns up to `max` sales with an id above `after`, by id: all, or only sales that end after
    /// `ending_after`.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn sales(
        &self,
        ending_after: Option<Timestamp>,
        after: VoucherId,
        max: u32,
    ) -> Result<Vec<SaleRecord>, StoreError>;

    /// Returns a page of the vouchers that match `filter`, newest first, on or off the shelf, and the total
    /// number of matches.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn page(&self, filter: VoucherFilter, page: Page) -> Result<(Vec<Voucher>, u64), StoreError>;

    /// Updates the given fields of a voucher atomically: concurrent updates of different fields both take
    /// effect. Returns the voucher after the update; `None` for an unknown voucher. Existing orders keep
    /// their price. A voucher without a sale has no terms, and takes any token.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn update(
        &self,
        voucher: VoucherId,
        edit: &VoucherEdit,
        token: FencingToken,
        now: Timestamp,
    ) -> Result<Fenced<Option<Voucher>>, StoreError>;

    /// Changes a sale's units: `added` and `stock` by the same number, in one transaction with the
    /// idempotency key.
    ///
    /// Units held by orders or dead letters cannot be removed: a larger removal stops at a stock of 0. A
    /// repeated idempotency key changes nothing, whatever the new request and token.
    ///
    /// # Errors
    /// - [`StoreError::Refused`]: the number of units would overflow.
    /// - Any other [`StoreError`]: nothing changed, or the response was lost; call again if the change has an
    ///   idempotency key.
    async fn change_stock(
        &self,
        voucher: VoucherId,
        change: &StockChange,
        token: FencingToken,
        now: Timestamp,
    ) -> Result<Fenced<StockChangeOutcome>, StoreError>;

    /// Returns the change applied under an idempotency key; `None` if the key was never used.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn stock_change(
        &self,
        voucher: VoucherId,
        request: &str,
    ) -> Result<Option<StockChange>, StoreError>;

    /// Sets window and pause of a sale. Returns the sale after the change; `None` for an unknown sale.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_window(
        &self,
        voucher: VoucherId,
        begin: Timestamp,
        end: Timestamp,
        paused: bool,
        token: FencingToken,
        now: Timestamp,
    ) -> Result<Fenced<Option<SaleRecord>>, StoreError>;

    /// Sets or removes the guard of a sale. Returns the sale after the change; `None` without such a sale.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_guard(
        &self,
        voucher: VoucherId,
        guard: Option<Guard>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError>;

    /// Sets or removes the waiting room of a sale. Returns the sale after the change; `None` without such a
    /// sale.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_room(
        &self,
        voucher: VoucherId,
        room: Option<WaitingRoom>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError>;

    /// Sets or removes the limit of claims per second of a sale. Returns the sale after the change; `None`
    /// without such a sale.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_claim_limit(
        &self,
        voucher: VoucherId,
        per_second: Option<NonZeroU32>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError>;

    /// Sets or removes the thresholds of a sale. Returns the sale after the change; `None` without such a
    /// sale.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_thresholds(
        &self,
        voucher: VoucherId,
        thresholds: Option<Thresholds>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError>;

    /// Sets how many units of a sale a user may hold. The largest number ever set stays the bound of the
    /// database, so that a claim granted before the number was lowered becomes an order all the same. Returns
    /// the sale after the change; `None` without such a sale.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_per_user(
        &self,
        voucher: VoucherId,
        per_user: NonZeroU8,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError>;

    /// Sets or removes the judgement of a sale. Returns the sale after the change; `None` without such a
    /// sale.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_judgement(
        &self,
        voucher: VoucherId,
        judgement: Option<Judgement>,
        now: Timestamp,
    ) -> Result<Option<SaleRecord>, StoreError>;
}
